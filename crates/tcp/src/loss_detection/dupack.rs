//! Loss detection by duplicate ACKs (RFC 5681 section 3.2, RFC 6582 section 4.1).

use crate::Knobs;
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

impl Tcb {
    /// ns-2 `dupack_action`; RFC 6582 section 4.1 for `recover`.
    pub(crate) fn dupack_action(&self, knobs: &Knobs) -> DupackAction {
        let first = knobs.fast_retransmit_first && self.highest_ack == 0;
        if self.highest_ack > self.recover || first {
            DupackAction::Reduce
        } else if self.reduced_by_ece(knobs) {
            DupackAction::Retransmit
        } else if !knobs.bug_fix || self.ecn.reduced_last {
            // A packet sent after the reduction for ECE is lost: another window of data.
            DupackAction::Reduce
        } else {
            DupackAction::Ignore
        }
    }
}
