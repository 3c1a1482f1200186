//! Measurement window.

/// The measurement window [from, to).
#[derive(Clone, Copy, Debug, Default)]
pub struct MeasurementWindow {
    /// Start, seconds.
    pub from_s: f64,
    /// End, seconds.
    pub to_s: f64,
}

impl MeasurementWindow {
    /// Whether a time lies within the window.
    #[inline]
    pub fn contains(&self, time_s: f64) -> bool {
        self.from_s <= time_s && time_s < self.to_s
    }

    /// Length of the part of an interval that lies within the window, seconds.
    pub fn overlap_s(&self, from_s: f64, to_s: f64) -> f64 {
        (to_s.min(self.to_s) - from_s.max(self.from_s)).max(0.0)
    }

    /// Its length, seconds.
    pub fn seconds(&self) -> f64 {
        self.to_s - self.from_s
    }
}
