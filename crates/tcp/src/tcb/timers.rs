//! Timers of a sender: retransmission and pacing.

use crate::NEVER;

/// The retransmission timer and the packet being timed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RetransmissionTimer {
    pub(crate) deadline_s: f64,
    /// When the timer was armed, seconds.
    pub(crate) armed_at_s: f64,
    /// When the timer would have expired had it not been stopped once all data was acknowledged.
    pub(crate) idle_deadline_s: f64,
    /// A packet is being timed (Karn's algorithm), which one, and when it was sent.
    pub(crate) rtt_active: bool,
    pub(crate) rtt_seq: i64,
    pub(crate) rtt_sent_s: f64,
}

impl Default for RetransmissionTimer {
    fn default() -> Self {
        Self {
            deadline_s: NEVER,
            armed_at_s: 0.0,
            idle_deadline_s: NEVER,
            rtt_active: false,
            rtt_seq: -1,
            rtt_sent_s: 0.0,
        }
    }
}

/// Pacing state of a sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacer {
    /// Earliest departure of the next packet, seconds.
    pub(crate) next_send_s: f64,
    /// When to send packets that pacing holds back, or [`NEVER`].
    pub(crate) deadline_s: f64,
}

impl Default for Pacer {
    fn default() -> Self {
        Self { next_send_s: 0.0, deadline_s: NEVER }
    }
}
