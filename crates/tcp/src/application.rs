//! Application side of the sender: data supply, idle periods (RFC 5681 section 4.1) and closing.

use crate::{Knobs, NEVER, Output, Recovery, Sender, recovery};

impl Sender {
    /// Adds `packets` of application data and sends what the window allows. Before
    /// [`Sender::start`] the data is only queued.
    pub fn supply(&mut self, now_s: f64, packets: u64, knobs: &Knobs, out: &mut impl Output) {
        let was_idle = self.is_finished();
        self.data_end = self.data_end.saturating_add_unsigned(packets);
        if packets == 0 || !self.has_started() {
            return;
        }
        if was_idle {
            self.restart_after_idle(now_s, knobs);
        }
        self.accumulate_cwnd_area(now_s);
        if self.recovery == Recovery::Sack && self.rack.is_none() {
            recovery::sack::send_supply(self, now_s, knobs, out);
        } else {
            self.send_pending_data(now_s, knobs, knobs.max_burst, out);
        }
        if self.deadline_s == NEVER {
            // cwnd is below one packet, so nothing was sent. The timer that ns-2 keeps running
            // while idle reopens cwnd.
            self.deadline_s = self.idle_deadline_s;
        }
    }

    /// Applies what the idle period did to cwnd: a timeout that would have expired (ns-2), or the
    /// restart window (RFC 5681 section 4.1). The timer is stopped while idle because its effect is
    /// not observable before new data arrives.
    fn restart_after_idle(&mut self, now_s: f64, knobs: &Knobs) {
        if now_s >= self.idle_deadline_s && (knobs.slow_start_restart || self.cwnd < 1.0) {
            let expired_s = self.idle_deadline_s;
            self.accumulate_cwnd_area(expired_s);
            self.handle_rto(expired_s, knobs);
        } else if knobs.idle_restart && now_s - self.last_sent_s > self.rtt.rto_s() {
            self.accumulate_cwnd_area(now_s);
            self.cwnd = self.cwnd.min(self.initial_window(knobs));
        }
    }

    /// Closes the application: no data beyond what was sent.
    pub fn stop(&mut self, now_s: f64) {
        self.accumulate_cwnd_area(now_s);
        self.data_end = self.data_end.min(self.highest_sent + 1);
        self.stop_timer_if_finished();
    }

    /// Whether all data is acknowledged.
    pub fn is_finished(&self) -> bool {
        self.highest_ack >= self.data_end - 1
    }

    /// Stops the retransmission timer once all data is acknowledged, and keeps its deadline for
    /// [`Sender::restart_after_idle`].
    pub(crate) fn stop_timer_if_finished(&mut self) {
        if self.is_finished() && self.deadline_s < NEVER {
            self.idle_deadline_s = self.deadline_s;
            self.deadline_s = NEVER;
        }
    }
}
