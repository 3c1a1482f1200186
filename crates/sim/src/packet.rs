//! Packets and header flags; a packet with its place on its route is one cache line.

use crate::id::{FlowId, HopId};
use cwndlab_prefetch::prefetch;
use cwndlab_tcp::{EarlierAck, Ecn, EcnEcho, SackBlocks};
use slab::Slab;

/// A data packet or an ACK in the network.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packet {
    /// Arrival time at the next stage, seconds.
    pub at_s: f64,
    /// Start of its last transmission, seconds: orders simultaneous events, as the insertion order
    /// of ns-2 does.
    pub tx_start_s: f64,
    /// Packet number of data, or cumulative acknowledgement number of an ACK; of a packet from
    /// outside the simulation -1 if it has no data.
    pub number: i64,
    /// Its lead: how long before `tx_start_s` the event that caused this transmission was itself
    /// scheduled, seconds. Orders events that were scheduled at the same instant, longest first.
    /// Only its order matters (`AccessLinks::transmit`). It does not stand beside `tx_start_s`: the
    /// compiler would read both at once, which stalls after they were written one by one.
    pub tie_break_s: f64,
    /// Send time of the data packet, seconds; an ACK carries that of the packet which it
    /// acknowledges.
    pub sent_s: f64,
    /// Size on the wire, bytes.
    pub size_bytes: u16,
    /// Header bits.
    pub flags: Flags,
    /// ACK: key of its options in the slab; data: the timestamp that it echoes, milliseconds. 0 for
    /// none. A packet from outside the simulation has its token here.
    pub options: u32,
}

/// When a packet arrives at the next stage, and what orders it among simultaneous ones.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// As [`Packet::at_s`].
    pub at_s: f64,
    /// As [`Packet::tx_start_s`].
    pub tx_start_s: f64,
    /// As [`Packet::tie_break_s`].
    pub tie_break_s: f64,
}

impl Packet {
    /// A packet that its source sends now.
    pub fn sent(now_s: f64, number: i64, size_bytes: u16, flags: Flags) -> Self {
        Self {
            at_s: now_s,
            tx_start_s: now_s,
            tie_break_s: 0.0,
            number,
            sent_s: now_s,
            size_bytes,
            flags,
            options: 0,
        }
    }
}

/// Header bits and priority of a packet: bit 0 retransmission, 1 and 2 the ECN field of IP, 3 to 6
/// the ECN feedback of an ACK, 7 CWR of data, 8 and 9 the priority, 10 an ACK of part of a packet,
/// 11 PSH of data, 12 the ACK that ends a handshake, 13 a packet that a link will hold back, 14 a
/// packet of external endpoints, 15 CE in the outer header of a tunnel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u16);

impl Flags {
    /// Data: a retransmission.
    pub const RETRANSMISSION: Self = Self(1);
    /// Congestion window reduced (RFC 3168), on data.
    pub const CWR: Self = Self(1 << 7);
    const ECN_SHIFT: u32 = 1;
    const CE: u16 = (Ecn::Ce as u16) << Self::ECN_SHIFT;
    const ECHO_SHIFT: u32 = 3;
    const PRIORITY_SHIFT: u32 = 8;
    const PRIORITY: u16 = 3 << Self::PRIORITY_SHIFT;
    /// ACK: acknowledges a part of the next packet as well (ACK division).
    pub const ACKS_PART: Self = Self(1 << 10);
    /// Data: PSH.
    pub const PUSH: Self = Self(1 << 11);
    /// The third packet of a handshake, an ACK on the way of data.
    pub const HANDSHAKE_ACK: Self = Self(1 << 12);
    /// Data: the link that it is on will hold it back.
    pub const HELD: Self = Self(1 << 13);
    /// A packet of external endpoints.
    pub const EXTERNAL: Self = Self(1 << 14);
    /// The outer header of the tunnel that the packet is in has CE.
    pub const OUTER_CE: Self = Self(1 << 15);
    /// What ends at the place of a receiver without being data for it.
    pub const NOT_FOR_RECEIVER: Self = Self(Self::HANDSHAKE_ACK.0 | Self::EXTERNAL.0);

    /// No bits set, with a priority from 0 to 3.
    pub fn of_priority(priority: u8) -> Self {
        Self(u16::from(priority) << Self::PRIORITY_SHIFT)
    }

    /// Priority, from 0 (highest) to 3.
    #[inline]
    pub fn priority(self) -> u8 {
        (self.0 >> Self::PRIORITY_SHIFT) as u8 & 3
    }

    /// The same bits with another priority.
    pub fn with_priority(self, priority: u8) -> Self {
        Self(self.0 & !Self::PRIORITY | Self::of_priority(priority).0)
    }

    /// Bits of an ACK: the priority of its data packet, and ECN feedback.
    #[inline]
    pub fn of_ack(self, echo: EcnEcho) -> Self {
        Self(self.0 & Self::PRIORITY | u16::from(echo.header()) << Self::ECHO_SHIFT)
    }

    /// ECN feedback of an ACK.
    #[inline]
    pub fn echo(self) -> EcnEcho {
        EcnEcho::from_header((self.0 >> Self::ECHO_SHIFT) as u8)
    }

    /// ECN field.
    #[inline]
    pub fn ecn(self) -> Ecn {
        Ecn::from_bits((self.0 >> Self::ECN_SHIFT) as u8)
    }

