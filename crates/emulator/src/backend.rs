//! What brings packets and takes them away.

use rustix::fd::BorrowedFd;
use std::io;

/// Where a packet comes from or goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The flows' sources.
    Source,
    /// Their sinks.
    Sink,
}

impl Side {
    /// Both, in order.
    pub const BOTH: [Self; 2] = [Self::Source, Self::Sink];

    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Self::Source => Self::Sink,
            Self::Sink => Self::Source,
        }
    }
}

/// What a packet says about itself, as far as the network must know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// Number of its flow.
    pub flow: u32,
    /// Bytes on the wire.
    pub size_bytes: u16,
    /// Whether it may be marked instead of lost (ECT, RFC 3168).
    pub capable: bool,
    /// Whether it is marked (CE).
    pub marked: bool,
    /// What TCP says, where it is TCP.
    pub segment: Option<Segment>,
}

/// A TCP segment, as far as it is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of its first byte.
    pub sequence: u32,
    /// Bytes of payload.
    pub payload_bytes: u32,
    /// It opens the connection (SYN).
    pub opens: bool,
    /// What it acknowledges, if it does.
    pub acknowledges: Option<u32>,
}

/// A packet that was read into the caller's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// One of a flow: its length in the buffer, and what it says.
    Packet(usize, Meta),
    /// One of nobody's, such as what a kernel sends on a new device: it is not passed on.
    Strange,
    /// One that is broken: a checksum is wrong.
    Broken,
}

/// What brings packets and takes them away; never blocks.
pub trait Backend {
    /// What to wait for packets on: source, sink.
    fn descriptors(&self) -> [BorrowedFd<'_>; 2];

    /// Bytes that a packet may have.
    fn largest(&self) -> usize;

    /// The next packet that `side` has sent; none if there is none yet.
    fn receive(&mut self, side: Side, buffer: &mut [u8]) -> io::Result<Option<Received>>;

    /// Hands a packet to `side`, marked on the way if `mark`; false if it could not take it.
    fn send(&mut self, side: Side, packet: &mut [u8], mark: bool) -> io::Result<bool>;
}
