//! Disciplines that hold their packets and may decide at dequeue.

/// A packet in a [`QueueDisc`]; `packet` is the caller's payload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueItem<P> {
    /// Size on the wire.
    pub size_bytes: u32,
    /// Flow number; numbers need not be dense.
    pub flow: u32,
    /// Whether the packet is ECT and may be marked instead of dropped.
    pub ecn: bool,
    /// Whether the packet is of an L4S flow: its ECN field is ECT(1) or CE (RFC 9331 section 5.1).
    pub l4s: bool,
    /// Whether this queue marked the packet.
    pub marked: bool,
    /// Priority, 0 (first) to 3.
    pub priority: u8,
    /// Time of enqueue, seconds.
    pub enqueued_s: f64,
    /// The caller's payload.
    pub packet: P,
}

/// A discipline that holds its packets and may decide at dequeue. The packet in service is no
/// longer in the queue.
pub trait QueueDisc<P> {
    /// Enqueues a packet; `dropped` receives each packet that this drops, the arriving one
    /// included.
    fn enqueue(&mut self, item: QueueItem<P>, dropped: &mut impl FnMut(QueueItem<P>));

    /// Dequeues the next packet, none if the queue is empty; `dropped` receives each packet that
    /// this drops.
    fn dequeue(
        &mut self,
        now_s: f64,
        dropped: &mut impl FnMut(QueueItem<P>),
    ) -> Option<QueueItem<P>>;

    /// Packets in the queue.
    fn packets(&self) -> u64;

    /// Bytes in the queue.
    fn bytes(&self) -> u64;
}
