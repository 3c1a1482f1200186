//! Pacing: packets leave at intervals of 1/rate (as RFC 9002 section 7.7 describes for QUIC).

use crate::NEVER;

/// Spreads the transmissions of a sender over time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacer {
    /// Earliest departure of the next packet, seconds.
    next_send_s: f64,
    /// When to send packets that pacing holds back, or [`NEVER`].
    deadline_s: f64,
}

impl Default for Pacer {
    fn default() -> Self {
        Self { next_send_s: 0.0, deadline_s: NEVER }
    }
}

impl Pacer {
    /// Whether a packet may leave now; if not, arms the timer.
    #[inline]
    pub(crate) fn allows(&mut self, now_s: f64) -> bool {
        let holds_back = self.next_send_s > now_s;
        if holds_back {
            self.deadline_s = self.next_send_s;
        }
        !holds_back
    }

    /// A packet was sent: the next one leaves 1/rate later.
    pub(crate) fn on_sent(&mut self, now_s: f64, rate_packets_s: f64) {
        self.next_send_s = now_s.max(self.next_send_s) + 1.0 / rate_packets_s;
    }

    /// When the timer expires, or [`NEVER`].
    #[inline]
    pub(crate) fn deadline_s(&self) -> f64 {
        self.deadline_s
    }

    pub(crate) fn stop_timer(&mut self) {
        self.deadline_s = NEVER;
    }
}
