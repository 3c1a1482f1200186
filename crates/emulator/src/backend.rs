//! The packet I/O interface of the emulator: receives packets from endpoints and sends them on.

use cwndlab_sim::Ecn;
use rustix::fd::BorrowedFd;
use std::io;

/// The end of the path that a packet comes from or goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The senders of the flows.
    Source,
    /// The receivers of the flows.
    Sink,
}

impl Side {
    /// Both sides: source, sink.
    pub const BOTH: [Self; 2] = [Self::Source, Self::Sink];

    /// The opposite side.
    pub fn other(self) -> Self {
        match self {
            Self::Source => Self::Sink,
            Self::Sink => Self::Source,
        }
    }
}

/// The header fields of a packet that the network and the flow counters use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketMeta {
    /// Flow number.
    pub flow: u32,
    /// Size on the wire, bytes.
    pub size_bytes: u16,
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// The TCP segment; none for other protocols.
    pub segment: Option<TcpSegment>,
}

/// The TCP header fields that the flow counters use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpSegment {
    /// Sequence number of the first byte.
    pub sequence: u32,
    /// Payload, bytes.
    pub payload_bytes: u32,
    /// The SYN flag.
    pub syn: bool,
    /// Acknowledgment number; none without the ACK flag.
    pub ack: Option<u32>,
}

/// The result of reading a packet into the caller's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// A packet of a known flow: its length in the buffer and its header fields.
    Packet(usize, PacketMeta),
    /// A packet of no known flow, for example a kernel's own on a new device; it is discarded.
    UnknownFlow,
    /// A packet with a wrong checksum; it is discarded.
    BadChecksum,
}

/// Non-blocking packet I/O towards both sides.
pub trait Backend {
    /// File descriptors to poll for packets: source, sink.
    fn descriptors(&self) -> [BorrowedFd<'_>; 2];

    /// Size of the largest packet in a buffer, bytes.
    fn largest(&self) -> usize;

    /// Reads the next packet that `side` has sent into `buffer`; none if none has arrived.
    fn receive(&mut self, side: Side, buffer: &mut [u8]) -> io::Result<Option<Received>>;

    /// Sends a packet to `side`, with CE set if `mark`; false if the side could not accept it.
    fn send(&mut self, side: Side, packet: &mut [u8], mark: bool) -> io::Result<bool>;
}
