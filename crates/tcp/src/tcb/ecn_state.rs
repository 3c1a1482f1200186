//! What a sender knows of ECN.

use crate::accecn::CeEstimate;
use crate::{EcnEcho, Knobs};

/// ECN state of a sender.
#[derive(Clone, Debug)]
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
    /// The ACK that is being processed reports a mark.
    pub(crate) is_marked: bool,
    /// Packets that it newly reports as marked, until the rule has seen them.
    pub(crate) marked_packets: u64,
    /// Feedback of an ACK that reports none.
    pub(crate) unmarked: EcnEcho,
    /// State of AccECN.
    pub(crate) ce_estimate: Option<Box<CeEstimate>>,
}

impl EcnState {
    pub(crate) fn new(knobs: &Knobs) -> Self {
        let is_accecn = knobs.ecn && knobs.ecn_feedback.is_accecn();
        let ce_estimate = is_accecn.then(|| Box::new(CeEstimate::new()));
        Self {
            negotiated: !knobs.ecn_handshake,
            cwr_pending: false,
            ece_at_one_packet: false,
            reduced_last: false,
            is_marked: false,
            marked_packets: 0,
            unmarked: ce_estimate.as_ref().map_or(EcnEcho::NONE, |ce| ce.echo()),
            ce_estimate,
        }
    }
}
