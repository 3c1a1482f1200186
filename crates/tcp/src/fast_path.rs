//! Fast path of ACK processing: a new ACK at a SACK sender with an empty scoreboard, whose rule and
//! knobs need no more than a new window and the next packet. It has the effect of
//! [`Sender::on_ack_slow_path`] without the tests whose results are known; the unit tests compare
//! both paths field by field.

use crate::{AckSegment, Knobs, Output, Recovery, Sender};
use cwndlab_rules::AckFields;

impl Sender {
    /// Whether the sender's configuration permits the fast path.
    pub(crate) fn supports_fast_path(&self, knobs: &Knobs) -> bool {
        let sends_at_once = self.recovery == Recovery::Sack
            && self.rack.is_none()
            && self.pacer.is_none()
            && self.slow_start.is_none()
            && knobs.max_burst == 0;
        let asks_little = self.rate_sampler.is_none() && !knobs.grow_by_packets;
        sends_at_once && asks_little && knobs.timer_after_sample
    }

    /// Whether `ack` takes the fast path: it acknowledges new data beyond packet 0 (which may be a
    /// SYN), no SACK information or ECE is present, and only new data is left to send.
    #[inline(always)]
    pub(crate) fn takes_fast_path(&self, ack: AckSegment) -> bool {
        let quiet = self.fast_path & !self.in_recovery & !self.scoreboard_in_use & !ack.ece;
        quiet
            && ack.ack > self.last_ack.max(0)
            && ack.ack <= self.highest_sent
            && self.snd_nxt == self.highest_sent + 1
            && self.snd_nxt < self.data_end
    }

    /// Processes an ACK on the fast path.
    #[inline(always)]
    pub(crate) fn on_ack_fast_path(
        &mut self,
        now_s: f64,
        ack: AckSegment,
        knobs: &Knobs,
        out: &mut impl Output,
    ) {
        self.accumulate_cwnd_area(now_s);
        self.count_rtt(now_s, ack);
        let limited =
            knobs.grow_when_limited && self.snd_nxt <= self.highest_ack + self.send_window();
        (self.previous_highest_ack, self.highest_ack, self.last_ack) =
            (self.highest_ack, ack.ack, ack.ack);
        self.dupacks = 0;
        self.after_timeout = false;
        if knobs.timestamps || (self.rtt_active && ack.ack >= self.rtt_seq) {
            self.update_rtt(now_s, ack, knobs);
        }
        self.ecn.ece_at_one_packet = false;
        // With nothing outstanding, sending below would arm the timer again with the same deadline.
        self.arm_timer(now_s);
        if !limited {
            if self.needs.ack == AckFields::Rtt {
                self.grow_by_rtt(now_s - ack.sent_s, knobs);
            } else {
                self.grow_by_cwnd();
            }
            if knobs.cap_window {
                self.cwnd = self.cwnd.min(knobs.window);
            }
        }
        let send_limit = (ack.ack + self.send_window()).min(self.data_end - 1);
        // Nearly every ACK releases one packet: this one is inlined.
        if self.snd_nxt <= send_limit {
            self.output_new(now_s, knobs, out);
            if self.snd_nxt <= send_limit {
                self.output_up_to(send_limit, now_s, knobs, out);
            }
        }
    }

    #[inline(never)]
    fn output_up_to(&mut self, send_limit: i64, now_s: f64, knobs: &Knobs, out: &mut impl Output) {
        while self.snd_nxt <= send_limit {
            self.output_new(now_s, knobs, out);
        }
    }
}

#[cfg(test)]
mod tests;
