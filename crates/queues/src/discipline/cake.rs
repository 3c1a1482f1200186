//! CAKE: a shaper, fairness between hosts and their flows, and COBALT in each queue.
//!
//! Source: T. Hoeiland-Joergensen, D. Taht and J. Morton, "Piece of CAKE: a comprehensive queue
//! management solution for home gateways", LANMAN 2018; options and their defaults are those of
//! Linux (`tc-cake(8)`).
//!
//! * A hash of its flow puts a packet into one of 1024 queues, in sets of 8. A flow that has no
//!   queue takes the one that its hash names, or another one of the set that no active flow has;
//!   only when the set has none left, two flows share a queue.
//! * Queues are served by deficit round robin, those of flows that were inactive first, as in RFC
//!   8290, section 4.2. The quantum of a queue is `quantum` divided by the number of active queues
//!   of its host, so that hosts get equal shares whatever the number of their flows: of the source
//!   (`DualSource`), the destination (`DualDestination`), or of the one that has more
//!   (`TripleIsolate`).
//! * Each queue has the state of COBALT, which marks and drops its packets. When the backlog with
//!   the arriving packet exceeds `limit`, the queue with the most bytes drops packets from its
//!   head.
//! * The shaper sends the next packet no earlier than the last ones take at `bandwidth`, without an
//!   initial burst. It catches up with what the link delayed while packets waited.
//! * Shaper and credits count a packet with its `overhead`, at least `mpu` bytes, and in the cells
//!   of ATM (53 bytes for 48) or the code of PTM (65 bytes for 64).
//!
//! Parameters: [`CakeParameters`].
//!
//! Departures from Linux: one tin (`besteffort`), so Diffserv is left out; the ACK filter,
//! `autorate-ingress`, `ingress` mode and the splitting of GSO packets are left out. `target` is
//! not raised for slow links. A queue that another flow takes forgets the state of COBALT. Every
//! active queue counts for its host.

use super::cobalt::{CobaltLaw, CobaltState, Verdict};
use crate::buffer_limit::Limit;
use crate::fifo::{Fifo, NONE, PacketPool};
use crate::flow_hash::FlowHash;
use crate::flow_hosts::{FlowHosts, Host};
use crate::longest_queue::{Length, LongestQueue};
use crate::new_and_old::NewAndOld;
use crate::queue_disc::{QueueDisc, QueueItem};
use crate::queue_list::{InList, Links};
use std::collections::BTreeMap;

/// Queues, and queues of a set.
const QUEUES: u32 = 1024;
const WAYS: u32 = 8;

/// Between what the shares are equal.
///
/// ```
/// use cwndlab_queues::FlowIsolation;
/// assert_ne!(FlowIsolation::Flows, FlowIsolation::TripleIsolate);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowIsolation {
    /// Between flows.
    Flows,
    /// Between sources, then between their flows.
    DualSource,
    /// Between destinations, then between their flows.
    DualDestination,
    /// Between hosts on the side where they have more flows, then between their flows.
    TripleIsolate,
}

/// What a layer below makes of a packet.
///
/// ```
/// use cwndlab_queues::Framing;
/// // 1500 bytes are 32 cells of ATM; PTM adds a byte to each 64.
/// let sizes = [Framing::None, Framing::Atm, Framing::Ptm].map(|framing| framing.of(1500));
/// assert_eq!(sizes, [1500, 1696, 1524]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Nothing.
    None,
    /// Cells of 53 bytes, which carry 48 each.
    Atm,
    /// 65 bytes for each 64.
    Ptm,
}

impl Framing {
    /// Size of a packet of so many bytes below.
    pub fn of(self, bytes: u64) -> u64 {
        match self {
            Self::None => bytes,
            Self::Atm => 53 * bytes.div_ceil(48),
            Self::Ptm => bytes + bytes.div_ceil(64),
        }
    }
}

/// Parameters of a CAKE queue.
///
/// ```
/// use cwndlab_queues::{CakeParameters, FlowIsolation, Limit};
/// let linux = CakeParameters::new(Limit::Bytes(4_000_000), 1514);
/// assert_eq!((linux.target_s, linux.interval_s), (0.005, 0.1));
/// assert_eq!(linux.isolation, FlowIsolation::TripleIsolate);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CakeParameters {
    /// Buffer limit of all queues together, without the packet in service (`memlimit`).
    pub limit: Limit,
    /// Acceptable standing delay of a queue, seconds.
    pub target_s: f64,
    /// Time until the first drop, seconds (`rtt`).
    pub interval_s: f64,
    /// Bytes that the only flow of a host may send per turn, at least 1.
    pub quantum_bytes: u64,
    /// Between what the shares are equal.
    pub isolation: FlowIsolation,
    /// Hosts of the flows.
    pub hosts: FlowHosts,
    /// Rate of the shaper, bit/s; none when absent.
    pub bandwidth_bit_s: Option<f64>,
    /// Bytes that a layer below adds to a packet.
    pub overhead_bytes: i64,
    /// Smallest packet of that layer, bytes.
    pub mpu_bytes: u64,
    /// What the layer below that makes of it.
    pub framing: Framing,
    /// Key of the hash.
    pub key: u64,
}

