//! State of the engine.

use crate::endpoint::arrivals::ArrivalGroup;
use crate::endpoint::page_loader::PageLoader;
use crate::endpoint::tcp::SenderEndpoint;
use crate::engine::sender_output::{Cause, Event};
use crate::id::FlowId;
use crate::measure::trace::Tracer;
use crate::measure::window::MeasurementWindow;
use crate::network::Network;
use crate::packet::Packet;
use cwndlab_rules::Sibling;
use cwndlab_tcp::{Counters, LimitedTimes, TcpConfig};
use std::sync::Arc;

/// Senders, the network between them, and what is due.
pub struct Engine<T: Tracer> {
    /// Senders of the listed flows, then the slots of arriving flows.
    pub(crate) senders: Vec<SenderEndpoint>,
    /// Number of listed flows.
    pub(crate) listed_flows: usize,
    /// Groups of arriving flows (`[[arrivals]]`).
    pub(crate) groups: Vec<ArrivalGroup>,
    /// Time (seconds) and flow of the earliest invalid congestion window so far. Senders run ahead
    /// of each other, so an earlier one may still appear; at one instant it is any of them.
    pub(crate) fault: Option<(f64, FlowId)>,
    /// Browsers, the first of the flows that are the connections of each, and the last event that
    /// completed an object.
    pub(crate) browsers: Vec<(PageLoader, u32, Event)>,
    /// The subflows of a connection, while a coupled rule learns of them.
    pub(crate) siblings: Vec<Sibling>,
    pub(crate) network: Network<T>,
    pub(crate) config: Arc<[TcpConfig]>,
    /// Time of the item in progress, seconds. Stations and senders run ahead of each other.
    pub(crate) now_s: f64,
    /// Latest time from which a round began, seconds; at the end of the run or of a pause everything
    /// before it is processed.
    pub(crate) clock_s: f64,
    /// When the event in progress was scheduled, and the lead of that, seconds.
    pub(crate) cause: Cause,
    /// Items processed.
    pub(crate) processed: u64,
    /// Rounds of the event loop.
    pub(crate) rounds: u64,
    /// Whether stations run up to their horizons; otherwise a round is the items of one instant.
    pub(crate) looks_ahead: bool,
    /// Whether state of upcoming packets is prefetched: that of all flows exceeds the caches.
    pub(crate) prefetches: bool,
    /// Nothing due at this time or later is processed, seconds.
    pub(crate) halt_s: f64,
    /// ACKs that are due behind the limit, with their flows; those of each flow in order.
    pub(crate) held_acks: Vec<(FlowId, Packet)>,
    /// Counters of each sender at the start of the measurement window; empty if the window starts
    /// with the run.
    pub(crate) counters_at_window_start: Vec<Counters>,
    /// Time of the listed flows by what limited them, when the measurement window starts and ends.
    pub(crate) limited_times_s: [Vec<LimitedTimes>; 2],
    /// Increments of these counters within the window, once it has ended; empty if the run ends
    /// with it.
    pub(crate) measured: Vec<Counters>,
    /// Start and end of the measurement window, seconds.
    pub(crate) window_edges_s: [f64; 2],
    /// The next edge of the window, seconds.
    pub(crate) next_window_edge_s: f64,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Something is left.
    Running,
    /// The end of the run is reached.
    Done,
    /// Packets in the network or recorded rows exceed the memory limit.
    OutOfMemory,
    /// A rule returned an invalid congestion window.
    InvalidWindow,
    /// A transport stack did not accept a flow, or its connection failed.
    StackFailure,
}

impl<T: Tracer> Engine<T> {
    /// An engine at time 0 without senders.
    pub fn new(network: Network<T>, window: MeasurementWindow, looks_ahead: bool) -> Self {
        Self {
            senders: Vec::new(),
            listed_flows: 0,
            groups: Vec::new(),
            fault: None,
            browsers: Vec::new(),
            siblings: Vec::new(),
            network,
            config: Arc::from([]),
            now_s: 0.0,
            clock_s: 0.0,
            cause: (0.0, 0.0),
            processed: 0,
            rounds: 0,
            looks_ahead,
            prefetches: false,
            halt_s: 0.0,
            held_acks: Vec::new(),
            counters_at_window_start: Vec::new(),
            limited_times_s: Default::default(),
            measured: Vec::new(),
            window_edges_s: [window.from_s, window.to_s],
            next_window_edge_s: window.from_s,
        }
    }
}
