//! Data and ACK segments. Packet numbers start at 0; -1 acknowledges nothing.

use std::num::NonZeroU32;

/// Up to three SACK blocks (RFC 2018), each `[left, right)` in packet numbers.
///
/// ```
/// use cwndlab_tcp::SackBlocks;
/// let mut blocks = SackBlocks::default();
/// blocks.push((7, 9)); // packets 7 and 8
/// blocks.push((4, 5));
/// assert_eq!(blocks.as_slice(), [(7, 9), (4, 5)]);
/// assert_eq!(blocks.duplicate(2), None);
/// assert_eq!(blocks.duplicate(8), Some((7, 9))); // below the ACK: it arrived twice
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(i64, i64); 3],
    count: u8,
}

impl SackBlocks {
    /// Largest number of blocks in a header.
    pub const MAX: usize = 3;

    /// The blocks, most recent first.
    pub fn as_slice(&self) -> &[(i64, i64)] {
        &self.blocks[..self.count as usize]
    }

    /// Whether there is no block.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The same blocks in the order of their packets, as Linux processes them
    /// (`tcp_sacktag_write_queue`).
    pub(crate) fn ascending(mut self) -> Self {
        self.blocks[..self.count as usize].sort_unstable();
        self
    }

    /// Removes the block at `index`.
    pub(crate) fn remove(&mut self, index: usize) {
        self.blocks.copy_within(index + 1..self.count as usize, index);
        self.count -= 1;
    }

    /// Packets that the first block reports as received twice (RFC 2883 section 4): it lies below
    /// the cumulative acknowledgement, or inside the second block.
    pub fn duplicate(&self, ack: i64) -> Option<(i64, i64)> {
        let &first = self.as_slice().first()?;
        let inside = |outer: &(i64, i64)| outer.0 <= first.0 && first.1 <= outer.1;
        (first.1 <= ack + 1 || self.as_slice().get(1).is_some_and(inside)).then_some(first)
    }

    /// Extends the first block by packet `number`, if it ends there.
    #[inline]
    pub(crate) fn extend_first(&mut self, number: i64) -> bool {
        let extends = self.count > 0 && self.blocks[0].1 == number;
        self.blocks[0].1 += i64::from(extends);
        extends
    }

    /// Inserts a block at the front and drops the last if there are more than `most`.
    pub(crate) fn push_front(&mut self, block: (i64, i64), most: usize) {
        let count = (self.count as usize + 1).min(most);
        self.blocks.copy_within(0..count - 1, 1);
        (self.blocks[0], self.count) = (block, count as u8);
    }

    /// Appends a block; ignored when full.
    pub fn push(&mut self, block: (i64, i64)) {
        if let Some(slot) = self.blocks.get_mut(self.count as usize) {
            *slot = block;
            self.count += 1;
        }
    }
}

/// The last packet of a transfer, if its bytes do not fill it.
///
/// ```
/// use cwndlab_tcp::{Profile, ShortPacket, TcpConfig, tcp_config};
/// let config = tcp_config!(TcpConfig::profile(Profile::Rfc), handshake.syn = false);
/// let short = ShortPacket { number: 2, payload_bytes: 500 };
/// assert_eq!(config.segments_of(2500), (3, Some(short)));
/// assert_eq!(config.segments_of(3000), (3, None));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortPacket {
    /// Packet number.
    pub number: i64,
    /// Payload, bytes.
    pub payload_bytes: u32,
}

/// ECN field of the IP header (RFC 3168 section 5).
///
/// ```
/// use cwndlab_tcp::Ecn;
/// assert_eq!(Ecn::from_bits(0b10), Ecn::Ect0);
/// assert_eq!(Ecn::from_bits(0b01), Ecn::Ect1);
/// assert_eq!(Ecn::Ce as u8, 0b11);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// Not ECN-capable: an AQM drops the packet.
    #[default]
    NotEct = 0,
    /// ECT(1): ECN-capable, for L4S (RFC 9331 section 4.1).
    Ect1 = 1,
    /// ECT(0): ECN-capable.
    Ect0 = 2,
    /// Congestion experienced.
    Ce = 3,
}

