//! Results of cross traffic, arriving flows, and the transfers of listed flows.

use super::applications::{PageResult, VideoResult, page_result, video_result};
use super::flows::FlowResult;
use super::mean::{mean, quantile};
use super::unfinished::{late_frames, unanswered};
use crate::build::BuiltNetwork;
use crate::endpoint::arrivals::GroupCounters;
use crate::endpoint::tcp::{ReceiverEndpoint, SenderEndpoint};

use crate::measure::trace::Tracer;
use cwndlab_scenario::{CrossSpec, Scenario};
use serde::Serialize;

/// Cross traffic of one `[[cross]]` entry, over the measurement window.
#[derive(Clone, Debug, Serialize)]
#[allow(
    missing_docs,
    reason = "docs/metrics.md defines every field with its formula; names are the definition here"
)]
pub struct CrossResult {
    pub source: String,
    pub offered_bps: f64,
    pub sent_packets: u64,
    pub delivered_packets: u64,
    pub dropped_packets: u64,
    pub delivered_bps: f64,
}

/// Arriving flows of one group, or the transfers of listed flows, over the measurement window.
#[derive(Clone, Debug, Serialize)]
#[allow(
    missing_docs,
    reason = "docs/metrics.md defines every field with its formula; names are the definition here"
)]
pub struct ArrivalResult {
    pub group: String,
    pub rule: String,
    pub recovery: &'static str,
    pub arrived_flows: u64,
    pub finished_flows: u64,
    pub unfinished_flows: u64,
    pub late_flows: Option<u64>,
    pub late_share: Option<f64>,
    pub mean_fct_s: Option<f64>,
    pub p50_fct_s: Option<f64>,
    pub p95_fct_s: Option<f64>,
    pub p99_fct_s: Option<f64>,
    pub mean_received_fct_s: Option<f64>,
    pub p50_received_fct_s: Option<f64>,
    pub p95_received_fct_s: Option<f64>,
    pub p99_received_fct_s: Option<f64>,
    pub mean_slowdown: Option<f64>,
    #[serde(flatten)]
    pub page: PageResult,
    #[serde(flatten)]
    pub video: VideoResult,
    pub goodput_bps: f64,
    pub delivered_bps: f64,
    pub sent_packets: u64,
    pub retransmitted_packets: u64,
    pub dropped_packets: u64,
    pub delivered_packets: u64,
    pub timeouts: u64,
}

/// Results of all `[[cross]]` entries.
pub fn cross_results<T: Tracer>(built: &BuiltNetwork<T>, scenario: &Scenario) -> Vec<CrossResult> {
    let (engine, seconds) = (&built.engine, built.engine.network.receivers.window.seconds());
    let mut first = 0;
    let result = |(spec, &count): (&CrossSpec, &u64)| {
        let range = first..first + count as usize;
        first = range.end;
        let (sources, receivers) =
            (&engine.network.cross[range.clone()], &engine.network.cross_sinks[range]);
        let sent = sources.iter().map(|(source, _)| source.sent).sum::<u64>();
        CrossResult {
            source: spec.name.clone(),
            offered_bps: (sent * spec.packet_size.0 * 8) as f64 / seconds,
            sent_packets: sent,
            delivered_packets: receivers.iter().map(|sink| sink.delivered).sum(),
            dropped_packets: receivers.iter().map(|sink| sink.dropped).sum(),
            delivered_bps: (receivers.iter().map(|sink| sink.delivered_bytes).sum::<u64>() * 8)
                as f64
                / seconds,
        }
    };
    scenario.cross.iter().zip(&built.cross_counts).map(result).collect()
}

