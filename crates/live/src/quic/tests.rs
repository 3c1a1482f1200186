//! Tests of runs whose rule panics or hangs. A panic ends the process, so each test starts its own
//! executable again as a child process for the run.

use super::plan::TransferPlan;
use super::play::play;
use crate::panics;
use cwndlab_quic::RuleFactory;
use cwndlab_rules::{Ack, Congestion, CustomRuleFactory, RuleSpec, WindowRule};
use cwndlab_scenario::Scenario;
use cwndlab_sim::NetworkPath;
use std::env;
use std::process::Command;
use std::thread;
use std::time::Duration;

/// Environment variable of the child process.
const PLAYS: &str = "CWNDLAB_TEST_CHILD";

/// A rule that fails at the first loss.
#[derive(Clone, Debug)]
enum Broken {
    /// Panics.
    Panics,
    /// Never returns.
    Hangs,
}

impl WindowRule for Broken {
    fn increase(&mut self, cwnd: f64, _: &Ack) -> f64 {
        cwnd
    }

    fn decrease(&mut self, _: f64, _: Congestion) -> f64 {
        match self {
            Self::Panics => panic!("out of\nideas"),
            Self::Hangs => loop {
                thread::sleep(Duration::from_secs(60));
            },
        }
    }
}

/// Runs a scenario with the rule. The queue of one bandwidth-delay product is full within the first
/// second.
fn run_with(rule: Broken, seconds: u32) {
    panics::are_fatal();
    let text = format!(
        "duration = \"{seconds}s\"\n[dumbbell]\nrate = \"10Mbit\"\ndelay = \"10ms\"\n\
         [[flows]]\nrule = \"AIMD(1, 0.5)\"\n"
    );
    let scenario = Scenario::from_toml(&text).unwrap();
    let mut plan =
        TransferPlan::new(&scenario, NetworkPath::new(&scenario).flows(), 1e7, None).unwrap();
    let broken = CustomRuleFactory::new(move || rule.clone());
    plan.transfers[0].factory = RuleFactory::new(RuleSpec::custom("test:Broken", broken)).unwrap();
    play(&scenario, &plan, 0).unwrap();
}

/// Runs a test in a child process; returns the error event with which it ends.
fn ended(test: &str) -> String {
    let arguments =
        [&format!("quic::tests::{test}"), "--exact", "--include-ignored", "--nocapture"];
    let done =
        Command::new(env::current_exe().unwrap()).args(arguments).env(PLAYS, "").output().unwrap();
    let said = String::from_utf8(done.stdout).unwrap();
    assert_eq!(done.status.code(), Some(1), "{said}");
    let errors: Vec<&str> =
        said.lines().filter(|line| line.starts_with("{\"event\":\"error\"")).collect();
    let [error] = errors.as_slice() else { panic!("{said}") };
    assert!(!said.contains("\"time_s\":600.0"), "the run continued to its end: {said}");
    error.to_string()
}

#[test]
fn a_thread_that_panics_ends_the_run_at_once_and_is_named() {
    if env::var_os(PLAYS).is_some() {
        return run_with(Broken::Panics, 600);
    }
    let error = ended("a_thread_that_panics_ends_the_run_at_once_and_is_named");
    assert!(error.contains("thread endpoints: panicked: out of ideas ("), "{error}");
}

#[test]
#[ignore = "nightly: takes 13 s, of which the program waits 10"]
fn a_thread_that_hangs_does_not_delay_the_end() {
    if env::var_os(PLAYS).is_some() {
        return run_with(Broken::Hangs, 3);
    }
    let error = ended("a_thread_that_hangs_does_not_delay_the_end");
    assert!(
        error.contains("time limit: the run did not end 10 s after its 3 s were over"),
        "{error}"
    );
}
