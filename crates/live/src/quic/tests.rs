//! Runs whose rule breaks down, or hangs, in their middle. That ends the process, so each is played in one of its own: this test's, once
//! more.

use super::*;
use crate::panics;
use cwndlab_quic::RuleFactory;
use cwndlab_rules::{Ack, Congestion, CustomRuleFactory, RuleSpec, WindowRule};
use std::process::Command;

/// Has no answer to a loss.
#[derive(Clone, Debug)]
enum Broken {
    /// And says so.
    Panics,
    /// And never comes back, with all that waits for it.
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

/// Plays so many seconds with it. Its queue, of one bandwidth-delay product, is full within the first.
fn run_with(rule: Broken, seconds: u32) {
    panics::are_fatal();
    let text = format!("duration = \"{seconds}s\"\n[dumbbell]\nrate = \"10Mbit\"\ndelay = \"10ms\"\n[[flows]]\nrule = \"AIMD(1, 0.5)\"\n");
    let scenario = Scenario::from_toml(&text).unwrap();
    let mut plan = Plan::new(&scenario, Passage::new(&scenario).flows(), 1e7, None).unwrap();
    plan.transfers[0].factory = RuleFactory::new(RuleSpec::custom("test:Broken", CustomRuleFactory::new(move || rule.clone()))).unwrap();
    play(&scenario, &plan, 0).unwrap();
}

#[test]
#[ignore = "ends its process: played by a test below"]
fn a_rule_that_panics() {
    run_with(Broken::Panics, 60);
}

#[test]
#[ignore = "ends its process: played by a test below"]
fn a_rule_that_hangs() {
    run_with(Broken::Hangs, 1);
}

/// Plays one of these; the one error it ends with, and after how many seconds.
fn ended(name: &str) -> (String, f64) {
    let begun = Instant::now();
    let arguments = [&format!("quic::tests::{name}"), "--exact", "--ignored", "--nocapture"];
    let done = Command::new(std::env::current_exe().unwrap()).args(arguments).output().unwrap();
    let said = String::from_utf8(done.stdout).unwrap();
    assert_eq!(done.status.code(), Some(1), "{said}");
    let errors: Vec<&str> = said.lines().filter(|line| line.starts_with("{\"event\":\"error\"")).collect();
    let [error] = errors.as_slice() else { panic!("{said}") };
    (error.to_string(), begun.elapsed().as_secs_f64())
}

#[test]
fn a_thread_that_breaks_down_ends_the_run_at_once_and_is_named() {
    let (error, took_s) = ended("a_rule_that_panics");
    assert!(error.contains("thread endpoints: broke down: out of ideas ("), "{error}");
    // Of 60 s.
    assert!(took_s < 30.0, "{took_s}");
}

#[test]
fn a_thread_that_hangs_does_not_hold_up_the_end() {
    let (error, took_s) = ended("a_rule_that_hangs");
    assert!(error.contains("time limit: the run did not end 10 s after its 1 s were over"), "{error}");
    // 11 s, and what a busy machine adds.
    assert!((11.0..40.0).contains(&took_s), "{took_s}");
}
