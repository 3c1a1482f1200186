//! Fuzz target of scenarios: parsing never panics, and a parsed scenario survives a round trip
//! through JSON. A small scenario runs, its packets are conserved, and windows give the result of
//! one item at a time.

#![no_main]

use cwndlab_scenario::{CheckedScenario, KnobOverrides, QueueSpec, Resolver, Scenario, Waveform};
use cwndlab_sim::{Options, Simulation, Status};
use cwndlab_units::{Bytes, Time};
use libfuzzer_sys::fuzz_target;

/// Limits of the scenarios that are run.
const MOST_FLOWS: u64 = 40;
const MOST_LINKS: usize = 10;
const MOST_GROUPS: usize = 4;
const MOST_SOURCES: f64 = 50.0;
const MOST_PIECES: f64 = 20_000.0;
const LONGEST_S: f64 = 2.0;
const LARGEST_WINDOW: f64 = 300.0;
const LARGEST_INITIAL_WINDOW: f64 = 20.0;
const MOST_EVENTS: u64 = 20_000;
/// A packet of many quanta takes as many rounds of the scheduler.
const SMALLEST_QUANTUM: Bytes = Bytes(100);

/// A resolver for which a file's name is its contents, with commas for line feeds.
struct Named;

impl Resolver for Named {
    fn read(&self, path: &str) -> Result<String, String> {
        Ok(path.replace(',', "\n"))
    }
}

fuzz_target!(|text: &str| {
    for scenario in [Scenario::from_toml_with(text, &Named), Scenario::from_json_with(text, &Named)]
    {
        match scenario {
            Ok(scenario) => {
                read_back(&scenario);
                run(&scenario);
            }
            Err(error) => {
                assert!(!error.to_string().contains('\n'), "a message is one line: {error}")
            }
        }
    }
});

fn read_back(scenario: &Scenario) {
    let text = serde_json::to_string(scenario).expect("a scenario is plain data");
    let again = Scenario::from_json_with(&text, &Named)
        .unwrap_or_else(|error| panic!("{error}, in the scenario's own text {text}"));
    assert_eq!(serde_json::to_string(&again).expect("plain data"), text);
    assert_eq!(&*again, scenario, "{text}");
}

fn run(scenario: &CheckedScenario) {
    // What is wrong with a shorter or limited one is not compared.
    let shorter = scenario.edited(|scenario| {
        if scenario.duration.seconds() > LONGEST_S {
            scenario.duration = seconds("2s");
            scenario.measure = None;
        }
    });
    let Some(shorter) = shorter.ok().filter(|scenario| !is_large(scenario)) else { return };
    let Ok(scenario) = shorter.edited(limit) else { return };
    // A run that does not end is not compared.
    let Some(plain) = result(&scenario, false) else { return };
    if let Some(fast) = result(&scenario, true) {
        assert_eq!(fast, plain, "windows change the result");
    }
}

fn seconds(text: &str) -> Time {
    text.parse().expect("a time")
}

/// Whether the scenario takes long to build or to run.
fn is_large(scenario: &Scenario) -> bool {
    let Scenario { flows, links, cross, arrivals, dumbbell, .. } = scenario;
    let count = flows.iter().fold(0u64, |sum, flow| sum.saturating_add(flow.count));
    let sources = cross.iter().fold(0u64, |sum, source| sum.saturating_add(source.count));
    let rates = || {
        links.iter().map(|link| &link.rate).chain(dumbbell.iter().map(|dumbbell| &dumbbell.rate))
    };
    let fastest = rates().map(|rate| rate.largest().bps()).max().unwrap_or_default() as f64;
    // n flows and m sources of one rate on a link of rate C leave B = n C/(n + m).
    let numbered = cross.iter().filter(|source| source.source_rate.is_some()).map(|source| {
        let least =
            source.available.as_ref().map_or(1.0, |available| available.smallest().bps() as f64);
        source.beside.unwrap_or(count) as f64 * fastest / least
    });
    let waves = rates().chain(
        cross.iter().filter_map(|source| source.rate.as_ref().or(source.available.as_ref())),
    );
    let pieces = waves
        .filter_map(Waveform::shortest_piece)
        .map(|(_, piece)| scenario.duration.seconds() / piece.seconds().max(1e-9));
    count > MOST_FLOWS
        || sources as f64 + numbered.sum::<f64>() > MOST_SOURCES
        || links.len() > MOST_LINKS
        || arrivals.len() > MOST_GROUPS
        || pieces.sum::<f64>() > MOST_PIECES
}

