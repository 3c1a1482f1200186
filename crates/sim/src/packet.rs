//! What travels: 40 bytes, so that a ring of packets stays in cache.

use cwndlab_tcp::SackBlocks;

/// A data packet or an acknowledgement on its way.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// When it arrives at its next stage, seconds.
    pub at_s: f64,
    /// When its transmission towards that stage began, seconds: what decides between simultaneous events, as in ns-2.
    pub tx_start_s: f64,
    /// Packet number, or cumulative acknowledgement.
    pub number: i64,
    /// When the data packet was sent; an acknowledgement carries that of the packet it answers.
    pub sent_s: f64,
    /// Bytes on the wire.
    pub size_bytes: u16,
    /// What its header says.
    pub flags: Flags,
    /// Where its SACK blocks and timestamp echo are kept, plus one; 0 for neither.
    pub options: u32,
}

/// Bits of a header, and the packet's priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// Sent before.
    pub const RETRANSMISSION: Self = Self(1);
    /// May be marked instead of lost (ECT, RFC 3168).
    pub const ECT: Self = Self(2);
    /// Marked by a router (CE).
    pub const CE: Self = Self(4);
    /// Data: the sender has reduced its window (CWR).
    pub const CWR: Self = Self(8);
    /// Acknowledgement: a marked packet was seen (ECE).
    pub const ECE: Self = Self(16);
    const PRIORITY_SHIFT: u32 = 6;

    /// Nothing but a priority, 0 to 3.
    pub fn of_priority(priority: u8) -> Self {
        Self(priority << Self::PRIORITY_SHIFT)
    }

    /// Priority, 0 (first) to 3.
    #[inline]
    pub fn priority(self) -> u8 {
        self.0 >> Self::PRIORITY_SHIFT
    }

    /// The same with another priority.
    pub fn with_priority(self, priority: u8) -> Self {
        Self(self.0 & ((1 << Self::PRIORITY_SHIFT) - 1) | priority << Self::PRIORITY_SHIFT)
    }

    /// Only the priority: what an acknowledgement takes over.
    #[inline]
    pub fn only_priority(self) -> Self {
        Self(self.0 & (3 << Self::PRIORITY_SHIFT))
    }

    /// Whether a bit is set.
    #[inline]
    pub fn has(self, bit: Self) -> bool {
        self.0 & bit.0 != 0
    }

    /// With a bit set where `condition` holds.
    #[inline]
    pub fn with(self, bit: Self, condition: bool) -> Self {
        Self(self.0 | if condition { bit.0 } else { 0 })
    }
}

/// What only some acknowledgements carry.
#[derive(Clone, Copy, Debug)]
pub struct AckOptions {
    /// SACK blocks.
    pub sack: SackBlocks,
    /// Timestamp echoed.
    pub echo_s: f64,
}
