//! Segments as the endpoints see them. Packet numbers start at 0; -1 acknowledges nothing.

/// Up to three SACK blocks (RFC 2018), each `[left, right)` in packet numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(i64, i64); 3],
    count: u8,
}

impl SackBlocks {
    /// How many a header can carry here.
    pub const MAX: usize = 3;

    /// The blocks, most recent first.
    pub fn as_slice(&self) -> &[(i64, i64)] {
        &self.blocks[..self.count as usize]
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Takes out the block at a place.
    pub(crate) fn remove(&mut self, index: usize) {
        self.blocks.copy_within(index + 1..self.count as usize, index);
        self.count -= 1;
    }

    /// Puts a block before all others, of which the last goes if there are more than `most` then.
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

/// Where a sender's segments go. A function will do; what every packet passes implements it, so that it is laid out in line.
pub trait Output {
    /// A segment leaves.
    fn send(&mut self, segment: DataSegment);
}

impl<F: FnMut(DataSegment)> Output for F {
    #[inline]
    fn send(&mut self, segment: DataSegment) {
        self(segment);
    }
}

/// A data packet leaving the sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DataSegment {
    /// Packet number.
    pub number: i64,
    /// Bytes on the wire.
    pub size_bytes: u32,
    /// Sent before.
    pub retransmission: bool,
    /// ECN-capable: a queue may mark it instead of dropping it (RFC 3168 section 5).
    pub ect: bool,
    /// The window was reduced: the receiver can stop its echo (RFC 3168 section 6.1.2).
    pub cwr: bool,
    /// Window as it left, packets: for traces.
    pub cwnd: f64,
    /// Slow-start threshold as it left, packets.
    pub ssthresh: f64,
}

/// An acknowledgement leaving the receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AckSegment {
    /// Highest packet received in order.
    pub ack: i64,
    /// When the packet it answers was sent, seconds (for measuring; the sender's timer uses it only with timestamps on).
    pub sent_s: f64,
    /// Timestamp to echo (RFC 7323), seconds.
    pub echo_s: f64,
    /// Bytes on the wire.
    pub size_bytes: u32,
    /// A mark has arrived, and no packet since that says the window was reduced (RFC 3168 section 6.1.3).
    pub ece: bool,
}
