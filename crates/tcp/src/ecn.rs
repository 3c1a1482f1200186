//! ECN at the sender: what it knows, and the ECN field and CWR of data packets (RFC 3168 section
//! 6.1, ns-2 `TcpAgent::ecn`).

use crate::accecn::{CeEstimate, MAX_SYNS};
use crate::{AckSegment, Ecn, EcnEcho, TcpConfig};

/// ECN state of a sender.
#[derive(Clone, Debug)]
pub(crate) struct EcnState {
    /// ECN is negotiated: from now on ECE stops growth (ns-2 `ect_`).
    pub(crate) negotiated: bool,
    /// cwnd was reduced, or the rule consumed a mark, and no packet with CWR was sent since (ns-2
    /// `cong_action_`).
    pub(crate) cwr_pending: bool,
    /// ECE arrived at a window of one packet, and every ACK since carried ECE (ns-2
    /// `ecn_backoff_`).
    pub(crate) ece_at_one_packet: bool,
    /// The last reduction was for ECE.
    pub(crate) reduced_last: bool,
    /// The ACK that is being processed reports a mark.
    pub(crate) is_marked: bool,
    /// The rule consumed that mark: the ACK is processed as an unmarked one.
    pub(crate) mark_consumed: bool,
    /// Highest packet sent when CWR was last set for a consumed mark.
    pub(crate) cwr_window_end: i64,
    /// Packets that it newly reports as marked, until the rule has seen them.
    pub(crate) marked_packets: u64,
    /// Feedback of an ACK that reports none.
    pub(crate) unmarked: EcnEcho,
    /// State of AccECN.
    pub(crate) ce_estimate: Option<Box<CeEstimate>>,
}

impl EcnState {
    pub(crate) fn new(config: &TcpConfig) -> Self {
        let is_accecn = config.ecn.ecn && config.ecn.ecn_feedback.is_accecn();
        let ce_estimate = is_accecn.then(|| Box::new(CeEstimate::new()));
        Self {
            negotiated: !config.quirks.ns2_ecn,
            cwr_pending: false,
            ece_at_one_packet: false,
            reduced_last: false,
            is_marked: false,
            mark_consumed: false,
            cwr_window_end: -1,
            marked_packets: 0,
            unmarked: ce_estimate.as_ref().map_or(EcnEcho::NONE, |ce| ce.echo()),
            ce_estimate,
        }
    }

    /// Whether the ACK that is being processed reports a mark for which the endpoint is to reduce
    /// cwnd.
    #[inline]
    pub(crate) fn requests_reduction(&self) -> bool {
        self.is_marked && !self.mark_consumed
    }

    /// Whether an ACK reports marks that the sender does not know of.
    pub(crate) fn is_news(&self, ack: AckSegment, config: &TcpConfig) -> bool {
        match &self.ce_estimate {
            Some(estimate) => estimate.is_news(ack.echo) && !(ack.ack == 0 && config.handshake.syn),
            None => ack.echo == EcnEcho::ECE,
        }
    }

    /// Reads the feedback of an ACK, which delivers `delivered` packets. An old one tells nothing,
    /// nor does the acknowledgement of a SYN but that ECN is negotiated.
    #[cold]
    #[inline(never)]
    pub(crate) fn read_ace(&mut self, ack: AckSegment, delivered: u64, config: &TcpConfig) {
        self.negotiated = true;
        let Some(estimate) = &mut self.ce_estimate else { return };
        let is_syn_ack = ack.ack == 0 && config.handshake.syn;
        self.marked_packets = if delivered == 0 || is_syn_ack {
            0
        } else {
            estimate.update(ack, delivered, config.segment.packet_size)
        };
        self.is_marked = self.marked_packets > 0;
        self.unmarked = estimate.echo();
    }

    /// Completes the negotiation: true if this ACK did. ns-2 signals it by ECE on the ACK of packet
    /// 0, which must not stop growth.
    #[cold]
    #[inline(never)]
    pub(crate) fn complete_negotiation(&mut self) -> bool {
        !std::mem::replace(&mut self.negotiated, true)
    }

    /// ECN field and CWR of data packet `number` (ns-2 `TcpAgent::output`, RFC 3168 section 6.1).
    pub(crate) fn flags(
        &mut self,
        number: i64,
        retransmission: bool,
        config: &TcpConfig,
    ) -> (Ecn, bool) {
        let first = number == 0 && (config.handshake.syn || config.quirks.ns2_ecn);
        let is_usual = !first && (!retransmission || config.quirks.ns2_ecn);
        let mut ect = is_usual || config.all_are_ect();
        let mut cwr = self.cwr_pending && (!retransmission || config.quirks.cwr_on_retransmission);
        self.cwr_pending &= !cwr;
        if let Some(estimate) = &mut self.ce_estimate {
            cwr = false;
            estimate.syns += u32::from(number == 0);
            ect &= estimate.syns <= MAX_SYNS;
        }
        let ecn = match ect {
            true if config.ecn.ect1 => Ecn::Ect1,
            true => Ecn::Ect0,
            false => Ecn::NotEct,
        };
        (ecn, cwr)
    }
}
