//! Loss recovery schemes. Each is a file of functions over the shared sender state, in the order of ns-2's own.

pub(crate) mod reno;
pub(crate) mod sack;
pub(crate) mod tahoe;

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
