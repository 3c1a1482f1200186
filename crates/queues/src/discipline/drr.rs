//! Deficit round robin (DRR): fair queueing with one FIFO per flow and a quantum of bytes per turn.
//!
//! Source: M. Shreedhar and G. Varghese, "Efficient Fair Queueing using Deficit Round Robin",
//! SIGCOMM 1995, section 3, packet for packet as in ns-2 2.35 (`queue/drr.cc`).
//!
//! * At its turn a queue adds `quantum` to its deficit counter and sends packets while the deficit
//!   covers the head. A queue that becomes empty leaves the round and loses its deficit.
//! * A queue that becomes active joins the end of the round with deficit 0.
//! * When the backlog with the arriving packet exceeds `limit`, the queue with the most bytes drops
//!   packets from its head until it does not; among equals, the one whose turn comes first, from
//!   the current one on.
//!
//! Parameters: [`DrrParameters`].
//!
//! Departures from ns-2: flows are distinguished by number, not by source address. The limit may be
//! in packets. A drop-tail limit per flow is optional.
//!
//! As in ns-2, overflow that empties a queue during its turn does not end the turn: when the queue
//! becomes active again, it gets its first quantum a round later. That needs a buffer of less than
//! two packets per flow.

use crate::buffer_limit::Limit;
use crate::fifo::{Fifo, NONE, PacketPool};
use crate::flow_table::FlowTable;
use crate::longest_queue::{Length, LongestQueue};
use crate::queue_disc::{QueueDisc, QueueItem};

/// Parameters of a DRR queue.
///
/// ```
/// use cwndlab_queues::{DrrParameters, Limit};
/// let parameters = DrrParameters::new(Limit::Packets(100), 1500);
/// assert_eq!((parameters.quantum_bytes, parameters.buckets), (1500, None)); // a queue per flow
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrrParameters {
    /// Buffer limit of all flows together, without the packet in service (`blimit_`).
    pub limit: Limit,
    /// Bytes a queue may send per turn, at least 1 (`quantum_`). A larger packet needs several
    /// turns, each of which costs computing time.
    pub quantum_bytes: u64,
    /// Number of queues that flows share, by flow number; one queue per flow when absent
    /// (`buckets_`).
    pub buckets: Option<u64>,
    /// Drop-tail limit per flow, applied before `limit`.
    pub flow_limit: Option<Limit>,
}

impl DrrParameters {
    /// One queue per flow; overflow drops from the head of the longest.
    pub fn new(limit: Limit, quantum_bytes: u64) -> Self {
        Self { limit, quantum_bytes, buckets: None, flow_limit: None }
    }
}

/// FIFO of a flow, and its position in the round.
#[derive(Clone, Debug)]
struct FlowQueue {
    fifo: Fifo,
    /// Flow or bucket number.
    key: u32,
    previous: u32,
    /// Next in the round, or next in the free list.
    next: u32,
    deficit_bytes: u64,
    /// Whether the quantum of the current turn was added.
    has_quantum: bool,
    /// Position in the round: larger is later.
    label: u64,
}

/// Deficit round robin over any number of flows.
///
/// ```
/// use cwndlab_queues::{Drr, DrrParameters, Limit};
/// # use cwndlab_queues::{QueueDisc, QueueItem};
/// # let item = |flow, packet| QueueItem { size_bytes: 1000, flow, ecn: false, l4s: false,
/// #     marked: false, priority: 1, enqueued_s: 0.0, packet };
/// let mut queue = Drr::new(&DrrParameters::new(Limit::Packets(100), 1000));
/// [0, 0, 0, 1].into_iter().for_each(|flow| queue.enqueue(item(flow, ()), &mut |_| ()));
/// let turns = [(); 4].map(|()| queue.dequeue(0.0, &mut |_| ()).unwrap().flow);
/// assert_eq!(turns, [0, 1, 0, 0]);
/// ```
#[derive(Clone, Debug)]
pub struct Drr<P> {
    limit: Limit,
    quantum_bytes: u64,
    buckets: Option<u64>,
    flow_limit: Option<Limit>,
    pool: PacketPool<P>,
    flow_table: FlowTable,
    queues: Vec<FlowQueue>,
    /// Head of the free list of queues.
    free: u32,
    /// Queue whose turn it is.
    current: u32,
    longest: LongestQueue,
    /// Keys of queues that overflow emptied during their turn.
    interrupted: Vec<u32>,
    /// Label of the next queue at the end of the round.
    next_label: u64,
}

impl<P> Drr<P> {
    /// An empty queue.
    pub fn new(parameters: &DrrParameters) -> Self {
        Self {
            limit: parameters.limit,
            quantum_bytes: parameters.quantum_bytes.max(1),
            buckets: parameters.buckets.map(|buckets| buckets.max(1)),
            flow_limit: parameters.flow_limit,
            pool: PacketPool::new(),
            flow_table: FlowTable::new(),
            queues: Vec::new(),
            free: NONE,
            current: NONE,
            longest: LongestQueue::default(),
            interrupted: Vec::new(),
            next_label: 0,
        }
    }

