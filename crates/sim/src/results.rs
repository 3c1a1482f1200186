//! What comes out of a run. Names and units are fixed here, once, for JSON, Parquet, data frames and docs.

use crate::build::{FlowInfo, LinkInfo, Network};
use crate::arrivals::Tally;
use crate::cross::Activity;
use crate::engine::Engine;
use crate::flow::{Host, Sink};
use crate::hash::TraceHash;
use crate::link::{Link, LinkCounts, Window};
use crate::scenario::{CrossSpec, Scenario};
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
    /// Cross traffic, by the scenario's sources.
    pub cross: Vec<CrossResult>,
    /// Flows that arrived, and responses, by group.
    pub arrivals: Vec<ArrivalResult>,
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
    pub left_bps: f64,
    pub total_arrived_packets: u64,
    pub total_dropped_packets: u64,
    pub total_departed_packets: u64,
    pub queued_packets: u64,
}

/// Cross traffic of one line of the scenario, over the measuring window.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "docs/metrics.md defines every field with its formula; names are the definition here")]
pub struct CrossResult {
    pub source: String,
    pub offered_bps: f64,
    pub sent_packets: u64,
    pub delivered_packets: u64,
    pub dropped_packets: u64,
    pub delivered_bps: f64,
}

/// Flows of one group that arrived, or responses, over the measuring window.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "docs/metrics.md defines every field with its formula; names are the definition here")]
pub struct ArrivalResult {
    pub group: String,
    pub rule: String,
    pub recovery: &'static str,
    pub arrived_flows: u64,
    pub finished_flows: u64,
    pub unfinished_flows: u64,
    pub mean_fct_s: Option<f64>,
    pub p50_fct_s: Option<f64>,
    pub p95_fct_s: Option<f64>,
    pub p99_fct_s: Option<f64>,
    pub mean_slowdown: Option<f64>,
    pub goodput_bps: f64,
    pub delivered_bps: f64,
    pub sent_packets: u64,
    pub retransmitted_packets: u64,
    pub dropped_packets: u64,
    pub delivered_packets: u64,
    pub timeouts: u64,
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
    let ecn_reductions = end.ecn_reductions - begin.ecn_reductions;
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
        ecn_reductions,
        window_reductions: timeouts + fast_retransmits + ecn_reductions,
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

fn link_result(link: &Link, info: &LinkInfo, window: &Window, total: &LinkCounts, measured: &Carried) -> LinkResult {
    let (begin, end) = (&link.at_begin, &link.at_end);
    LinkResult {
        link: info.name.clone(),
        rate_bps: info.rate_bps,
        delay_s: info.delay_s,
        queue: info.queue,
        limit_packets: info.limit_packets,
        arrived_packets: end.arrived - begin.arrived,
        dropped_packets: end.dropped - begin.dropped,
        marked_packets: end.marked - begin.marked,
        departed_packets: end.departed - begin.departed,
        utilization: (end.departed_bits - begin.departed_bits) as f64 / (info.rate_bps * window.seconds()),
        mean_queue_packets: (end.waiting_area_s - begin.waiting_area_s) / window.seconds(),
        mean_queueing_delay_s: link.waiting.mean_s(),
        p95_queueing_delay_s: link.waiting.quantile_s(0.95),
        cross_bps: info.cross_bps + measured.offered_bps,
        available_bps: info.asked_bps.unwrap_or(info.rate_bps - info.cross_bps - measured.offered_bps),
        left_bps: info.rate_bps - measured.carried_bps,
        total_arrived_packets: total.arrived,
        total_dropped_packets: total.dropped,
        total_departed_packets: total.departed,
        queued_packets: total.backlog,
    }
}

/// Cross traffic and arrivals on a link, bits per second.
#[derive(Clone, Copy, Debug, Default)]
struct Carried {
    /// What sources offered whose rate is not known ahead.
    offered_bps: f64,
    /// What was carried to its end.
    carried_bps: f64,
}

fn carried<S: Scheduler, T: Trace>(engine: &Engine<S, T>, info: &LinkInfo, arrivals: &[ArrivalResult]) -> Carried {
    let seconds = engine.transit.window.seconds();
    let mut sum = Carried::default();
    for &number in &info.cross {
        let (source, sink) = (&engine.cross[number as usize], &engine.transit.cross[number as usize]);
        if !matches!(source.activity, Activity::Always) {
            sum.offered_bps += (source.sent * u64::from(source.size_bytes) * 8) as f64 / seconds;
        }
        sum.carried_bps += (sink.delivered_bytes * 8) as f64 / seconds;
    }
    sum.carried_bps += info.arrivals.iter().map(|&group| arrivals[group as usize].delivered_bps).sum::<f64>();
    sum
}

fn cross_results<S: Scheduler, T: Trace>(network: &Network<S, T>, scenario: &Scenario) -> Vec<CrossResult> {
    let (engine, seconds) = (&network.engine, network.engine.transit.window.seconds());
    let mut first = 0;
    let result = |(spec, &count): (&CrossSpec, &u64)| {
        let range = first..first + count as usize;
        first = range.end;
        let (sources, sinks) = (&engine.cross[range.clone()], &engine.transit.cross[range]);
        let sent = sources.iter().map(|source| source.sent).sum::<u64>();
        CrossResult {
            source: spec.name.clone(),
            offered_bps: (sent * spec.packet_size.0 * 8) as f64 / seconds,
            sent_packets: sent,
            delivered_packets: sinks.iter().map(|sink| sink.delivered).sum(),
            dropped_packets: sinks.iter().map(|sink| sink.dropped).sum(),
            delivered_bps: (sinks.iter().map(|sink| sink.delivered_bytes).sum::<u64>() * 8) as f64 / seconds,
        }
    };
    scenario.cross.iter().zip(&network.cross_counts).map(result).collect()
}

/// A value below which a share `q` of the sorted values lies.
fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let rank = (q * sorted.len() as f64).ceil().max(1.0) as usize;
    sorted.get(rank - 1).copied()
}

