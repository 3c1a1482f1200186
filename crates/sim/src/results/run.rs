//! Result of a run.

use super::accounts::{Account, accounts};
use super::flows::{FlowResult, fairness_spread, flow_results, jain_index, lowest_share};
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
    /// Jain's index of the flows' goodputs: (sum x)^2 / (n sum x^2).
    pub jain_index: Option<f64>,
    /// Jain's index of goodput times mean round trip time.
    pub rtt_weighted_jain_index: Option<f64>,
    /// (largest - smallest)/mean of the flows' goodputs.
    pub fairness_spread: Option<f64>,
    /// Smallest over mean of the flows' goodputs.
    pub lowest_share: Option<f64>,
    /// Sum of the flows' goodputs, bit/s.
    pub aggregate_goodput_bps: f64,
    /// Listed flows.
    pub flows: Vec<FlowResult>,
    /// Links.
    pub links: Vec<LinkResult>,
    /// Cross traffic, by `[[cross]]` entry.
    pub cross: Vec<CrossResult>,
    /// Arriving flows and responses, by group.
    pub arrivals: Vec<ArrivalResult>,
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
    let goodputs = flows.iter().map(|flow| flow.goodput_bps);
    let weighted = flows.iter().map(|flow| flow.goodput_bps * flow.mean_rtt_s.unwrap_or(0.0));
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
        jain_index: jain_index(goodputs.clone()),
        rtt_weighted_jain_index: jain_index(weighted),
        fairness_spread: fairness_spread(goodputs.clone()),
        lowest_share: lowest_share(goodputs.clone()),
        aggregate_goodput_bps: goodputs.fold(0.0, |sum, goodput| sum + goodput),
        flows,
        links: link_results(built, &arrivals),
        cross: cross_results(built, scenario),
        arrivals,
        accounts: accounts(built),
    }
}
