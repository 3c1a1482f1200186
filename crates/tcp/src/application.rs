//! Application side of the sender: idle periods (RFC 5681 section 4.1) and the end of the data.

use crate::tcb::Tcb;
use crate::{Knobs, NEVER};

impl Tcb {
    /// Applies what the idle period did to cwnd: a timeout that would have expired (ns-2), whose
    /// time is returned, or the restart window (RFC 5681 section 4.1). The timer is stopped while
    /// idle because its effect is not observable before new data arrives.
    #[must_use]
    pub(crate) fn restart_after_idle(&mut self, now_s: f64, knobs: &Knobs) -> Option<f64> {
        let expired_s = self.timer.idle_deadline_s;
        if now_s >= expired_s && (knobs.slow_start_restart || self.cwnd < 1.0) {
            self.accumulate_cwnd_area(expired_s);
            return Some(expired_s);
        }
        // A model-based rule knows the path better than a timer does; Linux spares it too.
        let restarts = knobs.idle_restart && !self.needs.recovery;
        if restarts && now_s - self.last_sent_s > self.rtt.rto_s() {
            self.accumulate_cwnd_area(now_s);
            self.cwnd = self.cwnd.min(self.initial_window(knobs));
        }
        None
    }

    /// Arms the timer that ns-2 keeps running while idle, where nothing was sent because cwnd is
    /// below one packet: it reopens cwnd.
    pub(crate) fn resume_idle_timer(&mut self) {
        if self.timer.deadline_s == NEVER {
            self.timer.deadline_s = self.timer.idle_deadline_s;
        }
    }

    pub(crate) fn has_started(&self) -> bool {
        self.last_event_s < NEVER
    }

    /// Whether all data is acknowledged.
    pub(crate) fn is_finished(&self) -> bool {
        self.highest_ack >= self.data_end - 1
    }

    /// Whether no packet is left to repair: all data is acknowledged, and without
    /// `stop_keeps_last_packet` also the packet that is none any more.
    pub(crate) fn is_repaired(&self) -> bool {
        self.is_finished() && self.highest_ack >= self.highest_sent
    }

    /// Stops the retransmission timer once no packet is left to repair, and keeps its deadline for
    /// [`Tcb::restart_after_idle`].
    pub(crate) fn stop_timer_if_repaired(&mut self) {
        if self.is_repaired() && self.timer.deadline_s < NEVER {
            self.timer.idle_deadline_s = self.timer.deadline_s;
            self.timer.deadline_s = NEVER;
        }
    }
}
