//! Goodput per bin of the measurement window: its mean and variance.

use crate::measure::window::MeasurementWindow;

/// Mean and variance of the packets per bin of the measurement window, in one pass over the running
/// count.
#[derive(Clone, Copy, Debug, Default)]
pub struct GoodputBins {
    /// Packets before the current bin, and its end.
    before: u64,
    until_s: f64,
    closed: u64,
    sum_of_squares: f64,
}

impl GoodputBins {
    /// Bins of length `bin_s` from `from_s` on.
    pub fn new(from_s: f64, bin_s: f64) -> Self {
        Self { until_s: from_s + bin_s, ..Self::default() }
    }

    /// The bins of another flow that takes over now.
    pub fn of_another_flow(self) -> Self {
        Self { before: 0, ..self }
    }

    /// Adds a packet within the window, after `before` others; times never decrease.
    #[inline]
    pub fn add(&mut self, now_s: f64, before: u64, window: &MeasurementWindow, bin_s: f64) {
        while now_s >= self.until_s {
            self.close(before, window, bin_s);
        }
    }

    #[cold]
    fn close(&mut self, before: u64, window: &MeasurementWindow, bin_s: f64) {
        let count = (before - self.before) as f64;
        self.before = before;
        self.sum_of_squares += count * count;
        self.closed += 1;
        self.until_s = window.from_s + (self.closed + 1) as f64 * bin_s;
    }

    /// Coefficient of variation (standard deviation over mean) of the rate in whole bins of the
    /// window, with `packets` in total; none without packets or with a single bin.
    pub fn coefficient_of_variation(
        &self,
        packets: u64,
        window: &MeasurementWindow,
        bin_s: f64,
    ) -> Option<f64> {
        // A bin that the end of the window truncates by rounding only still counts.
        let bins = (window.seconds() / bin_s + 1e-9) as u64;
        let mut done = *self;
        if done.closed < bins {
            done.close(packets, window, bin_s);
        }
        let mean = done.before as f64 / bins as f64;
        let variance = done.sum_of_squares / bins as f64 - mean * mean;
        (bins > 1 && mean > 0.0).then(|| variance.max(0.0).sqrt() / mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variation_by_hand() {
        // Bins of 1 s over [0, 4): 1, 3, 0, 0 packets. Mean 1, variance (0 + 4 + 1 + 1)/4 = 1.5.
        let window = MeasurementWindow { from_s: 0.0, to_s: 4.0 };
        let mut bins = GoodputBins::new(0.0, 1.0);
        for (before, time_s) in [0.1, 1.0, 1.5, 1.999].into_iter().enumerate() {
            bins.add(time_s, before as u64, &window, 1.0);
        }
        let cov = bins.coefficient_of_variation(4, &window, 1.0).unwrap();
        assert!((cov - 1.5f64.sqrt()).abs() < 1e-12, "{cov}");
    }
}