impl Ecn {
    /// The codepoint with these two bits.
    #[inline]
    pub fn from_bits(bits: u8) -> Self {
        [Self::NotEct, Self::Ect1, Self::Ect0, Self::Ce][usize::from(bits & 3)]
    }
}

/// ECN feedback of an ACK: the header bits AE, CWR and ECE, and the option of AccECN.
///
/// Bits 0 to 2 are those of the header, 3 says that they are an ACE field, 4 that there is an
/// option; 5 is set, so that an `Option` of an ACK needs no room of its own; from 8 on is the
/// counter of the option.
///
/// ```
/// use cwndlab_tcp::EcnEcho;
/// assert_eq!(EcnEcho::ece(true), EcnEcho::ECE);
/// // Nine packets with CE, 9000 bytes: the field has three bits.
/// let echo = EcnEcho::ace(9).with_ce_bytes(9000);
/// assert!(echo.is_ace() && !EcnEcho::ECE.is_ace());
/// assert_eq!((echo.bits(), echo.ce_bytes()), (1, Some(9000)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EcnEcho(NonZeroU32);

impl EcnEcho {
    /// No feedback.
    pub const NONE: Self = Self::of(0);
    /// ECE (RFC 3168 section 6.1.3).
    pub const ECE: Self = Self::of(1);
    const IS_ACE: u32 = 1 << 3;
    const HAS_OPTION: u32 = 1 << 4;
    const OPTION_SHIFT: u32 = 8;

    const fn of(bits: u32) -> Self {
        Self(NonZeroU32::new(bits | 1 << 5).unwrap())
    }

    /// ECE if it `is_set`.
    #[inline]
    pub fn ece(is_set: bool) -> Self {
        Self::of(is_set.into())
    }

    /// The ACE field of AccECN (RFC 9768 section 3.2.2): the last three bits of `packets`, which
    /// arrived with CE.
    #[inline]
    pub fn ace(packets: u32) -> Self {
        Self::of(Self::IS_ACE | (packets & 7))
    }

    /// The same with the AccECN option (section 3.2.3): payload bytes that arrived with CE, modulo
    /// 2^24.
    #[inline]
    pub fn with_ce_bytes(self, bytes: u32) -> Self {
        Self::of(u32::from(self.header()) | Self::HAS_OPTION | bytes << Self::OPTION_SHIFT)
    }

    /// Whether the header bits are an ACE field.
    #[inline]
    pub fn is_ace(self) -> bool {
        self.0.get() & Self::IS_ACE != 0
    }

    /// AE, CWR and ECE as a number.
    #[inline]
    pub fn bits(self) -> u8 {
        (self.0.get() & 7) as u8
    }

    /// The counter in the AccECN option.
    #[inline]
    pub fn ce_bytes(self) -> Option<u32> {
        let bits = self.0.get();
        (bits & Self::HAS_OPTION != 0).then_some(bits >> Self::OPTION_SHIFT)
    }

    /// The feedback without an option, in four bits.
    #[inline]
    pub fn header(self) -> u8 {
        (self.0.get() & 15) as u8
    }

    /// The feedback in the last four bits.
    #[inline]
    pub fn from_header(header: u8) -> Self {
        Self::of(u32::from(header & 15))
    }
}

