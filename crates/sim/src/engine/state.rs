//! State of the engine.

use crate::endpoint::arrivals::ArrivalGroup;
use crate::endpoint::cross_traffic::CrossSource;
use crate::endpoint::page_loader::PageLoader;
use crate::endpoint::tcp::SenderEndpoint;
use crate::event::scheduler::EventScheduler;
use crate::event::simultaneous::SimultaneousEvent;
use crate::event::timers::TimerKind;
use crate::measure::trace::Tracer;
use crate::measure::window::MeasurementWindow;
use crate::network::datapath::Datapath;
use cwndlab_tcp::{Counters, Knobs};
use std::sync::Arc;

/// Senders, the datapath between them, and the events due.
pub struct Engine<S: EventScheduler, T: Tracer> {
    /// Senders of the listed flows, then the slots of arriving flows.
    pub(crate) senders: Vec<SenderEndpoint>,
    /// Number of listed flows.
    pub(crate) listed_flows: usize,
    /// Groups of arriving flows (`[[arrivals]]`).
    pub(crate) groups: Vec<ArrivalGroup>,
    /// Time (seconds) and flow of the earliest invalid congestion window so far. Senders run ahead
    /// of the clock, so an earlier one may still appear.
    pub(crate) fault: Option<(f64, u32)>,
    pub(crate) cross: Vec<CrossSource>,
    /// Browsers, and the first of the flows that are the connections of each.
    pub(crate) browsers: Vec<(PageLoader, u32)>,
    pub(crate) datapath: Datapath<S, T>,
    pub(crate) knobs: Arc<[Knobs]>,
    pub(crate) now_s: f64,
    /// When the timer that expires was armed, seconds.
    pub(crate) armed_s: f64,
    /// Counters of each sender at the start of the measurement window; empty if the window starts
    /// with the run.
    pub(crate) counters_at_window_start: Vec<Counters>,
    /// Increments of these counters within the window, once it has ended; empty if the run ends
    /// with it.
    pub(crate) measured: Vec<Counters>,
    /// Start and end of the measurement window, seconds.
    pub(crate) window_edges_s: [f64; 2],
    /// The next edge of the window, seconds.
    pub(crate) next_window_edge_s: f64,
    /// FIFO heads due at the current instant, still to be processed.
    pub(crate) simultaneous: Vec<SimultaneousEvent>,
    /// Simultaneous events seen so far, and passes over them.
    pub(crate) simultaneous_seen: u64,
    pub(crate) rounds: u64,
    /// Timers that expire at the current instant with the time at which each was armed, latest
    /// first.
    pub(crate) expired_timers: Vec<(f64, TimerKind, u32)>,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Events are left.
    Running,
    /// The end of the run is reached.
    Done,
    /// Packets in the network or recorded rows exceed the memory limit.
    OutOfMemory,
    /// A rule returned an invalid congestion window.
    InvalidWindow,
}

impl<S: EventScheduler, T: Tracer> Engine<S, T> {
    /// An engine at time 0 without senders.
    pub fn new(mut datapath: Datapath<S, T>, window: MeasurementWindow) -> Self {
        datapath.timers.push(window.from_s, TimerKind::WindowEdge, 0);
        datapath.timers.push(window.to_s, TimerKind::WindowEdge, 0);
        Self {
            senders: Vec::new(),
            listed_flows: 0,
            groups: Vec::new(),
            fault: None,
            cross: Vec::new(),
            browsers: Vec::new(),
            datapath,
            knobs: Arc::from([]),
            now_s: 0.0,
            armed_s: 0.0,
            counters_at_window_start: Vec::new(),
            measured: Vec::new(),
            window_edges_s: [window.from_s, window.to_s],
            next_window_edge_s: window.from_s,
            simultaneous: Vec::new(),
            simultaneous_seen: 0,
            rounds: 0,
            expired_timers: Vec::new(),
        }
    }
}
