//! Results of listed flows.

use super::active::{active_goodput_bps, active_s};
use super::limited_by::{LimitedBy, limited_by};
use super::mean::mean;
use super::shares::{FlowShares, flow_shares};
use crate::build::{BuiltNetwork, GroupInfo};
use crate::endpoint::tcp::{ReceiverEndpoint, SenderEndpoint};
use crate::id::FlowId;

use crate::measure::trace::Tracer;
use cwndlab_scenario::Scenario;
use serde::{Serialize, Serializer};
use std::sync::Arc;

/// One TCP flow, over the measurement window unless named `total_`.
#[derive(Clone, Debug, Serialize)]
#[allow(
    missing_docs,
    reason = "docs/metrics.md defines every field with its formula; names are the definition here"
)]
pub struct FlowResult {
    #[serde(flatten)]
    pub identity: FlowIdentity,
    pub goodput_bps: f64,
    pub active_s: f64,
    pub active_goodput_bps: Option<f64>,
    pub delivered_packets: u64,
    pub acknowledged_packets: Option<u64>,
    pub sent_packets: u64,
    pub retransmitted_packets: u64,
    pub dropped_packets: u64,
    pub marked_packets: u64,
    pub timeouts: u64,
    pub fast_retransmits: u64,
    pub ecn_reductions: u64,
    pub window_reductions: u64,
    pub undone_reductions: Option<u64>,
    pub loss_rate: Option<f64>,
    pub mean_rtt_s: Option<f64>,
    pub p50_rtt_s: Option<f64>,
    pub p95_rtt_s: Option<f64>,
    pub p99_rtt_s: Option<f64>,
    pub p999_rtt_s: Option<f64>,
    pub mean_rto_s: Option<f64>,
    pub mean_cwnd_packets: f64,
    pub rate_cov: Option<f64>,
    pub starved_s: Option<f64>,
    pub convergence_s: Option<f64>,
    #[serde(flatten)]
    pub limited_by: LimitedBy,
    pub base_rtt_s: f64,
    pub received_s: Option<f64>,
    pub finish_s: Option<f64>,
    pub total_sent_packets: u64,
    pub total_delivered_packets: u64,
    pub total_dropped_packets: u64,
    pub in_flight_packets: u64,
}

/// Names of a flow; what flows of a group have in common is shared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowIdentity {
    group: Arc<GroupInfo>,
    number: u32,
}

impl Serialize for FlowIdentity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Names<'a> {
            flow: String,
            group: &'a str,
            rule: &'a str,
            recovery: &'a str,
        }
        let GroupInfo { name, rule, recovery, .. } = &*self.group;
        Names { flow: self.name(), group: name, rule, recovery }.serialize(serializer)
    }
}

impl FlowIdentity {
    /// The `number`-th flow of a group.
    pub(crate) fn new(group: &Arc<GroupInfo>, number: u32) -> Self {
        Self { group: group.clone(), number }
    }

    /// Name of the flow.
    pub fn name(&self) -> String {
        self.group.instance(self.number.into())
    }

    /// Name of its group.
    pub fn group(&self) -> &str {
        &self.group.name
    }

    /// Its window rule.
    pub fn rule(&self) -> &str {
        &self.group.rule
    }

    /// Its loss recovery, as it runs.
    pub fn recovery(&self) -> &'static str {
        self.group.recovery
    }
}

