//! Header prediction (V. Jacobson 1990, "4BSD Header Prediction"): an ACK of new data at a SACK sender
//! with an empty scoreboard, whose rule and settings need no more than a new window and the next
//! packet. Functions with `PREDICTED` true leave out the tests whose results are known then; the unit
//! tests compare both paths field by field.

use crate::recovery::LossRecovery;
use crate::tcb::Flight;
use crate::{AckSegment, DataSegment, Sender, TcpConfig};

impl Sender {
    /// Notes whether ACKs may be predicted from now on. Called after whatever can change that: slow
    /// start with a scheme, SACK information, recovery and undo.
    pub(crate) fn update_prediction(&mut self) {
        self.predicts = self.permits_prediction
            // Packet 0, which may be a SYN, is acknowledged, and only new data is left to send.
            && self.tcb.last_ack >= 0
            // ACKs offer no window.
            && self.tcb.largest_window_bytes.is_none()
            && self.tcb.snd_nxt == self.tcb.highest_sent + 1
            && self.tcb.slow_start.is_none()
            && self.tcb.undo.is_none()
            && self.tcb.short_packet.is_none()
            && !self.is_limited_by_repair()
            && matches!(&self.recovery, LossRecovery::Sack(sack) if sack.is_idle(&self.tcb));
        if self.predicts {
            self.update_steady_window();
        }
    }

    /// Whether `ack` is as predicted: it acknowledges new data, but not all, and reports no mark.
    #[inline(always)]
    pub fn is_predicted(&self, ack: AckSegment) -> bool {
        self.predicts
            && ack.echo == self.tcb.ecn.unmarked
            && ack.ack > self.tcb.last_ack
            && ack.ack <= self.tcb.highest_sent
            && ack.ack < self.tcb.data_end - 1
    }

    /// Processes an ACK that is as predicted, up to sending. Returns the last packet that may be sent
    /// now, for [`Sender::next_predicted_segment`].
    #[inline(always)]
    pub fn on_predicted_ack(&mut self, now_s: f64, ack: AckSegment, config: &TcpConfig) -> i64 {
        debug_assert!(self.knows_limit());
        self.tcb.accumulate_cwnd_area(now_s);
        self.tcb.count_rtt(now_s, ack);
        self.tcb.new_ack::<true>(now_s, ack, config);
        self.tcb.grow_after_new_ack::<true>(now_s, ack, 0, Flight::default(), config);
        if let LossRecovery::Sack(sack) = &mut self.recovery {
            sack.on_predicted_ack();
        }
        self.predicted_send_limit(now_s)
    }

    /// The next packet after such an ACK, up to packet `last`.
    #[inline(always)]
    pub fn next_predicted_segment(
        &mut self,
        now_s: f64,
        last: i64,
        config: &TcpConfig,
    ) -> Option<DataSegment> {
        let number = self.tcb.snd_nxt;
        if number > last {
            return None;
        }
        self.tcb.snd_nxt = number + 1;
        Some(self.tcb.segment::<true>(now_s, number, Flight::default(), config))
    }
}

#[cfg(test)]
mod tests;
