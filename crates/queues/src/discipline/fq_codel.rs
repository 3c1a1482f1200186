//! FQ-CoDel: flow queueing with CoDel in each queue, where queues of new flows are served first.
//!
//! Source: T. Hoeiland-Joergensen, P. McKenney, D. Taht, J. Gettys and E. Dumazet, RFC 8290,
//! section 4; each queue is RFC 8289's.
//!
//! * A queue that becomes active joins the end of the list of new queues with one `quantum` of
//!   credits.
//! * The head of the list of new queues is served first, else that of old queues. A queue without
//!   credits gets a quantum and moves to the end of the old list; a queue with credits sends what
//!   CoDel dequeues and pays with credits (which may become negative). An empty new queue moves to
//!   the end of the old list, an empty old queue becomes inactive (section 4.2).
//! * When the backlog with the arriving packet exceeds `limit`, the queue with the most bytes drops
//!   packets from its head (section 4.1).
//!
//! So a flow that sends less than a quantum per round (a sparse flow) never waits for standing
//! queues.
//!
//! Parameters: [`FqCoDelParameters`].
//!
//! Departures from the RFC: without `buckets` every flow has its own queue, and no two share one;
//! with `buckets` a flow's queue is its number modulo `buckets`, not a keyed hash. MAXPACKET is
//! that of all queues. A queue may be given to another flow once CoDel has forgotten its state.
//! Overflow drops one packet at a time where Linux drops up to 64.

use super::codel::{CeThreshold, CoDelState, ControlLaw, MEMORY_INTERVALS};
use crate::buffer_limit::Limit;
use crate::credits::credits;
use crate::fifo::{Fifo, NONE, PacketPool};
use crate::flow_table::FlowTable;
use crate::longest_queue::{Length, LongestQueue};
use crate::new_and_old::NewAndOld;
use crate::queue_disc::{QueueDisc, QueueItem};
use crate::queue_list::{InList, Links, QueueList};

/// Parameters of an FQ-CoDel queue.
///
/// ```
/// use cwndlab_queues::{FqCoDelParameters, Limit};
/// let rfc = FqCoDelParameters {
///     buckets: Some(1024),
///     ..FqCoDelParameters::new(Limit::Packets(10_240), 1514)
/// };
/// assert_eq!((rfc.target_s, rfc.interval_s), (0.005, 0.1)); // RFC 8290 section 5.2
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FqCoDelParameters {
    /// Buffer limit of all queues together, without the packet in service.
    pub limit: Limit,
    /// Acceptable standing delay of a queue, seconds (TARGET).
    pub target_s: f64,
    /// Interval over which the sojourn time is judged, seconds (INTERVAL).
    pub interval_s: f64,
    /// Bytes a queue may send per turn, at least 1; as in DRR, a packet of many quanta needs as
    /// many turns.
    pub quantum_bytes: u64,
    /// Number of queues that flows share, by flow number; one queue per flow when absent.
    pub buckets: Option<u64>,
    /// Whether ECT packets are marked instead of dropped.
    pub ecn: bool,
    /// Marks sent ECT packets from a sojourn time on, as in CoDel.
    pub ce_threshold: Option<CeThreshold>,
}

impl FqCoDelParameters {
    /// One queue per flow; 5 ms over 100 ms, dropping.
    pub fn new(limit: Limit, quantum_bytes: u64) -> Self {
        Self {
            limit,
            target_s: 0.005,
            interval_s: 0.1,
            quantum_bytes,
            buckets: None,
            ecn: false,
            ce_threshold: None,
        }
    }
}

/// Queue of a flow.
#[derive(Clone, Debug)]
struct FlowQueue {
    fifo: Fifo,
    state: CoDelState,
    /// Flow or bucket number.
    key: u32,
    is_active: bool,
    /// In its list: new, old or inactive.
    links: Links,
    credit_bytes: i64,
    /// When the queue became inactive, seconds.
    inactive_since_s: f64,
}

impl InList for FlowQueue {
    #[inline]
    fn links(&mut self) -> &mut Links {
        &mut self.links
    }
}

/// FQ-CoDel over any number of flows.
///
/// ```
/// use cwndlab_queues::{FqCoDel, FqCoDelParameters, Limit};
/// # use cwndlab_queues::{QueueDisc, QueueItem};
/// # let item = |flow, packet| QueueItem { size_bytes: 1000, flow, ecn: false, l4s: false,
/// #     marked: false, priority: 1, enqueued_s: 0.0, packet };
/// let mut queue = FqCoDel::new(&FqCoDelParameters::new(Limit::Packets(1000), 1000));
/// [0, 0, 0].into_iter().for_each(|flow| queue.enqueue(item(flow, ()), &mut |_| ()));
/// queue.dequeue(0.0, &mut |_| ());
/// queue.dequeue(0.0, &mut |_| ());
/// // A new flow passes the one that stands.
/// queue.enqueue(item(1, ()), &mut |_| ());
/// assert_eq!(queue.dequeue(0.0, &mut |_| ()).unwrap().flow, 1);
/// ```
#[derive(Clone, Debug)]
pub struct FqCoDel<P> {
    limit: Limit,
    quantum_bytes: i64,
    buckets: Option<u64>,
    control_law: ControlLaw,
    pool: PacketPool<P>,
    flow_table: FlowTable,
    queues: Vec<FlowQueue>,
    lists: NewAndOld,
    /// Inactive queues, the longest inactive first.
    inactive: QueueList,
    longest: LongestQueue,
}

