//! One run, whatever scheduler and traces it uses, behind one type.

use crate::arrivals::Transfer;
use crate::build::{BuiltNetwork, Options, build};
use crate::engine::Status;
use crate::event_scheduler::{CalendarQueue, EventScheduler, HeadScheduler, SortedSet, WinnerTree};
use crate::results::{RunResult, collect};
use crate::scenario::Scenario;
use crate::trace::{TraceRecorder, Tracer};
use std::fmt;

/// Which scheduler runs it. Results do not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EventSchedulerKind {
    /// Of the fast ones that which suits the number of flows.
    #[default]
    Automatic,
    /// Heads of streams in a winner tree.
    WinnerTree,
    /// A calendar of packets.
    CalendarQueue,
    /// Sorted set: simple, for tests.
    SortedSet,
}

/// Why a run was stopped before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimulationError {
    /// Packets on their way or recorded rows exceed the memory meant for them.
    OutOfMemory,
    /// The rule of a flow gave an answer that is no window.
    InvalidWindow {
        /// Name of the flow, or of the group that it arrived with.
        flow: String,
        /// The rule.
        rule: String,
        /// What was wrong.
        fault: String,
        /// When, in nanoseconds of simulated time.
        at_ns: u64,
    },
}

impl fmt::Display for SimulationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfMemory => {
                f.write_str("the run needs too much memory: limit buffers (queue.limit), windows (tcp.window) or what trace records")
            }
            Self::InvalidWindow { flow, rule, fault, at_ns } => {
                write!(f, "flow \"{flow}\": rule {rule}: {fault} (after {} s of simulated time)", *at_ns as f64 / 1e9)
            }
        }
    }
}

impl std::error::Error for SimulationError {}

/// A run in progress.
pub struct Simulation<'a> {
    scenario: &'a Scenario,
    run: Box<dyn Run>,
}

/// Traces of a run, and the names that their indices stand for.
#[derive(Debug)]
pub struct Traces<'a> {
    /// Rows.
    pub recorder: Option<&'a TraceRecorder>,
    /// Interval and samples of each link's queue.
    pub queues: Vec<(f64, &'a [u32])>,
    /// Simulated time, seconds: it may cut the last bin of the rate trace.
    pub end_s: f64,
    /// What cross traffic leaves of each link in each bin of the rate trace, bits per second.
    pub available: Vec<&'a [f64]>,
    /// Transfers that are complete, and the names of their groups; none where the scenario has nothing that makes transfers.
    pub transfers: Option<(&'a [Transfer], &'a [String])>,
}

trait Run: Send + Sync {
    fn advance(&mut self, events: u64) -> Status;
    fn progress(&self) -> (f64, u64);
    fn collect(&self, scenario: &Scenario) -> RunResult;
    fn traces(&self) -> Traces<'_>;
    fn error(&self, scenario: &Scenario) -> SimulationError;
}

struct NetworkRun<S: EventScheduler, T: Tracer> {
    network: BuiltNetwork<S, T>,
}

/// What a trace can show of itself.
trait HasRecorder {
    fn recorder(&self) -> Option<&TraceRecorder>;
}

impl HasRecorder for () {
    fn recorder(&self) -> Option<&TraceRecorder> {
        None
    }
}

impl HasRecorder for TraceRecorder {
    fn recorder(&self) -> Option<&TraceRecorder> {
        Some(self)
    }
}

impl<S: EventScheduler, T: Tracer + HasRecorder + Send + Sync> Run for NetworkRun<S, T> {
    fn advance(&mut self, events: u64) -> Status {
        self.network.engine.advance(events)
    }

    fn progress(&self) -> (f64, u64) {
        (self.network.engine.now_s, self.network.engine.datapath.delivered)
    }

    fn collect(&self, scenario: &Scenario) -> RunResult {
        collect(&self.network, scenario)
    }

