//! Strict priority: a class is served only when all classes with a smaller number are empty.
//!
//! Source: the textbook rule, as in Linux's `prio` with a drop-tail queue for each band and in ns-2's differentiated services (`dsred`,
//! scheduler `PRI`).
//!
//! * Four classes, 0 first; each has a drop-tail buffer of `limit`.
//! * The packet in service is not interrupted.
//!
//! Knob: `limit`. A larger priority than 3 counts as 3.

use crate::fifo::{Fifo, Pool};
use crate::{Item, Limit, Scheduling};

/// Classes of a priority queue.
pub const PRIORITY_CLASSES: usize = 4;

/// A strict priority queue.
#[derive(Clone, Debug)]
pub struct Priority<P> {
    limit: Limit,
    pool: Pool<P>,
    classes: [Fifo; PRIORITY_CLASSES],
}

impl<P> Priority<P> {
    /// An empty queue; each class holds so much, without the packet in service.
    pub fn new(limit: Limit) -> Self {
        Self { limit, pool: Pool::new(), classes: [Fifo::default(); PRIORITY_CLASSES] }
    }
}

impl<P> Scheduling<P> for Priority<P> {
    #[inline]
    fn enqueue(&mut self, item: Item<P>, lost: &mut impl FnMut(Item<P>)) {
        let class = &mut self.classes[usize::from(item.priority).min(PRIORITY_CLASSES - 1)];
        if self.limit.admits(class.packets, class.bytes, item.size_bytes) {
            self.pool.push(class, item);
        } else {
            lost(item);
        }
    }

    #[inline]
    fn dequeue(&mut self, _now_s: f64, _lost: &mut impl FnMut(Item<P>)) -> Option<Item<P>> {
        self.classes.iter_mut().find_map(|class| self.pool.pop(class))
    }

    #[inline]
    fn packets(&self) -> u64 {
        self.classes.iter().map(|class| class.packets).sum()
    }

    #[inline]
    fn bytes(&self) -> u64 {
        self.classes.iter().map(|class| class.bytes).sum()
    }
}
