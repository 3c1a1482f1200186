//! Base delay: the minimum delay of the last ten minutes, kept per minute, so that a change of
//! route is noticed (RFC 6817 section 3.4.2, BASE_HISTORY; RFC 8698 section 5.1.1).

const MINUTES: usize = 10;

/// Minimum delay of the last ten minutes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BaseDelay {
    /// Minimum of each minute, seconds.
    minima_s: [f64; MINUTES],
    minute: u64,
}

impl BaseDelay {
    pub(crate) fn new() -> Self {
        Self { minima_s: [f64::INFINITY; MINUTES], minute: 0 }
    }

    /// Adds a sample; time never goes back.
    pub(crate) fn update(&mut self, now_s: f64, delay_s: f64) {
        let minute = (now_s / 60.0) as u64;
        for passed in (self.minute + 1..=minute).take(MINUTES) {
            self.minima_s[passed as usize % MINUTES] = f64::INFINITY;
        }
        if minute > self.minute + MINUTES as u64 {
            self.minima_s = [f64::INFINITY; MINUTES];
        }
        self.minute = minute;
        let slot = &mut self.minima_s[minute as usize % MINUTES];
        *slot = slot.min(delay_s);
    }

    /// The minimum, seconds; infinite before the first sample.
    pub(crate) fn value_s(&self) -> f64 {
        self.minima_s.iter().copied().fold(f64::INFINITY, f64::min)
    }
}
