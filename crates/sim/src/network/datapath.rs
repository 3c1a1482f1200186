//! The datapath between senders: links, access links, receivers, and the packets on their way.

use crate::endpoint::sinks::Sinks;
use crate::event::merge_queue::MergeQueue;
use crate::event::queues::EventQueues;
use crate::event::scheduler::EventScheduler;
use crate::event::timers::Timers;
use crate::measure::trace::Tracer;
use crate::network::access_links::AccessLinks;
use crate::network::link::Link;
use crate::network::route::{Hop, Route};
use crate::packet::OptionStore;

/// Everything between senders.
pub struct Datapath<S: EventScheduler, T: Tracer> {
    pub(crate) links: Vec<Link>,
    pub(crate) access_links: AccessLinks,
    pub(crate) sinks: Sinks,
    pub(crate) routes: Vec<Route>,
    /// Hops of all routes.
    pub(crate) hops: Vec<Hop>,
    pub(crate) event_queues: EventQueues<S>,
    pub(crate) merge_queues: Vec<MergeQueue>,
    /// SACK blocks and timestamp echoes of the ACKs that carry any.
    pub(crate) options: OptionStore,
    pub(crate) timers: Timers,
    pub(crate) trace: T,
    pub(crate) end_s: f64,
    /// Whether the packets in the network exceed the memory limit.
    pub(crate) overflowed: bool,
}

impl<S: EventScheduler, T: Tracer> Datapath<S, T> {
    /// A network without links and flows, for a run until `end_s`.
    pub fn new(trace: T, sinks: Sinks, end_s: f64) -> Self {
        Self {
            links: Vec::new(),
            access_links: AccessLinks::default(),
            sinks,
            routes: Vec::new(),
            hops: Vec::new(),
            event_queues: EventQueues::default(),
            merge_queues: Vec::new(),
            options: OptionStore::default(),
            timers: Timers::default(),
            trace,
            end_s,
            overflowed: false,
        }
    }

    /// Stops a simulation after this event if the memory limit is exceeded. A live run goes on, and
    /// says so at its end.
    pub fn note_overflow(&mut self, exceeds_memory: bool) {
        if exceeds_memory && self.sinks.external.is_none() {
            self.overflowed = true;
            self.timers.halt_at(f64::NEG_INFINITY);
        }
    }

    /// The run has ended: frees what only packets in the network needed, so that results can use
    /// the memory.
    pub fn release(&mut self) {
        self.event_queues.fifos = Vec::new();
        self.event_queues.scheduler = S::new(1, 0.0);
        self.merge_queues = Vec::new();
        self.access_links = AccessLinks::default();
        self.options = OptionStore::default();
        self.timers = Timers::default();
    }
}