    fn error(&self, scenario: &Scenario) -> SimulationError {
        let engine = &self.network.engine;
        let Some((fault_s, number)) = engine.fault else { return SimulationError::OutOfMemory };
        let endpoint = &engine.senders[number as usize];
        let arrived = || {
            endpoint.transfer().and_then(|transfer| scenario.arrivals.get(transfer.group as usize))
        };
        let (flow, rule) = match (self.network.flows.of(number), arrived()) {
            (Some((group, number)), _) => (group.instance(number.into()), group.rule.clone()),
            (None, Some(group)) => (group.name.clone(), group.rule.0.to_string()),
            (None, None) => Default::default(),
        };
        let fault = endpoint.sender.fault().unwrap_or_default().to_string();
        SimulationError::InvalidWindow { flow, rule, fault, at_ns: (fault_s * 1e9) as u64 }
    }

    fn traces(&self) -> Traces<'_> {
        let engine = &self.network.engine;
        let queues = engine
            .datapath
            .links
            .iter()
            .filter_map(|link| link.sampler.as_ref())
            .map(|sampler| (sampler.every_s, sampler.samples.as_slice()))
            .collect();
        let available = self
            .network
            .links
            .iter()
            .map(|link| link.available_bps.as_slice())
            .filter(|bins| !bins.is_empty())
            .collect();
        let groups = self.network.transfer_groups.as_slice();
        let transfers = (!groups.is_empty()).then_some((engine.transfers.as_slice(), groups));
        Traces {
            recorder: engine.datapath.trace.recorder(),
            queues,
            end_s: engine.datapath.end_s,
            available,
            transfers,
        }
    }
}

/// With so many flows a calendar is faster: about where what is known of them outgrows the caches.
const MANY_FLOWS: u64 = 5_000;

/// A run with this scheduler; without traces it has no branch for them.
fn network_run<S: EventScheduler>(scenario: &Scenario, options: Options) -> Box<dyn Run> {
    if scenario.trace.packets || scenario.trace.cwnd.is_some() || scenario.trace.rate.is_some() {
        return Box::new(NetworkRun {
            network: build::<S, TraceRecorder>(scenario, options, TraceRecorder::new(scenario)),
        });
    }
    Box::new(NetworkRun { network: build::<S, ()>(scenario, options, ()) })
}

impl<'a> Simulation<'a> {
    /// Ready to run with the default scheduler.
    pub fn new(scenario: &'a Scenario) -> Self {
        Self::with(scenario, EventSchedulerKind::default(), Options::default())
    }

    /// Ready to run.
    pub fn with(scenario: &'a Scenario, scheduler: EventSchedulerKind, options: Options) -> Self {
        let flows: u64 = scenario.flows.iter().map(|flow| flow.count).sum();
        let run = match scheduler {
            EventSchedulerKind::Automatic if flows < MANY_FLOWS => {
                network_run::<HeadScheduler<WinnerTree>>(scenario, options)
            }
            EventSchedulerKind::Automatic | EventSchedulerKind::CalendarQueue => {
                network_run::<CalendarQueue>(scenario, options)
            }
            EventSchedulerKind::WinnerTree => {
                network_run::<HeadScheduler<WinnerTree>>(scenario, options)
            }
            EventSchedulerKind::SortedSet => {
                network_run::<HeadScheduler<SortedSet>>(scenario, options)
            }
        };
        Self { scenario, run }
    }

    /// Handles up to `events` events.
    pub fn advance(&mut self, events: u64) -> Status {
        self.run.advance(events)
    }

    /// Simulated seconds, and data packets delivered, so far.
    pub fn progress(&self) -> (f64, u64) {
        self.run.progress()
    }

    /// Runs to the end.
    pub fn run(&mut self) -> Result<RunResult, SimulationError> {
        loop {
            match self.advance(1 << 20) {
                Status::Running => {}
                Status::Done => return Ok(self.result()),
                Status::OutOfMemory | Status::InvalidWindow => return Err(self.error()),
            }
        }
    }

    /// Why a run that was stopped could not go on.
    pub fn error(&self) -> SimulationError {
        self.run.error(self.scenario)
    }

    /// Results of a run that ended.
    pub fn result(&self) -> RunResult {
        self.run.collect(self.scenario)
    }

    /// Traces.
    pub fn traces(&self) -> Traces<'_> {
        self.run.traces()
    }
}
