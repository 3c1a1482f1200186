//! FlowQueue-CoDel: a CoDel queue for each flow, served in turn, with those of new flows first.
//!
//! Source: T. Hoeiland-Joergensen, P. McKenney, D. Taht, J. Gettys and E. Dumazet, RFC 8290, section 4; each queue is RFC 8289's.
//!
//! * A queue that becomes active joins the end of the list of new queues with a credit of one `quantum`.
//! * The head of the new list is served, if there is none that of the old list. Without credit it gets a quantum and goes to the end of
//!   the old list; else it sends what CoDel gives, which costs credit (it may end below zero). Found empty, a new queue goes to the end
//!   of the old list, an old one becomes inactive (section 4.2).
//! * When what waits exceeds `limit` with the arriving packet, the queue with the most bytes loses packets from its head (section 4.1).
//!
//! So a flow that sends less than a quantum per round never waits for the others' standing queues.
//!
//! Knobs: [`FqCoDelParameters`].
//!
//! Departures from the RFC: without `buckets` every flow has its own queue, and no two share one; with them a flow's queue is its number
//! modulo `buckets`, not a keyed hash. CoDel's largest packet is that of all queues. The queue of a flow that has been inactive for so long
//! that CoDel has forgotten it may be given to another flow. Overflow takes one packet at a time where Linux takes up to 64.

use crate::codel::{Control, Law, MEMORY_INTERVALS};
use crate::fifo::{Fifo, NONE, Pool};
use crate::longest::{Length, Longest};
use crate::slots::Slots;
use crate::{Item, Limit, Scheduling};

/// What an FQ-CoDel queue is made from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FqCoDelParameters {
    /// What may wait in all queues together, without the packet in service.
    pub limit: Limit,
    /// Standing delay that is allowed in a queue, seconds.
    pub target_s: f64,
    /// Time to judge it over, seconds.
    pub interval_s: f64,
    /// Bytes a queue may send in its turn, at least 1; as in DRR, a packet of many quanta costs as many turns.
    pub quantum_bytes: u64,
    /// Flows share so many queues, by number; each has its own when absent.
    pub buckets: Option<u64>,
    /// Whether packets that can be marked are marked instead of lost.
    pub ecn: bool,
}

impl FqCoDelParameters {
    /// A queue for each flow; 5 ms over 100 ms, losing.
    pub fn new(limit: Limit, quantum_bytes: u64) -> Self {
        Self { limit, target_s: 0.005, interval_s: 0.1, quantum_bytes, buckets: None, ecn: false }
    }
}

/// A flow's queue.
#[derive(Clone, Debug)]
struct Queue {
    fifo: Fifo,
    control: Control,
    /// The flow, or the bucket.
    key: u32,
    is_active: bool,
    /// Next in its list: new, old, or inactive.
    next: u32,
    /// Previous in the list of inactive queues.
    previous: u32,
    credit_bytes: i64,
    /// When it became inactive, seconds.
    inactive_since_s: f64,
}

/// Queues in a row; linked through [`Queue::next`].
#[derive(Clone, Copy, Debug)]
struct List {
    head: u32,
    tail: u32,
}

impl List {
    const EMPTY: Self = Self { head: NONE, tail: NONE };

    fn push(&mut self, queues: &mut [Queue], number: u32) {
        queues[number as usize].next = NONE;
        queues[number as usize].previous = self.tail;
        if self.tail == NONE {
            self.head = number;
        } else {
            queues[self.tail as usize].next = number;
        }
        self.tail = number;
    }

    fn remove(&mut self, queues: &mut [Queue], number: u32) {
        let Queue { previous, next, .. } = queues[number as usize];
        if previous == NONE {
            self.head = next;
        } else {
            queues[previous as usize].next = next;
        }
        if next == NONE {
            self.tail = previous;
        } else {
            queues[next as usize].previous = previous;
        }
    }
}

/// FQ-CoDel over any number of flows.
#[derive(Clone, Debug)]
pub struct FqCoDel<P> {
    limit: Limit,
    quantum_bytes: i64,
    buckets: Option<u64>,
    law: Law,
    pool: Pool<P>,
    slots: Slots,
    queues: Vec<Queue>,
    new: List,
    old: List,
    /// Inactive queues, the longest inactive first.
    inactive: List,
    longest: Longest,
    packets: u64,
    bytes: u64,
}

