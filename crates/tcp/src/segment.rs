//! Data and ACK segments. Packet numbers start at 0; -1 acknowledges nothing.

/// Up to three SACK blocks (RFC 2018), each `[left, right)` in packet numbers.
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

/// Destination of a sender's segments: a closure, or a type that implements it for inlining.
pub trait Output {
    /// Takes a segment.
    fn send(&mut self, segment: DataSegment);
}

impl<F: FnMut(DataSegment)> Output for F {
    #[inline]
    fn send(&mut self, segment: DataSegment) {
        self(segment);
    }
}

/// A data segment that leaves the sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DataSegment {
    /// Packet number.
    pub number: i64,
    /// Bytes on the wire.
    pub size_bytes: u32,
    /// Whether the packet was sent before.
    pub retransmission: bool,
    /// ECT: an AQM may mark the packet instead of dropping it (RFC 3168 section 5).
    pub ect: bool,
    /// CWR: the sender reduced cwnd, and the receiver can stop ECE (RFC 3168 section 6.1.2).
    pub cwr: bool,
    /// cwnd at transmission, packets: for traces.
    pub cwnd: f64,
    /// ssthresh at transmission, packets.
    pub ssthresh: f64,
}

/// An ACK that leaves the receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AckSegment {
    /// Highest packet received in order.
    pub ack: i64,
    /// Transmission time of the packet that triggered the ACK, seconds: for metrics, and for RTT
    /// samples with timestamps.
    pub sent_s: f64,
    /// Echoed timestamp (TSecr, RFC 7323), seconds.
    pub echo_s: f64,
    /// Bytes on the wire.
    pub size_bytes: u32,
    /// ECE: CE arrived, and no packet with CWR since (RFC 3168 section 6.1.3).
    pub ece: bool,
}
