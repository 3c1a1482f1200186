//! What comes out of a run. Names and units are fixed here, once, for JSON, Parquet, data frames and docs.

use crate::build::{FlowInfo, LinkInfo, Network};
use crate::engine::Engine;
use crate::flow::{Host, Sink};
use crate::hash::TraceHash;
use crate::link::{Link, LinkCounts, Window};
use crate::scenario::Scenario;
use crate::scheduler::Scheduler;
use crate::trace::Trace;
use cwndlab_tcp::Counters;
use serde::Serialize;

/// One run.
#[derive(Clone, Debug, Serialize)]
pub struct RunResult {
    /// Name of the scenario.
    pub name: String,
    /// Seed.
    pub seed: u64,
    /// Endpoint profile.
    pub profile: &'static str,
    /// Simulated time asked for, seconds.
    pub duration_s: f64,
    /// Begin of the measuring window, seconds.
    pub measure_from_s: f64,
    /// Its end, seconds.
    pub measure_to_s: f64,
    /// Hash over everything that was sent and what became of it, 16 hexadecimal digits.
    pub trace_hash: String,
    /// Simulated time reached, seconds.
    pub simulated_s: f64,
    /// Data packets that reached receivers, from start to end.
    pub delivered_packets: u64,
    /// Jain's index of the flows' goodputs: (sum x)^2 / (n sum x^2).
    pub jain_index: Option<f64>,
    /// Jain's index of goodput times mean round trip.
    pub rtt_weighted_jain_index: Option<f64>,
    /// (largest - smallest)/mean of the flows' goodputs.
    pub fairness_spread: Option<f64>,
    /// Sum of the flows' goodputs, bit/s.
    pub aggregate_goodput_bps: f64,
    /// Flows.
    pub flows: Vec<FlowResult>,
    /// Links.
    pub links: Vec<LinkResult>,
}

/// One TCP flow; over the measuring window unless named `total_`.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "docs/metrics.md defines every field with its formula; names are the definition here")]
pub struct FlowResult {
    pub flow: String,
    pub group: String,
    pub rule: String,
    pub recovery: &'static str,
    pub goodput_bps: f64,
    pub delivered_packets: u64,
    pub sent_packets: u64,
    pub retransmitted_packets: u64,
    pub dropped_packets: u64,
    pub timeouts: u64,
    pub fast_retransmits: u64,
    pub ecn_reductions: u64,
    pub window_reductions: u64,
    pub loss_rate: Option<f64>,
    pub mean_rtt_s: Option<f64>,
    pub mean_rto_s: Option<f64>,
    pub mean_cwnd_packets: f64,
    pub rate_cov: Option<f64>,
    pub base_rtt_s: f64,
    pub finish_s: Option<f64>,
    pub total_sent_packets: u64,
    pub total_delivered_packets: u64,
    pub total_dropped_packets: u64,
    pub in_flight_packets: u64,
}

/// One link; over the measuring window unless named `total_`.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "docs/metrics.md defines every field with its formula; names are the definition here")]
pub struct LinkResult {
    pub link: String,
    pub rate_bps: f64,
    pub delay_s: f64,
    pub queue: &'static str,
    pub limit_packets: Option<u64>,
    pub arrived_packets: u64,
    pub dropped_packets: u64,
    pub marked_packets: u64,
    pub departed_packets: u64,
    pub utilization: f64,
    pub mean_queue_packets: f64,
    pub mean_queueing_delay_s: Option<f64>,
    pub p95_queueing_delay_s: Option<f64>,
    pub cross_bps: f64,
    pub available_bps: f64,
    pub total_arrived_packets: u64,
    pub total_dropped_packets: u64,
    pub total_departed_packets: u64,
    pub queued_packets: u64,
}

/// Mean of a sum, if there was anything to sum.
fn mean(sum: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}

/// (sum x)^2 / (n sum x^2); none when nothing was delivered.
fn jain_index(values: &[f64]) -> Option<f64> {
    let (sum, squares) = values.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    (squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}

/// (largest - smallest)/mean; none when nothing was delivered.
fn fairness_spread(values: &[f64]) -> Option<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let (low, high) = values.iter().fold((f64::INFINITY, 0.0f64), |(low, high), &x| (low.min(x), high.max(x)));
    (mean > 0.0).then(|| (high - low) / mean)
}

