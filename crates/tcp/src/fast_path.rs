//! Fast path of ACK processing: a new ACK at a SACK sender with an empty scoreboard, whose rule and
//! config need no more than a new window and the next packet. Functions with `STEADY` true leave out
//! the tests whose results are known then; the unit tests compare both paths field by field.

use crate::recovery::{Flight, LossRecovery};
use crate::tcb::Tcb;
use crate::{AckSegment, DataSegment, Sender, TcpConfig};
use cwndlab_rules::AckFields;

impl Tcb {
    /// Whether rule and config permit the fast path.
    pub(crate) fn permits_fast_path(&self, config: &TcpConfig) -> bool {
        let sends_at_once = self.pacer.is_none() && config.limits.max_burst == 0;
        let asks_little = self.needs.ack != AckFields::All && !config.growth.grow_by_packets;
        sends_at_once && asks_little && config.rto.timer_after_sample
    }

    /// Whether `ack` acknowledges new data, but not all, and has no ECE.
    #[inline(always)]
    fn is_steady(&self, ack: AckSegment) -> bool {
        ack.echo == self.ecn.unmarked
            && ack.ack > self.last_ack
            && ack.ack <= self.highest_sent
            && ack.ack < self.data_end - 1
    }
}

impl Sender {
    /// Notes whether ACKs may take the fast path from now on. Called after whatever can change
    /// that: slow start with a scheme, SACK information, recovery and undo.
    pub(crate) fn update_fast_path(&mut self) {
        self.fast_path = self.permits_fast_path
            // Packet 0, which may be a SYN, is acknowledged, and only new data is left to send.
            && self.tcb.last_ack >= 0
            && self.tcb.snd_nxt == self.tcb.highest_sent + 1
            && self.tcb.slow_start.is_none()
            && self.tcb.undo.is_none()
            && self.tcb.short_packet.is_none()
            && matches!(&self.recovery, LossRecovery::Sack(sack) if sack.is_idle(&self.tcb));
    }

    /// Whether `ack` may take the fast path.
    #[inline(always)]
    pub fn is_steady(&self, ack: AckSegment) -> bool {
        self.fast_path && self.tcb.is_steady(ack)
    }

    /// Processes an ACK on the fast path, up to sending. Returns the last packet that may be sent
    /// now, for [`Sender::next_steady_segment`].
    #[inline(always)]
    pub fn on_steady_ack(&mut self, now_s: f64, ack: AckSegment, config: &TcpConfig) -> i64 {
        self.tcb.accumulate_cwnd_area(now_s);
        self.tcb.count_rtt(now_s, ack);
        self.tcb.new_ack::<true>(now_s, ack, config);
        self.tcb.grow_after_new_ack::<true>(now_s, ack, 0, Flight::default(), config);
        if let LossRecovery::Sack(sack) = &mut self.recovery {
            sack.on_steady_ack();
        }
        self.tcb.send_limit()
    }

    /// The next packet on the fast path, up to packet `last`.
    #[inline(always)]
    pub fn next_steady_segment(
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
