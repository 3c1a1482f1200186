//! SFQ: stochastic fairness queueing, whose queues flows share by a hash that changes now and then.
//!
//! Source: P. McKenney, "Stochastic Fairness Queueing", INFOCOM 1990; options and their defaults
//! are those of Linux (`tc-sfq(8)`).
//!
//! * A hash of its flow puts a packet into one of `buckets` queues. Flows that share a queue share
//!   its turns.
//! * Queues with packets take turns. A queue without credits gets `quantum` bytes and waits for its
//!   next turn; one with credits sends a packet and pays with its size, so that credits may become
//!   negative. A queue that becomes active joins the end of the round with one quantum.
//! * When the backlog with the arriving packet exceeds `limit`, the longest queue drops the packet
//!   at its tail, or at its head (`head_drop`). A queue above its own limit (`flow_limit`, `depth`
//!   in Linux) drops the arriving packet, or its head.
//! * Each `perturb` the hash changes, so that flows do not share a queue for ever. Packets that
//!   wait move to their new queues, those of one flow in order; a queue that this fills above its
//!   limit drops some.
//!
//! Parameters: [`SfqParameters`].
//!
//! Departures from Linux: lengths are in the unit of `limit`; among equals the longest is the queue
//! of the smallest number. There may be as many active queues as buckets (`flows`). Flows are
//! distinguished by number, and RED in each queue is left out.

use crate::buffer_limit::Limit;
use crate::credits::credits;
use crate::fifo::{Fifo, NONE, PacketPool};
use crate::flow_hash::FlowHash;
use crate::longest_queue::{Length, LongestQueue};
use crate::queue_disc::{QueueDisc, QueueItem};
use crate::queue_list::{InList, Links, QueueList};

/// Most queues, as in Linux.
const MAX_BUCKETS: u64 = 65_536;

/// Parameters of an SFQ queue.
///
/// ```
/// use cwndlab_queues::{Limit, SfqParameters};
/// let linux = SfqParameters::new(Limit::Packets(127), 1514);
/// assert_eq!((linux.buckets, linux.flow_limit), (1024, Limit::Packets(127)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SfqParameters {
    /// Buffer limit of all queues together, without the packet in service.
    pub limit: Limit,
    /// Bytes a queue may send per turn, at least 1; as in DRR, a packet of many quanta needs as
    /// many turns.
    pub quantum_bytes: u64,
    /// Number of queues, at most 65,536 (`divisor`).
    pub buckets: u64,
    /// Limit of each queue (`depth`).
    pub flow_limit: Limit,
    /// Drops packets at the head of a queue instead of its tail (`headdrop`).
    pub head_drop: bool,
    /// Interval after which the hash changes, seconds; never when absent.
    pub perturb_s: Option<f64>,
    /// Key of the hash, and of those that follow.
    pub key: u64,
}

impl SfqParameters {
    /// Linux's: 1024 queues of at most 127 packets, which drop at the tail; one hash.
    pub fn new(limit: Limit, quantum_bytes: u64) -> Self {
        Self {
            limit,
            quantum_bytes,
            buckets: 1024,
            flow_limit: Limit::Packets(127),
            head_drop: false,
            perturb_s: None,
            key: 0,
        }
    }
}

/// Queue of the flows of a bucket.
#[derive(Clone, Debug, Default)]
struct Bucket {
    fifo: Fifo,
    links: Links,
    is_active: bool,
    credit_bytes: i64,
}

impl InList for Bucket {
    #[inline]
    fn links(&mut self) -> &mut Links {
        &mut self.links
    }
}

/// Length of a queue, in the unit of the limit.
fn length(queues: &[Bucket], limit: Limit, bucket: u32) -> Length {
    let Fifo { packets, bytes, .. } = queues[bucket as usize].fifo;
    let size = match limit {
        Limit::Packets(_) => packets,
        Limit::Bytes(_) => bytes,
    };
    Length { size, label: u64::from(bucket) }
}

/// Stochastic fairness queueing.
///
/// ```
/// use cwndlab_queues::{Limit, Sfq, SfqParameters};
/// # use cwndlab_queues::{QueueDisc, QueueItem};
/// # let item = |flow, packet| QueueItem { size_bytes: 1000, flow, ecn: false, l4s: false,
/// #     marked: false, priority: 1, enqueued_s: 0.0, packet };
/// let mut queue = Sfq::new(&SfqParameters::new(Limit::Packets(100), 1000));
/// [0, 0, 0, 1].into_iter().for_each(|flow| queue.enqueue(item(flow, ()), &mut |_| ()));
/// let turns = [(); 4].map(|()| queue.dequeue(0.0, &mut |_| ()).unwrap().flow);
/// assert_eq!(turns, [0, 1, 0, 0]);
/// ```
#[derive(Clone, Debug)]
pub struct Sfq<P> {
    parameters: SfqParameters,
    quantum_bytes: i64,
    hash: FlowHash,
    /// Number of the hash: of intervals since time 0.
    hash_number: u64,
    pool: PacketPool<P>,
    /// Buckets up to the largest number in use so far.
    queues: Vec<Bucket>,
    round: QueueList,
    longest: LongestQueue,
}

