//! Episodes: simulations that pause whenever the agents of some of their flows are to decide.

use crate::agent::{
    Agent, AgentRule, Every, STATISTICS, SharedAgent, Statistics, bytes_of, locked,
};
use crate::errors::{RunError, ScenarioError};
use crate::resolver::PythonResolver;
use crate::run::PyRun;
use crate::scenario::PyScenario;
use cwndlab_rules::{CustomRuleFactory, RuleSpec};
use cwndlab_scenario::Scenario;
use cwndlab_sim::{Options, Simulation, Status};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Instant;

/// Rule of a controlled flow, as results name it.
const AGENT: &str = "Agent";

/// Bytes of an action: window, packets, and pacing rate, packets/s.
const ACTION_BYTES: usize = 2 * size_of::<f64>();

type MadeAgents = Arc<Mutex<Vec<Weak<Mutex<Agent>>>>>;

/// A simulation and the agents of its controlled flows.
struct Episode {
    simulation: Simulation<'static>,
    agents: Vec<SharedAgent>,
    /// Number of each agent's flow, in the order of the scenario.
    flows: Vec<u64>,
    status: Status,
    /// Rules in Python beside the agents leave their exceptions here.
    resolver: PythonResolver,
    packets_wanted: bool,
    wall_s: f64,
}

impl Episode {
    /// An episode at its first decision: with the first ACK of a controlled flow.
    fn new(
        scenario: &PyScenario,
        controlled: &[String],
        every: Every,
        paced: bool,
    ) -> PyResult<Self> {
        let begin = Instant::now();
        let mut own = Scenario::clone(&scenario.scenario);
        let resolver = PythonResolver::new(None);
        if scenario.has_rules {
            own.resolve_rules(&resolver)
                .map_err(|error| resolver.refused(ScenarioError::new_err(error.to_string())))?;
        }
        let made = control(&mut own, controlled, paced);
        let packets_wanted = own.trace.packets;
        let flows = numbered(&own, controlled);
        let own = own.checked().map_err(|error| ScenarioError::new_err(error.to_string()))?;
        let simulation = Simulation::owning(own, Options { look_ahead: false });
        // What plans the network asks rules of its own what they need; those are gone.
        let agents = made.lock().unwrap_or_else(PoisonError::into_inner);
        let agents = agents.iter().filter_map(Weak::upgrade).collect();
        let status = Status::Running;
        let mut episode =
            Self { simulation, agents, flows, status, resolver, packets_wanted, wall_s: 0.0 };
        while episode.status == Status::Running && !episode.any(|agent| agent.has_started()) {
            episode.status = episode.simulation.advance(1);
        }
        if episode.status == Status::Running && !matches!(every, Every::Acks(_)) {
            let now_s = episode.simulation.progress().0;
            episode.status = episode.simulation.advance_to(now_s);
        }
        episode.wall_s = begin.elapsed().as_secs_f64();
        Ok(episode)
    }

    fn any(&self, test: impl Fn(&Agent) -> bool) -> bool {
        self.agents.iter().any(|agent| test(&locked(agent)))
    }

    /// The statistics of each agent. The next step begins.
    fn take(&self) -> impl Iterator<Item = Statistics> {
        let now_s = self.simulation.progress().0;
        self.agents.iter().zip(&self.flows).map(move |(agent, flow)| {
            let mut agent = locked(agent);
            agent.has_finished = self.simulation.has_finished(*flow);
            agent.take(now_s)
        })
    }

    /// Advances to the next decision: of the agent that is due first.
    fn step(&mut self, actions: &[u8], every: Every) {
        if self.status != Status::Running {
            return;
        }
        let begin = Instant::now();
        let now_s = self.simulation.progress().0;
        let mut due_s = f64::INFINITY;
        for (agent, action) in self.agents.iter().zip(actions.chunks_exact(ACTION_BYTES)) {
            let mut agent = locked(agent);
            let (window, rate) = action.split_at(ACTION_BYTES / 2);
            agent.act(number(window), number(rate));
            if !agent.has_finished {
                due_s = due_s.min(agent.due_after_s(now_s, every).unwrap_or(f64::INFINITY));
            }
        }
        if let Every::Acks(acks) = every {
            while self.status == Status::Running && !self.any(|agent| agent.has_acks(acks)) {
                self.status = self.simulation.advance(1);
            }
        } else {
            self.status = self.simulation.advance_to(due_s);
        }
        self.wall_s += begin.elapsed().as_secs_f64();
    }
}

fn number(bytes: &[u8]) -> f64 {
    bytes.try_into().map_or(f64::NAN, f64::from_ne_bytes)
}

/// Gives the controlled groups of flows the rule of agents. Returns the agents that these rules will
/// make, in the order in which the flows are built.
fn control(scenario: &mut Scenario, controlled: &[String], paced: bool) -> MadeAgents {
    let made = MadeAgents::default();
    for group in scenario.flows.iter_mut().filter(|group| controlled.contains(&group.name)) {
        let made = Arc::clone(&made);
        let factory = CustomRuleFactory::new(move || {
            let agent = SharedAgent::default();
            made.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&agent));
            AgentRule { agent, paced }
        });
        group.rule.0 = RuleSpec::custom(AGENT, factory);
    }
    made
}

