//! A flow's own link, which it shares with nobody.

use crate::rate::Constant;

/// A flow's own link: no loss, no limit, no metrics; arithmetic only.
#[derive(Clone, Debug)]
pub struct Pipe {
    serializer: Option<Constant>,
    free_s: f64,
    delay_s: f64,
}

impl Pipe {
    /// An idle pipe; without a rate it only delays.
    pub fn new(rate_bps: Option<u64>, delay_s: f64) -> Self {
        Self { serializer: rate_bps.map(Constant::new), free_s: 0.0, delay_s }
    }

    /// A packet enters at `now`. Returns when it reaches the other end, and when its transmission begins.
    #[inline]
    pub fn pass(&mut self, now: f64, size_bytes: u16) -> (f64, f64) {
        let Some(serializer) = &mut self.serializer else { return (now + self.delay_s, now) };
        let start = if self.free_s > now { self.free_s } else { now };
        let transmission = serializer.transmission_s(u32::from(size_bytes));
        self.free_s = start + transmission;
        (start + (transmission + self.delay_s), start)
    }
}
