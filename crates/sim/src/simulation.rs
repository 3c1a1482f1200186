//! One run, whatever scheduler and traces it uses, behind one type.

use crate::arrivals::Transfer;
use crate::build::{Network, Options, build};
use crate::engine::Status;
use crate::results::{RunResult, collect};
use crate::scenario::Scenario;
use crate::scheduler::{Calendar, Heads, Scheduler, SortedSet, WinnerTree};
use crate::trace::{Recorder, Trace};
use std::fmt;

/// Which scheduler runs it. Results do not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SchedulerKind {
    /// Of the fast ones that which suits the number of flows.
    #[default]
    Fast,
    /// Heads of streams in a winner tree.
    Tree,
    /// A calendar of packets.
    Calendar,
    /// Sorted set: simple, for tests.
    Set,
}

/// Why a run was stopped before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Packets on their way or recorded rows exceed the memory meant for them.
    TooLarge,
    /// The rule of a flow gave an answer that is no window.
    Faulty {
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

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => {
                f.write_str("the run needs too much memory: limit buffers (queue.limit), windows (tcp.window) or what trace records")
            }
            Self::Faulty { flow, rule, fault, at_ns } => {
                write!(f, "flow \"{flow}\": rule {rule}: {fault} (after {} s of simulated time)", *at_ns as f64 / 1e9)
            }
        }
    }
}

impl std::error::Error for Stopped {}

/// A run in progress.
pub struct Simulation<'a> {
    scenario: &'a Scenario,
    run: Box<dyn Run>,
}

/// Traces of a run, and the names that their indices stand for.
#[derive(Debug)]
pub struct Recording<'a> {
    /// Rows.
    pub recorder: Option<&'a Recorder>,
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
    fn recording(&self) -> Recording<'_>;
    fn stopped(&self, scenario: &Scenario) -> Stopped;
}

struct Job<S: Scheduler, T: Trace> {
    network: Network<S, T>,
}

/// What a trace can show of itself.
trait Shown {
    fn recorder(&self) -> Option<&Recorder>;
}

impl Shown for () {
    fn recorder(&self) -> Option<&Recorder> {
        None
    }
}

impl Shown for Recorder {
    fn recorder(&self) -> Option<&Recorder> {
        Some(self)
    }
}

impl<S: Scheduler, T: Trace + Shown + Send + Sync> Run for Job<S, T> {
    fn advance(&mut self, events: u64) -> Status {
        self.network.engine.advance(events)
    }

    fn progress(&self) -> (f64, u64) {
        (self.network.engine.now_s, self.network.engine.transit.delivered)
    }

    fn collect(&self, scenario: &Scenario) -> RunResult {
        collect(&self.network, scenario)
    }

    fn stopped(&self, scenario: &Scenario) -> Stopped {
        let engine = &self.network.engine;
        let Some((fault_s, number)) = engine.fault else { return Stopped::TooLarge };
        let host = &engine.hosts[number as usize];
        let arrived = || host.job().and_then(|job| scenario.arrivals.get(job.group as usize));
        let (flow, rule) = match (self.network.flows.of(number), arrived()) {
            (Some((group, number)), _) => (group.instance(number.into()), group.rule.clone()),
            (None, Some(group)) => (group.name.clone(), group.rule.0.to_string()),
            (None, None) => Default::default(),
        };
        let fault = host.sender.fault().unwrap_or_default().to_string();
        Stopped::Faulty { flow, rule, fault, at_ns: (fault_s * 1e9) as u64 }
    }

    fn recording(&self) -> Recording<'_> {
        let engine = &self.network.engine;
        let queues = engine
            .transit
            .links
            .iter()
            .filter_map(|link| link.sampler.as_ref())
            .map(|sampler| (sampler.every_s, sampler.samples.as_slice()))
            .collect();
        let available = self.network.links.iter().map(|link| link.available_bps.as_slice()).filter(|bins| !bins.is_empty()).collect();
        let groups = self.network.transfer_groups.as_slice();
        let transfers = (!groups.is_empty()).then_some((engine.transfers.as_slice(), groups));
        Recording { recorder: engine.transit.trace.recorder(), queues, end_s: engine.transit.end_s, available, transfers }
    }
}

/// With so many flows a calendar is faster: about where what is known of them outgrows the caches.
const MANY_FLOWS: u64 = 5_000;

/// A run with this scheduler; without traces it has no branch for them.
fn job<S: Scheduler>(scenario: &Scenario, options: Options) -> Box<dyn Run> {
    if scenario.trace.packets || scenario.trace.cwnd.is_some() || scenario.trace.rate.is_some() {
        return Box::new(Job { network: build::<S, Recorder>(scenario, options, Recorder::new(scenario)) });
    }
    Box::new(Job { network: build::<S, ()>(scenario, options, ()) })
}

impl<'a> Simulation<'a> {
    /// Ready to run with the default scheduler.
    pub fn new(scenario: &'a Scenario) -> Self {
        Self::with(scenario, SchedulerKind::default(), Options::default())
    }

    /// Ready to run.
    pub fn with(scenario: &'a Scenario, scheduler: SchedulerKind, options: Options) -> Self {
        let flows: u64 = scenario.flows.iter().map(|flow| flow.count).sum();
        let run = match scheduler {
            SchedulerKind::Fast if flows < MANY_FLOWS => job::<Heads<WinnerTree>>(scenario, options),
            SchedulerKind::Fast | SchedulerKind::Calendar => job::<Calendar>(scenario, options),
            SchedulerKind::Tree => job::<Heads<WinnerTree>>(scenario, options),
            SchedulerKind::Set => job::<Heads<SortedSet>>(scenario, options),
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
    pub fn run(&mut self) -> Result<RunResult, Stopped> {
        loop {
            match self.advance(1 << 20) {
                Status::Running => {}
                Status::Done => return Ok(self.result()),
                Status::TooLarge | Status::Faulty => return Err(self.stopped()),
            }
        }
    }

    /// Why a run that was stopped could not go on.
    pub fn stopped(&self) -> Stopped {
        self.run.stopped(self.scenario)
    }

    /// Results of a run that ended.
    pub fn result(&self) -> RunResult {
        self.run.collect(self.scenario)
    }

    /// Traces.
    pub fn recording(&self) -> Recording<'_> {
        self.run.recording()
    }
}
