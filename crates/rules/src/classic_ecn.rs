//! Detection of a bottleneck that marks as RFC 3168 says, by its queue: an AQM of L4S keeps a queue
//! of about a millisecond, which varies little.
//!
//! ```text
//! per ACK:           srtt <- srtt + g (RTT - srtt),  mdev <- mdev + g/2 (|RTT - srtt| - mdev)
//! per update:        c <- c + lg(mdev / 750 us) / 2 + max(0, lg((srtt - RTT_min) / 2 ms)) / 2
//! on marks:          g = 1 / 2^(k + floor(k / 2) + 1),  k = floor(lg w)
//! response to marks: alpha, but at least 0.625 min(max(c - 8, 0), 1)
//! ```
//!
//! The score c is held between 0 and 17: up to 8 the queue counts as one of L4S, from 9 on as a
//! classic one. The 8 on either side are hysteresis.
//!
//! Source: Briscoe and Ahmed 2019 (arXiv 1911.00710), version 2, as in `tcp_prague.c` 0.6 of the L4S
//! team's Linux, whose constants these are. In real numbers instead of whole logarithms with carry.

/// Score up to which the queue is one of L4S.
const STICKY: f64 = 8.0;
/// Reference variation and depth of a queue, seconds.
const VARIATION_S: f64 = 750e-6;
const DEPTH_S: f64 = 2e-3;
/// Least variation, seconds: the resolution of Linux's RTTs.
const LEAST_VARIATION_S: f64 = 1e-6;
/// Alpha at a classic queue: marks leave 1 - 0.625 / 2 = 0.69 of the window, about CUBIC's 0.7.
const CLASSIC_ALPHA: f64 = 0.625;
/// Exponent of the gain before the first mark, and the largest one.
const MOST_SHIFT: u32 = 18;

/// Whether the marks of a path are classic.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassicEcn {
    srtt_s: f64,
    mdev_s: f64,
    gain: f64,
    score: f64,
}

impl ClassicEcn {
    /// A new flow: its marks are taken for those of L4S.
    pub fn new() -> Self {
        let gain = gain(MOST_SHIFT);
        Self { srtt_s: 0.0, mdev_s: LEAST_VARIATION_S, gain, score: 0.0 }
    }

    /// Measures the RTT of an ACK, seconds.
    pub fn measure(&mut self, rtt_s: f64) {
        if self.srtt_s == 0.0 {
            self.srtt_s = rtt_s;
            return;
        }
        let error_s = rtt_s - self.srtt_s;
        self.srtt_s += self.gain * error_s;
        self.mdev_s += self.gain / 2.0 * (error_s.abs() - self.mdev_s);
    }

    /// Marks reduced the window to `cwnd` packets: the averages then span about a sawtooth of it.
    pub fn reduced(&mut self, cwnd: f64) {
        let shift = (cwnd.max(1.0) as u64).ilog2();
        self.gain = gain((shift + shift / 2 + 1).min(MOST_SHIFT));
    }

    /// Judges the queue at an update of alpha.
    pub fn update(&mut self, min_rtt_s: f64) {
        self.score += libm::log2(self.mdev_s.max(LEAST_VARIATION_S) / VARIATION_S) / 2.0;
        self.score += libm::log2((self.srtt_s - min_rtt_s).max(DEPTH_S) / DEPTH_S) / 2.0;
        self.score = self.score.clamp(0.0, 2.0 * STICKY + 1.0);
    }

    /// The least alpha of a response to marks.
    pub fn least_alpha(&self) -> f64 {
        CLASSIC_ALPHA * (self.score - STICKY).clamp(0.0, 1.0)
    }

    /// The score, from 0 (L4S) to 17 (classic).
    pub fn score(&self) -> f64 {
        self.score
    }
}

fn gain(shift: u32) -> f64 {
    1.0 / f64::from(1_u32 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue whose delay is a triangle between two values, seconds, over an RTT of 20 ms.
    fn after_triangles(low_s: f64, high_s: f64, rounds: usize) -> ClassicEcn {
        let mut monitor = ClassicEcn::new();
        monitor.measure(0.02);
        monitor.reduced(32.0);
        for round in 0..rounds {
            for packet in 0..32 {
                let at = (round * 32 + packet) as f64 % 640.0 / 640.0;
                monitor.measure(0.02 + low_s + (high_s - low_s) * (1.0 - 2.0 * at).abs());
            }
            monitor.update(0.02);
        }
        monitor
    }

    #[test]
    fn a_flat_queue_of_a_millisecond_is_one_of_l4s() {
        let monitor = after_triangles(0.0005, 0.0015, 1000);
        assert_eq!((monitor.score(), monitor.least_alpha()), (0.0, 0.0));
    }

    #[test]
    fn a_deep_sawtooth_is_classic() {
        let monitor = after_triangles(0.005, 0.025, 1000);
        assert_eq!((monitor.score(), monitor.least_alpha()), (17.0, 0.625));
    }

    #[test]
    fn score_by_hand() {
        // A variation of 6 ms is three doublings of 750 us, a depth of 8 ms two of 2 ms.
        let mut monitor = ClassicEcn { srtt_s: 0.028, mdev_s: 0.006, gain: 0.25, score: 6.0 };
        monitor.update(0.02);
        assert!((monitor.score() - 8.5).abs() < 1e-9);
        assert!((monitor.least_alpha() - 0.3125).abs() < 1e-9);
        // A fourth of the error, and an eighth of the difference from its size.
        monitor.measure(0.036);
        assert!((monitor.srtt_s - 0.030).abs() < 1e-12 && (monitor.mdev_s - 0.00625).abs() < 1e-12);
        // A window of 20 packets: lg is 4, so 2^-(4 + 2 + 1).
        monitor.reduced(20.0);
        assert_eq!(monitor.gain, 1.0 / 128.0);
    }
}
