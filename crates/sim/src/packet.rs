//! Packets and header flags; a packet takes 40 bytes, so that a ring buffer of packets stays in
//! cache.

use cwndlab_tcp::SackBlocks;

/// A data packet or an ACK in the network.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// Arrival time at the next stage, seconds.
    pub at_s: f64,
    /// Start of its last transmission, seconds: orders simultaneous events, as the insertion order
    /// of ns-2 does.
    pub tx_start_s: f64,
    /// Packet number of data, or cumulative acknowledgement number of an ACK.
    pub number: i64,
    /// Send time of the data packet, seconds; an ACK carries that of the packet which it
    /// acknowledges.
    pub sent_s: f64,
    /// Size on the wire, bytes.
    pub size_bytes: u16,
    /// Header bits.
    pub flags: Flags,
    /// Key of SACK blocks and timestamp echo in the slab; 0 for none.
    pub options: u32,
}

/// Header bits and priority of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// Data: a retransmission.
    pub const RETRANSMISSION: Self = Self(1);
    /// ECN-capable transport (RFC 3168).
    pub const ECT: Self = Self(2);
    /// Congestion experienced (RFC 3168).
    pub const CE: Self = Self(4);
    /// Congestion window reduced (RFC 3168), on data.
    pub const CWR: Self = Self(8);
    /// ECN echo (RFC 3168), on an ACK.
    pub const ECE: Self = Self(16);
    const PRIORITY_SHIFT: u32 = 6;

    /// No bits set, with a priority from 0 to 3.
    pub fn of_priority(priority: u8) -> Self {
        Self(priority << Self::PRIORITY_SHIFT)
    }

    /// Priority, from 0 (highest) to 3.
    #[inline]
    pub fn priority(self) -> u8 {
        self.0 >> Self::PRIORITY_SHIFT
    }

    /// The same bits with another priority.
    pub fn with_priority(self, priority: u8) -> Self {
        Self(self.0 & ((1 << Self::PRIORITY_SHIFT) - 1) | priority << Self::PRIORITY_SHIFT)
    }

    /// The priority alone: an ACK inherits it.
    #[inline]
    pub fn only_priority(self) -> Self {
        Self(self.0 & (3 << Self::PRIORITY_SHIFT))
    }

    /// Whether a bit is set.
    #[inline]
    pub fn has(self, bit: Self) -> bool {
        self.0 & bit.0 != 0
    }

    /// Sets a bit if `condition` holds.
    #[inline]
    pub fn with(self, bit: Self, condition: bool) -> Self {
        Self(self.0 | if condition { bit.0 } else { 0 })
    }
}

/// Options that only some ACKs carry.
#[derive(Clone, Copy, Debug)]
pub struct AckOptions {
    /// SACK blocks (RFC 2018).
    pub sack: SackBlocks,
    /// Echoed timestamp (RFC 7323), seconds.
    pub echo_s: f64,
}