/// Limits the work of a single event.
fn limit(scenario: &mut Scenario) {
    // An acknowledgement may send a whole window; a sample a millisecond is enough.
    scenario.tcp.window.get_or_insert(LARGEST_WINDOW);
    limit_knobs(&mut scenario.tcp);
    scenario.flows.iter_mut().for_each(|flow| limit_knobs(&mut flow.tcp));
    scenario.arrivals.iter_mut().for_each(|arrivals| limit_knobs(&mut arrivals.tcp));
    scenario.links.iter_mut().for_each(|link| limit_queue(&mut link.queue));
    if let Some(dumbbell) = &mut scenario.dumbbell {
        limit_queue(&mut dumbbell.queue);
        dumbbell.back_queue.iter_mut().for_each(limit_queue);
    }
    let millisecond = seconds("1ms");
    scenario.trace.queue = scenario.trace.queue.map(|every| every.max(millisecond));
    scenario.trace.rate = scenario.trace.rate.map(|bin| bin.max(millisecond));
    scenario.trace.cwnd = None;
}

fn limit_knobs(knobs: &mut KnobOverrides) {
    knobs.window = knobs.window.map(|window| window.min(LARGEST_WINDOW));
    knobs.initial_window = knobs.initial_window.map(|window| window.min(LARGEST_INITIAL_WINDOW));
}

fn limit_queue(queue: &mut QueueSpec) {
    match queue {
        QueueSpec::Drr { quantum: Some(quantum), .. }
        | QueueSpec::FqCoDel { quantum: Some(quantum), .. } => {
            quantum.0 = quantum.0.max(SMALLEST_QUANTUM.0);
        }
        QueueSpec::Pie { update, .. } => *update = (*update).max(seconds("1ms")),
        _ => {}
    }
}

/// The result as text; none if the run does not end.
fn result(scenario: &CheckedScenario, look_ahead: bool) -> Option<String> {
    let mut simulation = Simulation::with(scenario, Options { look_ahead });
    match simulation.advance(MOST_EVENTS) {
        // A formula may return an invalid window, which ends the run.
        Status::Running | Status::InvalidWindow => None,
        Status::OutOfMemory => panic!("windows of {LARGEST_WINDOW} packets fit into memory"),
        Status::Done => Some(check(&simulation)),
    }
}

/// Checks the conservation of packets.
fn check(simulation: &Simulation<'_>) -> String {
    let result = simulation.result();
    for flow in &result.flows {
        assert_eq!(
            flow.total_sent_packets,
            flow.total_delivered_packets + flow.total_dropped_packets + flow.in_flight_packets,
            "{flow:?}"
        );
    }
    for link in &result.links {
        assert_eq!(
            link.total_arrived_packets,
            link.total_departed_packets + link.total_dropped_packets + link.queued_packets,
            "{link:?}"
        );
        assert!(link.utilization >= 0.0 && link.mean_queue_packets >= -1e-9, "{link:?}");
        assert!(link.marked_packets <= link.arrived_packets + link.queued_packets, "{link:?}");
    }
    for group in &result.arrivals {
        assert_eq!(group.arrived_flows, group.finished_flows + group.unfinished_flows, "{group:?}");
    }
    for (transfer, groups) in simulation
        .traces()
        .transfers
        .iter()
        .flat_map(|(all, groups)| all.iter().map(move |one| (one, groups)))
    {
        assert!(
            transfer.fct_s >= 0.0
                && transfer.packets > 0
                && (transfer.group as usize) < groups.len(),
            "{transfer:?}"
        );
    }
    serde_json::to_string(&result).expect("a result is plain data")
}
