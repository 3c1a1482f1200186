//! RED (random early detection): drops or marks arriving packets with a probability that grows with
//! the average queue.
//!
//! Source: S. Floyd and V. Jacobson, "Random Early Detection Gateways for Congestion Avoidance",
//! IEEE/ACM ToN 1(4), 1993, packet for packet as in ns-2 2.35 (`queue/red.cc`). Adaptive: S. Floyd,
//! R. Gummadi and S. Shenker, "Adaptive RED", 2001, section 4.
//!
//! At every arrival, before the packet is enqueued, with `q` the packets *waiting* (without the one
//! in service):
//! * `avg = (1-w)^(m+1) avg + w q`, where `m` is 0, or, on an idle link, the number of mean packets
//!   it could have sent since it went idle.
//! * No drop while `avg < min` or `q <= 1`. The first arrival above `min` is accepted.
//! * `min <= avg < max`: `pb = max_p (avg-min)/(max-min)`. Gentle and `max <= avg < 2 max`: `pb =
//!   (1-max_p)/max avg + 2 max_p - 1`. Beyond, every packet is dropped.
//! * With `n` arrivals since the last drop (this one included), intervals between drops are made
//!   uniform: `pa = pb/(1 - n pb)`; with `wait`, 0 while `n pb < 1`, then `pb/(2 - n pb)`. A packet
//!   is dropped or marked if a number uniform in [0, 1) is at most `pa`.
//! * Byte mode (`bytes`): `n` counts bytes in units of mean packets, and `pa` is proportional to
//!   the packet's size.
//! * A full buffer drops the arriving packet, even one that would be marked.
//! * Adaptive, once more than `interval` has passed since `max_p` last changed: `max_p *= beta` if
//!   `avg` is below `min + 0.4 (max-min)` and `max_p > bottom`; `max_p += min(alpha, max_p/4)` if
//!   `avg` is above `max - 0.4 (max-min)` and `max_p < top`.
//!
//! Parameters: [`RedParameters`] and [`AdaptiveRed`]; each names ns-2's.
//!
//! Departures from ns-2: after an idle time of more than [`crate::EXACT_IDLE_STEPS`] packets the
//! decay is one power instead of that many products, which differ in the last digits. `cautious_`,
//! `feng_adaptive_`, `drop_front_` and `drop_rand_` are left out. A limit in bytes holds strictly
//! (ns-2 has none). As in ns-2, adaptive RED leaves the slope of the gentle part at the initial
//! `max_p`. ns-2's `use_mark_p_` also changes RED that marks nothing: see
//! [`RedParameters::mark_p`].

use crate::admission::{Admission, ArrivingPacket, Backlog, Decision};
use crate::buffer_limit::{BufferLimit, Limit};
use crate::early_detection::{
    AverageQueue, DropSpacing, EarlyDetection, EarlyDrop, Weight, automatic_min_packets, idle_s,
};

/// Parameters of adaptive RED (Floyd, Gummadi and Shenker 2001, section 4).
///
/// ```
/// use cwndlab_queues::{AdaptiveRed, Limit, Red, RedParameters};
/// let parameters = RedParameters {
///     adaptive: Some(AdaptiveRed { interval_s: 1.0, ..AdaptiveRed::default() }),
///     ..RedParameters::new(Limit::Packets(50), 10e6, 1000)
/// };
/// assert_eq!(Red::new(&parameters).max_p(), 0.1); // until the first interval has passed
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptiveRed {
    /// Increment of `max_p`, at most a quarter of it (`alpha_`).
    pub alpha: f64,
    /// Factor of `max_p` (`beta_`).
    pub beta: f64,
    /// Time between changes, seconds (`interval_`).
    pub interval_s: f64,
    /// `max_p` from which it is not raised (`top_`).
    pub top: f64,
    /// `max_p` down from which it is not lowered; the smaller of 0.01 and 80 kbit/s over the rate
    /// when absent (`bottom_ 0`).
    pub bottom: Option<f64>,
}

impl Default for AdaptiveRed {
    fn default() -> Self {
        Self { alpha: 0.01, beta: 0.9, interval_s: 0.5, top: 0.5, bottom: None }
    }
}

