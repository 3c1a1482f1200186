//! The datapath between senders: links, access links, receivers, and the packets on their way.

use crate::collections::slab::Slab;
use crate::endpoint::cross_traffic::CrossSink;
use crate::endpoint::external::ExternalEndpoints;
use crate::endpoint::tcp::{ReceiverEndpoint, SlotLosses};
use crate::event::merge_queue::MergeQueue;
use crate::event::queues::EventQueues;
use crate::event::scheduler::EventScheduler;
use crate::event::timers::Timers;
use crate::measure::trace::Tracer;
use crate::measure::window::MeasurementWindow;
use crate::network::access_links::AccessLinks;
use crate::network::link::Link;
use crate::network::route::{Hop, Route};
use crate::packet::AckOptions;
use cwndlab_tcp::Knobs;
use std::sync::Arc;

/// Everything between senders.
pub struct Datapath<S: EventScheduler, T: Tracer> {
    pub(crate) links: Vec<Link>,
    pub(crate) access_links: AccessLinks,
    pub(crate) receivers: Vec<ReceiverEndpoint>,
    /// Flow number of the first slot for arriving flows, and the losses of each slot.
    pub(crate) first_slot: usize,
    pub(crate) slot_losses: Vec<SlotLosses>,
    /// Sinks of cross traffic, by number of the source.
    pub(crate) cross: Vec<CrossSink>,
    /// Endpoints outside the simulation, which then has no receivers.
    pub(crate) external: Option<ExternalEndpoints>,
    pub(crate) routes: Vec<Route>,
    /// Hops of all routes.
    pub(crate) hops: Vec<Hop>,
    pub(crate) event_queues: EventQueues<S>,
    pub(crate) merge_queues: Vec<MergeQueue>,
    pub(crate) knobs: Arc<[Knobs]>,
    /// SACK blocks and timestamp echoes of the ACKs that carry any.
    pub(crate) options: Slab<AckOptions>,
    pub(crate) timers: Timers,
    pub(crate) trace: T,
    pub(crate) window: MeasurementWindow,
    pub(crate) end_s: f64,
    pub(crate) bin_s: f64,
    /// Data packets delivered to receivers.
    pub(crate) delivered: u64,
    /// Whether the packets in the network exceed the memory limit.
    pub(crate) overflowed: bool,
}