fn flow_result(host: &Host, sink: &Sink, info: &FlowInfo, packet_bits: f64, window: &Window, bin_s: f64, now_s: f64) -> FlowResult {
    let (begin, end): (&Counters, &Counters) = (&host.at_begin, &host.at_end);
    let sent = end.sent - begin.sent;
    let (timeouts, fast_retransmits) = (end.timeouts - begin.timeouts, end.fast_retransmits - begin.fast_retransmits);
    FlowResult {
        flow: info.name.clone(),
        group: info.group.clone(),
        rule: info.rule.clone(),
        recovery: info.recovery.name(),
        goodput_bps: sink.delivered as f64 * packet_bits / window.seconds(),
        delivered_packets: sink.delivered,
        sent_packets: sent,
        retransmitted_packets: end.retransmitted - begin.retransmitted,
        dropped_packets: sink.dropped,
        timeouts,
        fast_retransmits,
        ecn_reductions: 0,
        window_reductions: timeouts + fast_retransmits,
        loss_rate: mean(sink.dropped as f64, sent),
        mean_rtt_s: mean(end.rtt_sum_s - begin.rtt_sum_s, end.rtt_count - begin.rtt_count),
        mean_rto_s: mean(end.rto_sum_s - begin.rto_sum_s, end.rto_count - begin.rto_count),
        mean_cwnd_packets: (end.cwnd_area - begin.cwnd_area) / window.seconds(),
        rate_cov: sink.bins.coefficient_of_variation(window, bin_s),
        base_rtt_s: info.base_rtt_s,
        finish_s: host.finish_s,
        total_sent_packets: host.sender.counters(now_s).sent,
        total_delivered_packets: sink.total_delivered,
        total_dropped_packets: sink.total_dropped,
        in_flight_packets: sink.in_flight,
    }
}

fn link_result(link: &Link, info: &LinkInfo, window: &Window, total: &LinkCounts) -> LinkResult {
    let (begin, end) = (&link.at_begin, &link.at_end);
    LinkResult {
        link: info.name.clone(),
        rate_bps: info.rate_bps,
        delay_s: info.delay_s,
        queue: link.discipline(),
        limit_packets: info.limit_packets,
        arrived_packets: end.arrived - begin.arrived,
        dropped_packets: end.dropped - begin.dropped,
        marked_packets: 0,
        departed_packets: end.departed - begin.departed,
        utilization: (end.departed_bits - begin.departed_bits) as f64 / (info.rate_bps * window.seconds()),
        mean_queue_packets: (end.waiting_area_s - begin.waiting_area_s) / window.seconds(),
        mean_queueing_delay_s: link.waiting.mean_s(),
        p95_queueing_delay_s: link.waiting.quantile_s(0.95),
        cross_bps: info.cross_bps,
        available_bps: info.rate_bps - info.cross_bps,
        total_arrived_packets: total.arrived,
        total_dropped_packets: total.dropped,
        total_departed_packets: total.departed,
        queued_packets: link.backlog() as u64,
    }
}

fn trace_hash<S: Scheduler, T: Trace>(engine: &Engine<S, T>) -> String {
    let mut hash = TraceHash::default();
    engine.hosts.iter().for_each(|host| hash.add(host.hash.value()));
    engine.transit.links.iter().for_each(|link| hash.add(link.hash.value()));
    format!("{:016x}", hash.value())
}

/// Collects the results of a run that ended.
pub fn collect<S: Scheduler, T: Trace>(network: &Network<S, T>, scenario: &Scenario) -> RunResult {
    let engine = &network.engine;
    let (transit, window) = (&engine.transit, &engine.transit.window);
    let flows: Vec<FlowResult> = engine
        .hosts
        .iter()
        .zip(&transit.sinks)
        .zip(&network.flows)
        .map(|((host, sink), info)| {
            let packet_bits = f64::from(engine.knobs[host.knobs as usize].packet_size) * 8.0;
            flow_result(host, sink, info, packet_bits, window, transit.bin_s, engine.now_s)
        })
        .collect();
    let goodputs: Vec<f64> = flows.iter().map(|flow| flow.goodput_bps).collect();
    let weighted: Vec<f64> = flows.iter().map(|flow| flow.goodput_bps * flow.mean_rtt_s.unwrap_or(0.0)).collect();
    RunResult {
        name: scenario.name.clone(),
        seed: scenario.seed,
        profile: cwndlab_tcp::Profile::from(scenario.profile).name(),
        duration_s: scenario.duration.seconds(),
        measure_from_s: window.from_s,
        measure_to_s: window.to_s,
        trace_hash: trace_hash(engine),
        simulated_s: engine.now_s,
        delivered_packets: transit.delivered,
        jain_index: jain_index(&goodputs),
        rtt_weighted_jain_index: jain_index(&weighted),
        fairness_spread: fairness_spread(&goodputs),
        aggregate_goodput_bps: goodputs.iter().fold(0.0, |sum, goodput| sum + goodput),
        flows,
        links: engine
            .transit
            .links
            .iter()
            .zip(&network.links)
            .map(|(link, info)| link_result(link, info, window, &link.clone().counts(engine.now_s)))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_by_hand() {
        // Jain 1984: x = (1, 1, 4): 36/(3 x 18) = 2/3; spread (4 - 1)/2.
        assert!((jain_index(&[1.0, 1.0, 4.0]).unwrap() - 2.0 / 3.0).abs() < 1e-15);
        assert_eq!(fairness_spread(&[1.0, 1.0, 4.0]), Some(1.5));
        assert_eq!(jain_index(&[0.0, 0.0]), None);
    }
}
