//! The retransmission timer, and the packet being timed (RFC 6298 section 5, Karn's algorithm).

use crate::NEVER;

/// The retransmission timer of a sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RetransmissionTimer {
    /// When it expires, seconds, or [`NEVER`].
    pub(crate) deadline_s: f64,
    /// When it was armed, seconds.
    pub(crate) armed_at_s: f64,
    /// When it would have expired had it not been stopped once all data was acknowledged, or
    /// [`NEVER`] while there is data.
    pub(crate) idle_deadline_s: f64,
    /// A packet is being timed, which one, and when it was sent.
    is_timing: bool,
    timed_packet: i64,
    timed_sent_s: f64,
}

impl Default for RetransmissionTimer {
    fn default() -> Self {
        Self {
            deadline_s: NEVER,
            armed_at_s: 0.0,
            idle_deadline_s: NEVER,
            is_timing: false,
            timed_packet: -1,
            timed_sent_s: 0.0,
        }
    }
}

impl RetransmissionTimer {
    #[inline(always)]
    pub(crate) fn arm(&mut self, now_s: f64, timeout_s: f64) {
        self.deadline_s = now_s + timeout_s;
        self.armed_at_s = now_s;
    }

    #[inline(always)]
    pub(crate) fn is_armed(&self) -> bool {
        self.deadline_s < NEVER
    }

    #[inline(always)]
    pub(crate) fn stop(&mut self) {
        self.deadline_s = NEVER;
    }

    /// Stops because nothing is left to repair, and keeps the deadline for an idle period.
    pub(crate) fn stop_while_idle(&mut self) {
        if self.is_armed() {
            self.idle_deadline_s = self.deadline_s;
            self.stop();
        }
    }

    /// The idle period is over: unless armed since, the timer runs as if it had not been stopped, as
    /// in ns-2.
    pub(crate) fn resume_idle(&mut self) {
        if !self.is_armed() {
            self.deadline_s = self.idle_deadline_s;
        }
        self.idle_deadline_s = NEVER;
    }

    /// Times packet `number`, sent for the first time, unless another packet is being timed.
    #[inline]
    pub(crate) fn time_packet(&mut self, now_s: f64, number: i64) {
        if !self.is_timing {
            self.is_timing = true;
            if number > self.timed_packet {
                (self.timed_packet, self.timed_sent_s) = (number, now_s);
            }
        }
    }

    /// Stops timing a packet, which may be retransmitted.
    pub(crate) fn forget_packet(&mut self) {
        self.is_timing = false;
    }

    /// When the packet being timed was sent, seconds, if `ack` acknowledges it; it is timed no longer.
    #[inline(always)]
    pub(crate) fn take_timed(&mut self, ack: i64) -> Option<f64> {
        if !(self.is_timing && ack >= self.timed_packet) {
            return None;
        }
        self.is_timing = false;
        Some(self.timed_sent_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_period_leaves_its_deadline_to_no_later_one() {
        let mut timer = RetransmissionTimer::default();
        timer.arm(0.25, 0.5);
        timer.stop_while_idle();
        timer.resume_idle();
        assert_eq!(timer.deadline_s, 0.75);
        timer.stop();
        timer.stop_while_idle();
        timer.resume_idle();
        assert!(!timer.is_armed());
    }
}
