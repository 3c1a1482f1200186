//! Deficit round robin: one queue for each flow, served in turn, a quantum of bytes each.
//!
//! Source: M. Shreedhar and G. Varghese, "Efficient Fair Queueing using Deficit Round Robin", SIGCOMM 1995, section 3, as
//! ns-2 2.35 has it (`queue/drr.cc`), packet for packet.
//!
//! * Its turn gives a queue `quantum` bytes of credit on top of what its last turn left. It sends as long as the credit covers the
//!   packet at its head, then the turn passes on. An emptied queue leaves the round and loses its credit.
//! * A queue that becomes active joins at the end of the round, without credit.
//! * When what waits exceeds `limit` with the arriving packet, the queue with the most bytes loses packets from its head until it
//!   does not; among equals the one whose turn comes first, from the current one on.
//!
//! Knobs: [`DrrParameters`].
//!
//! Departures from ns-2: flows are told apart by number, not by source address. The limit may be in packets. A flow's own tail-drop
//! limit is an option. A queue that an overflow has emptied in the middle of its turn starts a new one when it comes back: ns-2 forgets to
//! end the old one, and the queue has to wait for its first quantum (this needs a buffer of less than two packets a flow).

use crate::fifo::{Fifo, NONE, Pool};
use crate::longest::{Length, Longest};
use crate::slots::Slots;
use crate::{Item, Limit, Scheduling};

/// What a DRR queue is made from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrrParameters {
    /// What may wait in all queues together, without the packet in service (`blimit_`).
    pub limit: Limit,
    /// Bytes a queue may send in its turn, at least 1 (`quantum_`). A packet larger than that waits for as many turns as it needs, each of
    /// which costs time to compute.
    pub quantum_bytes: u64,
    /// Flows share so many queues, by number; each has its own when absent (`buckets_`).
    pub buckets: Option<u64>,
    /// What may wait in one queue: an arriving packet that finds no room in its own is lost, before `limit` is looked at.
    pub flow_limit: Option<Limit>,
}

impl DrrParameters {
    /// A queue for each flow, the longest losing its head when all are full.
    pub fn new(limit: Limit, quantum_bytes: u64) -> Self {
        Self { limit, quantum_bytes, buckets: None, flow_limit: None }
    }
}

/// A flow's queue and its place in the round.
#[derive(Clone, Debug)]
struct Queue {
    fifo: Fifo,
    /// The flow, or the bucket.
    key: u32,
    previous: u32,
    /// Next in the round; in an unused one, the next unused one.
    next: u32,
    credit_bytes: u64,
    /// Whether it has had the quantum of its current turn.
    has_turn: bool,
    /// Place in the round: larger is later.
    label: u64,
}

/// Deficit round robin over any number of flows.
#[derive(Clone, Debug)]
pub struct Drr<P> {
    limit: Limit,
    quantum_bytes: u64,
    buckets: Option<u64>,
    flow_limit: Option<Limit>,
    pool: Pool<P>,
    slots: Slots,
    queues: Vec<Queue>,
    /// First of the unused queues.
    unused: u32,
    /// Whose turn it is.
    current: u32,
    longest: Longest,
    /// The label for whoever goes to the end of the round next.
    next_label: u64,
    packets: u64,
    bytes: u64,
}

impl<P> Drr<P> {
    /// An empty queue with these parameters.
    pub fn new(parameters: &DrrParameters) -> Self {
        Self {
            limit: parameters.limit,
            quantum_bytes: parameters.quantum_bytes.max(1),
            buckets: parameters.buckets.map(|buckets| buckets.max(1)),
            flow_limit: parameters.flow_limit,
            pool: Pool::new(),
            slots: Slots::new(),
            queues: Vec::new(),
            unused: NONE,
            current: NONE,
            longest: Longest::default(),
            next_label: 0,
            packets: 0,
            bytes: 0,
        }
    }

    /// Queues in the round.
    pub fn active_queues(&self) -> usize {
        self.slots.used()
    }

    #[inline]
    fn key(&self, flow: u32) -> u32 {
        self.buckets.map_or(flow, |buckets| (u64::from(flow) % buckets) as u32)
    }