/// Results of all listed flows.
pub fn flow_results<T: Tracer>(built: &BuiltNetwork<T>, scenario: &Scenario) -> Vec<FlowResult> {
    let BuiltNetwork { engine, flows, .. } = built;
    let (network, window) = (&engine.network, &engine.network.receivers.window);
    let shares = shares_of(built, scenario);
    // Exact capacity: growing a list of a million by doubling would take twice the memory.
    let mut results = Vec::with_capacity(flows.base_rtts_s.len());
    for (flow, &base_rtt_s) in flows.base_rtts_s.iter().enumerate() {
        let Some((group, number)) = flows.of(flow as u32) else { continue };
        let (endpoint, sink) = (&engine.senders[flow], &network.receivers.list[flow]);
        let config = &engine.config[endpoint.config as usize];
        let delivered_bits = sink.delivered_bytes(config) as f64 * 8.0;
        let end_s = if endpoint.has_finished() { endpoint.finish_s } else { f64::INFINITY };
        let edges_s = [window.from_s, window.to_s];
        let active_s = active_s(edges_s, endpoint.sender.started_s(), end_s);
        let did = engine.measured(flow);
        let shares = shares.get(flow).copied().unwrap_or_default();
        let rtts = network.trace.rtts(FlowId::new(flow as u32));
        let rtt_s = |q| rtts.and_then(|rtts| rtts.quantile_s(q));
        let [timeouts, fast_retransmits, ecn_reductions] =
            [did.timeouts, did.fast_retransmits, did.ecn_reductions].map(u64::from);
        results.push(FlowResult {
            identity: FlowIdentity::new(group, number),
            goodput_bps: delivered_bits / window.seconds(),
            active_s,
            active_goodput_bps: active_goodput_bps(delivered_bits, active_s),
            delivered_packets: sink.delivered,
            acknowledged_packets: Some(engine.acknowledged_packets(flow, &did)),
            sent_packets: did.sent,
            retransmitted_packets: did.retransmitted,
            dropped_packets: sink.dropped,
            marked_packets: sink.marked,
            timeouts,
            fast_retransmits,
            ecn_reductions,
            window_reductions: timeouts + fast_retransmits + ecn_reductions,
            undone_reductions: Some(did.undone_reductions.into()),
            loss_rate: mean(sink.dropped as f64, did.sent),
            mean_rtt_s: mean(did.rtt_sum_s, did.rtt_count),
            p50_rtt_s: rtt_s(0.5),
            p95_rtt_s: rtt_s(0.95),
            p99_rtt_s: rtt_s(0.99),
            p999_rtt_s: rtt_s(0.999),
            mean_rto_s: mean(did.rto_sum_s, did.rto_count),
            mean_cwnd_packets: did.cwnd_area / window.seconds(),
            rate_cov: sink.bins.coefficient_of_variation(
                sink.delivered,
                window,
                network.receivers.bin_s,
            ),
            starved_s: shares.starved_s,
            convergence_s: shares.convergence_s,
            limited_by: limited_by(endpoint, window, engine.limited_times_s(flow)),
            base_rtt_s,
            received_s: received_s(endpoint, sink, scenario.duration.seconds()),
            finish_s: endpoint.finish_s(),
            total_sent_packets: endpoint.sender.counters(engine.now_s).sent,
            total_delivered_packets: sink.total_delivered,
            total_dropped_packets: sink.total_dropped,
            in_flight_packets: sink.in_flight.into(),
        });
    }
    results
}

/// When the receiver had all data of a flow, seconds; none without a last packet, or if it arrives
/// after the end of the run, which lookahead may have seen.
fn received_s(endpoint: &SenderEndpoint, sink: &ReceiverEndpoint, end_s: f64) -> Option<f64> {
    let has_all = sink.receiver.rcv_nxt() >= endpoint.sender.data_end();
    (has_all && sink.received_s > 0.0 && sink.received_s <= end_s).then_some(sink.received_s)
}

/// Starvation and convergence of the listed flows, if they are measured. A flow with transfers does
/// not count: its pauses are its own.
fn shares_of<T: Tracer>(built: &BuiltNetwork<T>, scenario: &Scenario) -> Vec<FlowShares> {
    let engine = &built.engine;
    let Some(record) = engine.network.trace.shares() else { return Vec::new() };
    let end_s = |endpoint: &SenderEndpoint| {
        endpoint.transfer().is_none().then(|| endpoint.finish_s().unwrap_or(f64::INFINITY))
    };
    let ends_s: Vec<_> = engine.senders[..engine.listed_flows].iter().map(end_s).collect();
    flow_shares(record, &scenario.shares, scenario.duration.seconds(), &ends_s)
}
