//! ECN at the sender: the response to ECE and the ECT and CWR bits of data packets (RFC 3168
//! section 6.1, ns-2 `TcpAgent::ecn`).

use crate::Knobs;
use crate::cwnd::Reduction;
use crate::tcb::{CongestionState, Tcb};
use cwndlab_rules::{Congestion, WindowRule};

/// ECN state of a sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EcnState {
    /// ECN is negotiated: from now on ECE stops growth (ns-2 `ect_`).
    pub(crate) negotiated: bool,
    /// cwnd was reduced, and no packet with CWR was sent since (ns-2 `cong_action_`).
    pub(crate) cwr_pending: bool,
    /// ECE arrived at a window of one packet, and every ACK since carried ECE (ns-2
    /// `ecn_backoff_`).
    pub(crate) ece_at_one_packet: bool,
    /// The last reduction was for ECE.
    pub(crate) reduced_last: bool,
}

impl EcnState {
    pub(crate) fn new(knobs: &Knobs) -> Self {
        Self {
            negotiated: !knobs.ecn_handshake,
            cwr_pending: false,
            ece_at_one_packet: false,
            reduced_last: false,
        }
    }
}

impl Tcb {
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

    /// ECT and CWR of data packet `number` (ns-2 `TcpAgent::output`, RFC 3168 section 6.1).
    pub(crate) fn ecn_flags(
        &mut self,
        number: i64,
        retransmission: bool,
        knobs: &Knobs,
    ) -> (bool, bool) {
        let first = number == 0 && (knobs.syn || knobs.ecn_handshake);
        let ect = !first && (!retransmission || knobs.ecn_on_retransmission);
        let cwr = self.ecn.cwr_pending && (!retransmission || knobs.cwr_on_retransmission);
        self.ecn.cwr_pending &= !cwr;
        (ect, cwr)
    }
}
