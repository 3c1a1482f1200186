//! FQ: a queue per flow, served by deficit round robin, whose flows may be paced.
//!
//! Source: the queue discipline fq of Linux as its manual describes it (`tc-fq(8)`); its lists of
//! new and old flows are those of RFC 8290, section 4.2.
//!
//! * A flow that is new starts with `initial_quantum` of credits. One that becomes active again has
//!   at least one `quantum`.
//! * The head of the list of new flows is served first, else that of old flows. A flow without
//!   credits gets a quantum and moves to the end of the old list; one with credits sends a packet
//!   and pays with its size. An empty new flow moves to the end of the old list, an empty old flow
//!   becomes inactive.
//! * With `maxrate` a flow sends its next packet no earlier than the last one takes at this rate.
//!   Until then it is throttled, and then joins the old list at its end.
//! * An arriving packet is dropped when `flow_limit` packets of its flow wait, or `limit` of all.
//! * With `ce_threshold` an ECT packet that is sent after a longer wait is marked. The time for
//!   which its flow was throttled does not count.
//!
//! Parameters: [`FqParameters`].
//!
//! What Linux paces beside `maxrate` are the earliest departure times of TCP. The endpoints of this
//! simulator keep these themselves: a packet arrives here at its departure time.
//!
//! Departures from Linux: every packet is paced, where Linux may pace groups of them, and credits
//! buy no burst above `maxrate`. Packets of high priority have no queue of their own. A flow that
//! has been inactive for 3 s is forgotten and new again.

use super::codel::CeThreshold;
use crate::buffer_limit::Limit;
use crate::credits::credits;
use crate::fifo::{Fifo, NONE, PacketPool};
use crate::flow_table::FlowTable;
use crate::new_and_old::NewAndOld;
use crate::queue_disc::{QueueDisc, QueueItem};
use crate::queue_list::{InList, Links, QueueList};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Time after which an inactive flow is forgotten, seconds.
const FORGOTTEN_AFTER_S: f64 = 3.0;

/// Parameters of an FQ queue.
///
/// ```
/// use cwndlab_queues::{FqParameters, Limit};
/// let linux = FqParameters::new(Limit::Packets(10_000), 1514);
/// assert_eq!((linux.quantum_bytes, linux.initial_quantum_bytes), (3028, 15_140));
/// assert_eq!(linux.flow_limit, Limit::Packets(100));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FqParameters {
    /// Buffer limit of all flows together, without the packet in service.
    pub limit: Limit,
    /// Limit of each flow.
    pub flow_limit: Limit,
    /// Bytes a flow may send per turn, at least 1; as in DRR, a packet of many quanta needs as many
    /// turns.
    pub quantum_bytes: u64,
    /// Bytes a new flow may send at once.
    pub initial_quantum_bytes: u64,
    /// Largest rate of a flow, bit/s; unlimited when absent.
    pub max_rate_bit_s: Option<f64>,
    /// Marks sent ECT packets from a wait on.
    pub ce_threshold: Option<CeThreshold>,
}

impl FqParameters {
    /// Linux's, for packets of this size: 2 packets per turn, 10 for a new flow, 100 waiting; no
    /// pacing, no marks.
    pub fn new(limit: Limit, packet_bytes: u64) -> Self {
        Self {
            limit,
            flow_limit: Limit::Packets(100),
            quantum_bytes: 2 * packet_bytes,
            initial_quantum_bytes: 10 * packet_bytes,
            max_rate_bit_s: None,
            ce_threshold: None,
        }
    }
}

/// Where a flow is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Inactive,
    /// In the list of new or old flows.
    Listed,
    Throttled,
}

/// A flow and its packets.
#[derive(Clone, Debug)]
struct Flow {
    fifo: Fifo,
    number: u32,
    state: State,
    links: Links,
    credit_bytes: i64,
    /// When its next packet may leave, seconds.
    next_s: f64,
    inactive_since_s: f64,
}

impl InList for Flow {
    #[inline]
    fn links(&mut self) -> &mut Links {
        &mut self.links
    }
}

/// FQ over any number of flows.
///
/// ```
/// use cwndlab_queues::{Fq, FqParameters, Limit};
/// # use cwndlab_queues::{QueueDisc, QueueItem};
/// # let item = |flow, packet| QueueItem { size_bytes: 1000, flow, ecn: false, l4s: false,
/// #     marked: false, priority: 1, enqueued_s: 0.0, packet };
/// let parameters = FqParameters::new(Limit::Packets(100), 1000);
/// let mut queue = Fq::new(&FqParameters { max_rate_bit_s: Some(8e6), ..parameters });
/// [0, 0, 1].into_iter().for_each(|flow| queue.enqueue(item(flow, ()), &mut |_| ()));
/// // A packet of 1000 bytes takes 1 ms at 8 Mbit/s.
/// let mut next = |now_s| queue.dequeue(now_s, &mut |_| ()).map(|item| item.flow);
/// assert_eq!([next(0.0), next(0.0), next(0.0), next(0.001)], [Some(0), Some(1), None, Some(0)]);
/// ```
#[derive(Clone, Debug)]
pub struct Fq<P> {
    parameters: FqParameters,
    pool: PacketPool<P>,
    flow_table: FlowTable,
    flows: Vec<Flow>,
    lists: NewAndOld,
    /// Inactive flows, the longest inactive first.
    inactive: QueueList,
    /// Throttled flows by when their next packet may leave (the bits of a positive time).
    throttled: BinaryHeap<Reverse<(u64, u32)>>,
}

