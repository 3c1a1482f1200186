//! Goodput per bin of the measurement window: its mean and variance.

use crate::measure::window::MeasurementWindow;

/// Mean and variance of the packets per bin of the measurement window, in one pass over the running
/// count.
#[derive(Clone, Copy, Debug, Default)]
pub struct GoodputBins {
    /// Start of the window, then the end of each bin, then the end of the window, seconds: the only
    /// time that a packet must compare with.
    next_edge_s: f64,
    /// Packets before the current bin.
    before: u64,
    sum_of_squares: f64,
    closed: u32,
    /// Whether the last packet was within the window.
    is_inside: bool,
}

impl GoodputBins {
    /// Bins of a window that starts at `from_s`.
    pub fn new(from_s: f64) -> Self {
        Self { next_edge_s: from_s, ..Self::default() }
    }

    /// The bins of another flow that takes over now.
    pub fn of_another_flow(self) -> Self {
        Self { before: 0, ..self }
    }

    /// Whether a packet at `now_s` is within the window, if no edge lies between it and the packet
    /// before.
    #[inline(always)]
    pub fn is_inside_as_before(&self, now_s: f64) -> Option<bool> {
        (now_s < self.next_edge_s).then_some(self.is_inside)
    }

    /// Whether a packet at `now_s` is within the window; `before` packets within it precede this
    /// one, and times never decrease.
    pub fn is_inside(
        &mut self,
        now_s: f64,
        before: u64,
        window: &MeasurementWindow,
        bin_s: f64,
    ) -> bool {
        while now_s >= self.next_edge_s {
            self.pass_edge(before, window, bin_s);
        }
        self.is_inside
    }

    #[cold]
    #[inline(never)]
    fn pass_edge(&mut self, before: u64, window: &MeasurementWindow, bin_s: f64) {
        if self.is_inside && self.next_edge_s >= window.to_s {
            (self.is_inside, self.next_edge_s) = (false, f64::INFINITY);
            return;
        }
        if self.is_inside {
            self.close(before);
        }
        self.is_inside = true;
        let bin_end_s = window.from_s + f64::from(self.closed + 1) * bin_s;
        self.next_edge_s = bin_end_s.min(window.to_s);
    }

    fn close(&mut self, before: u64) {
        let count = (before - self.before) as f64;
        self.before = before;
        self.sum_of_squares += count * count;
        self.closed += 1;
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
        if u64::from(done.closed) < bins {
            done.close(packets);
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
        let mut bins = GoodputBins::new(0.0);
        for (before, time_s) in [0.1, 1.0, 1.5, 1.999].into_iter().enumerate() {
            assert!(bins.is_inside(time_s, before as u64, &window, 1.0));
        }
        assert!(!bins.is_inside(4.0, 4, &window, 1.0));
        let cov = bins.coefficient_of_variation(4, &window, 1.0).unwrap();
        assert!((cov - 1.5f64.sqrt()).abs() < 1e-12, "{cov}");
    }
}
