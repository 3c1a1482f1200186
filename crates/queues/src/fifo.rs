//! FIFO queues in a shared pool of packets: once the pool has grown to the largest backlog,
//! enqueueing allocates nothing.

use crate::buffer_limit::Limit;
use crate::queue_disc::QueueItem;

/// No packet, no queue.
pub(crate) const NONE: u32 = u32::MAX;

/// The packets of all queues as linked nodes.
#[derive(Clone, Debug)]
pub(crate) struct PacketPool<P> {
    nodes: Vec<Node<P>>,
    /// Head of the free list of nodes.
    free: u32,
    packets: u64,
    bytes: u64,
}

#[derive(Clone, Debug)]
struct Node<P> {
    item: Option<QueueItem<P>>,
    next: u32,
    /// Not kept up to date at the head.
    previous: u32,
}

/// One queue, with its packets in a [`PacketPool`].
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

impl<P> PacketPool<P> {
    pub(crate) fn new() -> Self {
        Self { nodes: Vec::new(), free: NONE, packets: 0, bytes: 0 }
    }

    /// Packets in all queues.
    #[inline]
    pub(crate) fn packets(&self) -> u64 {
        self.packets
    }

    /// Bytes in all queues.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether all queues together have more than this limit.
    #[inline]
    pub(crate) fn exceeds(&self, limit: Limit) -> bool {
        match limit {
            Limit::Packets(limit) => self.packets > limit,
            Limit::Bytes(limit) => self.bytes > limit,
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, queue: &mut Fifo, item: QueueItem<P>) {
        queue.packets += 1;
        queue.bytes += u64::from(item.size_bytes);
        self.packets += 1;
        self.bytes += u64::from(item.size_bytes);
        let node = Node { item: Some(item), next: NONE, previous: queue.tail };
        let index = self.free;
        let index = if index == NONE {
            self.nodes.push(node);
            (self.nodes.len() - 1) as u32
        } else {
            self.free = self.nodes[index as usize].next;
            self.nodes[index as usize] = node;
            index
        };
        if queue.tail == NONE {
            queue.head = index;
        } else {
            self.nodes[queue.tail as usize].next = index;
        }
        queue.tail = index;
    }

    #[inline]
    pub(crate) fn pop(&mut self, queue: &mut Fifo) -> Option<QueueItem<P>> {
        let index = queue.head;
        if index == NONE {
            return None;
        }
        let node = &mut self.nodes[index as usize];
        let item = node.item.take()?;
        queue.head = node.next;
        if queue.head == NONE {
            queue.tail = NONE;
        }
        Some(self.release(queue, index, item))
    }

    /// Removes the packet at the tail.
    pub(crate) fn pop_tail(&mut self, queue: &mut Fifo) -> Option<QueueItem<P>> {
        if queue.head == queue.tail {
            return self.pop(queue);
        }
        let index = queue.tail;
        let node = &mut self.nodes[index as usize];
        let item = node.item.take()?;
        queue.tail = node.previous;
        self.nodes[queue.tail as usize].next = NONE;
        Some(self.release(queue, index, item))
    }

    /// Frees the node of a packet that has left its queue.
    #[inline]
    fn release(&mut self, queue: &mut Fifo, index: u32, item: QueueItem<P>) -> QueueItem<P> {
        self.nodes[index as usize].next = self.free;
        self.free = index;
        let size_bytes = u64::from(item.size_bytes);
        queue.packets -= 1;
        queue.bytes -= size_bytes;
        self.packets -= 1;
        self.bytes -= size_bytes;
        item
    }

    /// Time at which the packet at the head was enqueued, seconds; none if the queue is empty.
    #[inline]
    pub(crate) fn head_enqueued_s(&self, queue: &Fifo) -> Option<f64> {
        self.nodes.get(queue.head as usize)?.item.as_ref().map(|item| item.enqueued_s)
    }

    /// Size of the packet at the head; 0 if the queue is empty.
    #[inline]
    pub(crate) fn head_bytes(&self, queue: &Fifo) -> u32 {
        self.nodes
            .get(queue.head as usize)
            .and_then(|node| node.item.as_ref())
            .map_or(0, |item| item.size_bytes)
    }
}