impl<P> Sfq<P> {
    /// An empty queue.
    pub fn new(parameters: &SfqParameters) -> Self {
        Self {
            parameters: SfqParameters {
                buckets: parameters.buckets.clamp(1, MAX_BUCKETS),
                ..*parameters
            },
            quantum_bytes: credits(parameters.quantum_bytes),
            hash: FlowHash::new(parameters.key),
            hash_number: 0,
            pool: PacketPool::new(),
            queues: Vec::new(),
            round: QueueList::EMPTY,
            longest: LongestQueue::default(),
        }
    }

    /// The hash of this moment; packets that wait move when it changes.
    #[inline]
    fn perturb(&mut self, now_s: f64, dropped: &mut impl FnMut(QueueItem<P>)) {
        let Some(perturb_s) = self.parameters.perturb_s else { return };
        let number = (now_s / perturb_s) as u64;
        if number > self.hash_number {
            self.rehash(number, dropped);
        }
    }

    #[cold]
    fn rehash(&mut self, number: u64, dropped: &mut impl FnMut(QueueItem<P>)) {
        self.hash_number = number;
        self.hash = FlowHash::new(self.parameters.key.wrapping_add(number));
        let mut waiting = Vec::with_capacity(self.pool.packets() as usize);
        while self.round.head != NONE {
            let bucket = self.round.head;
            while let Some(item) = self.take_head(bucket) {
                waiting.push(item);
            }
            self.deactivate(bucket);
        }
        waiting.into_iter().for_each(|item| self.insert(item, dropped));
    }

    fn take_head(&mut self, bucket: u32) -> Option<QueueItem<P>> {
        self.pool.pop(&mut self.queues[bucket as usize].fifo)
    }

    fn deactivate(&mut self, bucket: u32) {
        self.queues[bucket as usize].is_active = false;
        self.round.remove(&mut self.queues, bucket);
    }

    /// Puts a packet into its queue, or drops it or the heads that have to make room.
    fn insert(&mut self, item: QueueItem<P>, dropped: &mut impl FnMut(QueueItem<P>)) {
        let bucket = (self.hash.of(item.flow) % self.parameters.buckets) as u32;
        if bucket as usize >= self.queues.len() {
            self.queues.resize_with(bucket as usize + 1, Bucket::default);
        }
        loop {
            let Fifo { packets, bytes, .. } = self.queues[bucket as usize].fifo;
            if self.parameters.flow_limit.admits(packets, bytes, item.size_bytes) {
                break;
            }
            match self.parameters.head_drop.then(|| self.take_head(bucket)).flatten() {
                Some(head) => dropped(head),
                None => return dropped(item),
            }
        }
        let queue = &mut self.queues[bucket as usize];
        self.pool.push(&mut queue.fifo, item);
        if !queue.is_active {
            queue.is_active = true;
            queue.credit_bytes = self.quantum_bytes;
            self.round.push(&mut self.queues, bucket);
        }
        self.longest.on_growth(bucket, length(&self.queues, self.parameters.limit, bucket));
    }

    #[cold]
    fn drop_from_longest(&mut self, dropped: &mut impl FnMut(QueueItem<P>)) {
        while self.pool.exceeds(self.parameters.limit) {
            let (queues, limit) = (&self.queues, self.parameters.limit);
            let longest = self.longest.top(|bucket| length(queues, limit, bucket));
            let Some(bucket) = longest else { return };
            let fifo = &mut self.queues[bucket as usize].fifo;
            let head_drop = self.parameters.head_drop;
            let item = if head_drop { self.pool.pop(fifo) } else { self.pool.pop_tail(fifo) };
            item.into_iter().for_each(&mut *dropped);
        }
    }
}

impl<P> QueueDisc<P> for Sfq<P> {
    #[inline]
    fn enqueue(&mut self, item: QueueItem<P>, dropped: &mut impl FnMut(QueueItem<P>)) {
        self.perturb(item.enqueued_s, dropped);
        self.insert(item, dropped);
        if self.pool.exceeds(self.parameters.limit) {
            self.drop_from_longest(dropped);
        }
    }

    #[inline]
    fn dequeue(
        &mut self,
        now_s: f64,
        dropped: &mut impl FnMut(QueueItem<P>),
    ) -> Option<QueueItem<P>> {
        self.perturb(now_s, dropped);
        loop {
            let bucket = self.round.head;
            if bucket == NONE {
                return None;
            }
            let queue = &mut self.queues[bucket as usize];
            if queue.fifo.packets > 0 && queue.credit_bytes <= 0 {
                queue.credit_bytes += self.quantum_bytes;
                self.round.remove(&mut self.queues, bucket);
                self.round.push(&mut self.queues, bucket);
                continue;
            }
            let item = self.take_head(bucket);
            if self.queues[bucket as usize].fifo.packets == 0 {
                self.deactivate(bucket);
            }
            if let Some(item) = item {
                self.queues[bucket as usize].credit_bytes -= i64::from(item.size_bytes);
                return Some(item);
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