/// A data segment that leaves the sender.
///
/// ```
/// use cwndlab_tcp::{DataSegment, Ecn};
/// # use cwndlab_rules::{Arithmetic, RuleSpec};
/// # use cwndlab_tcp::{Profile, Recovery, Sender, TcpConfig, tcp_config};
/// # let config = tcp_config!(TcpConfig::profile(Profile::Rfc), handshake.syn = false);
/// # let rule = "NewReno".parse::<RuleSpec>().unwrap().build(Arithmetic::Plain);
/// # let mut sender = Sender::new(rule, Recovery::Sack, Some(1), 0.0, &config);
/// let mut sent: Vec<DataSegment> = Vec::new();
/// sender.start(0.0, &config, &mut |segment| sent.push(segment));
/// assert_eq!((sent[0].number, sent[0].size_bytes, sent[0].cwnd), (0, 1052, 4.0));
/// assert_eq!((sent[0].ecn, sent[0].retransmission), (Ecn::NotEct, false));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DataSegment {
    /// Packet number.
    pub number: i64,
    /// Bytes on the wire.
    pub size_bytes: u32,
    /// Whether the packet was sent before.
    pub retransmission: bool,
    /// ECN field: if ECT, an AQM may mark the packet instead of dropping it.
    pub ecn: Ecn,
    /// CWR: the sender reduced cwnd, and the receiver can stop ECE (RFC 3168 section 6.1.2).
    pub cwr: bool,
    /// cwnd at transmission, packets: for traces.
    pub cwnd: f64,
    /// ssthresh at transmission, packets.
    pub ssthresh: f64,
    /// PSH: the sender's buffer is empty behind the packet.
    pub push: bool,
}

/// A data segment that reaches the receiver.
///
/// ```
/// use cwndlab_tcp::ReceivedData;
/// let packet = ReceivedData::new(3, 0.1);
/// assert_eq!((packet.number, packet.sent_s, packet.ce), (3, 0.1, false));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReceivedData {
    /// Packet number.
    pub number: i64,
    /// When it was sent, seconds (TSval, RFC 7323).
    pub sent_s: f64,
    /// It is ECT, or marked.
    pub ect: bool,
    /// An AQM marked it.
    pub ce: bool,
    /// The sender reduced cwnd (RFC 3168 section 6.1).
    pub cwr: bool,
    /// PSH.
    pub push: bool,
    /// The timestamp that it echoes (TSecr), milliseconds; 0 for none.
    pub echoed_ms: u32,
}

impl ReceivedData {
    /// A packet without marks.
    pub fn new(number: i64, sent_s: f64) -> Self {
        Self { number, sent_s, ect: false, ce: false, cwr: false, push: false, echoed_ms: 0 }
    }
}

/// An ACK that leaves the receiver.
///
/// ```
/// use cwndlab_tcp::{
///     AckSegment, EcnEcho, Profile, ReceivedData, Receiver, TcpConfig, tcp_config,
/// };
/// let config = tcp_config!(
///     TcpConfig::profile(Profile::Rfc),
///     handshake.syn = false,
///     receiver.delayed_ack = false
/// );
/// let (_, ack) = Receiver::new(true).on_data(0.1, ReceivedData::new(0, 0.0), &config);
/// let echo = EcnEcho::NONE;
/// let expected = AckSegment { ack: 0, sent_s: 0.0, echo_s: 0.0, size_bytes: 52, echo };
/// assert_eq!(ack, Some(expected)); // 40 bytes, and 12 of timestamps
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AckSegment {
    /// Highest packet received in order.
    pub ack: i64,
    /// Transmission time of the packet that triggered the ACK, seconds: for metrics, and for RTT
    /// samples with timestamps. [`crate::NEVER`] if none did.
    pub sent_s: f64,
    /// Echoed timestamp (TSecr, RFC 7323), seconds.
    pub echo_s: f64,
    /// Bytes on the wire.
    pub size_bytes: u32,
    /// ECN feedback.
    pub echo: EcnEcho,
}

/// What an ACK has of its own that leaves before another one of the same packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EarlierAck {
    /// Highest packet that it acknowledges.
    pub ack: i64,
    /// ECN feedback.
    pub echo: EcnEcho,
    /// Window that it offers, bytes, where ACKs tell one.
    pub window_bytes: Option<u32>,
}
