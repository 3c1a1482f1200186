//! A simulation run: hides the tracer, which is a type parameter, behind one type.

use crate::build::{BuiltNetwork, Options, build};
use crate::engine::state::Status;
use crate::measure::trace::{TraceRecorder, Tracer};
use crate::results::{RunResult, Traces, collect};
use crate::stacks::{StackFault, StackHosts};
use cwndlab_scenario::{CheckedScenario, Scenario};
use cwndlab_stack::Stack;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Why a run ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimulationError {
    /// Packets in the network or recorded rows exceed the memory limit.
    OutOfMemory,
    /// The rule of a flow returned an invalid congestion window.
    InvalidWindow {
        /// Name of the flow, or of its group for a flow of `[[arrivals]]`.
        flow: String,
        /// The rule.
        rule: String,
        /// What is invalid about the window.
        fault: String,
        /// Simulated time, nanoseconds.
        at_ns: u64,
    },
    /// A transport stack did not accept a flow: the key and what is wrong with it.
    StackRefused(String),
    /// The connection of a transport stack failed.
    StackFailed {
        /// Name of the flow.
        flow: String,
        /// Why.
        why: String,
        /// Simulated time, nanoseconds.
        at_ns: u64,
    },
}

impl fmt::Display for SimulationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfMemory => f.write_str(
                "the run exceeds the memory limit: limit buffers (queue.limit), windows \
                 (tcp.window) or the traces",
            ),
            Self::InvalidWindow { flow, rule, fault, at_ns } => {
                write!(
                    f,
                    "flow \"{flow}\": rule {rule}: {fault} (after {} s of simulated \
                 time)",
                    *at_ns as f64 / 1e9
                )
            }
            Self::StackRefused(why) => f.write_str(why),
            Self::StackFailed { flow, why, at_ns } => {
                let at_s = *at_ns as f64 / 1e9;
                write!(f, "flow \"{flow}\": {why} (after {at_s} s of simulated time)")
            }
        }
    }
}

impl std::error::Error for SimulationError {}

/// A run: build it, advance it, take its result and its traces.
pub struct Simulation<'a> {
    scenario: Cow<'a, CheckedScenario>,
    run: Box<dyn Run>,
}

trait Run: Send + Sync {
    fn advance(&mut self, events: u64) -> Status;
    fn advance_to(&mut self, until_s: f64) -> Status;
    fn has_finished(&self, flow: u64) -> bool;
    fn give_draws(&mut self, flow: u64, draws: &[u32]);
    fn progress(&self) -> (f64, u64);
    fn rounds(&self) -> u64;
    fn collect(&self, scenario: &Scenario) -> RunResult;
    fn traces(&self) -> Traces<'_>;
    fn error(&self, scenario: &Scenario) -> SimulationError;
}

struct NetworkRun<T: Tracer> {
    built: BuiltNetwork<T>,
    /// Hosts of flows with endpoints of transport stacks.
    hosts: Option<StackHosts>,
}

/// Access to the recorder of a tracer that has one.
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

impl<T: Tracer + HasRecorder + Send + Sync> Run for NetworkRun<T> {
    fn advance(&mut self, events: u64) -> Status {
        match &mut self.hosts {
            Some(hosts) => hosts.advance(&mut self.built, events),
            None => self.built.engine.advance(events),
        }
    }

    fn advance_to(&mut self, until_s: f64) -> Status {
        match &mut self.hosts {
            Some(hosts) => hosts.advance_to(&mut self.built, until_s),
            None => self.built.engine.advance_to(until_s),
        }
    }

    fn has_finished(&self, flow: u64) -> bool {
        let of_stack = self.hosts.as_ref().and_then(|hosts| hosts.has_finished(flow));
        of_stack.unwrap_or_else(|| self.built.engine.senders[flow as usize].has_finished())
    }

    fn give_draws(&mut self, flow: u64, draws: &[u32]) {
        self.built.engine.senders[flow as usize].sender.give_draws(draws);
    }

    fn progress(&self) -> (f64, u64) {
        (self.built.engine.clock_s, self.built.engine.network.receivers.delivered)
    }

    fn rounds(&self) -> u64 {
        self.built.engine.rounds
    }

    fn collect(&self, scenario: &Scenario) -> RunResult {
        let mut result = collect(&self.built, scenario);
        if let Some(hosts) = &self.hosts {
            hosts.complete(&self.built, &mut result);
        }
        result
    }

    fn error(&self, scenario: &Scenario) -> SimulationError {
        if let Some(StackFault { flow, why, at_s }) =
            self.hosts.as_ref().and_then(StackHosts::fault).cloned()
        {
            return match flow {
                Some(flow) => {
                    SimulationError::StackFailed { flow, why, at_ns: (at_s * 1e9) as u64 }
                }
                None => SimulationError::StackRefused(why),
            };
        }
        let engine = &self.built.engine;
        let Some((fault_s, flow)) = engine.fault else { return SimulationError::OutOfMemory };
        let endpoint = &engine.senders[flow.index()];
        let arrived = || {
            endpoint.transfer().and_then(|transfer| scenario.arrivals.get(transfer.group as usize))
        };
        let (flow, rule) = match (self.built.flows.of(flow.number()), arrived()) {
            (Some((group, number)), _) => (group.instance(number.into()), group.rule.clone()),
            (None, Some(group)) => (group.name.clone(), group.rule.0.to_string()),
            (None, None) => Default::default(),
        };
        let fault = endpoint.sender.fault().unwrap_or_default().to_string();
        SimulationError::InvalidWindow { flow, rule, fault, at_ns: (fault_s * 1e9) as u64 }
    }

