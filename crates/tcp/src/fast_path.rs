//! Fast path of ACK processing: a new ACK at a SACK sender with an empty scoreboard, whose rule and
//! knobs need no more than a new window and the next packet. Functions with `STEADY` true leave out
//! the tests whose results are known then; the unit tests compare both paths field by field.

use crate::recovery::LossRecovery;
use crate::tcb::Tcb;
use crate::{AckSegment, Knobs, Output, Sender};
use cwndlab_rules::AckFields;

impl Tcb {
    /// Whether rule and knobs permit the fast path.
    pub(crate) fn permits_fast_path(&self, knobs: &Knobs) -> bool {
        let sends_at_once = self.pacer.is_none() && knobs.max_burst == 0;
        let asks_little = self.needs.ack != AckFields::All && !knobs.grow_by_packets;
        sends_at_once && asks_little && knobs.timer_after_sample
    }

    /// Whether `ack` acknowledges new data beyond packet 0 (which may be a SYN), but not all, has no
    /// ECE, and only new data is left to send.
    #[inline(always)]
    fn is_steady(&self, ack: AckSegment) -> bool {
        ack.echo == self.ecn.unmarked
            && ack.ack > self.last_ack.max(0)
            && ack.ack <= self.highest_sent
            && self.snd_nxt == self.highest_sent + 1
            && ack.ack < self.data_end - 1
    }
}

impl Sender {
    /// Notes whether ACKs may take the fast path from now on. Called after whatever can change
    /// that: slow start with a scheme, SACK information, recovery and undo.
    pub(crate) fn update_fast_path(&mut self) {
        self.fast_path = self.permits_fast_path
            && self.tcb.slow_start.is_none()
            && self.tcb.undo.is_none()
            && self.tcb.short_packet.is_none()
            && matches!(&self.recovery, LossRecovery::Sack(sack) if sack.is_idle(&self.tcb));
    }

    #[inline(always)]
    pub(crate) fn takes_fast_path(&self, ack: AckSegment) -> bool {
        self.fast_path && self.tcb.is_steady(ack)
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
        self.tcb.accumulate_cwnd_area(now_s);
        self.tcb.count_rtt(now_s, ack);
        if let LossRecovery::Sack(sack) = &mut self.recovery {
            sack.on_ack::<true>(&mut self.tcb, now_s, ack, None, knobs, out);
        }
    }
}

#[cfg(test)]
mod tests;