impl<P> Fq<P> {
    /// An empty queue.
    pub fn new(parameters: &FqParameters) -> Self {
        Self {
            parameters: *parameters,
            pool: PacketPool::new(),
            flow_table: FlowTable::new(),
            flows: Vec::new(),
            lists: NewAndOld::EMPTY,
            inactive: QueueList::EMPTY,
            throttled: BinaryHeap::new(),
        }
    }

    /// Number of flows in memory: those that are not forgotten.
    pub fn flows_in_memory(&self) -> usize {
        self.flows.len()
    }

    /// A new flow, in the place of a forgotten one if there is one. It is inactive.
    fn allocate(&mut self, number: u32, now_s: f64) -> u32 {
        let flow = Flow {
            fifo: Fifo::default(),
            number,
            state: State::Inactive,
            links: Links::default(),
            credit_bytes: credits(self.parameters.initial_quantum_bytes),
            next_s: now_s,
            inactive_since_s: now_s,
        };
        let oldest = self.inactive.head;
        let is_forgotten = self.flows.get(oldest as usize).is_some_and(|oldest| {
            now_s - oldest.inactive_since_s > FORGOTTEN_AFTER_S && oldest.next_s <= now_s
        });
        let index = if is_forgotten {
            self.inactive.remove(&mut self.flows, oldest);
            self.flow_table.remove(self.flows[oldest as usize].number);
            self.flows[oldest as usize] = flow;
            oldest
        } else {
            self.flows.push(flow);
            (self.flows.len() - 1) as u32
        };
        self.inactive.push(&mut self.flows, index);
        self.flow_table.insert(number, index);
        index
    }

    /// Flows whose time has come join the old list.
    #[inline]
    fn release(&mut self, now_s: f64) {
        while let Some(&Reverse((next_bits, index))) = self.throttled.peek() {
            if f64::from_bits(next_bits) > now_s {
                return;
            }
            self.throttled.pop();
            self.flows[index as usize].state = State::Listed;
            self.lists.push_old(&mut self.flows, index);
        }
    }
}

impl<P> QueueDisc<P> for Fq<P> {
    #[inline]
    fn enqueue(&mut self, item: QueueItem<P>, dropped: &mut impl FnMut(QueueItem<P>)) {
        if !self.parameters.limit.admits(self.pool.packets(), self.pool.bytes(), item.size_bytes) {
            return dropped(item);
        }
        let found = self.flow_table.find(item.flow);
        let index = found.unwrap_or_else(|| self.allocate(item.flow, item.enqueued_s));
        let flow = &mut self.flows[index as usize];
        let Fifo { packets, bytes, .. } = flow.fifo;
        if !self.parameters.flow_limit.admits(packets, bytes, item.size_bytes) {
            return dropped(item);
        }
        self.pool.push(&mut flow.fifo, item);
        if flow.state == State::Inactive {
            flow.state = State::Listed;
            flow.credit_bytes = flow.credit_bytes.max(credits(self.parameters.quantum_bytes));
            self.inactive.remove(&mut self.flows, index);
            self.lists.push_new(&mut self.flows, index);
        }
    }

    #[inline]
    fn dequeue(
        &mut self,
        now_s: f64,
        _dropped: &mut impl FnMut(QueueItem<P>),
    ) -> Option<QueueItem<P>> {
        self.release(now_s);
        loop {
            let index = self.lists.head();
            if index == NONE {
                return None;
            }
            let flow = &mut self.flows[index as usize];
            if flow.fifo.packets == 0 {
                if self.lists.retire_head(&mut self.flows) {
                    let flow = &mut self.flows[index as usize];
                    flow.state = State::Inactive;
                    flow.inactive_since_s = now_s;
                    self.inactive.push(&mut self.flows, index);
                }
            } else if flow.next_s > now_s {
                flow.state = State::Throttled;
                self.throttled.push(Reverse((flow.next_s.to_bits(), index)));
                self.lists.remove_head(&mut self.flows);
            } else if flow.credit_bytes <= 0 {
                flow.credit_bytes += credits(self.parameters.quantum_bytes);
                self.lists.postpone_head(&mut self.flows);
            } else {
                let item = self.pool.pop(&mut flow.fifo)?;
                let waits_since_s = item.enqueued_s.max(flow.next_s);
                flow.credit_bytes -= i64::from(item.size_bytes);
                if let Some(rate_bit_s) = self.parameters.max_rate_bit_s {
                    flow.next_s = now_s + 8.0 * f64::from(item.size_bytes) / rate_bit_s;
                }
                let threshold = self.parameters.ce_threshold;
                let marked = threshold.is_some_and(|ce| ce.marks(&item, now_s - waits_since_s));
                return Some(QueueItem { marked, ..item });
            }
        }
    }

    #[inline]
    fn ready_s(&self) -> f64 {
        if self.lists.head() != NONE {
            return f64::NEG_INFINITY;
        }
        self.throttled.peek().map_or(f64::INFINITY, |first| f64::from_bits(first.0.0))
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