    /// Number of queues in the round.
    pub fn active_queues(&self) -> usize {
        self.flow_table.used()
    }

    #[inline]
    fn key(&self, flow: u32) -> u32 {
        self.buckets.map_or(flow, |buckets| (u64::from(flow) % buckets) as u32)
    }

    /// Adds a queue for `key` at the end of the round.
    fn activate(&mut self, key: u32) -> u32 {
        let queue = FlowQueue {
            fifo: Fifo::default(),
            key,
            previous: NONE,
            next: NONE,
            deficit_bytes: 0,
            has_quantum: !self.interrupted.is_empty() && self.resumes(key),
            label: self.next_label,
        };
        self.next_label += 1;
        let number = if self.free == NONE {
            self.queues.push(queue);
            (self.queues.len() - 1) as u32
        } else {
            let number = self.free;
            self.free = self.queues[number as usize].next;
            self.queues[number as usize] = queue;
            number
        };
        self.flow_table.insert(key, number);
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

    /// Whether overflow had emptied the queue for `key` during its turn.
    #[cold]
    fn resumes(&mut self, key: u32) -> bool {
        let found = self.interrupted.iter().position(|&other| other == key);
        found.map(|position| self.interrupted.swap_remove(position)).is_some()
    }

    /// Removes an empty queue from the round.
    fn deactivate(&mut self, number: u32) {
        let FlowQueue { key, previous, next, .. } = self.queues[number as usize];
        self.flow_table.remove(key);
        self.queues[previous as usize].next = next;
        self.queues[next as usize].previous = previous;
        if self.current == number {
            self.current = if next == number { NONE } else { next };
        }
        self.queues[number as usize].next = self.free;
        self.free = number;
    }

    /// Dequeues the head of a queue that is not empty.
    #[inline(always)]
    fn dequeue_head(&mut self, number: u32) -> Option<QueueItem<P>> {
        let queue = &mut self.queues[number as usize];
        let item = self.pool.pop(&mut queue.fifo)?;
        let is_empty = queue.fifo.packets == 0;
        if is_empty {
            self.deactivate(number);
        }
        Some(item)
    }

    #[cold]
    #[inline(never)]
    fn drop_from_longest(&mut self, dropped: &mut impl FnMut(QueueItem<P>)) {
        while self.pool.exceeds(self.limit) {
            let queues = &self.queues;
            let length = |number: u32| {
                let queue = &queues[number as usize];
                Length { size: queue.fifo.bytes, label: queue.label }
            };
            let Some(number) = self.longest.top(length) else { return };
            let FlowQueue { key, has_quantum, .. } = self.queues[number as usize];
            let Some(item) = self.dequeue_head(number) else { return };
            if has_quantum && self.queues[number as usize].fifo.packets == 0 {
                self.interrupted.push(key);
            }
            dropped(item);
        }
    }
}

impl<P> QueueDisc<P> for Drr<P> {
    #[inline(always)]
    fn enqueue(&mut self, item: QueueItem<P>, dropped: &mut impl FnMut(QueueItem<P>)) {
        let key = self.key(item.flow);
        let found = self.flow_table.find(key);
        if let Some(limit) = self.flow_limit {
            let waiting = found.map_or(Fifo::default(), |number| self.queues[number as usize].fifo);
            if !limit.admits(waiting.packets, waiting.bytes, item.size_bytes) {
                return dropped(item);
            }
        }
        let number = found.unwrap_or_else(|| self.activate(key));
        let queue = &mut self.queues[number as usize];
        self.pool.push(&mut queue.fifo, item);
        self.longest.on_growth(number, Length { size: queue.fifo.bytes, label: queue.label });
        if self.pool.exceeds(self.limit) {
            self.drop_from_longest(dropped);
        }
    }

    #[inline(always)]
    fn dequeue(
        &mut self,
        _now_s: f64,
        _lost: &mut impl FnMut(QueueItem<P>),
    ) -> Option<QueueItem<P>> {
        if self.pool.packets() == 0 {
            return None;
        }
        loop {
            let current = self.current;
            let queue = &mut self.queues[current as usize];
            if !queue.has_quantum {
                queue.has_quantum = true;
                queue.deficit_bytes += self.quantum_bytes;
            }
            let size_bytes = u64::from(self.pool.head_bytes(&queue.fifo));
            if size_bytes <= queue.deficit_bytes {
                queue.deficit_bytes -= size_bytes;
                return self.dequeue_head(current);
            }
            queue.has_quantum = false;
            queue.label = self.next_label;
            self.next_label += 1;
            self.current = queue.next;
        }
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