    fn traces(&self) -> Traces<'_> {
        let engine = &self.built.engine;
        let queues =
            engine.network.links.iter().filter_map(|link| link.metrics.sampler.as_ref()).collect();
        let available = self
            .built
            .links
            .iter()
            .map(|link| link.available_bps.as_slice())
            .filter(|bins| !bins.is_empty())
            .collect();
        let groups = self.built.transfer_groups.as_slice();
        let transfers = engine.network.receivers.transfers.as_slice();
        let transfers = (!groups.is_empty()).then_some((transfers, groups));
        Traces {
            recorder: engine.network.trace.recorder(),
            queues,
            end_s: engine.network.end_s,
            available,
            transfers,
        }
    }
}

/// A run. Without traces the tracer is `()`, which compiles to nothing.
fn network_run(
    scenario: &CheckedScenario,
    mut options: Options,
    stacks: &[Arc<dyn Stack>],
) -> Box<dyn Run> {
    // Hosts of stacks answer at once what the network delivers.
    options.look_ahead &= scenario.flows.iter().all(|flow| flow.stack.is_none());
    let trace = &scenario.trace;
    let samples = trace.cwnd.is_some() || trace.rule.is_some() || trace.rate.is_some();
    if trace.packets || trace.rtt || trace.shares || trace.account || samples {
        let recorder = TraceRecorder::new(scenario);
        let mut built = build::<TraceRecorder>(scenario, options, recorder);
        let hosts = StackHosts::of(scenario, &mut built, stacks);
        return Box::new(NetworkRun { built, hosts });
    }
    let mut built = build::<()>(scenario, options, ());
    let hosts = StackHosts::of(scenario, &mut built, stacks);
    Box::new(NetworkRun { built, hosts })
}

impl<'a> Simulation<'a> {
    /// Builds a run.
    pub fn new(scenario: &'a CheckedScenario) -> Self {
        Self::with(scenario, Options::default())
    }

    /// Builds a run with these options.
    pub fn with(scenario: &'a CheckedScenario, options: Options) -> Self {
        Self::with_stacks(scenario, options, &[])
    }

    /// Builds a run with these options, in which flows may have endpoints of these transport
    /// stacks. A flow that its stack does not accept ends the run at once.
    pub fn with_stacks(
        scenario: &'a CheckedScenario,
        options: Options,
        stacks: &[Arc<dyn Stack>],
    ) -> Self {
        let run = network_run(scenario, options, stacks);
        Self { scenario: Cow::Borrowed(scenario), run }
    }

    /// Builds a run that owns its scenario.
    pub fn owning(scenario: CheckedScenario, options: Options) -> Simulation<'static> {
        let run = network_run(&scenario, options, &[]);
        Simulation { run, scenario: Cow::Owned(scenario) }
    }

    /// Processes about `events` items.
    pub fn advance(&mut self, events: u64) -> Status {
        self.run.advance(events)
    }

    /// Processes all events up to `until_s`, this instant included. Without lookahead (see
    /// [`Options`]) no endpoint has seen anything later then, and results do not depend on the
    /// instants.
    pub fn advance_to(&mut self, until_s: f64) -> Status {
        self.run.advance_to(until_s)
    }

    /// Whether a listed flow, in the order of the scenario, has sent all of its data and awaits no
    /// more.
    pub fn has_finished(&self, flow: u64) -> bool {
        self.run.has_finished(flow)
    }

    /// Gives a listed flow, in the order of the scenario, the next random numbers of its rule, as
    /// they were drawn elsewhere.
    pub fn give_draws(&mut self, flow: u64, draws: &[u32]) {
        self.run.give_draws(flow, draws);
    }

    /// Simulated time (seconds) and data packets delivered so far.
    pub fn progress(&self) -> (f64, u64) {
        self.run.progress()
    }

    /// Rounds of the event loop so far. In each one a station or the senders process all that they
    /// know: the more packets a round, the less each costs.
    pub fn rounds(&self) -> u64 {
        self.run.rounds()
    }

    /// Runs until the scenario's end.
    pub fn run(&mut self) -> Result<RunResult, SimulationError> {
        loop {
            match self.advance(1 << 20) {
                Status::Running => {}
                Status::Done => return Ok(self.result()),
                Status::OutOfMemory | Status::InvalidWindow | Status::StackFailure => {
                    return Err(self.error());
                }
            }
        }
    }

    /// Reason for which a run ended early.
    pub fn error(&self) -> SimulationError {
        self.run.error(&self.scenario)
    }

    /// Results of a completed run.
    pub fn result(&self) -> RunResult {
        self.run.collect(&self.scenario)
    }

    /// Traces recorded so far.
    pub fn traces(&self) -> Traces<'_> {
        self.run.traces()
    }
}
