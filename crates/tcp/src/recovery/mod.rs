//! Loss recovery schemes: functions over the sender's state, in the order of ns-2's own.

pub(crate) mod rack_tlp;
pub(crate) mod reno;
pub(crate) mod sack;
pub(crate) mod tahoe;

use crate::cwnd::CwndAction;
use crate::{Knobs, Sender};

impl Sender {
    /// Enters recovery without a reduction. RFC 6582 and 6675: the recovery point is the highest
    /// packet sent now; ns-2: at the reduction.
    pub(crate) fn enter_recovery_without_reduction(&mut self, knobs: &Knobs) {
        self.last_cwnd_action = CwndAction::FastRetransmit;
        if !knobs.ecn_covers_last_cut {
            self.recover = self.highest_sent;
        }
    }

    /// Records a reduction for a loss found by duplicate ACKs.
    pub(crate) fn enter_fast_retransmit(&mut self) {
        self.recover = self.highest_sent;
        self.last_cwnd_action = CwndAction::FastRetransmit;
        self.counters.fast_retransmits += 1;
    }
}

/// Loss recovery scheme of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Recovery {
    /// Fast retransmit, then slow start from one packet (Jacobson 1988).
    Tahoe,
    /// Fast recovery with window inflation (RFC 2581).
    Reno,
    /// Reno that stays in recovery on partial ACKs (RFC 6582).
    NewReno,
    /// Selective acknowledgments (RFC 2018, RFC 6675; ns-2 Sack1).
    Sack,
}

impl Recovery {
    /// All schemes with their names in scenarios.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::Tahoe, "tahoe"),
        (Self::Reno, "reno"),
        (Self::NewReno, "newreno"),
        (Self::Sack, "sack"),
    ];

    /// Name in scenarios.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// Whether the receiver sends SACK blocks.
    pub fn uses_sack(self) -> bool {
        self == Self::Sack
    }
}
