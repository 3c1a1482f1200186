//! The engine's windows change nothing: stations that run up to their horizons, stages computed
//! ahead, pauses and traces give the very result of the plain engine, in which every packet waits
//! at every stage and one item is processed at a time, in the order of all.
//!
//! `CWNDLAB_SCENARIOS=20000 cargo test --release --test equivalence` tries more scenarios than CI
//! does.

mod common;

use cwndlab_scenario::{CheckedScenario, Scenario};
use cwndlab_sim::{Options, Simulation, Status};
use proptest::test_runner::{Config, RngSeed, TestError, TestRunner};
use serde_json::Value;

/// The whole result, hash included, and the rows of the window trace.
fn result(scenario: &CheckedScenario, look_ahead: bool) -> (Value, Value) {
    let mut simulation = Simulation::with(scenario, Options { look_ahead });
    result_of(&mut simulation)
}

/// The same of a run that pauses at instants that have nothing to do with its events, and after
/// single items.
fn result_with_pauses(scenario: &CheckedScenario, look_ahead: bool) -> (Value, Value) {
    let mut simulation = Simulation::with(scenario, Options { look_ahead });
    for number in 1..200 {
        let until_s = f64::from(number) * 0.0137;
        if simulation.advance_to(until_s) == Status::Done {
            break;
        }
        assert!(simulation.progress().0 >= until_s);
        if simulation.advance(1) == Status::Done {
            break;
        }
    }
    result_of(&mut simulation)
}

fn result_of(simulation: &mut Simulation<'_>) -> (Value, Value) {
    let ended = (0..64).any(|_| simulation.advance(1 << 16) == Status::Done);
    assert!(
        ended,
        "the scenarios are small, but this one does not end: {:?}",
        simulation.progress()
    );
    let result = simulation.result();
    let windows: Vec<_> = simulation
        .traces()
        .recorder
        .map(|recorder| recorder.windows_in_order())
        .unwrap_or_default()
        .iter()
        .map(|row| (row.time_s, row.flow, row.cwnd, row.ssthresh, row.srtt_s))
        .collect();
    let rows = serde_json::to_value((windows, rule_rows(simulation))).expect("plain data");
    (serde_json::to_value(result).expect("a result is plain data"), rows)
}

/// A row of the rule trace: time, flow, phase and values by name.
type NamedRow = (f64, u32, &'static str, Vec<(String, f64)>);

/// Rows of the rule trace.
fn rule_rows(simulation: &Simulation<'_>) -> Vec<NamedRow> {
    let traces = simulation.traces();
    let Some(trace) = traces.recorder.map(|recorder| &recorder.rules) else { return Vec::new() };
    let row = |number: usize| {
        let row = &trace.rows[number];
        let name = |column: u32| trace.columns[column as usize].clone();
        let values = trace.values_of(number).iter();
        let values = values.map(|&(column, value)| (name(column), value)).collect();
        (row.time_s, row.flow, trace.phases[row.phase as usize], values)
    };
    trace.in_order().into_iter().map(row).collect()
}

/// The scenario with these traces.
fn traced(json: &Value, trace: Value) -> CheckedScenario {
    let mut json = json.clone();
    let shares = json["trace"]["shares"].take();
    json["trace"] = trace;
    json["trace"]["shares"] = Value::Bool(shares == Value::Bool(true));
    Scenario::from_json(&json.to_string()).unwrap_or_else(|error| panic!("{error}\n{json}"))
}

/// Every field that is not the same, with both values.
fn differences(path: &str, a: &Value, b: &Value) -> Vec<String> {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() => a
            .iter()
            .flat_map(|(key, value)| differences(&format!("{path}/{key}"), value, &b[key]))
            .collect(),
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .enumerate()
            .flat_map(|(i, (a, b))| differences(&format!("{path}/{i}"), a, b))
            .collect(),
        (a, b) if a == b => Vec::new(),
        (a, b) => vec![format!("{path} is {a} in the plain engine, {b} here")],
    }
}

/// Scenarios to try, and the seed they are drawn with.
#[allow(clippy::disallowed_methods, reason = "how long a test may take is no part of a scenario")]
fn config() -> Config {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    Config {
        cases: number("CWNDLAB_SCENARIOS", 3000) as u32,
        rng_seed: RngSeed::Fixed(number("CWNDLAB_SCENARIO_SEED", 1)),
        // The random scenarios are the same everywhere: a failure needs no file to come back.
        failure_persistence: None,
        max_shrink_iters: 5_000,
        ..Config::default()
    }
}

#[test]
fn windows_do_not_change_results() {
    TestRunner::new(config())
        .run(&common::scenario(), |json| {
            let scenario = Scenario::from_json(&json.to_string())
                .unwrap_or_else(|error| panic!("{error}\n{json}"));
            let (plain, _) = result(&scenario, false);
            let all = serde_json::json!({
                "cwnd": "all", "rule": "10ms", "queue": "10ms", "rate": "100ms", "packets": true,
            });
            let all = traced(&json, all);
            let sampled =
                traced(&json, serde_json::json!({"cwnd": "10ms", "rule": "15ms", "rate": "100ms"}));
            let (_, windows) = result(&sampled, false);
            let runs = [
                ("windows", result(&scenario, true), false),
                ("windows, all traces", result(&all, true), false),
                ("windows, samples", result(&sampled, true), true),
                ("windows, pauses", result_with_pauses(&sampled, true), true),
                ("items, pauses", result_with_pauses(&sampled, false), true),
            ];
            for (name, (other, rows), is_sampled) in runs {
                let mut differences = differences("", &plain, &other);
                if is_sampled && rows != windows {
                    differences.push("rows of the window and rule traces".to_string());
                }
                let text = differences.join("; ");
                proptest::prop_assert!(differences.is_empty(), "{name}: {text}\n{json}");
            }
            Ok(())
        })
        .unwrap_or_else(|error| match error {
            TestError::Fail(reason, _) => panic!("{reason}"),
            aborted => panic!("{aborted}"),
        });
}