/// Parameters of a RED queue.
///
/// ```
/// use cwndlab_queues::{Limit, RedParameters};
/// let parameters = RedParameters {
///     min_packets: Some(5.0),
///     max_packets: Some(15.0),
///     ecn: true,
///     ..RedParameters::new(Limit::Packets(50), 10e6, 1000)
/// };
/// assert!(parameters.gentle && parameters.wait); // ns-2's defaults
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedParameters {
    /// Buffer limit, without the packet in service (`limit_`). A limit in packets means mean
    /// packets when the queue is in bytes, and is then exceeded by part of a packet, as in ns-2.
    pub limit: Limit,
    /// Nominal rate of the link.
    pub rate_bit_s: f64,
    /// Mean packet size (`mean_pktsize_`).
    pub mean_packet_bytes: u32,
    /// Lower threshold of the average queue, packets (`thresh_`). When absent, half of what the
    /// link sends in `target_delay_s`, at least 5.
    pub min_packets: Option<f64>,
    /// Upper threshold of the average queue, packets (`maxthresh_`): all packets are dropped beyond
    /// it, or the gentle part begins. Three times `min` when absent.
    pub max_packets: Option<f64>,
    /// Drop probability at `max`, before spacing (`1/linterm_`).
    pub max_p: f64,
    /// Weight of a new sample in the average (`q_weight_`).
    pub weight: Weight,
    /// Whether the probability rises to 1 between `max` and twice `max` instead of at once
    /// (`gentle_`).
    pub gentle: bool,
    /// Whether drops keep a minimum spacing (`wait_`).
    pub wait: bool,
    /// Whether the probability is proportional to the packet's size (`bytes_`).
    pub bytes: bool,
    /// Whether the average counts bytes (`queue_in_bytes_`); thresholds are then in mean packets.
    pub queue_in_bytes: bool,
    /// Whether ECT packets are marked instead of dropped early (`setbit_`).
    pub ecn: bool,
    /// Probability `pb` from which ECT packets are dropped too (`use_mark_p_`, `mark_p_`). In ns-2
    /// it affects all packets, and so here: beyond `max` (or 2 `max`) the first arrival is accepted
    /// as it is above `min`. Without it those are always dropped.
    pub mark_p: Option<f64>,
    /// Adapts `max_p` (`adaptive_`).
    pub adaptive: Option<AdaptiveRed>,
    /// Delay for which an automatic `min` is chosen (`targetdelay_`).
    pub target_delay_s: f64,
}

impl RedParameters {
    /// Automatic thresholds and weight; gentle; in packets; dropping.
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
///
/// ```
/// use cwndlab_queues::{Admission, Limit, Red, RedParameters, Weight};
/// # use cwndlab_queues::{ArrivingPacket, Backlog, Decision};
/// # let arriving = |ecn| ArrivingPacket { now_s: 1.0, size_bytes: 1000, flow: 0, ecn,
/// #     priority: 1 };
/// # let backlog = |packets| Backlog { packets, bytes: 1000 * packets,
/// #     in_service_bytes: 1000.min(1000 * packets), ..Backlog::default() };
/// let mut red = Red::new(&RedParameters {
///     min_packets: Some(5.0),
///     max_packets: Some(15.0),
///     weight: Weight::Fixed(1.0), // no memory: the average is the queue
///     ..RedParameters::new(Limit::Packets(50), 10e6, 1000)
/// });
/// red.admit(&arriving(false), &backlog(11), &mut || 0.5);
/// assert_eq!(red.average(), 10.0); // without the packet in service
/// assert!((red.probability() - 0.05).abs() < 1e-12); // half of max_p
/// ```
#[derive(Clone, Debug)]
pub struct Red {
    buffer_limit: BufferLimit,
    average: AverageQueue,
    detection: EarlyDetection,
    queue_in_bytes: bool,
    mean_packet_bytes: u32,
    ecn: bool,
    mark_p: Option<f64>,
    adaptive: Option<AdaptiveRed>,
    /// Smallest `max_p` that is lowered.
    bottom: f64,
    /// When `max_p` last changed, seconds.
    adapted_s: f64,
}

impl Red {
    /// A queue that is empty from time 0.
    pub fn new(parameters: &RedParameters) -> Self {
        let packets_per_s = parameters.packets_per_s();
        let min = parameters
            .min_packets
            .unwrap_or_else(|| automatic_min_packets(parameters.target_delay_s, packets_per_s));
        let max = parameters.max_packets.unwrap_or(3.0 * min);
        let unit =
            if parameters.queue_in_bytes { f64::from(parameters.mean_packet_bytes) } else { 1.0 };
        let spacing = DropSpacing {
            wait: parameters.wait,
            bytes: parameters.bytes,
            mean_packet_bytes: parameters.mean_packet_bytes,
        };
        Self {
            buffer_limit: BufferLimit::new(
                parameters.limit,
                parameters.queue_in_bytes.then_some(u64::from(parameters.mean_packet_bytes)),
            ),
            average: AverageQueue::new(parameters.weight.value(packets_per_s), packets_per_s),
            detection: EarlyDetection::new(
                min * unit,
                max * unit,
                parameters.max_p,
                parameters.gentle,
                &spacing,
            ),
            queue_in_bytes: parameters.queue_in_bytes,
            mean_packet_bytes: parameters.mean_packet_bytes,
            ecn: parameters.ecn,
            mark_p: parameters.mark_p,
            adaptive: parameters.adaptive,
            bottom: parameters
                .adaptive
                .and_then(|adaptive| adaptive.bottom)
                .unwrap_or((80_000.0 / parameters.rate_bit_s).min(0.01)),
            adapted_s: 0.0,
        }
    }