impl<P> FqCoDel<P> {
    /// An empty queue.
    pub fn new(parameters: &FqCoDelParameters) -> Self {
        let FqCoDelParameters {
            limit,
            target_s,
            interval_s,
            quantum_bytes,
            buckets,
            ecn,
            ce_threshold,
        } = *parameters;
        Self {
            limit,
            quantum_bytes: credits(quantum_bytes),
            buckets: buckets.map(|buckets| buckets.max(1)),
            control_law: ControlLaw {
                target_s,
                interval_s,
                ecn,
                ce_threshold,
                max_packet_bytes: 0,
            },
            pool: PacketPool::new(),
            flow_table: FlowTable::new(),
            queues: Vec::new(),
            lists: NewAndOld::EMPTY,
            inactive: QueueList::EMPTY,
            longest: LongestQueue::default(),
        }
    }

    /// Number of queues in memory: active ones, and inactive ones whose CoDel state may still
    /// matter.
    pub fn queues_in_memory(&self) -> usize {
        self.queues.len()
    }

    /// The queue of `flow`, activated if necessary.
    #[inline]
    fn queue_of(&mut self, flow: u32, now_s: f64) -> u32 {
        let key = self.buckets.map_or(flow, |buckets| (u64::from(flow) % buckets) as u32);
        let number = match self.flow_table.find(key) {
            Some(number) if self.queues[number as usize].is_active => return number,
            Some(number) => {
                self.inactive.remove(&mut self.queues, number);
                number
            }
            None => self.allocate(key, now_s),
        };
        let queue = &mut self.queues[number as usize];
        queue.is_active = true;
        queue.credit_bytes = self.quantum_bytes;
        self.lists.push_new(&mut self.queues, number);
        number
    }

    /// A queue without CoDel state: that of a forgotten flow, or a further one.
    fn allocate(&mut self, key: u32, now_s: f64) -> u32 {
        // A scheduled drop is at most one interval ahead, so CoDel has forgotten it after one
        // interval more.
        let forgotten_s = now_s - (MEMORY_INTERVALS + 1.0) * self.control_law.interval_s;
        let queue = FlowQueue {
            fifo: Fifo::default(),
            state: CoDelState::default(),
            key,
            is_active: false,
            links: Links::default(),
            credit_bytes: 0,
            inactive_since_s: now_s,
        };
        let oldest = self.inactive.head;
        let number =
            if oldest != NONE && self.queues[oldest as usize].inactive_since_s < forgotten_s {
                self.inactive.remove(&mut self.queues, oldest);
                self.flow_table.remove(self.queues[oldest as usize].key);
                self.queues[oldest as usize] = queue;
                oldest
            } else {
                self.queues.push(queue);
                (self.queues.len() - 1) as u32
            };
        self.flow_table.insert(key, number);
        number
    }

    fn drop_from_longest(&mut self, dropped: &mut impl FnMut(QueueItem<P>)) {
        while self.pool.exceeds(self.limit) {
            let queues = &self.queues;
            let length = |number: u32| Length {
                size: queues[number as usize].fifo.bytes,
                label: u64::from(number),
            };
            let Some(number) = self.longest.top(length) else { return };
            let Some(item) = self.pool.pop(&mut self.queues[number as usize].fifo) else { return };
            dropped(item);
        }
    }
}

impl<P> QueueDisc<P> for FqCoDel<P> {
    #[inline]
    fn enqueue(&mut self, item: QueueItem<P>, dropped: &mut impl FnMut(QueueItem<P>)) {
        self.control_law.max_packet_bytes = self.control_law.max_packet_bytes.max(item.size_bytes);
        let number = self.queue_of(item.flow, item.enqueued_s);
        let queue = &mut self.queues[number as usize];
        self.pool.push(&mut queue.fifo, item);
        self.longest.on_growth(number, Length { size: queue.fifo.bytes, label: u64::from(number) });
        self.drop_from_longest(dropped);
    }

    #[inline]
    fn dequeue(
        &mut self,
        now_s: f64,
        dropped: &mut impl FnMut(QueueItem<P>),
    ) -> Option<QueueItem<P>> {
        loop {
            let number = self.lists.head();
            if number == NONE {
                return None;
            }
            let queue = &mut self.queues[number as usize];
            if queue.credit_bytes <= 0 {
                queue.credit_bytes += self.quantum_bytes;
                self.lists.postpone_head(&mut self.queues);
                continue;
            }
            let item = queue.state.dequeue(
                now_s,
                &self.control_law,
                &mut self.pool,
                &mut queue.fifo,
                dropped,
            );
            if let Some(item) = item {
                queue.credit_bytes -= i64::from(item.size_bytes);
                return Some(item);
            }
            if self.lists.retire_head(&mut self.queues) {
                let queue = &mut self.queues[number as usize];
                queue.is_active = false;
                queue.inactive_since_s = now_s;
                self.inactive.push(&mut self.queues, number);
            }
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
