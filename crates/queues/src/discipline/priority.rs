//! Strict priority: serves a class only when all classes with a smaller number are empty.
//!
//! Source: the textbook rule, as in Linux's `prio` with a drop-tail queue per band and in ns-2's
//! differentiated services (`dsred`, scheduler `PRI`).
//!
//! * Four classes, 0 first; each has a drop-tail buffer of `limit`.
//! * Service is not preemptive.
//!
//! Parameter: `limit`. A priority above 3 counts as 3.

use crate::buffer_limit::Limit;
use crate::fifo::{Fifo, PacketPool};
use crate::queue_disc::{QueueDisc, QueueItem};

/// Number of classes.
pub const PRIORITY_CLASSES: usize = 4;

/// A strict priority queue.
///
/// ```
/// use cwndlab_queues::{Limit, Priority};
/// # use cwndlab_queues::{QueueDisc, QueueItem};
/// # let item = |flow, packet| QueueItem { size_bytes: 1000, flow, ecn: false, l4s: false,
/// #     marked: false, priority: 1, enqueued_s: 0.0, packet };
/// let mut queue = Priority::new(Limit::Packets(50));
/// queue.enqueue(QueueItem { priority: 3, ..item(0, "bulk") }, &mut |_| ());
/// queue.enqueue(QueueItem { priority: 0, ..item(1, "voice") }, &mut |_| ());
/// assert_eq!(queue.dequeue(0.0, &mut |_| ()).unwrap().packet, "voice");
/// ```
#[derive(Clone, Debug)]
pub struct Priority<P> {
    limit: Limit,
    pool: PacketPool<P>,
    classes: [Fifo; PRIORITY_CLASSES],
}

impl<P> Priority<P> {
    /// An empty queue; `limit` per class, without the packet in service.
    pub fn new(limit: Limit) -> Self {
        Self { limit, pool: PacketPool::new(), classes: [Fifo::default(); PRIORITY_CLASSES] }
    }
}

impl<P> QueueDisc<P> for Priority<P> {
    #[inline]
    fn enqueue(&mut self, item: QueueItem<P>, dropped: &mut impl FnMut(QueueItem<P>)) {
        let class = &mut self.classes[usize::from(item.priority).min(PRIORITY_CLASSES - 1)];
        if self.limit.admits(class.packets, class.bytes, item.size_bytes) {
            self.pool.push(class, item);
        } else {
            dropped(item);
        }
    }

    #[inline]
    fn dequeue(
        &mut self,
        _now_s: f64,
        _lost: &mut impl FnMut(QueueItem<P>),
    ) -> Option<QueueItem<P>> {
        self.classes.iter_mut().find_map(|class| self.pool.pop(class))
    }

    #[inline]
    fn packets(&self) -> u64 {
        self.pool.packets()
    }

    #[inline]
    fn bytes(&self) -> u64 {
        self.pool.bytes()
    }
}
