//! Random early detection: the longer the queue is on average, the more arriving packets are lost or marked.
//!
//! Source: S. Floyd and V. Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM ToN 1(4), 1993, as ns-2 2.35
//! has it (`queue/red.cc`), packet for packet. Adaptive: S. Floyd, R. Gummadi and S. Shenker, "Adaptive RED", 2001, section 4.
//!
//! At every arrival, before the packet joins, with `q` what *waits* (not the packet in service):
//! * `avg = (1-w)^(m+1) avg + w q`, where `m` is 0, or, on an idle link, the mean packets it could have sent since it went idle.
//! * Nothing is lost while `avg < min` or `q <= 1`. The first arrival above `min` is spared.
//! * `min <= avg < max`: `pb = max_p (avg-min)/(max-min)`. Gentle and `max <= avg < 2 max`: `pb = (1-max_p)/max avg + 2 max_p - 1`.
//!   Beyond, every packet is lost.
//! * With `n` arrivals since the last loss (this one included), loss intervals are made uniform: `pa = pb/(1 - n pb)`; with `wait`, 0 as
//!   long as `n pb < 1`, then `pb/(2 - n pb)`. A packet is lost or marked if a number uniform in [0, 1) is at most `pa`.
//! * Byte mode (`bytes`): `n` counts mean packets' worth of bytes and `pa` is in proportion to the packet's size.
//! * A full buffer loses the arriving packet, even one that was to be marked.
//! * Adaptive, once more than `interval` has passed since `max_p` last changed: `max_p *= beta` if `avg` is below `min + 0.4 (max-min)`
//!   and `max_p > bottom`; `max_p += min(alpha, max_p/4)` if `avg` is above `max - 0.4 (max-min)` and `max_p < top`.
//!
//! Knobs: [`RedParameters`] and [`AdaptiveRed`]; each names ns-2's.
//!
//! Departures from ns-2: after an idle time of more than [`crate::EXACT_IDLE_STEPS`] packets the decay is one power instead of that many
//! products, which differ in the last digits. `cautious_`, `feng_adaptive_`, `drop_front_` and `drop_rand_` are left out. A limit in bytes
//! holds strictly (ns-2 has none). As in ns-2, adaptive RED leaves the slope of the gentle part at the initial `max_p`.
//! ns-2's `use_mark_p_` also changes RED that marks nothing: see [`RedParameters::mark_p`].

use crate::early::{Average, Curve, Spread, Verdict, Weight, automatic_min_packets, idle_s};
use crate::room::Room;
use crate::{Admission, Arrival, Backlog, Decision, Limit};

/// What adaptive RED needs beyond RED (Floyd, Gummadi and Shenker 2001, section 4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptiveRed {
    /// Added to `max_p`, but a quarter of it at most (`alpha_`).
    pub alpha: f64,
    /// Multiplies `max_p` (`beta_`).
    pub beta: f64,
    /// Between changes, seconds (`interval_`).
    pub interval_s: f64,
    /// `max_p` is not raised from here on (`top_`).
    pub top: f64,
    /// `max_p` is not lowered from here down; at most 0.01 and 80 kbit/s over the rate when absent (`bottom_ 0`).
    pub bottom: Option<f64>,
}

impl Default for AdaptiveRed {
    fn default() -> Self {
        Self { alpha: 0.01, beta: 0.9, interval_s: 0.5, top: 0.5, bottom: None }
    }
}

/// What a RED queue is made from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedParameters {
    /// What may wait, without the packet in service (`limit_`). A limit in packets means mean packets when the queue is in bytes, and is
    /// then exceeded by part of a packet, as in ns-2.
    pub limit: Limit,
    /// The link's nominal rate.
    pub rate_bit_s: f64,
    /// Mean packet (`mean_pktsize_`).
    pub mean_packet_bytes: u32,
    /// Average queue from which packets are lost at random, packets (`thresh_`). When absent, 5 or, if more, half of what the link sends in
    /// `target_delay_s`.
    pub min_packets: Option<f64>,
    /// Average queue from which all are lost, or where the gentle part begins, packets (`maxthresh_`). Three times `min` when absent.
    pub max_packets: Option<f64>,
    /// Probability of a loss at `max`, before it is spread (`1/linterm_`).
    pub max_p: f64,
    /// Weight of a new sample in the average (`q_weight_`).
    pub weight: Weight,
    /// Whether the probability rises to 1 between `max` and twice `max` instead of at once (`gentle_`).
    pub gentle: bool,
    /// Whether losses keep a distance (`wait_`).
    pub wait: bool,
    /// Whether the probability is in proportion to a packet's size (`bytes_`).
    pub bytes: bool,
    /// Whether the average counts bytes (`queue_in_bytes_`); thresholds are then in mean packets.
    pub queue_in_bytes: bool,
    /// Whether packets that can be marked are marked where they would be lost at random (`setbit_`).
    pub ecn: bool,
    /// From this probability `pb` on packets are lost even so (`use_mark_p_`, `mark_p_`). In ns-2 this has a side effect on all packets,
    /// kept here: beyond `max` (or 2 `max`) the first arrival is spared as it is above `min`. Without it those are always lost.
    pub mark_p: Option<f64>,
    /// Adapts `max_p` (`adaptive_`).
    pub adaptive: Option<AdaptiveRed>,
    /// Delay that an automatic `min` is made for (`targetdelay_`).
    pub target_delay_s: f64,
}