/// Results of all groups with transfers.
pub fn arrival_results<T: Tracer>(
    built: &BuiltNetwork<T>,
    scenario: &Scenario,
    flows: &[FlowResult],
) -> Vec<ArrivalResult> {
    let (engine, window) = (&built.engine, &built.engine.network.receivers.window);
    let mut transfers: Vec<[Vec<f64>; 3]> = vec![Default::default(); built.transfer_groups.len()];
    let transfers_in_run = engine.network.receivers.transfers.iter();
    for transfer in transfers_in_run.filter(|transfer| window.contains(transfer.start_s)) {
        let [times, received, slowdowns] = &mut transfers[transfer.group as usize];
        times.push(transfer.fct_s);
        received.push(transfer.received_fct_s);
        slowdowns.push(transfer.slowdown);
    }
    let result = |(number, name): (usize, &String)| {
        transfers[number].iter_mut().for_each(|values| values.sort_by(f64::total_cmp));
        let [times, received, slowdowns] = std::mem::take(&mut transfers[number]);
        let finished = times.len() as u64;
        let average = |values: &[f64]| mean(values.iter().sum(), values.len() as u64);
        let late = late_frames(built, scenario, number, &times);
        let listed_flows: Vec<&FlowResult> =
            flows.iter().filter(|flow| flow.identity.group() == name).collect();
        let sum = |field: fn(&FlowResult) -> u64| {
            listed_flows.iter().map(|flow| field(flow)).sum::<u64>()
        };
        let arriving = scenario.arrivals.get(number);
        let (rule, recovery, counters) = match (arriving, engine.groups.get(number)) {
            (Some(spec), Some(group)) => {
                let mut counters = group.counters;
                let slots = engine
                    .senders
                    .iter()
                    .zip(&engine.network.receivers.list)
                    .skip(engine.listed_flows);
                let is_member = |endpoint: &SenderEndpoint| {
                    endpoint.transfer().is_some_and(|transfer| transfer.group as usize == number)
                };
                slots
                    .filter(|(endpoint, _)| is_member(endpoint))
                    .for_each(|(_, sink)| counters.add_received(sink, &engine.config));
                let template = &group.template;
                let config = &engine.config[template.packet_sizes[0].config as usize];
                (spec.rule.0.to_string(), template.recovery.name_under(config), counters)
            }
            _ => {
                let members = built
                    .flows
                    .range(name)
                    .map(|flow| &engine.network.receivers.list[flow as usize]);
                let delivered_bytes = |sink: &ReceiverEndpoint| {
                    sink.delivered_bytes(&engine.config[sink.config as usize])
                };
                let counters = GroupCounters {
                    arrived: finished + unanswered(engine, number, window),
                    sent: sum(|flow| flow.sent_packets),
                    retransmitted: sum(|flow| flow.retransmitted_packets),
                    timeouts: sum(|flow| flow.timeouts),
                    delivered: sum(|flow| flow.delivered_packets),
                    dropped: sum(|flow| flow.dropped_packets),
                    delivered_bytes: members.clone().map(delivered_bytes).sum(),
                    arrived_bytes: members.map(|sink| sink.arrived_bytes).sum(),
                };
                let first = &listed_flows[0].identity;
                (first.rule().to_string(), first.recovery(), counters)
            }
        };
        ArrivalResult {
            group: name.clone(),
            rule,
            recovery,
            arrived_flows: counters.arrived,
            finished_flows: finished,
            unfinished_flows: counters.arrived - finished,
            late_flows: late,
            late_share: late
                .filter(|_| counters.arrived > 0)
                .map(|late| late as f64 / counters.arrived as f64),
            mean_fct_s: average(&times),
            p50_fct_s: quantile(&times, 0.5),
            p95_fct_s: quantile(&times, 0.95),
            p99_fct_s: quantile(&times, 0.99),
            mean_received_fct_s: average(&received),
            p50_received_fct_s: quantile(&received, 0.5),
            p95_received_fct_s: quantile(&received, 0.95),
            p99_received_fct_s: quantile(&received, 0.99),
            mean_slowdown: average(&slowdowns),
            page: page_result(built, name),
            video: video_result(built, name, scenario.duration.seconds()),
            goodput_bps: (counters.delivered_bytes * 8) as f64 / window.seconds(),
            delivered_bps: (counters.arrived_bytes * 8) as f64 / window.seconds(),
            sent_packets: counters.sent,
            retransmitted_packets: counters.retransmitted,
            dropped_packets: counters.dropped,
            delivered_packets: counters.delivered,
            timeouts: counters.timeouts,
        }
    };
    built.transfer_groups.iter().enumerate().map(result).collect()
}