/// Numbers of the controlled flows.
fn numbered(scenario: &Scenario, controlled: &[String]) -> Vec<u64> {
    let mut first = 0;
    let mut flows = Vec::new();
    for group in &scenario.flows {
        if controlled.contains(&group.name) {
            flows.extend(first..first + group.count);
        }
        first += group.count;
    }
    flows
}

/// Episodes that are stepped together, each with as many agents as the others.
#[pyclass(name = "Episodes", module = "cwndlab._core")]
pub struct PyEpisodes {
    episodes: Vec<Option<Episode>>,
    every: Every,
    paced: bool,
    threads: usize,
}

#[pymethods]
impl PyEpisodes {
    /// Places for `count` episodes.
    #[new]
    fn new(count: usize, every: &str, value: f64, paced: bool, threads: usize) -> PyResult<Self> {
        let every = Every::new(every, value)?;
        let episodes = (0..count).map(|_| None).collect();
        Ok(Self { episodes, every, paced, threads: threads.max(1) })
    }

    /// Begins an episode: the groups of flows named `flows` are controlled. Returns the statistics
    /// of each agent, as bytes.
    fn reset<'py>(
        &mut self,
        py: Python<'py>,
        index: usize,
        scenario: &PyScenario,
        flows: Vec<String>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (every, paced) = (self.every, self.paced);
        let episode = py.detach(|| Episode::new(scenario, &flows, every, paced))?;
        check(py, &episode)?;
        let statistics = bytes_of(episode.take());
        self.episodes[index] = Some(episode);
        Ok(PyBytes::new(py, &statistics))
    }

    /// Steps all episodes that go on. `actions` has a window and a pacing rate (0: none) of each
    /// agent of each episode. Returns the statistics, and whether each episode is at its end.
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        actions: &[u8],
    ) -> PyResult<(Bound<'py, PyBytes>, Vec<bool>)> {
        let (every, threads) = (self.every, self.threads);
        let agents = self.agents_each();
        let bytes = agents * ACTION_BYTES;
        if actions.len() != bytes * self.episodes.len() {
            return Err(RunError::new_err("actions: expected two numbers for each agent"));
        }
        py.detach(|| {
            let each = self.episodes.len().div_ceil(threads).max(1);
            let parts = self.episodes.chunks_mut(each).zip(actions.chunks(each * bytes.max(1)));
            if threads == 1 {
                parts.for_each(|(episodes, actions)| advance(episodes, actions, bytes, every));
            } else {
                std::thread::scope(|scope| {
                    for (episodes, actions) in parts {
                        scope.spawn(move || advance(episodes, actions, bytes, every));
                    }
                });
            }
        });
        let mut statistics =
            Vec::with_capacity(self.episodes.len() * agents * 8 * STATISTICS.len());
        let mut ended = Vec::with_capacity(self.episodes.len());
        for episode in &self.episodes {
            match episode {
                Some(episode) => {
                    check(py, episode)?;
                    statistics.extend(bytes_of(episode.take()));
                    ended.push(episode.status != Status::Running);
                }
                None => {
                    statistics.extend(bytes_of(vec![[0.0; STATISTICS.len()]; agents]));
                    ended.push(true);
                }
            }
        }
        Ok((PyBytes::new(py, &statistics), ended))
    }

    /// The result of an episode that is at its end; it runs to its end with the last actions if it
    /// is not.
    fn result(&mut self, py: Python<'_>, index: usize) -> PyResult<PyRun> {
        let episode = self.episodes.get_mut(index).and_then(Option::as_mut);
        let episode = episode
            .ok_or_else(|| RunError::new_err("there is no episode: expected reset first"))?;
        if episode.status == Status::Running {
            py.detach(|| episode.status = episode.simulation.advance_to(f64::INFINITY));
        }
        check(py, episode)?;
        if let Some(error) = episode.resolver.late_error(py) {
            return Err(error);
        }
        PyRun::new(py, &episode.simulation, episode.wall_s, episode.packets_wanted)
    }
}

impl PyEpisodes {
    fn agents_each(&self) -> usize {
        self.episodes.iter().flatten().map(|episode| episode.agents.len()).next().unwrap_or(0)
    }
}

fn advance(episodes: &mut [Option<Episode>], actions: &[u8], bytes: usize, every: Every) {
    for (episode, actions) in episodes.iter_mut().zip(actions.chunks_exact(bytes.max(1))) {
        if let Some(episode) = episode {
            episode.step(actions, every);
        }
    }
}

/// The error that ended an episode early, if one did.
fn check(py: Python<'_>, episode: &Episode) -> PyResult<()> {
    match episode.status {
        Status::Running | Status::Done => Ok(()),
        Status::OutOfMemory | Status::InvalidWindow | Status::StackFailure => {
            Err(episode.resolver.error(py, &episode.simulation.error().to_string()))
        }
    }
}
