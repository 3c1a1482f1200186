//! Early detection: the average queue, and the curve of probability over it. RED has one of each, RIO two.
//!
//! Sources and equations are in `red.rs`; the order of the operations is ns-2's (`queue/red.cc`), so that the last digits agree.

use crate::{Backlog, Decision};

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
        // By way of a signed number, which the processor converts itself: nobody has so many packets waiting.
        self.value += self.weight * waiting as i64 as f64;
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
        // Subnormal numbers are slow and never get to 0 by products.
        if self.value < f64::MIN_POSITIVE {
            self.value = 0.0;
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
            mean_packet_bytes: u64::from(spread.mean_packet_bytes.max(1)),
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
        let count = if self.bytes { self.count_bytes / self.mean_packet_bytes } else { self.count } as i64 as f64;
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

/// How long the link has been idle at an arrival, seconds; 0 on a busy one.
#[inline]
pub(crate) fn idle_s(now_s: f64, backlog: &Backlog) -> f64 {
    if backlog.packets == 0 { now_s - backlog.idle_since_s } else { 0.0 }
}
