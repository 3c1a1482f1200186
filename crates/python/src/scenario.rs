//! A scenario: parsed and checked once, then run as often as wanted.

use crate::errors::ScenarioError;
use crate::pcap;
use crate::resolver::PythonResolver;
use crate::run::PyRun;
use crate::topology::topology;
use cwndlab_quic::QuinnStack;
use cwndlab_scenario::{CheckedScenario, Scenario};
use cwndlab_sim::{
    DrawnNetwork, Options, RecordedAck, ReplayEvent, Simulation, Status, check_stacks,
    opportunities_ms, replay,
};
use cwndlab_stack::Stack;
use cwndlab_tcp::Measured;
use cwndlab_units::message::unknown;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Events between reads of the clock: about a millisecond of work.
const EVENTS_PER_STEP: u64 = 1 << 10;
/// Interval between calls of the progress function and checks for signals.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A scenario that is valid. Its files are read; paths in it are absolute where a folder was given.
#[pyclass(name = "Scenario", module = "cwndlab._core", frozen, eq)]
#[derive(PartialEq)]
pub struct PyScenario {
    pub scenario: CheckedScenario,
    /// Whether a rule is written in Python.
    pub has_rules: bool,
}

/// A recorded ACK, and an event of a replay, as Python has them.
type Acked = (f64, i64, Vec<(i64, i64)>, bool, Option<u32>, u64, u64);
type Replayed = (f64, &'static str, Option<i64>, f64, f64);

#[pymethods]
impl PyScenario {
    /// Parses and checks a scenario in "toml" or "json", whose paths are relative to `folder`.
    #[new]
    #[pyo3(signature = (text, format="toml", folder=None))]
    fn new(text: &str, format: &str, folder: Option<PathBuf>) -> PyResult<Self> {
        let resolver = PythonResolver::new(folder);
        let scenario = match format {
            "toml" => Scenario::from_toml_with(text, &resolver),
            "json" => Scenario::from_json_with(text, &resolver),
            other => {
                return Err(ScenarioError::new_err(unknown("format", other, &["toml", "json"])));
            }
        };
        let scenario = scenario
            .map_err(|error| resolver.refused(ScenarioError::new_err(error.to_string())))?;
        Ok(Self { scenario, has_rules: resolver.has_rules() })
    }

    /// The scenario with another seed.
    fn with_seed(&self, seed: u64) -> Self {
        Self { scenario: self.scenario.with_seed(seed), has_rules: self.has_rules }
    }

    /// Plays ACKs (time, packet, SACK blocks, ECE, delivery rate in bytes/s, minimum RTT in us) to
    /// the first flow of an entry of the scenario, whose timers expire until `until_s`. `draws` are
    /// the random numbers that the recorded sender drew. Returns what the sender did: (time,
    /// "send", packet, whether again, none) and (time, "ack", none, cwnd before, ssthresh before).
    fn replay(
        &self,
        group: usize,
        start_s: f64,
        acks: Vec<Acked>,
        until_s: f64,
        draws: Vec<u32>,
    ) -> Vec<Replayed> {
        let of = |(time_s, ack, sack, ece, window_bytes, rate_bytes_s, min_rtt_us)| {
            let measured = Measured { rate_bytes_s, min_rtt_us };
            RecordedAck { time_s, ack, sack, ece, window_bytes, measured }
        };
        let acks: Vec<RecordedAck> = acks.into_iter().map(of).collect();
        let row = |event| match event {
            ReplayEvent::Sent { time_s, number, retransmission } => {
                (time_s, "send", Some(number), f64::from(u8::from(retransmission)), f64::NAN)
            }
            ReplayEvent::Acked { time_s, cwnd, ssthresh } => (time_s, "ack", None, cwnd, ssthresh),
        };
        replay(&self.scenario, group, start_s, &acks, until_s, &draws)
            .into_iter()
            .map(row)
            .collect()
    }

    /// The scenario as one line of JSON, with every default.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.scenario)
            .map_err(|error| ScenarioError::new_err(error.to_string()))
    }

    /// The network as built, with what its seed draws, as one line of JSON.
    fn drawn_network(&self, py: Python<'_>) -> PyResult<String> {
        let network = py.detach(|| DrawnNetwork::new(&self.scenario));
        serde_json::to_string(&network).map_err(|error| ScenarioError::new_err(error.to_string()))
    }

    /// Rate of the bottleneck that sizes buffers, bit/s: the initial one, or the mean of delivery
    /// opportunities; none without a dumbbell.
    fn bottleneck_bps(&self) -> Option<u64> {
        Some(self.scenario.dumbbell.as_ref()?.rate.first().bps())
    }

    /// Milliseconds of the delivery opportunities of the bottleneck, as a run draws them; none if
    /// it has a rate.
    fn opportunities_ms(&self, py: Python<'_>) -> Option<Vec<u64>> {
        let dumbbell = self.scenario.dumbbell.as_ref()?;
        py.detach(|| opportunities_ms(&dumbbell.rate, self.scenario.seed, self.scenario.duration))
    }

    /// Links and paths as one line of JSON.
    fn topology(&self) -> PyResult<String> {
        let found = topology(&self.scenario);
        found
            .map(|topology| topology.to_string())
            .map_err(|error| ScenarioError::new_err(error.to_string()))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyType>, (String, &'static str))> {
        Ok((py.get_type::<Self>(), (self.to_json()?, "json")))
    }

    /// Checks that every rule runs at the scenario's home, and that transport stacks accept their
    /// flows.
    fn check_home(&self) -> PyResult<()> {
        self.scenario.check_home().map_err(|error| ScenarioError::new_err(error.to_string()))?;
        check_stacks(&self.scenario, &stacks()).map_err(ScenarioError::new_err)
    }

    /// Runs the scenario. `draws`: for each listed flow the next random numbers of its rule.
    #[pyo3(signature = (progress=None, pcap=None, look_ahead=true, draws=None))]
    fn run(
        &self,
        py: Python<'_>,
        progress: Option<Bound<'_, PyAny>>,
        pcap: Option<PathBuf>,
        look_ahead: bool,
        draws: Option<Vec<Vec<u32>>>,
    ) -> PyResult<PyRun> {
        self.check_home()?;
        let mut scenario = self.scenario.clone();
        // Rules in Python get a place for their exceptions in each run: runs may be concurrent.
        let resolver = PythonResolver::new(None);
        if self.has_rules {
            scenario
                .resolve_rules(&resolver)
                .map_err(|error| resolver.refused(ScenarioError::new_err(error.to_string())))?;
        }
        let packets_wanted = scenario.trace.packets;
        if pcap.is_some() {
            if let Some(i) = scenario.flows.iter().position(|flow| flow.stack.is_some()) {
                return Err(ScenarioError::new_err(format!(
                    "pcap: only packets of TCP are captured: expected flows without \
                     flows[{i}].stack"
                )));
            }
            scenario.trace_packets();
        }
        let begin = Instant::now();
        let mut simulation =
            py.detach(|| Simulation::with_stacks(&scenario, Options { look_ahead }, &stacks()));
        for (flow, draws) in draws.iter().flatten().enumerate() {
            simulation.give_draws(flow as u64, draws);
        }
        loop {
            // Rules in Python are called for every acknowledgement: releasing the interpreter would
            // cost more than it gains.
            let status = if self.has_rules {
                advance(&mut simulation)
            } else {
                py.detach(|| advance(&mut simulation))
            };
            py.check_signals()?;
            if let Some(progress) = &progress {
                progress.call1(simulation.progress())?;
            }
            match status {
                Status::Running => {}
                Status::Done => break,
                Status::OutOfMemory | Status::InvalidWindow | Status::StackFailure => {
                    return Err(resolver.error(py, &simulation.error().to_string()));
                }
            }
        }
        if let Some(error) = resolver.late_error(py) {
            return Err(error);
        }
        let wall_s = begin.elapsed().as_secs_f64();
        if let Some(path) = &pcap {
            py.detach(|| pcap::write(path, &simulation.traces(), &scenario))
                .map_err(|error| unwritten(py, path, &*error))?;
        }
        PyRun::new(py, &simulation, wall_s, packets_wanted)
    }
}

/// The transport stacks that flows may have.
fn stacks() -> [Arc<dyn Stack>; 1] {
    [Arc::new(QuinnStack::new())]
}

/// The exception for a file that was not written: the system's own as an `OSError`.
fn unwritten(py: Python<'_>, path: &Path, error: &(dyn Error + Send + Sync + 'static)) -> PyErr {
    let number = error.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error);
    let Some(number) = number else {
        return ScenarioError::new_err(format!("pcap: {}: {error}", path.display()));
    };
    py.import("os")
        .and_then(|os| os.getattr("strerror")?.call1((number,))?.extract::<String>())
        .map_or_else(|error| error, |text| PyOSError::new_err((number, text, path.to_path_buf())))
}

/// Advances the simulation until the next check for signals.
fn advance(simulation: &mut Simulation<'_>) -> Status {
    let begin = Instant::now();
    loop {
        let status = simulation.advance(EVENTS_PER_STEP);
        if status != Status::Running || begin.elapsed() > POLL_INTERVAL {
            return status;
        }
    }
}
