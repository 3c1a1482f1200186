//! Mean of a sum.

/// Mean, if there is a sample.
pub fn mean(sum: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}
