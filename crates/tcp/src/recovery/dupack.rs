//! Loss detection by duplicate ACKs (RFC 5681 section 3.2, RFC 6582 section 4.1).

use crate::TcpConfig;
use crate::tcb::Tcb;

/// Response to the third duplicate ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DupackAction {
    /// Reduce cwnd and retransmit.
    Reduce,
    /// Retransmit only: ECE in this window already reduced cwnd (RFC 3168 section 6.1.2).
    Retransmit,
    /// Nothing: the loss belongs to a window that was already repaired.
    Ignore,
}

impl DupackAction {
    /// The response of a sender now (ns-2 `dupack_action`).
    pub(crate) fn of(tcb: &Tcb, config: &TcpConfig) -> Self {
        let first = config.recovery.fast_retransmit_first && tcb.highest_ack == 0;
        if tcb.highest_ack > tcb.recover || first {
            Self::Reduce
        } else if tcb.reduced_by_ece(config) {
            Self::Retransmit
        } else if !config.newreno.bug_fix || tcb.ecn.reduced_last {
            // A packet sent after the reduction for ECE is lost: another window of data.
            Self::Reduce
        } else {
            Self::Ignore
        }
    }
}
