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
//! Departures from ns-2: after an idle time of more than [`EXACT_IDLE_STEPS`] packets the decay is one power instead of that many
//! products, which differ in the last digits. `cautious_`, `feng_adaptive_`, `drop_front_` and `drop_rand_` are left out. A limit in bytes
//! holds strictly (ns-2 has none). As in ns-2, adaptive RED leaves the slope of the gentle part at the initial `max_p`.
//! ns-2's `use_mark_p_` also changes RED that marks nothing: see [`RedParameters::mark_p`].

use crate::{Admission, Arrival, Backlog, Decision, Limit};

/// Idle steps that are multiplied out one by one, as ns-2 does.
pub const EXACT_IDLE_STEPS: u64 = 4096;

/// The weight of a new sample in RED's average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weight {
    /// This weight.
    Fixed(f64),
    /// 1 - exp(-1/C), C the link's mean packets in a second (`q_weight_ 0`).
    Automatic,
    /// 1 - exp(-1/(10 R C)), where R is three times the link's delay and a packet's transmission time, at least 0.1 s (`q_weight_ -1`).
    AutomaticWithDelay {
        /// Propagation delay of the link, seconds.
        delay_s: f64,
    },
    /// 1 - exp(-10/C) (`q_weight_ -2`).
    AutomaticFast,
}

impl Weight {
    /// Its value on a link that sends so many mean packets in a second.
    pub fn value(self, packets_per_s: f64) -> f64 {
        match self {
            Self::Fixed(weight) => weight,
            Self::Automatic => 1.0 - libm::exp(-1.0 / packets_per_s),
            Self::AutomaticWithDelay { delay_s } => {
                let round_trip_s = (3.0 * (delay_s + 1.0 / packets_per_s)).max(0.1);
                1.0 - libm::exp(-1.0 / (10.0 * round_trip_s * packets_per_s))
            }
            Self::AutomaticFast => 1.0 - libm::exp(-10.0 / packets_per_s),
        }
    }
}

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

/// The lower threshold that ns-2 chooses for `thresh_ 0`: half of the target queue, at least 5 packets.
pub(crate) fn automatic_min_packets(target_delay_s: f64, packets_per_s: f64) -> f64 {
    (target_delay_s * packets_per_s / 2.0).max(5.0)
}

/// An average queue, decayed over idle times.
#[derive(Clone, Debug)]
pub(crate) struct Average {
    value: f64,
    weight: f64,
    packets_per_s: f64,
}

impl Average {
    pub(crate) fn new(weight: f64, packets_per_s: f64) -> Self {
        Self { value: 0.0, weight, packets_per_s }
    }

    #[inline]
    pub(crate) fn value(&self) -> f64 {
        self.value
    }

    /// An idle time of so long ends (0 on a busy link).
    #[inline]
    pub(crate) fn pass(&mut self, idle_s: f64) {
        if idle_s > 0.0 {
            self.decay((self.packets_per_s * idle_s) as u64);
        }
    }

    /// Takes in what waits now, after an idle time of so long.
    #[inline]
    pub(crate) fn update(&mut self, waiting: u64, idle_s: f64) {
        self.pass(idle_s);
        self.value *= 1.0 - self.weight;
        self.value += self.weight * waiting as f64;
    }

    fn decay(&mut self, steps: u64) {
        if self.value == 0.0 {
            return;
        }
        if steps > EXACT_IDLE_STEPS {
            self.value *= libm::pow(1.0 - self.weight, steps as f64);
            return;
        }
        for _ in 0..steps {
            self.value *= 1.0 - self.weight;
        }
    }
}

/// The curve of probability over the average, and the spreading of losses along it.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) max_p: f64,
    pub(crate) gentle: bool,
    /// Between the thresholds: slope and value at 0, in units of `max_p`.
    slope: f64,
    at_zero: f64,
    /// Beyond: the same.
    gentle_slope: f64,
    gentle_at_zero: f64,
    wait: bool,
    bytes: bool,
    mean_packet_bytes: u64,
    /// Since the last loss at random: arrivals, and their bytes.
    count: u64,
    count_bytes: u64,
    /// Whether the last arrival was above `min` too.
    above: bool,
}

/// How the arrivals along a [`Curve`] are tested.
pub(crate) struct Spread {
    pub(crate) wait: bool,
    pub(crate) bytes: bool,
    pub(crate) mean_packet_bytes: u32,
}

/// What the curve says about an arrival.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Verdict {
    /// No loss.
    Pass,
    /// A loss at random, or a mark; with the probability before it was spread.
    Random(f64),
    /// A loss in any case.
    Forced,
}