fn arrival_results<S: Scheduler, T: Trace>(network: &Network<S, T>, scenario: &Scenario, flows: &[FlowResult]) -> Vec<ArrivalResult> {
    let (engine, window) = (&network.engine, &network.engine.transit.window);
    let result = |(number, name): (usize, &String)| {
        let transfers = engine.transfers.iter().filter(|transfer| transfer.group as usize == number && window.contains(transfer.start_s));
        let (mut times, mut slowdowns): (Vec<f64>, Vec<f64>) = transfers.map(|transfer| (transfer.fct_s, transfer.slowdown)).unzip();
        times.sort_by(f64::total_cmp);
        slowdowns.sort_by(f64::total_cmp);
        let finished = times.len() as u64;
        let average = |values: &[f64]| mean(values.iter().sum(), values.len() as u64);
        let listed: Vec<&FlowResult> = flows.iter().filter(|flow| flow.group == *name).collect();
        let sum = |field: fn(&FlowResult) -> u64| listed.iter().map(|flow| field(flow)).sum::<u64>();
        let arriving = scenario.arrivals.get(number);
        let (rule, recovery, knobs, tally) = match (arriving, engine.groups.get(number)) {
            (Some(spec), Some(group)) => {
                let mut tally = group.tally;
                let slots = engine.hosts.iter().zip(&engine.transit.sinks).skip(engine.listed);
                slots.filter(|(host, _)| host.knobs == group.template.knobs).for_each(|(_, sink)| tally.add_received(sink));
                (spec.rule.0.to_string(), group.template.recovery.name(), group.template.knobs, tally)
            }
            _ => {
                let tally = Tally {
                    arrived: finished + unanswered(engine, number, window),
                    sent: sum(|flow| flow.sent_packets),
                    retransmitted: sum(|flow| flow.retransmitted_packets),
                    timeouts: sum(|flow| flow.timeouts),
                    delivered: sum(|flow| flow.delivered_packets),
                    dropped: sum(|flow| flow.dropped_packets),
                    arrived_packets: sum(|flow| flow.delivered_packets),
                };
                let group = scenario.flows.iter().position(|flow| flow.name == *name).unwrap_or_default();
                (listed[0].rule.clone(), listed[0].recovery, group as u32, tally)
            }
        };
        let knobs = &engine.knobs[knobs as usize];
        ArrivalResult {
            group: name.clone(),
            rule,
            recovery,
            arrived_flows: tally.arrived,
            finished_flows: finished,
            unfinished_flows: tally.arrived - finished,
            mean_fct_s: average(&times),
            p50_fct_s: quantile(&times, 0.5),
            p95_fct_s: quantile(&times, 0.95),
            p99_fct_s: quantile(&times, 0.99),
            mean_slowdown: average(&slowdowns),
            goodput_bps: (tally.delivered * u64::from(knobs.packet_size) * 8) as f64 / window.seconds(),
            delivered_bps: (tally.arrived_packets * u64::from(knobs.wire_size(1)) * 8) as f64 / window.seconds(),
            sent_packets: tally.sent,
            retransmitted_packets: tally.retransmitted,
            dropped_packets: tally.dropped,
            delivered_packets: tally.delivered,
            timeouts: tally.timeouts,
        }
    };
    network.transfer_groups.iter().enumerate().map(result).collect()
}

/// Responses of a group that began in the window and were not complete at the end of the run.
fn unanswered<S: Scheduler, T: Trace>(engine: &Engine<S, T>, group: usize, window: &Window) -> u64 {
    let busy = |host: &&Host| host.finish_s.is_none() && host.request_s == f64::INFINITY;
    let jobs = engine.hosts.iter().filter(busy).filter_map(|host| host.job.as_ref());
    jobs.filter(|job| job.group as usize == group && window.contains(job.began_s)).count() as u64
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
    let arrivals = arrival_results(network, scenario, &flows);
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
            .map(|(link, info)| link_result(link, info, window, &link.counts(engine.now_s), &carried(engine, info, &arrivals)))
            .collect(),
        cross: cross_results(network, scenario),
        arrivals,
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