impl RedParameters {
    /// Automatic thresholds and weight; gentle; in packets; losing, not marking.
    pub fn new(limit: Limit, rate_bit_s: f64, mean_packet_bytes: u32) -> Self {
        Self {
            limit,
            rate_bit_s,
            mean_packet_bytes,
            min_packets: None,
            max_packets: None,
            max_p: 0.1,
            weight: Weight::Automatic,
            gentle: true,
            wait: true,
            bytes: false,
            queue_in_bytes: false,
            ecn: false,
            mark_p: None,
            adaptive: None,
            target_delay_s: 0.005,
        }
    }

    fn packets_per_s(&self) -> f64 {
        self.rate_bit_s / (8.0 * f64::from(self.mean_packet_bytes))
    }
}

/// A RED queue.
#[derive(Clone, Debug)]
pub struct Red {
    room: Room,
    average: Average,
    curve: Curve,
    queue_in_bytes: bool,
    ecn: bool,
    mark_p: Option<f64>,
    adaptive: Option<AdaptiveRed>,
    /// The least `max_p` that is lowered.
    bottom: f64,
    /// When `max_p` last changed, seconds.
    adapted_s: f64,
}

impl Red {
    /// A queue with these parameters, empty since time 0.
    pub fn new(parameters: &RedParameters) -> Self {
        let packets_per_s = parameters.packets_per_s();
        let min = parameters.min_packets.unwrap_or_else(|| automatic_min_packets(parameters.target_delay_s, packets_per_s));
        let max = parameters.max_packets.unwrap_or(3.0 * min);
        let unit = if parameters.queue_in_bytes { f64::from(parameters.mean_packet_bytes) } else { 1.0 };
        let spread = Spread { wait: parameters.wait, bytes: parameters.bytes, mean_packet_bytes: parameters.mean_packet_bytes };
        Self {
            room: Room::new(parameters.limit, parameters.queue_in_bytes.then_some(u64::from(parameters.mean_packet_bytes))),
            average: Average::new(parameters.weight.value(packets_per_s), packets_per_s),
            curve: Curve::new(min * unit, max * unit, parameters.max_p, parameters.gentle, &spread),
            queue_in_bytes: parameters.queue_in_bytes,
            ecn: parameters.ecn,
            mark_p: parameters.mark_p,
            adaptive: parameters.adaptive,
            bottom: parameters.adaptive.and_then(|adaptive| adaptive.bottom).unwrap_or((80_000.0 / parameters.rate_bit_s).min(0.01)),
            adapted_s: 0.0,
        }
    }

    /// The average queue: packets, or bytes if the queue is in bytes.
    pub fn average(&self) -> f64 {
        self.average.value()
    }

    /// `max_p`, as adapted so far.
    pub fn max_p(&self) -> f64 {
        self.curve.max_p
    }

    fn adapt(&mut self, now_s: f64) {
        let Some(adaptive) = self.adaptive else { return };
        if now_s <= self.adapted_s + adaptive.interval_s {
            return;
        }
        let margin = 0.4 * (self.curve.max - self.curve.min);
        let (average, max_p) = (self.average.value(), self.curve.max_p);
        if average < self.curve.min + margin && max_p > self.bottom {
            self.curve.max_p = max_p * adaptive.beta;
        } else if average > self.curve.max - margin && max_p < adaptive.top {
            self.curve.max_p = max_p + adaptive.alpha.min(0.25 * max_p);
        } else {
            return;
        }
        self.adapted_s = now_s;
    }
}

impl Admission for Red {
    #[inline]
    fn admit(&mut self, packet: &Arrival, backlog: &Backlog, random: &mut impl FnMut() -> f64) -> Decision {
        let waiting = if self.queue_in_bytes { backlog.waiting_bytes() } else { backlog.waiting_packets() };
        self.average.update(waiting, idle_s(packet.now_s, backlog));
        self.adapt(packet.now_s);
        self.curve.arrive(packet.size_bytes);
        let verdict = self.curve.judge(self.average.value(), waiting, packet.size_bytes, self.mark_p.is_none(), random);
        if verdict == Verdict::Forced || self.room.is_full(packet.size_bytes, backlog) {
            self.curve.restart();
            return Decision::Drop;
        }
        let under_mark_p = |probability| self.mark_p.is_none_or(|mark_p| probability < mark_p);
        let may_mark = self.ecn && packet.ecn && matches!(verdict, Verdict::Random(probability) if under_mark_p(probability));
        verdict.decision(may_mark)
    }
}
