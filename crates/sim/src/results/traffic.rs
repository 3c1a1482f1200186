//! Results of cross traffic, of flows that arrive, and of responses.

use super::{FlowResult, mean};
use crate::arrivals::Tally;
use crate::build::Network;
use crate::engine::Engine;
use crate::flow::Host;
use crate::link::Window;
use crate::scenario::{CrossSpec, Scenario};
use crate::scheduler::Scheduler;
use crate::trace::Trace;
use cwndlab_tcp::NEVER;
use serde::Serialize;

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

/// One for each line of cross traffic.
pub fn cross_results<S: Scheduler, T: Trace>(network: &Network<S, T>, scenario: &Scenario) -> Vec<CrossResult> {
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

/// One for each group that makes transfers.
pub fn arrival_results<S: Scheduler, T: Trace>(network: &Network<S, T>, scenario: &Scenario, flows: &[FlowResult]) -> Vec<ArrivalResult> {
    let (engine, window) = (&network.engine, &network.engine.transit.window);
    let mut transfers: Vec<(Vec<f64>, Vec<f64>)> = vec![Default::default(); network.transfer_groups.len()];
    for transfer in engine.transfers.iter().filter(|transfer| window.contains(transfer.start_s)) {
        let (times, slowdowns) = &mut transfers[transfer.group as usize];
        times.push(transfer.fct_s);
        slowdowns.push(transfer.slowdown);
    }
    let result = |(number, name): (usize, &String)| {
        let (mut times, mut slowdowns) = std::mem::take(&mut transfers[number]);
        times.sort_by(f64::total_cmp);
        slowdowns.sort_by(f64::total_cmp);
        let finished = times.len() as u64;
        let average = |values: &[f64]| mean(values.iter().sum(), values.len() as u64);
        let listed: Vec<&FlowResult> = flows.iter().filter(|flow| flow.member.group() == name).collect();
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
                let members = network.flows.range(name).map(|flow| &engine.transit.sinks[flow as usize]);
                let tally = Tally {
                    arrived: finished + unanswered(engine, number, window),
                    sent: sum(|flow| flow.sent_packets),
                    retransmitted: sum(|flow| flow.retransmitted_packets),
                    timeouts: sum(|flow| flow.timeouts),
                    delivered: sum(|flow| flow.delivered_packets),
                    dropped: sum(|flow| flow.dropped_packets),
                    arrived_bytes: members.map(|sink| sink.arrived_bytes).sum(),
                };
                let group = scenario.flows.iter().position(|flow| flow.name == *name).unwrap_or_default();
                (listed[0].member.rule().to_string(), listed[0].member.recovery(), group as u32, tally)
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
            delivered_bps: (tally.arrived_bytes * 8) as f64 / window.seconds(),
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
    let busy = |host: &Host| host.finish_s == NEVER && host.agenda.as_ref().is_none_or(|agenda| agenda.request_s == NEVER);
    let jobs = engine.hosts.iter().filter_map(|host| host.job().filter(|job| job.is_cut || busy(host)));
    jobs.filter(|job| job.group as usize == group && window.contains(job.began_s)).count() as u64
}
