//! The result of a live run, of Linux TCP or QUIC: the fields of a simulated run, as
//! docs/metrics.md defines them.

use cwndlab_emulator::{Emulator, FlowCounters};
use cwndlab_scenario::{NetworkGraph, Scenario};
use cwndlab_sim::results::{
    Fairness, FlowResult, LimitedBy, RunResult, active_goodput_bps, active_s,
};
use cwndlab_sim::{ExternalFlow, NetworkPath, TraceHash};
use serde_json::{Value, json};

/// Limit of the 99th percentile of lateness, seconds.
pub const LATENESS_P99_S: f64 = 1e-3;

/// Measurements of a flow at its endpoints, over the measuring window; the emulator has the others.
pub struct EndpointFigures {
    /// Bytes of data that arrived for the first time.
    pub delivered_bytes: u64,
    /// Retransmitted packets.
    pub retransmitted: u64,
    /// Window reductions by timeout, by loss and by mark.
    pub cuts: [u64; 3],
    /// Mean RTT, seconds.
    pub mean_rtt_s: Option<f64>,
    /// Mean RTO, seconds; none for QUIC.
    pub mean_rto_s: Option<f64>,
    /// Mean congestion window, packets.
    pub mean_cwnd_packets: f64,
    /// When all data was acknowledged, seconds.
    pub finish_s: Option<f64>,
}

/// A sample of a congestion window.
#[derive(Clone, Copy)]
pub struct Sample {
    /// Time, seconds.
    pub time_s: f64,
    /// Flow number.
    pub flow: u32,
    /// Congestion window, packets.
    pub cwnd: f64,
    /// Slow-start threshold, packets; none while infinite.
    pub ssthresh: Option<f64>,
    /// Smoothed RTT, seconds; none before the first sample.
    pub srtt_s: Option<f64>,
}

/// Largest rate of any link over the run, bits per second.
pub fn fastest_bps(scenario: &Scenario) -> f64 {
    let links = NetworkGraph::new(scenario).map(|graph| graph.links).unwrap_or_default();
    links.iter().map(|link| link.rate.largest().bps() as f64).fold(0.0, f64::max)
}

/// Mean of `count` values; none for no values.
pub fn mean(sum: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}

/// The result of the run; only runs in virtual time have a trace hash.
pub fn run_result(
    scenario: &Scenario,
    profile: &'static str,
    emulator: &Emulator,
    flows: Vec<FlowResult>,
    trace_hash: Option<TraceHash>,
) -> RunResult {
    let [from_s, to_s] = scenario.window().map(|time| time.seconds());
    RunResult {
        name: scenario.name.clone(),
        seed: scenario.seed,
        profile,
        duration_s: scenario.duration.seconds(),
        measure_from_s: from_s,
        measure_to_s: to_s,
        trace_hash: trace_hash.map_or("-".into(), |hash| format!("{:016x}", hash.value())),
        simulated_s: scenario.duration.seconds(),
        delivered_packets: emulator
            .flow_counters()
            .iter()
            .map(|counters| counters.total.arrived)
            .sum(),
        fairness: Fairness::of(&flows),
        flows,
        links: emulator.network_path().links(),
        cross: emulator.network_path().cross(scenario),
        arrivals: Vec::new(),
        connections: Vec::new(),
        subflows: Vec::new(),
        accounts: Vec::new(),
    }
}

/// The result of a flow, over the window from `from_s` to `to_s`.
pub fn flow_result(
    [from_s, to_s]: [f64; 2],
    play: &ExternalFlow,
    counters: &FlowCounters,
    figures: &EndpointFigures,
) -> FlowResult {
    let [timeouts, fast_retransmits, ecn_reductions] = figures.cuts;
    let delivered_bits = figures.delivered_bytes as f64 * 8.0;
    let end_s = figures.finish_s.unwrap_or(f64::INFINITY);
    let active_s = active_s([from_s, to_s], play.start_s, end_s);
    FlowResult {
        identity: play.identity.clone(),
        goodput_bps: delivered_bits / (to_s - from_s),
        active_s,
        active_goodput_bps: active_goodput_bps(delivered_bits, active_s),
        delivered_packets: counters.measured.delivered,
        acknowledged_packets: None,
        sent_packets: counters.measured.sent,
        retransmitted_packets: figures.retransmitted,
        dropped_packets: counters.measured.dropped,
        marked_packets: counters.measured.marked,
        timeouts,
        fast_retransmits,
        ecn_reductions,
        window_reductions: timeouts + fast_retransmits + ecn_reductions,
        // Seen from outside, a reduction that was undone is one that was not made.
        undone_reductions: None,
        loss_rate: mean(counters.measured.dropped as f64, counters.measured.sent),
        mean_rtt_s: figures.mean_rtt_s,
        p50_rtt_s: None,
        p95_rtt_s: None,
        p99_rtt_s: None,
        p999_rtt_s: None,
        mean_rto_s: figures.mean_rto_s,
        mean_cwnd_packets: figures.mean_cwnd_packets,
        rate_cov: variation(&counters.packets.sums),
        starved_s: None,
        convergence_s: None,
        limited_by: LimitedBy::default(),
        base_rtt_s: play.base_rtt_s,
        received_s: None,
        finish_s: figures.finish_s,
        total_sent_packets: counters.total.sent,
        total_delivered_packets: counters.total.arrived,
        total_dropped_packets: counters.total.dropped,
        in_flight_packets: counters.total.sent - counters.total.arrived - counters.total.dropped,
    }
}

