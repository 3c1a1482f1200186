//! The way of nearly every acknowledgement: it covers new data of a SACK sender whose scoreboard is empty, and neither rule nor knobs ask
//! for more than another window and the next packet. What it does is what [`Sender::on_ack_in_general`] would do, without the questions
//! whose answers are known (its tests have senders with and without it side by side).

use crate::{AckSegment, Knobs, Output, Recovery, Sender};

impl Sender {
    /// Whether a sender like this may take the short way at all.
    pub(crate) fn has_short_way(&self, knobs: &Knobs) -> bool {
        let sends_at_once = self.recovery == Recovery::Sack && self.rack.is_none() && self.pacer.is_none() && knobs.max_burst == 0;
        let asks_little = self.told.is_none() && !knobs.grow_by_packets;
        sends_at_once && asks_little && knobs.timer_after_sample
    }

    /// Whether this acknowledgement may: it covers new data beyond the first packet (a SYN, perhaps), more data is still to be sent for the
    /// first time, all before it was, and no report is on the scoreboard.
    #[inline(always)]
    pub(crate) fn is_steady(&self, ack: AckSegment) -> bool {
        let quiet = self.short_way & !self.in_recovery & !self.board_in_use & !ack.ece;
        quiet
            && ack.ack > self.last_ack.max(0)
            && ack.ack <= self.highest_sent
            && self.next == self.highest_sent + 1
            && self.next < self.limit
    }

    /// Such an acknowledgement.
    #[inline(always)]
    pub(crate) fn on_steady_ack(&mut self, now_s: f64, ack: AckSegment, knobs: &Knobs, out: &mut impl Output) {
        self.settle(now_s);
        self.count_round_trip(now_s, ack);
        let limited = knobs.grow_when_limited && self.next <= self.highest_ack + self.window();
        (self.previous_highest_ack, self.highest_ack, self.last_ack) = (self.highest_ack, ack.ack, ack.ack);
        self.dupacks = 0;
        self.after_timeout = false;
        if knobs.timestamps || (self.rtt_active && ack.ack >= self.rtt_number) {
            self.learn_round_trip(now_s, ack, knobs);
        }
        self.ecn.at_one_packet = false;
        // If nothing is outstanding, what is sent below would arm it once more, with the same result.
        self.arm_timer(now_s);
        if !limited {
            if self.by_formula {
                self.grow_by_formula(now_s - ack.sent_s, knobs);
            } else {
                self.grow_by_window();
            }
            if knobs.cap_window {
                self.cwnd = self.cwnd.min(knobs.window);
            }
        }
        let allowed = (ack.ack + self.window()).min(self.limit - 1);
        // Nearly always one packet: in line.
        if self.next <= allowed {
            self.output_new(now_s, knobs, out);
            if self.next <= allowed {
                self.output_up_to(allowed, now_s, knobs, out);
            }
        }
    }

    #[inline(never)]
    fn output_up_to(&mut self, allowed: i64, now_s: f64, knobs: &Knobs, out: &mut impl Output) {
        while self.next <= allowed {
            self.output_new(now_s, knobs, out);
        }
    }
}

#[cfg(test)]
mod tests;
