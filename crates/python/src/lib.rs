//! Python bindings: the extension module `cwndlab._core`. They convert arguments and results only.

#![allow(
    clippy::disallowed_methods,
    reason = "bindings use files and the wall clock, which the core crates must not"
)]

mod agent;
mod custom_rule;
mod definitions;
mod driven_sender;
mod episodes;
mod errors;
mod explanation;
mod pcap;
mod resolver;
mod run;
mod scenario;
mod table;
mod topology;
mod traces;

use cwndlab_columns::{Columns, Table};
use cwndlab_rules::{Arithmetic, FAMILIES, Family, Parameter, ParameterKind, RuleSpec, WindowRule};
use cwndlab_scenario::{Resolver as _, schema as scenario_schema};
use cwndlab_tcp::{Profile, TcpConfig, for_each_knob};
use definitions::definitions;
use errors::RuleError;
use pyo3::prelude::*;
use resolver::PythonResolver;
use serde_json::{Map, Value, json};

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
                "deployed": family.deployed, "coupled": couples(family),
            })
        })
        .collect();
    serde_json::Value::from(rules).to_string()
}

/// Whether rules of a family couple the subflows of a connection.
fn couples(family: &Family) -> bool {
    let example = family.example.parse::<RuleSpec>();
    example.is_ok_and(|rule| rule.build(Arithmetic::Plain).needs().coupled)
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
    knob_rows().to_string()
}

/// Endpoint knobs: name, group, meaning, range, and value in each profile.
fn knob_rows() -> serde_json::Value {
    let profiles = Profile::ALL.map(|profile| (profile.name(), TcpConfig::profile(profile)));
    macro_rules! rows {
        ($($group:ident: $Group:ident, $about:literal {$(
            $name:ident: $type:ty = [$($default:expr),*]
                $(within [$least:expr, $most:expr])?, $meaning:literal;
        )*})*) => {
            vec![$($({
                let values: Map<String, Value> = profiles.iter()
                    .map(|(profile, config)| {
                        let value = serde_json::to_value(config.$group.$name).unwrap_or_default();
                        (profile.to_string(), value)
                    })
                    .collect();
                let range: Option<[f64; 2]> = None$(.or(Some([$least, $most])))?;
                json!({
                    "name": stringify!($name),
                    "group": $about,
                    "meaning": $meaning,
                    "range": range,
                    "values": values,
                })
            }),*),*]
        };
    }
    for_each_knob!(rows).into()
}

/// Definitions of the columns of results and traces, as JSON: of the run itself, of groups of
/// flows, and pairs of a table and its columns.
#[pyfunction]
fn columns() -> String {
    let by_table = |tables: &[Table]| -> Value {
        tables.iter().map(|table| json!([table.name, definitions(&table.columns)])).collect()
    };
    let Columns { run, groups, tables, traces } = cwndlab_columns::columns();
    json!({
        "run": definitions(run),
        "groups": definitions(groups),
        "tables": by_table(tables),
        "traces": by_table(traces),
    })
    .to_string()
}

/// JSON schema of scenarios.
#[pyfunction]
fn schema() -> String {
    scenario_schema().to_string()
}

/// Name and meaning of each statistic of an agent's step.
#[pyfunction]
fn statistics() -> Vec<(&'static str, &'static str)> {
    agent::STATISTICS.to_vec()
}

/// Canonical form of a rule.
#[pyfunction]
fn rule(text: &str) -> PyResult<String> {
    let spec: RuleSpec = text
        .parse()
        .map_err(|error: cwndlab_rules::RuleError| RuleError::new_err(error.to_string()))?;
    let resolver = PythonResolver::new(None);
    let found = spec.custom_text().map(|text| resolver.rule(text)).transpose();
    let spec = found
        .map_err(|error| resolver.refused(RuleError::new_err(format!("rule \"{text}\": {error}"))))?
        .unwrap_or(spec);
    Ok(spec.to_string())
}

/// The simulation core of cwndlab.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<custom_rule::PyAck>()?;
    module.add_class::<custom_rule::PySibling>()?;
    module.add_class::<scenario::PyScenario>()?;
    module.add_class::<run::PyRun>()?;
    module.add_class::<agent::PyObserver>()?;
    module.add_class::<episodes::PyEpisodes>()?;
    module.add_class::<driven_sender::PyDrivenSender>()?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(build, module)?)?;
    module.add_function(wrap_pyfunction!(rules, module)?)?;
    module.add_function(wrap_pyfunction!(knobs, module)?)?;
    module.add_function(wrap_pyfunction!(columns, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(statistics, module)?)?;
    module.add_function(wrap_pyfunction!(explanation::explain, module)?)?;
    module.add_function(wrap_pyfunction!(explanation::reasons, module)?)?;
    module.add_function(wrap_pyfunction!(rule, module)?)
}