/// Coefficient of variation; none with fewer than two bins or without packets.
fn variation(sums: &[u64]) -> Option<f64> {
    let count = sums.len() as f64;
    let mean = sums.iter().sum::<u64>() as f64 / count;
    let variance =
        sums.iter().map(|&sum| (sum as f64 - mean) * (sum as f64 - mean)).sum::<f64>() / count;
    (sums.len() > 1 && mean > 0.0).then(|| variance.sqrt() / mean)
}

/// Traces that the scenario requests, by table and column. `bytes` are each flow's bytes in the
/// bins of the rate trace.
pub fn traces(
    scenario: &Scenario,
    windows: impl Iterator<Item = Sample>,
    bytes: &[&[u64]],
    network_path: &NetworkPath,
) -> Value {
    let mut tables = serde_json::Map::new();
    if scenario.trace.cwnd.is_some() {
        let rows: Vec<Sample> = windows.collect();
        let table = json!({
            "time_s": rows.iter().map(|row| row.time_s).collect::<Vec<_>>(),
            "flow": rows.iter().map(|row| row.flow).collect::<Vec<_>>(),
            "cwnd_packets": rows.iter().map(|row| row.cwnd).collect::<Vec<_>>(),
            "ssthresh_packets": rows.iter().map(|row| row.ssthresh).collect::<Vec<_>>(),
            "srtt_s": rows.iter().map(|row| row.srtt_s).collect::<Vec<_>>(),
        });
        tables.insert("cwnd".into(), table);
    }
    tables.extend(queue_trace(network_path).map(|queue| ("queue".to_string(), queue)));
    if let Some(bin) = scenario.trace.rate {
        let (bin_s, end_s) = (bin.seconds(), scenario.duration.seconds());
        let rate = |i: usize, bytes: u64| bytes as f64 * 8.0 / bin_s.min(end_s - i as f64 * bin_s);
        let of_flow = |(flow, sums): (usize, &&[u64])| {
            let row = move |(i, &bytes): (usize, &u64)| (i as f64 * bin_s, flow, rate(i, bytes));
            sums.iter().enumerate().map(row).collect::<Vec<(f64, usize, f64)>>()
        };
        let rows: Vec<(f64, usize, f64)> = bytes.iter().enumerate().flat_map(of_flow).collect();
        let table = json!({
            "time_s": rows.iter().map(|row| row.0).collect::<Vec<_>>(),
            "flow": rows.iter().map(|row| row.1).collect::<Vec<_>>(),
            "goodput_bps": rows.iter().map(|row| row.2).collect::<Vec<_>>(),
        });
        tables.insert("rate".into(), table);
    }
    Value::Object(tables)
}

/// Queue length of each link over time; none unless the scenario requests it.
fn queue_trace(network_path: &NetworkPath) -> Option<Value> {
    let queues = network_path.queue_samples();
    let rows: Vec<(f64, usize, u32)> = queues
        .iter()
        .enumerate()
        .flat_map(|(link, (every_s, samples))| {
            samples.iter().enumerate().map(move |(i, &packets)| (i as f64 * every_s, link, packets))
        })
        .collect();
    (!queues.is_empty()).then(|| {
        json!({
            "time_s": rows.iter().map(|row| row.0).collect::<Vec<_>>(),
            "link": rows.iter().map(|row| row.1).collect::<Vec<_>>(),
            "queue_packets": rows.iter().map(|row| row.2).collect::<Vec<_>>(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coefficient_of_variation_by_hand() {
        // 2, 4, 6: mean 4, variance (4 + 0 + 4)/3.
        assert!((variation(&[2, 4, 6]).unwrap() - (8.0f64 / 3.0).sqrt() / 4.0).abs() < 1e-15);
        assert_eq!((variation(&[5]), variation(&[0, 0])), (None, None));
    }
}