impl Verdict {
    /// What becomes of the packet, marked instead of lost at random if it may be.
    #[inline]
    pub(crate) fn decision(self, may_mark: bool) -> Decision {
        match self {
            Self::Pass => Decision::Accept,
            Self::Random(_) if may_mark => Decision::Mark,
            Self::Random(_) | Self::Forced => Decision::Drop,
        }
    }
}

impl Curve {
    pub(crate) fn new(min: f64, max: f64, max_p: f64, gentle: bool, spread: &Spread) -> Self {
        let width = if max == min { 1.0 } else { max - min };
        Self {
            min,
            max,
            max_p,
            gentle,
            slope: 1.0 / width,
            at_zero: -min / width,
            gentle_slope: (1.0 - max_p) / max,
            gentle_at_zero: 2.0 * max_p - 1.0,
            wait: spread.wait,
            bytes: spread.bytes,
            mean_packet_bytes: u64::from(spread.mean_packet_bytes),
            count: 0,
            count_bytes: 0,
            above: false,
        }
    }

    /// Counts an arrival.
    #[inline]
    pub(crate) fn arrive(&mut self, size_bytes: u32) {
        self.count += 1;
        self.count_bytes += u64::from(size_bytes);
    }

    /// A packet was lost or marked.
    #[inline]
    pub(crate) fn restart(&mut self) {
        self.count = 0;
        self.count_bytes = 0;
    }

    /// What becomes of an arrival that [`Curve::arrive`] has counted, with this average and so much waiting. `forced`: whether all are
    /// lost beyond the curve's end, instead of tested with probability 1.
    #[inline]
    pub(crate) fn judge(&mut self, average: f64, waiting: u64, size_bytes: u32, forced: bool, random: &mut impl FnMut() -> f64) -> Verdict {
        if average < self.min || waiting <= 1 {
            self.above = false;
            return Verdict::Pass;
        }
        if forced && average >= if self.gentle { 2.0 * self.max } else { self.max } {
            return Verdict::Forced;
        }
        if !self.above {
            self.above = true;
            self.count = 1;
            self.count_bytes = u64::from(size_bytes);
            return Verdict::Pass;
        }
        let probability = self.probability(average);
        if random() <= self.spread(probability, size_bytes) {
            self.restart();
            return Verdict::Random(probability);
        }
        Verdict::Pass
    }

    fn probability(&self, average: f64) -> f64 {
        let probability = if average < self.max {
            (self.slope * average + self.at_zero) * self.max_p
        } else if self.gentle {
            self.gentle_slope * average + self.gentle_at_zero
        } else {
            1.0
        };
        probability.min(1.0)
    }

    /// Makes loss intervals uniform instead of geometric (Floyd and Jacobson 1993, section VII).
    fn spread(&self, probability: f64, size_bytes: u32) -> f64 {
        let count = if self.bytes { self.count_bytes / self.mean_packet_bytes } else { self.count } as f64;
        let reach = count * probability;
        let spread = match self.wait {
            true if reach < 1.0 => 0.0,
            true if reach < 2.0 => probability / (2.0 - reach),
            false if reach < 1.0 => probability / (1.0 - reach),
            _ => 1.0,
        };
        if self.bytes && spread < 1.0 {
            return (spread * f64::from(size_bytes) / self.mean_packet_bytes as f64).min(1.0);
        }
        spread.min(1.0)
    }
}

/// A buffer in which the packet in service takes no room.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    limit: Limit,
    /// The mean packet, where a limit in packets means so many bytes.
    bytes_per_packet: Option<u64>,
}

impl Room {
    pub(crate) fn new(limit: Limit, bytes_per_packet: Option<u64>) -> Self {
        Self { limit, bytes_per_packet }
    }

    /// Whether an arriving packet finds no room. On an idle link it goes straight into service and needs none.
    #[inline]
    pub(crate) fn is_full(&self, size_bytes: u32, backlog: &Backlog) -> bool {
        backlog.packets > 0
            && match (self.limit, self.bytes_per_packet) {
                (Limit::Packets(limit), None) => backlog.waiting_packets() >= limit,
                (Limit::Packets(limit), Some(mean)) => backlog.waiting_bytes() >= limit.saturating_mul(mean),
                (Limit::Bytes(limit), _) => backlog.waiting_bytes() + u64::from(size_bytes) > limit,
            }
    }
}

/// How long the link has been idle at an arrival, seconds; 0 on a busy one.
#[inline]
pub(crate) fn idle_s(now_s: f64, backlog: &Backlog) -> f64 {
    if backlog.packets == 0 { now_s - backlog.idle_since_s } else { 0.0 }
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
