//! Result of a run.

use super::accounts::{Account, accounts};
use super::connections::{ConnectionResult, SubflowResult, connection_results};
use super::fairness::Fairness;
use super::flows::{FlowResult, flow_results};
use super::links::{LinkResult, link_results};
use super::traffic::{ArrivalResult, CrossResult, arrival_results, cross_results};
use crate::build::BuiltNetwork;
use crate::engine::state::Engine;

use crate::measure::trace::Tracer;
use crate::measure::trace_hash::TraceHash;
use cwndlab_scenario::Scenario;
use serde::Serialize;

/// Result of a run.
#[derive(Clone, Debug, Serialize)]
pub struct RunResult {
    /// Name of the scenario.
    pub name: String,
    /// Seed.
    pub seed: u64,
    /// Endpoint profile.
    pub profile: &'static str,
    /// Duration of the scenario, seconds.
    pub duration_s: f64,
    /// Start of the measurement window, seconds.
    pub measure_from_s: f64,
    /// End of the measurement window, seconds.
    pub measure_to_s: f64,
    /// Hash over all packets sent and their fate, 16 hexadecimal digits.
    pub trace_hash: String,
    /// Simulated time reached, seconds.
    pub simulated_s: f64,
    /// Data packets delivered, from start to end.
    pub delivered_packets: u64,
    /// How equal the flows' goodputs are, and their sum.
    #[serde(flatten)]
    pub fairness: Fairness,
    /// Listed flows.
    pub flows: Vec<FlowResult>,
    /// Links.
    pub links: Vec<LinkResult>,
    /// Cross traffic, by `[[cross]]` entry.
    pub cross: Vec<CrossResult>,
    /// Arriving flows and responses, by group.
    pub arrivals: Vec<ArrivalResult>,
    /// Connections over several paths.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<ConnectionResult>,
    /// Their subflows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subflows: Vec<SubflowResult>,
    /// Accounts of the listed flows, where `trace.account` asks for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accounts: Vec<Account>,
}

fn trace_hash<T: Tracer>(engine: &Engine<T>) -> String {
    let mut hash = TraceHash::default();
    engine.senders.iter().for_each(|endpoint| hash.add(endpoint.hash.value()));
    engine.network.links.iter().for_each(|link| hash.add(link.hash.value()));
    format!("{:016x}", hash.value())
}

/// Collects the results of a completed run.
pub fn collect<T: Tracer>(built: &BuiltNetwork<T>, scenario: &Scenario) -> RunResult {
    let engine = &built.engine;
    let (network, window) = (&engine.network, &engine.network.receivers.window);
    let flows = flow_results(built, scenario);
    let arrivals = arrival_results(built, scenario, &flows);
    let (connections, subflows) = connection_results(built);
    RunResult {
        name: scenario.name.clone(),
        seed: scenario.seed,
        profile: cwndlab_tcp::Profile::from(scenario.profile).name(),
        duration_s: scenario.duration.seconds(),
        measure_from_s: window.from_s,
        measure_to_s: window.to_s,
        trace_hash: trace_hash(engine),
        simulated_s: engine.now_s,
        delivered_packets: network.receivers.delivered,
        fairness: Fairness::of(&flows),
        flows,
        links: link_results(built, &arrivals),
        cross: cross_results(built, scenario),
        arrivals,
        connections,
        subflows,
        accounts: accounts(built),
    }
}
