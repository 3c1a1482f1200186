//! Sending end of a link.

use crate::rate::transmitter::Transmitter;

/// How a link sends what its queue lets through.
#[derive(Debug)]
pub struct Line {
    /// Its rate.
    pub transmitter: Transmitter,
    /// Propagation delay, seconds.
    pub delay_s: f64,
}