    /// A queue for this key, at the end of the round.
    fn activate(&mut self, key: u32) -> u32 {
        let queue =
            Queue { fifo: Fifo::default(), key, previous: NONE, next: NONE, credit_bytes: 0, has_turn: false, label: self.next_label };
        self.next_label += 1;
        let number = if self.unused == NONE {
            self.queues.push(queue);
            (self.queues.len() - 1) as u32
        } else {
            let number = self.unused;
            self.unused = self.queues[number as usize].next;
            self.queues[number as usize] = queue;
            number
        };
        self.slots.insert(key, number);
        let (previous, next) = match self.current {
            NONE => (number, number),
            current => (self.queues[current as usize].previous, current),
        };
        self.queues[number as usize].previous = previous;
        self.queues[number as usize].next = next;
        self.queues[previous as usize].next = number;
        self.queues[next as usize].previous = number;
        if self.current == NONE {
            self.current = number;
        }
        number
    }

    /// An empty queue leaves the round.
    fn retire(&mut self, number: u32) {
        let Queue { key, previous, next, .. } = self.queues[number as usize];
        self.slots.remove(key);
        self.queues[previous as usize].next = next;
        self.queues[next as usize].previous = previous;
        if self.current == number {
            self.current = if next == number { NONE } else { next };
        }
        self.queues[number as usize].next = self.unused;
        self.unused = number;
    }

    /// The head of a queue that is not empty.
    #[inline(always)]
    fn take(&mut self, number: u32) -> Option<Item<P>> {
        let queue = &mut self.queues[number as usize];
        let item = self.pool.pop(&mut queue.fifo)?;
        let is_empty = queue.fifo.packets == 0;
        self.packets -= 1;
        self.bytes -= u64::from(item.size_bytes);
        if is_empty {
            self.retire(number);
        }
        Some(item)
    }

    fn is_over_limit(&self) -> bool {
        match self.limit {
            Limit::Packets(limit) => self.packets > limit,
            Limit::Bytes(limit) => self.bytes > limit,
        }
    }

    fn lose_from_the_longest(&mut self, lost: &mut impl FnMut(Item<P>)) {
        while self.is_over_limit() {
            let queues = &self.queues;
            let length = |number: u32| {
                let queue = &queues[number as usize];
                Length { bytes: queue.fifo.bytes, label: queue.label }
            };
            let Some(item) = self.longest.top(length).and_then(|number| self.take(number)) else { return };
            lost(item);
        }
    }
}

impl<P> Scheduling<P> for Drr<P> {
    #[inline(always)]
    fn enqueue(&mut self, item: Item<P>, lost: &mut impl FnMut(Item<P>)) {
        let key = self.key(item.flow);
        let size_bytes = u64::from(item.size_bytes);
        let found = self.slots.find(key);
        if let Some(limit) = self.flow_limit {
            let waiting = found.map_or(Fifo::default(), |number| self.queues[number as usize].fifo);
            if !limit.admits(waiting.packets, waiting.bytes, item.size_bytes) {
                return lost(item);
            }
        }
        let number = found.unwrap_or_else(|| self.activate(key));
        let queue = &mut self.queues[number as usize];
        self.pool.push(&mut queue.fifo, item);
        self.longest.grown(number, Length { bytes: queue.fifo.bytes, label: queue.label });
        self.packets += 1;
        self.bytes += size_bytes;
        self.lose_from_the_longest(lost);
    }

    #[inline(always)]
    fn dequeue(&mut self, _now_s: f64, _lost: &mut impl FnMut(Item<P>)) -> Option<Item<P>> {
        if self.packets == 0 {
            return None;
        }
        loop {
            let current = self.current;
            let queue = &mut self.queues[current as usize];
            if !queue.has_turn {
                queue.has_turn = true;
                queue.credit_bytes += self.quantum_bytes;
            }
            let size_bytes = u64::from(self.pool.head_bytes(&queue.fifo));
            if size_bytes <= queue.credit_bytes {
                queue.credit_bytes -= size_bytes;
                return self.take(current);
            }
            queue.has_turn = false;
            queue.label = self.next_label;
            self.next_label += 1;
            self.current = queue.next;
        }
    }

    #[inline]
    fn packets(&self) -> u64 {
        self.packets
    }

    #[inline]
    fn bytes(&self) -> u64 {
        self.bytes
    }
}