impl CakeParameters {
    /// Linux's: 5 ms over 100 ms, triple isolation, unlimited, without overhead.
    pub fn new(limit: Limit, quantum_bytes: u64) -> Self {
        Self {
            limit,
            target_s: 0.005,
            interval_s: 0.1,
            quantum_bytes,
            isolation: FlowIsolation::TripleIsolate,
            hosts: FlowHosts::default(),
            bandwidth_bit_s: None,
            overhead_bytes: 0,
            mpu_bytes: 0,
            framing: Framing::None,
            key: 0,
        }
    }

    /// Size with which a packet counts.
    fn counted_bytes(&self, size_bytes: u32) -> u64 {
        let bytes = u64::from(size_bytes).saturating_add_signed(self.overhead_bytes);
        self.framing.of(bytes.max(self.mpu_bytes))
    }
}

/// Queue of a flow, or of several.
#[derive(Clone, Debug)]
struct FlowQueue {
    fifo: Fifo,
    cobalt: CobaltState,
    /// The flow that took it last, if any did.
    flow: Option<u32>,
    /// Source and destination of that flow.
    hosts: [Host; 2],
    is_active: bool,
    links: Links,
    credit_bytes: f64,
}

impl Default for FlowQueue {
    fn default() -> Self {
        Self {
            fifo: Fifo::default(),
            cobalt: CobaltState::default(),
            flow: None,
            hosts: [Host::OfFlow(0); 2],
            is_active: false,
            links: Links::default(),
            credit_bytes: 0.0,
        }
    }
}

impl InList for FlowQueue {
    #[inline]
    fn links(&mut self) -> &mut Links {
        &mut self.links
    }
}

/// CAKE with one tin.
///
/// ```
/// use cwndlab_queues::{Cake, CakeParameters, FlowHosts, Limit};
/// # use cwndlab_queues::{QueueDisc, QueueItem};
/// # let item = |flow, packet| QueueItem { size_bytes: 1000, flow, ecn: false, l4s: false,
/// #     marked: false, priority: 1, enqueued_s: 0.0, packet };
/// let mut hosts = FlowHosts::default();
/// hosts.insert(0..2, [Some(0), None]); // flows 0 and 1 have one source, flow 2 its own
/// let parameters = CakeParameters::new(Limit::Packets(100), 1000);
/// let mut queue = Cake::new(&CakeParameters { hosts, ..parameters });
/// for flow in [0, 1, 2].repeat(20) {
///     queue.enqueue(item(flow, ()), &mut |_| ());
/// }
/// let turns: Vec<u32> =
///     (0..30).map(|_| queue.dequeue(0.0, &mut |_| ()).unwrap().flow).collect();
/// let of_alone = turns.iter().filter(|&&flow| flow == 2).count();
/// assert!(of_alone.abs_diff(15) <= 1); // a half, not a third, give or take a quantum
/// ```
#[derive(Clone, Debug)]
pub struct Cake<P> {
    parameters: CakeParameters,
    law: CobaltLaw,
    hash: FlowHash,
    pool: PacketPool<P>,
    queues: Vec<FlowQueue>,
    lists: NewAndOld,
    longest: LongestQueue,
    /// Active queues of each host, of sources and of destinations.
    active_of: [BTreeMap<Host, u32>; 2],
    /// When the shaper lets the next packet leave, seconds.
    next_s: f64,
}

impl<P> Cake<P> {
    /// An empty queue.
    pub fn new(parameters: &CakeParameters) -> Self {
        let CakeParameters { target_s, interval_s, .. } = *parameters;
        Self {
            law: CobaltLaw { target_s, interval_s },
            hash: FlowHash::new(parameters.key),
            pool: PacketPool::new(),
            queues: vec![FlowQueue::default(); QUEUES as usize],
            lists: NewAndOld::EMPTY,
            longest: LongestQueue::default(),
            active_of: [BTreeMap::new(), BTreeMap::new()],
            next_s: f64::NEG_INFINITY,
            parameters: parameters.clone(),
        }
    }

    /// The queue of a flow: its own one, else a free one of its set, else the one that its hash
    /// names.
    fn queue_of(&mut self, flow: u32) -> u32 {
        let named = (self.hash.of(flow) % u64::from(QUEUES)) as u32;
        let (set, way) = (named - named % WAYS, named % WAYS);
        let mut of_set = (0..WAYS).map(|step| set + (way + step) % WAYS);
        let is_own = |&number: &u32| self.queues[number as usize].flow == Some(flow);
        if let Some(own) = of_set.clone().find(is_own) {
            return own;
        }
        let is_free = |&number: &u32| !self.queues[number as usize].is_active;
        let Some(free) = of_set.find(is_free) else { return named };
        self.queues[free as usize] = FlowQueue {
            flow: Some(flow),
            hosts: self.parameters.hosts.of(flow),
            ..FlowQueue::default()
        };
        free
    }

