//! Loss recovery schemes. Each is a file of functions over the shared sender state, in the order of ns-2's own.

pub(crate) mod rack;
pub(crate) mod reno;
pub(crate) mod sack;
pub(crate) mod tahoe;

use crate::window::LastCut;
use crate::{Knobs, Sender};

/// What the third duplicate acknowledgement does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Response {
    /// Cut and send again.
    Cut,
    /// Send again: an echo in this window made the cut (RFC 3168 section 6.1.2).
    Repair,
    /// Nothing: the loss belongs to a window that was repaired already.
    Ignore,
}

impl Sender {
    /// ns-2 `dupack_action`; RFC 6582 section 4.1 for `recover`.
    pub(crate) fn third_duplicate(&self, knobs: &Knobs) -> Response {
        let first = knobs.fast_retransmit_first && self.highest_ack == 0;
        if self.highest_ack > self.recover || first {
            Response::Cut
        } else if self.reduced_by_echo(knobs) {
            Response::Repair
        } else if !knobs.bug_fix || self.last_cut == LastCut::Ecn {
            // What was sent after the cut for an echo is lost: another window.
            Response::Cut
        } else {
            Response::Ignore
        }
    }

    /// A repair without a cut begins. RFC 6582 and 6675: it ends with what is outstanding now; in ns-2 with what was at the cut.
    pub(crate) fn begin_repair(&mut self, knobs: &Knobs) {
        self.last_cut = LastCut::FastRetransmit;
        if !knobs.ecn_covers_last_cut {
            self.recover = self.highest_sent;
        }
    }

    /// A cut for loss found by duplicate acknowledgements begins.
    pub(crate) fn begin_cut(&mut self) {
        self.recover = self.highest_sent;
        self.last_cut = LastCut::FastRetransmit;
        self.counters.fast_retransmits += 1;
    }
}

/// How a sender recovers from loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Recovery {
    /// Fast retransmit, then slow start from one packet (Jacobson 1988).
    Tahoe,
    /// Fast recovery with window inflation (RFC 2581).
    Reno,
    /// Reno that stays in recovery on partial acknowledgements (RFC 6582).
    NewReno,
    /// Selective acknowledgements (RFC 2018, RFC 6675; ns-2's Sack1).
    Sack,
}

impl Recovery {
    /// All, with their names in scenarios.
    pub const ALL: [(Self, &'static str); 4] =
        [(Self::Tahoe, "tahoe"), (Self::Reno, "reno"), (Self::NewReno, "newreno"), (Self::Sack, "sack")];

    /// Its name in scenarios.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// Whether its receiver sends SACK blocks.
    pub fn uses_sack(self) -> bool {
        self == Self::Sack
    }
}