    /// Whether an AQM may mark the packet instead of dropping it.
    #[inline]
    pub fn is_ect(self) -> bool {
        self.0 & Self::CE != 0
    }

    /// Whether the packet is of an L4S flow: ECT(1) or CE (RFC 9331 section 5.1).
    #[inline]
    pub fn is_l4s(self) -> bool {
        self.0 & (Ecn::Ect1 as u16) << Self::ECN_SHIFT != 0
    }

    /// Whether the packet is marked (CE).
    #[inline]
    pub fn is_ce(self) -> bool {
        self.0 & Self::CE == Self::CE
    }

    /// The same bits with CE.
    #[inline]
    pub fn marked(self) -> Self {
        Self(self.0 | Self::CE)
    }

    /// The same bits with an ECN field of Not-ECT.
    pub fn without_ecn(self) -> Self {
        Self(self.0 & !Self::CE)
    }

    /// Bits without an ECN field, with this one.
    #[inline]
    pub fn with_ecn(self, ecn: Ecn) -> Self {
        Self(self.0 | (ecn as u16) << Self::ECN_SHIFT)
    }

    /// Whether a bit is set.
    #[inline]
    pub fn has(self, bit: Self) -> bool {
        self.0 & bit.0 != 0
    }

    /// The same bits without this one.
    #[inline]
    pub fn without(self, bit: Self) -> Self {
        Self(self.0 & !bit.0)
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
    /// ECN feedback with the AccECN option (RFC 9768 section 3.2.3).
    pub echo: EcnEcho,
    /// The receiver's window, bytes, if its buffer limits it.
    pub window_bytes: Option<u32>,
    /// DATA_ACK of a subflow (RFC 8684 section 3.3.2): the next data that its connection expects.
    pub data_ack: Option<i64>,
    /// When the ACK left (TSval, RFC 7323), milliseconds.
    pub left_ms: u32,
}

/// Indices of a flow in the tables of the network.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowIndices {
    /// Its route.
    pub route: u32,
    /// First of its access links.
    pub first_access_link: u32,
}

/// A packet with its flow and its position on the route: one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub struct RoutedPacket {
    /// The packet.
    pub packet: Packet,
    /// Its flow.
    pub flow: FlowId,
    /// The hop whose stage it enters, perhaps marked with [`AT_ONCE`].
    rank: u32,
    /// First of the access links of its flow.
    pub first_access_link: u32,
    /// Part of its bucket: of `ArrivalQueue`, kept here because the cache line has room for it.
    pub part: u32,
}

/// Marks the hop of a packet that enters it within an event of its sender: among simultaneous
/// packets of the flow it comes after those of all hops.
const AT_ONCE: u32 = 1 << 31;

impl RoutedPacket {
    /// A packet that enters the stage of a hop.
    #[inline(always)]
    pub fn new(packet: Packet, flow: FlowId, hop: HopId, first_access_link: u32) -> Self {
        Self { packet, flow, rank: hop.number(), first_access_link, part: 0 }
    }

    /// The same within an event of its sender.
    #[inline(always)]
    pub fn at_once(packet: Packet, flow: FlowId, hop: HopId, first_access_link: u32) -> Self {
        Self { rank: hop.number() | AT_ONCE, ..Self::new(packet, flow, hop, first_access_link) }
    }

    /// The hop whose stage it enters.
    #[inline(always)]
    pub fn hop(&self) -> HopId {
        HopId::new(self.rank & !AT_ONCE)
    }

    /// Sort key.
    #[inline(always)]
    pub fn key(&self) -> (f64, f64, f64, FlowId, u32) {
        let Packet { at_s, tx_start_s, tie_break_s, .. } = self.packet;
        (at_s, tx_start_s, -tie_break_s, self.flow, self.rank)
    }
}

/// Options of the ACKs in the network, under keys that are never 0, which stands for none.
#[derive(Debug, Default)]
pub struct OptionStore(Slab<AckOptions>);

impl OptionStore {
    /// Stores the options of an ACK; returns their key.
    #[inline]
    pub fn insert(&mut self, options: AckOptions) -> u32 {
        self.0.insert(options) as u32 + 1
    }

    /// Stores the options under a key again for an ACK that leaves earlier; returns their key,
    /// which is 0 for none.
    #[cold]
    pub fn repeat(&mut self, key: u32, earlier: &EarlierAck) -> u32 {
        let index = (key as usize).checked_sub(1);
        let options = index.and_then(|index| self.0.get(index)).copied();
        options.map_or(0, |options| {
            let EarlierAck { echo, window_bytes, .. } = *earlier;
            self.insert(AckOptions { echo, window_bytes, ..options })
        })
    }

    /// DATA_ACK among the options under a key, or none for key 0.
    pub fn data_ack(&self, key: u32) -> Option<i64> {
        self.0.get((key as usize).wrapping_sub(1))?.data_ack
    }

    /// Removes the options under a key.
    #[inline]
    pub fn remove(&mut self, key: u32) -> AckOptions {
        self.0.remove(key as usize - 1)
    }

    /// Prefetches the options under a key, or nothing for key 0.
    #[inline(always)]
    pub fn prefetch(&self, key: u32) {
        self.0.get((key as usize).wrapping_sub(1)).inspect(|options| prefetch(*options));
    }
}
