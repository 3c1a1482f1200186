//! The network between senders: links, access links, receivers, and the packets on their way.

pub mod access_links;
pub mod host_jitter;
pub mod impairment;
pub mod link;
pub mod route;
pub mod scheduled_service;
pub mod transport;

use crate::collections::ring_buffer::RingBuffer;
use crate::endpoint::cross_traffic::{CrossSink, CrossSource};
use crate::endpoint::external::ExternalEndpoints;
use crate::endpoint::receivers::Receivers;
use crate::event::stations::Stations;
use crate::id::FlowId;
use crate::measure::trace::Tracer;
use crate::packet::{FlowIndices, OptionStore, Packet};
use access_links::AccessLinks;
use link::Link;
use route::{Hop, Route};

/// Everything between senders.
pub struct Network<T: Tracer> {
    pub(crate) links: Vec<Link>,
    pub(crate) access_links: AccessLinks,
    pub(crate) receivers: Receivers,
    /// Endpoints outside the engine. In a live run there are no receivers.
    pub(crate) external: Option<ExternalEndpoints>,
    pub(crate) routes: Vec<Route>,
    /// Hops of all routes.
    pub(crate) hops: Vec<Hop>,
    /// Packets that wait, and timers.
    pub(crate) stations: Stations,
    /// The station of each link, or `Entry::NO_STATION`.
    pub(crate) station_of: Vec<u32>,
    /// ACKs on their way to senders with nothing left in between, with their flows; those of each
    /// flow in order.
    pub(crate) acks: RingBuffer<(FlowId, Packet)>,
    /// Sources of cross traffic, with their indices.
    pub(crate) cross: Vec<(CrossSource, FlowIndices)>,
    /// Their sinks, in the same order.
    pub(crate) cross_sinks: Vec<CrossSink>,
    /// SACK blocks and timestamp echoes of the ACKs that carry any.
    pub(crate) options: OptionStore,
    pub(crate) trace: T,
    pub(crate) end_s: f64,
    /// Whether the packets in the network exceed the memory limit.
    pub(crate) overflowed: bool,
}

impl<T: Tracer> Network<T> {
    /// A network without links and flows, for a run until `end_s`.
    pub fn new(trace: T, receivers: Receivers, stations: Stations, end_s: f64) -> Self {
        Self {
            links: Vec::new(),
            access_links: AccessLinks::default(),
            receivers,
            external: None,
            routes: Vec::new(),
            hops: Vec::new(),
            stations,
            station_of: Vec::new(),
            acks: RingBuffer::default(),
            cross: Vec::new(),
            cross_sinks: Vec::new(),
            options: OptionStore::default(),
            trace,
            end_s,
            overflowed: false,
        }
    }

    /// Whether the endpoints of a flow are outside the engine.
    #[inline]
    pub fn is_external(&self, flow: FlowId) -> bool {
        self.external.as_ref().is_some_and(|external| external.hold(flow))
    }

    /// Whether those of all flows are, in a live run.
    pub fn is_live(&self) -> bool {
        self.external.as_ref().is_some_and(ExternalEndpoints::is_live)
    }

    /// Stops a simulation if the memory limit is exceeded. A live run goes on, and says so at its
    /// end.
    pub fn note_overflow(&mut self, exceeds_memory: bool) {
        if exceeds_memory && !self.is_live() {
            self.overflowed = true;
        }
    }

    /// The run has ended: frees what only packets in the network needed, so that results can use
    /// the memory.
    pub fn release(&mut self) {
        self.stations = Stations::new(&[], 0.0);
        self.acks = RingBuffer::default();
        self.access_links = AccessLinks::default();
        self.options = OptionStore::default();
    }
}
