//! The request of a run, as JSON on standard input.

use crate::events::Failure;
use cwndlab_scenario::{CheckedScenario, Resolver, Scenario, text_of};
use serde::Deserialize;
use std::io::Read;

/// A checked request.
pub struct Request {
    /// The checked scenario.
    pub scenario: CheckedScenario,
    /// The process with which this one ends.
    pub parent: Option<i32>,
    /// Folder for the qlog files of QUIC endpoints; none for no files.
    pub qlog: Option<String>,
    /// Port of the QUIC relay; 0 for any free port.
    pub port: u16,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    scenario: Option<serde_json::Value>,
    /// The folder to which the scenario's paths are relative; none for the process's.
    #[serde(default)]
    directory: Option<String>,
    #[serde(default)]
    parent: Option<i32>,
    #[serde(default)]
    qlog: Option<String>,
    #[serde(default)]
    port: u16,
}

/// Reads files from disk and refuses rules written in Python.
struct Files;

impl Resolver for Files {
    fn read(&self, path: &str) -> Result<String, String> {
        text_of(std::fs::read(path).map_err(|error| error.to_string())?)
    }

    fn rule(&self, _text: &str) -> Result<cwndlab_rules::RuleSpec, String> {
        Err("rules written in Python run only in the simulator".into())
    }
}

/// Reads and checks the request on standard input.
pub fn read() -> Result<Request, Failure> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| Failure::broken("request", error))?;
    parse(&text)?.ok_or_else(|| Failure::refused("request: scenario is missing"))
}

/// Checks a scenario.
pub fn checked(scenario: &serde_json::Value) -> Result<CheckedScenario, Failure> {
    Scenario::from_json_with(&scenario.to_string(), &Files).map_err(Failure::refused)
}

/// Checks a request; none for one without a scenario.
pub fn parse(text: &str) -> Result<Option<Request>, Failure> {
    let form: Form = serde_json::from_str(text)
        .map_err(|error| Failure::refused(format!("request: {error}")))?;
    if let Some(directory) = &form.directory {
        std::env::set_current_dir(directory).map_err(|error| Failure::broken(directory, error))?;
    }
    let Form { scenario, parent, qlog, port, .. } = form;
    let scenario = scenario.as_ref().map(checked).transpose()?;
    Ok(scenario.map(|scenario| Request { scenario, parent, qlog, port }))
}
