//! Early detection: the average queue (EWMA) and the drop probability as a function of it. RED has
//! one of each, RIO two.
//!
//! Sources and equations are in `discipline/red.rs`. The order of operations is that of ns-2
//! (`queue/red.cc`), so that the last digits agree.

use crate::admission::{Backlog, Decision};

/// Idle steps up to which the average is multiplied step by step, as in ns-2.
pub const EXACT_IDLE_STEPS: u64 = 4096;

/// Weight of a new sample in the average queue.
///
/// ```
/// use cwndlab_queues::Weight;
/// assert_eq!(Weight::Fixed(0.002).value(1250.0), 0.002);
/// // 10 Mbit/s are 1250 packets of 1000 bytes per second.
/// let automatic = Weight::Automatic.value(1250.0);
/// assert!((automatic - 1.0 / 1250.0).abs() < 1e-6);
/// assert!(Weight::AutomaticFast.value(1250.0) > 9.0 * automatic);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weight {
    /// A fixed weight.
    Fixed(f64),
    /// 1 - exp(-1/C), where C is the link's rate in mean packets per second (`q_weight_ 0`).
    Automatic,
    /// 1 - exp(-1/(10 R C)), where R is three times the link's delay plus a packet's transmission
    /// time, at least 0.1 s (`q_weight_ -1`).
    AutomaticWithDelay {
        /// Propagation delay of the link, seconds.
        delay_s: f64,
    },
    /// 1 - exp(-10/C) (`q_weight_ -2`).
    AutomaticFast,
}

impl Weight {
    /// The weight on a link of `packets_per_s` mean packets per second.
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

/// The lower threshold that ns-2 chooses for `thresh_ 0`: half of the target queue, at least 5
/// packets.
pub(crate) fn automatic_min_packets(target_delay_s: f64, packets_per_s: f64) -> f64 {
    (target_delay_s * packets_per_s / 2.0).max(5.0)
}

/// Average queue: an EWMA that decays over idle times.
#[derive(Clone, Debug)]
pub(crate) struct AverageQueue {
    value: f64,
    weight: f64,
    packets_per_s: f64,
}

impl AverageQueue {
    pub(crate) fn new(weight: f64, packets_per_s: f64) -> Self {
        Self { value: 0.0, weight, packets_per_s }
    }

    #[inline]
    pub(crate) fn value(&self) -> f64 {
        self.value
    }

    /// Decays the average over an idle time (0 on a busy link).
    #[inline]
    pub(crate) fn decay_idle(&mut self, idle_s: f64) {
        if idle_s > 0.0 {
            self.decay((self.packets_per_s * idle_s) as u64);
        }
    }

    /// Adds a sample of what waits after an idle time.
    #[inline]
    pub(crate) fn update(&mut self, waiting: u64, idle_s: f64) {
        self.decay_idle(idle_s);
        self.value *= 1.0 - self.weight;
        // Conversion from a signed integer is one instruction; the count fits.
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
        // Subnormal numbers are slow and never reach 0 by multiplication.
        if self.value < f64::MIN_POSITIVE {
            self.value = 0.0;
        }
    }
}

/// Drop probability as a function of the average queue, and the spacing of drops.
#[derive(Clone, Debug)]
pub(crate) struct EarlyDetection {
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) max_p: f64,
    pub(crate) gentle: bool,
    /// Between the thresholds: slope and value at 0, in units of `max_p`.
    slope: f64,
    at_zero: f64,
    /// Gentle part above `max`: slope and value at 0.
    gentle_slope: f64,
    gentle_at_zero: f64,
    wait: bool,
    bytes: bool,
    mean_packet_bytes: u64,
    /// Arrivals since the last drop, and their bytes.
    count: u64,
    count_bytes: u64,
    /// Whether the average was at least `min` at the last arrival.
    was_above_min: bool,
}

/// How drops are spaced.
pub(crate) struct DropSpacing {
    pub(crate) wait: bool,
    pub(crate) bytes: bool,
    pub(crate) mean_packet_bytes: u32,
}

/// Outcome of early detection for an arrival, in ns-2's terms.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum EarlyDrop {
    /// No drop.
    None,
    /// Unforced (early) drop or mark, with the probability before spacing.
    Unforced(f64),
    /// Forced drop.
    Forced,
}

impl EarlyDrop {
    /// The decision, with a mark in place of an unforced drop if `may_mark`.
    #[inline]
    pub(crate) fn decision(self, may_mark: bool) -> Decision {
        match self {
            Self::None => Decision::Accept,
            Self::Unforced(_) if may_mark => Decision::Mark,
            Self::Unforced(_) | Self::Forced => Decision::Drop,
        }
    }
}

impl EarlyDetection {
    pub(crate) fn new(min: f64, max: f64, max_p: f64, gentle: bool, spacing: &DropSpacing) -> Self {
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
            wait: spacing.wait,
            bytes: spacing.bytes,
            mean_packet_bytes: u64::from(spacing.mean_packet_bytes.max(1)),
            count: 0,
            count_bytes: 0,
            was_above_min: false,
        }
    }

    /// Counts an arrival.
    #[inline]
    pub(crate) fn count_arrival(&mut self, size_bytes: u32) {
        self.count += 1;
        self.count_bytes += u64::from(size_bytes);
    }

    /// Restarts the count after a drop or mark.
    #[inline]
    pub(crate) fn reset_count(&mut self) {
        self.count = 0;
        self.count_bytes = 0;
    }

    /// Tests an arrival that [`EarlyDetection::count_arrival`] counted, at this average with
    /// `waiting` packets or bytes. `forced`: beyond the last threshold every packet is dropped
    /// instead of tested with probability 1.
    #[inline]
    pub(crate) fn test(
        &mut self,
        average: f64,
        waiting: u64,
        size_bytes: u32,
        forced: bool,
        random: &mut impl FnMut() -> f64,
    ) -> EarlyDrop {
        if average < self.min || waiting <= 1 {
            self.was_above_min = false;
            return EarlyDrop::None;
        }
        if forced && average >= if self.gentle { 2.0 * self.max } else { self.max } {
            return EarlyDrop::Forced;
        }
        if !self.was_above_min {
            self.was_above_min = true;
            self.count = 1;
            self.count_bytes = u64::from(size_bytes);
            return EarlyDrop::None;
        }
        let probability = self.probability(average);
        if random() <= self.spaced_probability(probability, size_bytes) {
            self.reset_count();
            return EarlyDrop::Unforced(probability);
        }
        EarlyDrop::None
    }

    /// Probability at this average, before drops are spaced.
    pub(crate) fn probability(&self, average: f64) -> f64 {
        let probability = if average < self.max {
            (self.slope * average + self.at_zero) * self.max_p
        } else if self.gentle {
            self.gentle_slope * average + self.gentle_at_zero
        } else {
            1.0
        };
        probability.min(1.0)
    }

    /// Makes intervals between drops uniform instead of geometric (Floyd and Jacobson 1993, section
    /// VII).
    fn spaced_probability(&self, probability: f64, size_bytes: u32) -> f64 {
        let count = if self.bytes { self.count_bytes / self.mean_packet_bytes } else { self.count }
            as i64 as f64;
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

/// Idle time of the link before an arrival, seconds; 0 on a busy link.
#[inline]
pub(crate) fn idle_s(now_s: f64, backlog: &Backlog) -> f64 {
    if backlog.packets == 0 { now_s - backlog.idle_since_s } else { 0.0 }
}
