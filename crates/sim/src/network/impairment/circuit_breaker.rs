//! Circuit breaker of a link (RFC 8084 section 3.1): meters at both ends of the link count packets,
//! and persistent heavy loss stops all of them.
//!
//! Intervals of equal length follow each other. Loss is excessive in one if the packets that were
//! lost in it are more than a share of those that arrived in it. Enough such intervals in a row
//! trigger the breaker, and it drops what arrives; after a pause, if there is one, it counts anew.

use cwndlab_scenario::CircuitBreakerSpec;
use cwndlab_units::Time;

/// A circuit breaker.
#[derive(Clone, Debug)]
pub struct CircuitBreaker {
    /// Share of arrivals whose loss is excessive when it is exceeded.
    loss: f64,
    every_s: f64,
    /// Consecutive intervals with excessive loss that trigger it.
    count: u32,
    pause_s: f64,
    /// Start of the first interval since the start of the run or the last pause, seconds.
    start_s: f64,
    /// Intervals since then.
    intervals: u64,
    /// End of the interval or the pause, seconds.
    end_s: f64,
    is_triggered: bool,
    arrived: u64,
    lost: u64,
    /// Intervals up to now, in a row, with excessive loss.
    excessive: u32,
    triggers: u64,
}

impl CircuitBreaker {
    /// Circuit breaker of a checked scenario.
    pub fn new(spec: &CircuitBreakerSpec) -> Self {
        let every_s = spec.every.seconds();
        Self {
            loss: spec.loss,
            every_s,
            count: spec.count,
            pause_s: spec.pause.map_or(f64::INFINITY, Time::seconds),
            start_s: 0.0,
            intervals: 0,
            end_s: every_s,
            is_triggered: false,
            arrived: 0,
            lost: 0,
            excessive: 0,
            triggers: 0,
        }
    }

    /// When the interval or the pause ends, seconds.
    pub fn end_s(&self) -> f64 {
        self.end_s
    }

    /// How often it has been triggered.
    pub fn triggers(&self) -> u64 {
        self.triggers
    }

    /// A packet arrives; returns whether the breaker drops it.
    pub fn arrive(&mut self) -> bool {
        self.arrived += u64::from(!self.is_triggered);
        self.is_triggered
    }

    /// A packet is lost on the link.
    pub fn lose(&mut self) {
        self.lost += u64::from(!self.is_triggered);
    }

    /// The interval or the pause ends.
    pub fn end(&mut self) {
        // A pause, or an interval without arrivals, has no loss to judge.
        let share = self.lost as f64 / self.arrived.max(1) as f64;
        let is_excessive = self.arrived > 0 && share > self.loss;
        self.excessive = if is_excessive { self.excessive + 1 } else { 0 };
        (self.arrived, self.lost) = (0, 0);
        if std::mem::take(&mut self.is_triggered) {
            (self.start_s, self.intervals) = (self.end_s, 0);
        } else if self.excessive == self.count {
            (self.is_triggered, self.excessive) = (true, 0);
            self.triggers += 1;
            self.end_s += self.pause_s;
            return;
        } else {
            self.intervals += 1;
        }
        // As a product: a sum would drift.
        self.end_s = self.start_s + (self.intervals + 1) as f64 * self.every_s;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaker(json: &str) -> CircuitBreaker {
        CircuitBreaker::new(&serde_json::from_str(json).unwrap())
    }

    /// An interval with so many arrivals and losses; returns how many packets the breaker dropped.
    fn interval(breaker: &mut CircuitBreaker, arrived: u32, lost: u32) -> usize {
        let dropped = (0..arrived).filter(|_| breaker.arrive()).count();
        (0..lost).for_each(|_| breaker.lose());
        breaker.end();
        dropped
    }

    #[test]
    fn three_intervals_in_a_row_trigger_it() {
        let mut breaker = breaker(r#"{"every": "5s"}"#);
        // A tenth is not more than a tenth, and two intervals are not three.
        for (arrived, lost) in [(100, 11), (100, 11), (100, 10), (100, 99), (100, 99)] {
            assert_eq!(interval(&mut breaker, arrived, lost), 0);
        }
        // Without arrivals there is no loss to judge, so that the row ends.
        assert_eq!(interval(&mut breaker, 0, 3), 0);
        for number in 1..=3 {
            assert_eq!((breaker.triggers(), breaker.end_s()), (0, 30.0 + 5.0 * f64::from(number)));
            assert_eq!(interval(&mut breaker, 100, 50), 0);
        }
        // Triggered at 45 s, and for good.
        assert_eq!(
            (breaker.triggers(), breaker.end_s(), breaker.arrive()),
            (1, f64::INFINITY, true)
        );
    }

    #[test]
    fn after_a_pause_it_counts_anew() {
        let mut breaker = breaker(r#"{"loss": 0.5, "every": "2s", "count": 1, "pause": "7s"}"#);
        assert_eq!(interval(&mut breaker, 4, 3), 0);
        // From 2 s to 9 s it drops everything, and counts nothing of it.
        assert_eq!(breaker.end_s(), 9.0);
        assert_eq!(interval(&mut breaker, 10, 10), 10);
        assert_eq!(breaker.end_s(), 11.0);
        assert_eq!(interval(&mut breaker, 4, 2), 0);
        assert_eq!((breaker.triggers(), breaker.end_s()), (1, 13.0));
        assert_eq!(interval(&mut breaker, 4, 3), 0);
        assert_eq!((breaker.triggers(), breaker.end_s()), (2, 20.0));
    }
}
