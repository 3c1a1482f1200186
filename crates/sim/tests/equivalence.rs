//! The engine's shortcuts change nothing: look-ahead over private stages and merge queues, and
//! the fast scheduler, and traces, give the very result of the plain engine, which takes an event
//! for every stage of every packet and keeps its streams in a sorted set.
//!
//! `CWNDLAB_SCENARIOS=20000 cargo test --release --test equivalence` tries more scenarios than CI
//! does.

mod common;

use cwndlab_scenario::Scenario;
use cwndlab_sim::{EventSchedulerKind, Options, Simulation, Status};
use proptest::test_runner::{Config, RngSeed, TestError, TestRunner};
use serde_json::Value;

/// The whole result, hash included, as text.
fn result(scenario: &Scenario, scheduler: EventSchedulerKind, look_ahead: bool) -> Value {
    let mut simulation = Simulation::with(scenario, scheduler, Options { look_ahead });
    let ended = (0..64).any(|_| simulation.advance(1 << 16) == Status::Done);
    assert!(
        ended,
        "the scenarios are small, but this one does not end: {:?}",
        simulation.progress()
    );
    let result = simulation.result();
    serde_json::to_value(result).expect("a result is plain data")
}

/// The scenario with every trace.
fn traced(mut json: Value) -> Value {
    json["trace"] = serde_json::json!({
        "cwnd": "all", "rule": "10ms", "queue": "10ms", "rate": "100ms", "packets": true,
    });
    json
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
fn lookahead_and_schedulers_do_not_change_results() {
    TestRunner::new(config())
        .run(&common::scenario(), |json| {
            let scenario = Scenario::from_json(&json.to_string())
                .unwrap_or_else(|error| panic!("{error}\n{json}"));
            let plain = result(&scenario, EventSchedulerKind::SortedSet, false);
            let traced = Scenario::from_json(&traced(json.clone()).to_string())
                .unwrap_or_else(|error| panic!("{error}\n{json}"));
            for (scenario, scheduler, look_ahead) in [
                (&scenario, EventSchedulerKind::WinnerTree, false),
                (&scenario, EventSchedulerKind::SortedSet, true),
                (&scenario, EventSchedulerKind::WinnerTree, true),
                (&scenario, EventSchedulerKind::CalendarQueue, true),
                (&traced, EventSchedulerKind::WinnerTree, true),
            ] {
                let other = result(scenario, scheduler, look_ahead);
                let differences = differences("", &plain, &other);
                proptest::prop_assert!(
                    differences.is_empty(),
                    "{scheduler:?}, look-ahead {look_ahead}, trace {:?}: {}\n{json}",
                    scenario.trace,
                    differences.join("; ")
                );
            }
            Ok(())
        })
        .unwrap_or_else(|error| match error {
            TestError::Fail(reason, _) => panic!("{reason}"),
            aborted => panic!("{aborted}"),
        });
}