impl<P> FqCoDel<P> {
    /// An empty queue with these parameters.
    pub fn new(parameters: &FqCoDelParameters) -> Self {
        let FqCoDelParameters { limit, target_s, interval_s, quantum_bytes, buckets, ecn } = *parameters;
        Self {
            limit,
            quantum_bytes: i64::try_from(quantum_bytes.max(1)).unwrap_or(i64::MAX / 2).min(i64::MAX / 2),
            buckets: buckets.map(|buckets| buckets.max(1)),
            law: Law { target_s, interval_s, ecn, max_packet_bytes: 0 },
            pool: Pool::new(),
            slots: Slots::new(),
            queues: Vec::new(),
            new: List::EMPTY,
            old: List::EMPTY,
            inactive: List::EMPTY,
            longest: Longest::default(),
            packets: 0,
            bytes: 0,
        }
    }

    /// Queues in memory: the active ones and those that CoDel may still remember.
    pub fn known_queues(&self) -> usize {
        self.queues.len()
    }

    /// The flow's queue, made active if it was not.
    #[inline]
    fn queue_of(&mut self, flow: u32, now_s: f64) -> u32 {
        let key = self.buckets.map_or(flow, |buckets| (u64::from(flow) % buckets) as u32);
        let number = match self.slots.find(key) {
            Some(number) if self.queues[number as usize].is_active => return number,
            Some(number) => {
                self.inactive.remove(&mut self.queues, number);
                number
            }
            None => self.fresh(key, now_s),
        };
        let queue = &mut self.queues[number as usize];
        queue.is_active = true;
        queue.credit_bytes = self.quantum_bytes;
        self.new.push(&mut self.queues, number);
        number
    }

    /// A queue without a past: that of a forgotten flow, or one more.
    fn fresh(&mut self, key: u32, now_s: f64) -> u32 {
        // A planned loss lies at most one interval ahead, so one more than CoDel's memory makes it forget.
        let forgotten_s = now_s - (MEMORY_INTERVALS + 1.0) * self.law.interval_s;
        let queue = Queue {
            fifo: Fifo::default(),
            control: Control::default(),
            key,
            is_active: false,
            next: NONE,
            previous: NONE,
            credit_bytes: 0,
            inactive_since_s: now_s,
        };
        let oldest = self.inactive.head;
        let number = if oldest != NONE && self.queues[oldest as usize].inactive_since_s < forgotten_s {
            self.inactive.remove(&mut self.queues, oldest);
            self.slots.remove(self.queues[oldest as usize].key);
            self.queues[oldest as usize] = queue;
            oldest
        } else {
            self.queues.push(queue);
            (self.queues.len() - 1) as u32
        };
        self.slots.insert(key, number);
        number
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
            let length = |number: u32| Length { bytes: queues[number as usize].fifo.bytes, label: u64::from(number) };
            let Some(number) = self.longest.top(length) else { return };
            let Some(item) = self.pool.pop(&mut self.queues[number as usize].fifo) else { return };
            self.packets -= 1;
            self.bytes -= u64::from(item.size_bytes);
            lost(item);
        }
    }
}

impl<P> Scheduling<P> for FqCoDel<P> {
    #[inline]
    fn enqueue(&mut self, item: Item<P>, lost: &mut impl FnMut(Item<P>)) {
        self.law.max_packet_bytes = self.law.max_packet_bytes.max(item.size_bytes);
        let number = self.queue_of(item.flow, item.arrived_s);
        let queue = &mut self.queues[number as usize];
        self.packets += 1;
        self.bytes += u64::from(item.size_bytes);
        self.pool.push(&mut queue.fifo, item);
        self.longest.grown(number, Length { bytes: queue.fifo.bytes, label: u64::from(number) });
        self.lose_from_the_longest(lost);
    }

    #[inline]
    fn dequeue(&mut self, now_s: f64, lost: &mut impl FnMut(Item<P>)) -> Option<Item<P>> {
        loop {
            let is_new = self.new.head != NONE;
            let list = if is_new { &mut self.new } else { &mut self.old };
            let number = list.head;
            if number == NONE {
                return None;
            }
            let queue = &mut self.queues[number as usize];
            if queue.credit_bytes <= 0 {
                queue.credit_bytes += self.quantum_bytes;
                list.remove(&mut self.queues, number);
                self.old.push(&mut self.queues, number);
                continue;
            }
            let before = queue.fifo;
            let item = queue.control.dequeue(now_s, &self.law, &mut self.pool, &mut queue.fifo, lost);
            self.packets -= before.packets - queue.fifo.packets;
            self.bytes -= before.bytes - queue.fifo.bytes;
            if let Some(item) = item {
                queue.credit_bytes -= i64::from(item.size_bytes);
                return Some(item);
            }
            queue.is_active = is_new;
            queue.inactive_since_s = now_s;
            list.remove(&mut self.queues, number);
            if is_new { &mut self.old } else { &mut self.inactive }.push(&mut self.queues, number);
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
