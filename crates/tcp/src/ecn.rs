//! ECN at the sender: the response to marks, and the ECN field and CWR of data packets (RFC 3168
//! section 6.1, ns-2 `TcpAgent::ecn`).

use crate::accecn::MAX_SYNS;
use crate::cwnd::Reduction;
use crate::tcb::{CongestionState, Tcb};
use crate::{AckSegment, Ecn, Knobs};
use cwndlab_rules::{Congestion, WindowRule};

impl Tcb {
    /// Reads the feedback of an ACK, which delivers `delivered` packets. An old one tells nothing,
    /// nor does the acknowledgement of a SYN but that ECN is negotiated.
    #[cold]
    #[inline(never)]
    pub(crate) fn read_ace(&mut self, ack: AckSegment, delivered: u64, knobs: &Knobs) {
        self.ecn.negotiated = true;
        let Some(estimate) = &mut self.ecn.ce_estimate else { return };
        let is_syn_ack = ack.ack == 0 && knobs.syn;
        self.ecn.marked_packets = if delivered == 0 || is_syn_ack {
            0
        } else {
            estimate.update(ack, delivered, knobs.packet_size)
        };
        self.ecn.is_marked = self.ecn.marked_packets > 0;
        self.ecn.unmarked = estimate.echo();
    }

    /// Reduces cwnd in response to ECE, once per window of data. Runs before anything else that the
    /// ACK does. `sack`: recovery goes on, unless the ACK ends it.
    #[cold]
    #[inline(never)]
    pub(crate) fn on_ece(&mut self, ack: i64, sack: bool, knobs: &Knobs) {
        let new_window = ack > self.recover;
        let mut stays_in_recovery = sack && self.state == CongestionState::Recovery;
        if new_window && knobs.ecn_ends_recovery {
            self.cancel_cwnd_reduction();
            stays_in_recovery = false;
            self.dupwnd = 0;
        }
        if !(new_window || (knobs.ecn_after_timeout && self.state == CongestionState::Loss)) {
            return;
        }
        self.recover = self.highest_sent;
        if !stays_in_recovery {
            self.state = CongestionState::Cwr;
        }
        self.ecn.reduced_last = true;
        let ece_at_one_packet = self.cwnd <= 1.0;
        if ece_at_one_packet && self.ecn.ece_at_one_packet && knobs.ecn_backoff {
            self.rtt.back_off(knobs);
        }
        self.ecn.ece_at_one_packet = ece_at_one_packet;
        self.counters.ecn_reductions += 1;
        self.reduce_cwnd(Reduction::ToTarget(Congestion::Ecn), knobs);
    }

    /// Completes ECN negotiation: true if this ACK did. ns-2 signals it by ECE on the ACK of packet
    /// 0, which must not stop growth.
    #[cold]
    #[inline(never)]
    pub(crate) fn complete_ecn_negotiation(&mut self) -> bool {
        !std::mem::replace(&mut self.ecn.negotiated, true)
    }

    /// Whether data outstanding at a timeout is still unacknowledged. Until then ACKs repeat ECE
    /// for old marks, because only new data can carry CWR (RFC 3168 sections 6.1.2 and 6.1.5). If
    /// ECE stopped growth, the flow would stay at one packet per round trip for a whole window,
    /// although the timeout already set cwnd to its minimum.
    pub(crate) fn is_repairing_after_timeout(&self, knobs: &Knobs) -> bool {
        knobs.grow_in_repair
            && self.ecn.ce_estimate.is_none()
            && self.state == CongestionState::Loss
            && self.highest_ack < self.recover
    }

    /// Whether ECE in the same window of data already caused a reduction that covers a loss found
    /// now (RFC 3168 section 6.1.2).
    pub(crate) fn reduced_by_ece(&self, knobs: &Knobs) -> bool {
        self.ecn.reduced_last
            && self.rule.mark_covers_loss()
            && (knobs.ecn_covers_last_cut || self.highest_ack < self.recover)
    }

    /// ECN field and CWR of data packet `number` (ns-2 `TcpAgent::output`, RFC 3168 section 6.1).
    pub(crate) fn ecn_flags(
        &mut self,
        number: i64,
        retransmission: bool,
        knobs: &Knobs,
    ) -> (Ecn, bool) {
        let first = number == 0 && (knobs.syn || knobs.ecn_handshake);
        let mut ect = !first && (!retransmission || knobs.ecn_on_retransmission);
        let mut cwr = self.ecn.cwr_pending && (!retransmission || knobs.cwr_on_retransmission);
        self.ecn.cwr_pending &= !cwr;
        if let Some(estimate) = &mut self.ecn.ce_estimate {
            cwr = false;
            estimate.syns += u32::from(number == 0);
            ect &= estimate.syns <= MAX_SYNS;
        }
        let ecn = match ect {
            true if knobs.ect1 => Ecn::Ect1,
            true => Ecn::Ect0,
            false => Ecn::NotEct,
        };
        (ecn, cwr)
    }
}
