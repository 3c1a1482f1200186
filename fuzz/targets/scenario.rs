//! Text in, scenario out: reading never panics, what was read is written and read back the same, and what is small runs to an end at which
//! every packet is accounted for.

#![no_main]

use cwndlab_sim::scenario::Scenario;
use cwndlab_sim::{Options, SchedulerKind, Simulation, Status};
use libfuzzer_sys::fuzz_target;

/// Of what a text may ask for, this much is run.
const MOST_FLOWS: u64 = 40;
const MOST_LINKS: usize = 10;
const LONGEST_S: f64 = 2.0;
const LARGEST_WINDOW: f64 = 500.0;
const MOST_EVENTS: u64 = 20_000;

fuzz_target!(|text: &str| {
    for scenario in [Scenario::from_toml(text), Scenario::from_json(text)] {
        match scenario {
            Ok(scenario) => {
                read_back(&scenario);
                run(scenario);
            }
            Err(error) => assert!(!error.to_string().contains('\n'), "a message is one line: {error}"),
        }
    }
});

fn read_back(scenario: &Scenario) {
    let text = serde_json::to_string(scenario).expect("a scenario is plain data");
    let again = Scenario::from_json(&text).unwrap_or_else(|error| panic!("{error}, in the scenario's own text {text}"));
    assert_eq!(serde_json::to_string(&again).expect("plain data"), text);
}

fn run(mut scenario: Scenario) {
    let flows = scenario.flows.iter().fold(0u64, |sum, flow| sum.saturating_add(flow.count));
    if flows > MOST_FLOWS || scenario.links.len() > MOST_LINKS || scenario.cross.len() > MOST_LINKS {
        return;
    }
    if scenario.duration.seconds() > LONGEST_S {
        scenario.duration = "2s".parse().expect("a time");
        scenario.measure = None;
    }
    // One acknowledgement may send a window, and one sample a millisecond is plenty.
    scenario.tcp.window = Some(scenario.tcp.window.unwrap_or(LARGEST_WINDOW).min(LARGEST_WINDOW));
    for flow in &mut scenario.flows {
        flow.tcp.window = flow.tcp.window.map(|window| window.min(LARGEST_WINDOW));
    }
    let millisecond = "1ms".parse().expect("a time");
    scenario.trace.queue = scenario.trace.queue.map(|every| every.max(millisecond));
    scenario.trace.rate = scenario.trace.rate.map(|bin| bin.max(millisecond));
    scenario.trace.cwnd = None;
    let mut simulation = Simulation::with(&scenario, SchedulerKind::Tree, Options::default());
    match simulation.advance(MOST_EVENTS) {
        Status::Running => {}
        Status::TooLarge => panic!("windows of {LARGEST_WINDOW} packets fit into memory"),
        Status::Done => check(&simulation),
    }
}

/// Whatever was sent arrived, was lost, or is on its way.
fn check(simulation: &Simulation<'_>) {
    let result = simulation.result();
    for flow in &result.flows {
        assert_eq!(flow.total_sent_packets, flow.total_delivered_packets + flow.total_dropped_packets + flow.in_flight_packets, "{flow:?}");
    }
    for link in &result.links {
        assert_eq!(link.total_arrived_packets, link.total_departed_packets + link.total_dropped_packets + link.queued_packets, "{link:?}");
        assert!(link.utilization >= 0.0 && link.mean_queue_packets >= 0.0, "{link:?}");
    }
    serde_json::to_string(&result).expect("a result is plain data");
}