    /// Active queues of the host that a queue shares its quantum with.
    fn active_of_host(&self, queue: &FlowQueue) -> u32 {
        let of = |end: usize| self.active_of[end].get(&queue.hosts[end]).copied().unwrap_or(1);
        match self.parameters.isolation {
            FlowIsolation::Flows => 1,
            FlowIsolation::DualSource => of(0),
            FlowIsolation::DualDestination => of(1),
            FlowIsolation::TripleIsolate => of(0).max(of(1)),
        }
    }

    /// Credits of a turn.
    fn quantum_bytes(&self, number: u32) -> f64 {
        let sharing = self.active_of_host(&self.queues[number as usize]);
        self.parameters.quantum_bytes.max(1) as f64 / f64::from(sharing)
    }

    fn activate(&mut self, number: u32) {
        let hosts = self.queues[number as usize].hosts;
        for (active_of, host) in self.active_of.iter_mut().zip(hosts) {
            *active_of.entry(host).or_default() += 1;
        }
        self.queues[number as usize].is_active = true;
        self.queues[number as usize].credit_bytes = self.quantum_bytes(number);
        self.lists.push_new(&mut self.queues, number);
    }

    /// Leaves out a queue that is in no list any more.
    fn deactivate(&mut self, number: u32) {
        let queue = &mut self.queues[number as usize];
        queue.is_active = false;
        for (active_of, host) in self.active_of.iter_mut().zip(queue.hosts) {
            if let Some(active) = active_of.get_mut(&host) {
                *active -= 1;
                if *active == 0 {
                    active_of.remove(&host);
                }
            }
        }
    }

    #[cold]
    fn drop_from_longest(&mut self, now_s: f64, dropped: &mut impl FnMut(QueueItem<P>)) {
        while self.pool.exceeds(self.parameters.limit) {
            let queues = &self.queues;
            let length = |number: u32| Length {
                size: queues[number as usize].fifo.bytes,
                label: u64::from(number),
            };
            let Some(number) = self.longest.top(length) else { return };
            let queue = &mut self.queues[number as usize];
            let Some(item) = self.pool.pop(&mut queue.fifo) else { return };
            queue.cobalt.on_full(now_s, self.law);
            dropped(item);
        }
    }

    /// The next packet of a queue that COBALT does not drop; none if the queue is empty.
    fn take(
        &mut self,
        number: u32,
        now_s: f64,
        dropped: &mut impl FnMut(QueueItem<P>),
    ) -> Option<QueueItem<P>> {
        let queue = &mut self.queues[number as usize];
        loop {
            let Some(item) = self.pool.pop(&mut queue.fifo) else {
                queue.cobalt.on_empty(now_s, self.law);
                return None;
            };
            let sojourn_s = now_s - item.enqueued_s;
            let verdict = queue.cobalt.judge(now_s, sojourn_s, item.ecn, self.law);
            if verdict != Verdict::Drop || queue.fifo.packets == 0 {
                return Some(QueueItem { marked: verdict == Verdict::Mark, ..item });
            }
            dropped(item);
        }
    }
}

impl<P> QueueDisc<P> for Cake<P> {
    fn enqueue(&mut self, item: QueueItem<P>, dropped: &mut impl FnMut(QueueItem<P>)) {
        let now_s = item.enqueued_s;
        if self.pool.packets() == 0 {
            self.next_s = self.next_s.max(now_s);
        }
        let number = self.queue_of(item.flow);
        let queue = &mut self.queues[number as usize];
        self.pool.push(&mut queue.fifo, item);
        let length = Length { size: queue.fifo.bytes, label: u64::from(number) };
        self.longest.on_growth(number, length);
        if !queue.is_active {
            self.activate(number);
        }
        if self.pool.exceeds(self.parameters.limit) {
            self.drop_from_longest(now_s, dropped);
        }
    }

    fn dequeue(
        &mut self,
        now_s: f64,
        dropped: &mut impl FnMut(QueueItem<P>),
    ) -> Option<QueueItem<P>> {
        if self.pool.packets() == 0 || now_s < self.ready_s() {
            return None;
        }
        loop {
            let number = self.lists.head();
            if number == NONE {
                return None;
            }
            if self.queues[number as usize].credit_bytes <= 0.0 {
                self.lists.postpone_head(&mut self.queues);
                self.queues[number as usize].credit_bytes += self.quantum_bytes(number);
                continue;
            }
            if let Some(item) = self.take(number, now_s, dropped) {
                let bytes = self.parameters.counted_bytes(item.size_bytes) as f64;
                self.queues[number as usize].credit_bytes -= bytes;
                if let Some(rate_bit_s) = self.parameters.bandwidth_bit_s {
                    self.next_s += 8.0 * bytes / rate_bit_s;
                }
                return Some(item);
            }
            if self.lists.retire_head(&mut self.queues) {
                self.deactivate(number);
            }
        }
    }

    #[inline]
    fn ready_s(&self) -> f64 {
        match self.parameters.bandwidth_bit_s {
            Some(_) => self.next_s,
            None => f64::NEG_INFINITY,
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
