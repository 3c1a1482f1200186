//! Disciplines that hold their packets and may decide at dequeue.

/// A packet in a [`QueueDisc`]; `packet` is the caller's payload.
///
/// ```
/// use cwndlab_queues::QueueItem;
/// let item = QueueItem {
///     size_bytes: 1000,
///     flow: 7,
///     ecn: true,
///     l4s: false,
///     marked: false,
///     priority: 1,
///     enqueued_s: 0.25,
///     packet: "payload",
/// };
/// let marked = QueueItem { marked: true, ..item };
/// assert_ne!(marked, item);
/// ```
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
///
/// ```
/// use cwndlab_queues::{Limit, Priority, QueueDisc, QueueItem};
/// # let item = |flow, packet| QueueItem { size_bytes: 1000, flow, ecn: false, l4s: false,
/// #     marked: false, priority: 1, enqueued_s: 0.0, packet };
/// let mut queue = Priority::new(Limit::Packets(1));
/// let mut dropped = Vec::new();
/// for packet in ['a', 'b'] {
///     queue.enqueue(item(0, packet), &mut |item| dropped.push(item.packet));
/// }
/// assert_eq!((queue.packets(), dropped), (1, vec!['b'])); // the arriving packet, too
/// assert_eq!(queue.dequeue(0.0, &mut |_| ()).unwrap().packet, 'a');
/// ```
pub trait QueueDisc<P> {
    /// Enqueues a packet; `dropped` receives each packet that this drops, the arriving one
    /// included.
    fn enqueue(&mut self, item: QueueItem<P>, dropped: &mut impl FnMut(QueueItem<P>));

    /// Dequeues the next packet, none if the queue is empty or holds back all packets; `dropped`
    /// receives each packet that this drops.
    fn dequeue(
        &mut self,
        now_s: f64,
        dropped: &mut impl FnMut(QueueItem<P>),
    ) -> Option<QueueItem<P>>;

    /// No packet that waits now leaves before this time, seconds. After [`Self::dequeue`] has held
    /// back all packets, it is later than that call. A discipline that paces or shapes says more
    /// than the default, by which a packet may always leave.
    fn ready_s(&self) -> f64 {
        f64::NEG_INFINITY
    }

    /// Packets in the queue.
    fn packets(&self) -> u64;

    /// Bytes in the queue.
    fn bytes(&self) -> u64;
}
