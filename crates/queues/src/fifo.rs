//! Many first-in first-out queues in one pool of packets: a packet costs no allocation once the pool has grown to the largest backlog.

use crate::Item;

/// No packet, no queue.
pub(crate) const NONE: u32 = u32::MAX;

/// The packets of all queues, linked.
#[derive(Clone, Debug)]
pub(crate) struct Pool<P> {
    nodes: Vec<Node<P>>,
    /// First of the unused nodes.
    free: u32,
}

#[derive(Clone, Debug)]
struct Node<P> {
    item: Option<Item<P>>,
    next: u32,
}

/// One queue; its packets lie in a [`Pool`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fifo {
    head: u32,
    tail: u32,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

impl Default for Fifo {
    fn default() -> Self {
        Self { head: NONE, tail: NONE, packets: 0, bytes: 0 }
    }
}

impl<P> Pool<P> {
    pub(crate) fn new() -> Self {
        Self { nodes: Vec::new(), free: NONE }
    }

    #[inline]
    pub(crate) fn push(&mut self, queue: &mut Fifo, item: Item<P>) {
        queue.packets += 1;
        queue.bytes += u64::from(item.size_bytes);
        let node = Node { item: Some(item), next: NONE };
        let place = self.free;
        let place = if place == NONE {
            self.nodes.push(node);
            (self.nodes.len() - 1) as u32
        } else {
            self.free = self.nodes[place as usize].next;
            self.nodes[place as usize] = node;
            place
        };
        if queue.tail == NONE {
            queue.head = place;
        } else {
            self.nodes[queue.tail as usize].next = place;
        }
        queue.tail = place;
    }

    #[inline]
    pub(crate) fn pop(&mut self, queue: &mut Fifo) -> Option<Item<P>> {
        let place = queue.head;
        if place == NONE {
            return None;
        }
        let node = &mut self.nodes[place as usize];
        let item = node.item.take()?;
        queue.head = node.next;
        if queue.head == NONE {
            queue.tail = NONE;
        }
        node.next = self.free;
        self.free = place;
        queue.packets -= 1;
        queue.bytes -= u64::from(item.size_bytes);
        Some(item)
    }

    /// Size of the packet at the head, 0 without one.
    #[inline]
    pub(crate) fn head_bytes(&self, queue: &Fifo) -> u32 {
        self.nodes.get(queue.head as usize).and_then(|node| node.item.as_ref()).map_or(0, |item| item.size_bytes)
    }
}