    /// The average queue: packets, or bytes if the queue is in bytes.
    pub fn average(&self) -> f64 {
        self.average.value()
    }

    /// The average queue in packets, or in mean packets if the queue is in bytes.
    pub fn average_packets(&self) -> f64 {
        let bytes = if self.queue_in_bytes { f64::from(self.mean_packet_bytes) } else { 1.0 };
        self.average() / bytes
    }

    /// Probability of an early drop at the present average, before drops are spaced.
    pub fn probability(&self) -> f64 {
        self.detection.probability(self.average()).max(0.0)
    }

    /// `max_p`, as adapted so far.
    pub fn max_p(&self) -> f64 {
        self.detection.max_p
    }

    fn adapt(&mut self, now_s: f64) {
        let Some(adaptive) = self.adaptive else { return };
        if now_s <= self.adapted_s + adaptive.interval_s {
            return;
        }
        let margin = 0.4 * (self.detection.max - self.detection.min);
        let (average, max_p) = (self.average.value(), self.detection.max_p);
        if average < self.detection.min + margin && max_p > self.bottom {
            self.detection.max_p = max_p * adaptive.beta;
        } else if average > self.detection.max - margin && max_p < adaptive.top {
            self.detection.max_p = max_p + adaptive.alpha.min(0.25 * max_p);
        } else {
            return;
        }
        self.adapted_s = now_s;
    }
}

impl Admission for Red {
    #[inline]
    fn admit(
        &mut self,
        packet: &ArrivingPacket,
        backlog: &Backlog,
        random: &mut impl FnMut() -> f64,
    ) -> Decision {
        let waiting =
            if self.queue_in_bytes { backlog.waiting_bytes() } else { backlog.waiting_packets() };
        self.average.update(waiting, idle_s(packet.now_s, backlog));
        self.adapt(packet.now_s);
        self.detection.count_arrival(packet.size_bytes);
        let early_drop = self.detection.test(
            self.average.value(),
            waiting,
            packet.size_bytes,
            self.mark_p.is_none(),
            random,
        );
        if early_drop == EarlyDrop::Forced || self.buffer_limit.is_full(packet.size_bytes, backlog)
        {
            self.detection.reset_count();
            return Decision::Drop;
        }
        let under_mark_p = |probability| self.mark_p.is_none_or(|mark_p| probability < mark_p);
        let may_mark = self.ecn
            && packet.ecn
            && matches!(early_drop, EarlyDrop::Unforced(probability) if under_mark_p(probability));
        early_drop.decision(may_mark)
    }
}
