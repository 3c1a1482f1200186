//! The application's side of a sender: how much data there is, and what idling costs (RFC 5681 section 4.1).

use crate::{Knobs, NEVER, Output, Recovery, Sender, recovery};

impl Sender {
    /// The application has `packets` more of data: sends what the window allows of it. Before the start it is only noted.
    pub fn supply(&mut self, now_s: f64, packets: u64, knobs: &Knobs, out: &mut impl Output) {
        let was_idle = self.is_finished();
        self.limit = self.limit.saturating_add_unsigned(packets);
        if packets == 0 || !self.has_started() {
            return;
        }
        if was_idle {
            self.end_idling(now_s, knobs);
        }
        self.settle(now_s);
        if self.recovery == Recovery::Sack && self.rack.is_none() {
            recovery::sack::send_supply(self, now_s, knobs, out);
        } else {
            self.send_much(now_s, knobs, knobs.max_burst, out);
        }
        if self.deadline_s == NEVER {
            // A window below one packet: the timer that went on while there was no data opens it.
            self.deadline_s = self.idle_deadline_s;
        }
    }

    /// What has become of the window while all data was acknowledged. Nobody could tell until now, so the timer did not run.
    fn end_idling(&mut self, now_s: f64, knobs: &Knobs) {
        if now_s >= self.idle_deadline_s && (knobs.slow_start_restart || self.cwnd < 1.0) {
            let expired_s = self.idle_deadline_s;
            self.settle(expired_s);
            self.expire(expired_s, knobs);
        } else if knobs.idle_restart && now_s - self.sent_s > self.rtt.timeout_s() {
            self.settle(now_s);
            self.cwnd = self.cwnd.min(self.initial_window(knobs));
        }
    }

    /// Stops for good: the application closed.
    pub fn stop(&mut self, now_s: f64) {
        self.settle(now_s);
        self.limit = self.limit.min(self.highest_sent + 1);
        self.finish_if_done();
    }

    /// Whether all data was acknowledged.
    pub fn is_finished(&self) -> bool {
        self.highest_ack >= self.limit - 1
    }

    /// All data was acknowledged: the timer stops, but when it would have expired counts if there is more one day.
    pub(crate) fn finish_if_done(&mut self) {
        if self.is_finished() && self.deadline_s < NEVER {
            self.idle_deadline_s = self.deadline_s;
            self.deadline_s = NEVER;
        }
    }
}
