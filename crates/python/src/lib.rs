//! Python bindings: the extension module `cwndlab._core`. They convert arguments and results only.

#![allow(
    clippy::disallowed_methods,
    reason = "bindings use files and the wall clock, which the core crates must not"
)]

mod convert;
mod custom_rule;
mod errors;
mod pcap;
mod resolver;

use cwndlab_rules::{FAMILIES, Parameter, ParameterKind, RuleSpec};
use cwndlab_scenario::{Resolver as _, Scenario, schema as scenario_schema};
use cwndlab_sim::{EventSchedulerKind, Options, Simulation, Status};
use cwndlab_units::message::unknown;
use errors::{RuleError, RunError, ScenarioError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use resolver::PythonResolver;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Events between reads of the clock: about a millisecond of work.
const EVENTS_PER_STEP: u64 = 1 << 10;
/// Interval between calls of the progress function and checks for signals.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Version of the package.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Fingerprint of the sources of this build: builds with equal fingerprints give equal results.
#[pyfunction]
fn build() -> &'static str {
    env!("CWNDLAB_BUILD")
}

/// All rules, as a JSON list.
#[pyfunction]
fn rules() -> String {
    let rules: Vec<serde_json::Value> = FAMILIES
        .iter()
        .map(|family| {
            let usual = family.parameters.iter().filter(|parameter| !parameter.option);
            let names: Vec<&str> = usual.map(|parameter| parameter.name).collect();
            let parameters: Vec<serde_json::Value> =
                family.parameters.iter().map(parameter_json).collect();
            serde_json::json!({
                "name": family.name,
                "notation": format!("{}({})", family.name, names.join(", ")),
                "summary": family.summary,
                "parameters": parameters, "source": family.source, "example": family.example,
                "deployed": family.deployed,
            })
        })
        .collect();
    serde_json::Value::from(rules).to_string()
}

/// A parameter of a rule; the default is a number, or the name of a choice.
fn parameter_json(parameter: &Parameter) -> serde_json::Value {
    let default = match parameter.kind {
        ParameterKind::Choice(_) => serde_json::json!(parameter.default_text()),
        ParameterKind::Number | ParameterKind::Formula => serde_json::json!(parameter.default),
    };
    serde_json::json!({
        "name": parameter.name,
        "meaning": parameter.meaning,
        "allowed": parameter.expected,
        "default": default,
        "option": parameter.option,
    })
}

/// All endpoint knobs with their values in each profile, as a JSON list.
#[pyfunction]
fn knobs() -> String {
    convert::knobs().to_string()
}

/// JSON schema of scenarios.
#[pyfunction]
fn schema() -> String {
    scenario_schema().to_string()
}

/// Canonical form of a rule.
#[pyfunction]
fn rule(text: &str) -> PyResult<String> {
    let spec: RuleSpec = text
        .parse()
        .map_err(|error: cwndlab_rules::RuleError| RuleError::new_err(error.to_string()))?;
    let resolver = PythonResolver::default();
    let found = spec.custom_text().map(|text| resolver.rule(text)).transpose();
    let spec = found
        .map_err(|error| resolver.refused(RuleError::new_err(format!("rule \"{text}\": {error}"))))?
        .unwrap_or(spec);
    Ok(spec.to_string())
}

/// Checks a scenario in "toml" or "json" and returns it as canonical JSON.
#[pyfunction]
fn parse(text: &str, format: &str) -> PyResult<String> {
    let resolver = PythonResolver::default();
    let scenario = match format {
        "toml" => Scenario::from_toml_with(text, &resolver),
        "json" => Scenario::from_json_with(text, &resolver),
        other => {
            return Err(ScenarioError::new_err(unknown("format", other, &["toml", "json"])));
        }
    };
    let scenario =
        scenario.map_err(|error| resolver.refused(ScenarioError::new_err(error.to_string())))?;
    serde_json::to_string(&scenario).map_err(|error| ScenarioError::new_err(error.to_string()))
}

/// Runs a scenario in JSON; returns its result as JSON and its traces as columns.
#[pyfunction]
#[pyo3(signature = (scenario, progress=None, scheduler="fast", pcap=None, look_ahead=true))]
fn run<'py>(
    py: Python<'py>,
    scenario: &str,
    progress: Option<Bound<'py, PyAny>>,
    scheduler: &str,
    pcap: Option<PathBuf>,
    look_ahead: bool,
) -> PyResult<(String, Bound<'py, PyDict>)> {
    let resolver = PythonResolver::default();
    let mut scenario = Scenario::from_json_with(scenario, &resolver)
        .map_err(|error| resolver.refused(ScenarioError::new_err(error.to_string())))?;
    let packets_wanted = scenario.trace.packets;
    scenario.trace.packets |= pcap.is_some();
    let scheduler = match scheduler {
        "fast" => EventSchedulerKind::Automatic,
        "tree" => EventSchedulerKind::WinnerTree,
        "calendar" => EventSchedulerKind::CalendarQueue,
        "heap" | "set" => EventSchedulerKind::SortedSet,
        other => {
            let known = ["fast", "tree", "calendar", "heap"];
            return Err(ScenarioError::new_err(unknown("scheduler", other, &known)));
        }
    };
    let begin = Instant::now();
    let mut simulation =
        py.detach(|| Simulation::with(&scenario, scheduler, Options { look_ahead }));
    loop {
        // Rules in Python are called for every acknowledgement: releasing the interpreter would
        // cost more than it gains.
        let status = if resolver.has_rules() {
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
            Status::OutOfMemory | Status::InvalidWindow => {
                return Err(resolver.error(py, &simulation.error().to_string()));
            }
        }
    }
    if let Some(error) = resolver.late_error(py) {
        return Err(error);
    }
    let wall_s = begin.elapsed().as_secs_f64();
    let result = py.detach(|| convert::result_json(&simulation.result(), wall_s))?;
    let recording = simulation.traces();
    if let Some(path) = &pcap {
        py.detach(|| pcap::write(path, &recording, &scenario)).map_err(|error| {
            ScenarioError::new_err(format!("pcap: {}: {error}", path.display()))
        })?;
    }
    Ok((result, convert::traces(py, &recording, packets_wanted)?))
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

/// The simulation core of cwndlab.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("ScenarioError", module.py().get_type::<ScenarioError>())?;
    module.add("RuleError", module.py().get_type::<RuleError>())?;
    module.add("RunError", module.py().get_type::<RunError>())?;
    module.add_class::<custom_rule::PyAck>()?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(build, module)?)?;
    module.add_function(wrap_pyfunction!(rules, module)?)?;
    module.add_function(wrap_pyfunction!(knobs, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(rule, module)?)?;
    module.add_function(wrap_pyfunction!(parse, module)?)?;
    module.add_function(wrap_pyfunction!(run, module)?)
}
