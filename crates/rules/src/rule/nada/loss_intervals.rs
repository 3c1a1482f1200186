//! NADA, average loss interval (RFC 8698 section 4.2): a weighted mean of the packets between the
//! last losses, as TFRC has it (RFC 5348, sections 5.2 and 5.4), but without the interval since the
//! last loss. In TFRC it counts where it raises the mean; its weight is a sixth or more, so that
//! seven means (MULTILOSS) would never pass without loss.

/// Weights of the intervals, the latest first (RFC 5348 section 5.4, n = 8).
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// The last loss intervals, packets.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LossIntervals {
    /// Closed intervals, the latest first, and how many there are.
    closed: [f64; WEIGHTS.len()],
    count: usize,
    /// Packets since the last loss event began.
    open: f64,
    began_s: f64,
}

impl LossIntervals {
    pub(super) fn new() -> Self {
        Self { closed: [0.0; WEIGHTS.len()], count: 0, open: 0.0, began_s: f64::NEG_INFINITY }
    }

    /// Adds packets delivered and lost. Losses within a round trip are one event.
    pub(super) fn add(&mut self, delivered: u64, lost: u64, now_s: f64, rtt_s: f64) {
        self.open += delivered as f64;
        if lost > 0 && now_s - self.began_s >= rtt_s {
            self.closed.rotate_right(1);
            self.closed[0] = self.open;
            self.count = (self.count + 1).min(WEIGHTS.len());
            (self.open, self.began_s) = (0.0, now_s);
        }
        self.open += lost as f64;
    }

    /// Packets since the last loss event, in average loss intervals; none before the first event.
    pub(super) fn since_last_loss(&self) -> Option<f64> {
        let weights = &WEIGHTS[..self.count];
        let sum: f64 =
            self.closed.iter().zip(weights).map(|(packets, weight)| packets * weight).sum();
        let mean = sum / weights.iter().sum::<f64>();
        (self.count > 0).then(|| self.open / mean.max(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(actual: Option<f64>, expected: f64) {
        let actual = actual.unwrap();
        assert!((actual - expected).abs() < 1e-12, "{actual} instead of {expected}");
    }

    #[test]
    fn by_hand() {
        let mut intervals = LossIntervals::new();
        intervals.add(100, 0, 1.0, 0.1);
        assert_eq!(intervals.since_last_loss(), None);
        intervals.add(0, 1, 1.0, 0.1);
        // The average is 100; one packet of the next interval is lost.
        close(intervals.since_last_loss(), 0.01);
        // Within the round trip: the same event.
        intervals.add(4, 1, 1.05, 0.1);
        close(intervals.since_last_loss(), 0.06);
        // An interval of 300, then 51 packets: 51/((300 + 100)/2).
        intervals.add(294, 1, 2.0, 0.1);
        intervals.add(50, 0, 2.0, 0.1);
        close(intervals.since_last_loss(), 0.255);
    }

    #[test]
    fn the_last_eight_count_and_old_ones_less() {
        let mut intervals = LossIntervals::new();
        for number in 0..20 {
            // The lost packet counts in the interval that it begins.
            intervals.add(if number < 15 { 999 } else { 9 }, 1, f64::from(number), 0.1);
        }
        // Five intervals of 10 and three of 1000: 4 x 10 + 0.8 x 10 + (0.6 + 0.4 + 0.2) x 1000 =
        // 1248, over 6.
        close(intervals.since_last_loss(), 1.0 / 208.0);
    }
}
