//! The result of a run over QUIC: the fields of a simulated run and those of QUIC runs
//! (docs/quic.md).

use super::plan::TransferPlan;
use super::play::TransferMeasurements;
use crate::result::{
    EndpointFigures, LATENESS_P99_S, Sample, flow_result, mean, run_result, traces,
};
use cwndlab_quic::{Cause, FlowReport, HEADER_BYTES, WindowSample};
use cwndlab_scenario::Scenario;
use cwndlab_sim::results::FlowResult;
use serde_json::{Value, json};

/// Largest share of all processors that the program may use: beyond it the endpoints limit the
/// rate.
const MACHINE_SHARE: f64 = 0.9;
/// Largest share of window samples that may be missed.
const BLIND_SHARE: f64 = 0.1;

/// The result and the traces of a run.
pub fn json(
    scenario: &Scenario,
    plan: &TransferPlan,
    measured: &TransferMeasurements,
    wall_s: f64,
) -> (Value, Value) {
    let run =
        run_result(scenario, "quic", &measured.emulator, flows(scenario, plan, measured), None);
    let (delivered, mut fields) = (run.delivered_packets as f64, json!(run));
    let reasons = reasons(scenario, plan, measured);
    if let Value::Object(fields) = &mut fields {
        fields.extend([
            ("wall_s".to_string(), json!(wall_s)),
            ("packets_per_wall_s".to_string(), json!(delivered / wall_s)),
            ("backend".to_string(), json!("quic")),
            ("valid".to_string(), json!(reasons.is_empty())),
            ("reasons".to_string(), json!(reasons)),
            ("notes".to_string(), json!(plan.notes)),
            ("health".to_string(), json!(measured.health)),
            ("packet_bytes".to_string(), json!(u32::from(plan.datagram_bytes + HEADER_BYTES))),
            (
                "sockets".to_string(),
                json!({
                    "dropped_datagrams": dropped(measured),
                    "receive_buffer_bytes": measured.buffer_bytes,
                    "machine_share": measured.machine_share,
                }),
            ),
            ("quic_flows".to_string(), quic_flows(plan, measured)),
        ]);
    }
    let bytes: Vec<&[u64]> = measured.report.seen.iter().map(|seen| seen.bins.as_slice()).collect();
    (
        fields,
        traces(
            scenario,
            measured.report.rows.iter().map(sample),
            &bytes,
            measured.emulator.network_path(),
        ),
    )
}

fn sample(row: &WindowSample) -> Sample {
    Sample {
        time_s: row.time_s,
        flow: row.flow,
        cwnd: row.cwnd,
        ssthresh: row.ssthresh,
        srtt_s: Some(row.srtt_s),
    }
}

fn flows(
    scenario: &Scenario,
    plan: &TransferPlan,
    measured: &TransferMeasurements,
) -> Vec<FlowResult> {
    let [from_s, to_s] = scenario.window().map(|time| time.seconds());
    let flow = |(number, seen): (usize, &FlowReport)| {
        let cuts = |cause: Cause| {
            seen.cuts
                .iter()
                .filter(|(time_s, cut)| cut.cause == cause && (from_s..to_s).contains(time_s))
                .count() as u64
        };
        let figures = EndpointFigures {
            delivered_bytes: seen.measured_bytes,
            retransmitted: seen.lost_packets[1].saturating_sub(seen.lost_packets[0]),
            cuts: [cuts(Cause::PersistentCongestion), cuts(Cause::Loss), cuts(Cause::Mark)],
            mean_rtt_s: mean(seen.rtt_sum_s, seen.rtt_samples),
            mean_rto_s: None,
            mean_cwnd_packets: mean(seen.cwnd_sum, seen.samples).unwrap_or(0.0),
            finish_s: seen.finish_s,
        };
        let counters = &measured.emulator.flow_counters()[number];
        flow_result([from_s, to_s], &plan.plays[number], counters, &figures)
    };
    measured.report.seen.iter().enumerate().map(flow).collect()
}

/// Why the run is not valid.
fn reasons(
    scenario: &Scenario,
    plan: &TransferPlan,
    measured: &TransferMeasurements,
) -> Vec<String> {
    let (health, mut reasons) = (&measured.health, Vec::new());
    let mut say = |wrong: bool, text: String| {
        if wrong {
            reasons.push(text);
        }
    };
    let p99_s = health.lateness_p99_s.unwrap_or(0.0);
    say(
        p99_s > LATENESS_P99_S,
        format!(
            "the relay was the bottleneck: 1 packet in 100 was delivered {:.2} ms late or later \
             (limit {:.2} ms)",
            p99_s * 1e3,
            LATENESS_P99_S * 1e3
        ),
    );
    let (dropped, kb) = (dropped(measured), measured.buffer_bytes / 1000);
    say(
        dropped > 0,
        format!(
            "datagrams dropped by full sockets, outside the emulated network: {dropped} (receive \
             buffers of {kb} kB)"
        ),
    );
    say(
        health.refused_packets > 0,
        format!(
            "packets that a socket did not accept or that found no memory: {}",
            health.refused_packets
        ),
    );
    say(health.released_packets == 0, "no packet was delivered".into());
    say(
        measured.emulator.network_path().has_overflowed(),
        "a queue exceeded its memory limit".into(),
    );
    let share = measured.machine_share.unwrap_or(0.0);
    say(
        share > MACHINE_SHARE,
        format!(
            "the endpoints limited the rate: the program used {:.0} % of all processors",
            100.0 * share
        ),
    );
    let end_s = scenario.duration.seconds();
    for (flow, seen) in plan.plays.iter().zip(&measured.report.seen) {
        let name = flow.identity.name();
        if let Some(error) = &seen.failed {
            say(true, format!("flow \"{name}\": {error}"));
        } else {
            say(
                !seen.has_connected && flow.start_s + flow.base_rtt_s < end_s,
                format!("flow \"{name}\": never connected"),
            );
        }
        if let Some(fault) = &seen.fault {
            say(true, format!("flow \"{name}\": its rule {fault}"));
        }
    }
    let blind = blind(scenario, plan, measured);
    say(
        blind > BLIND_SHARE,
        format!(
            "{:.1} % of the window samples were missed: the machine was too busy",
            100.0 * blind
        ),
    );
    reasons
}

/// Datagrams that sockets dropped.
fn dropped(measured: &TransferMeasurements) -> u64 {
    measured.relay_drops + measured.report.dropped_datagrams
}

/// Share of samples that were missed.
fn blind(scenario: &Scenario, plan: &TransferPlan, measured: &TransferMeasurements) -> f64 {
    let [from_s, to_s] = scenario.window().map(|time| time.seconds());
    let due = (to_s - from_s) / plan.sampling_s;
    let taken = measured.report.seen.iter().map(|seen| seen.samples).max().unwrap_or(0) as f64;
    (1.0 - taken / due).max(0.0)
}

/// Figures of each flow from quinn and from the congestion controller.
fn quic_flows(plan: &TransferPlan, measured: &TransferMeasurements) -> Value {
    let row = |(number, seen): (usize, &FlowReport)| {
        let cuts = &seen.cuts;
        json!({
            "flow": plan.plays[number].identity.name(),
            "min_rtt_s": seen.min_rtt_s,
            "stream_bytes": seen.total_bytes,
            "failed": seen.failed,
            "cut_time_s": cuts.iter().map(|cut| cut.0).collect::<Vec<_>>(),
            "cut_cause": cuts.iter().map(|cut| cause(cut.1.cause)).collect::<Vec<_>>(),
            "cut_in_slow_start": cuts.iter().map(|cut| cut.1.in_slow_start).collect::<Vec<_>>(),
            "cut_before_packets": cuts.iter().map(|cut| cut.1.before).collect::<Vec<_>>(),
            "cut_after_packets": cuts.iter().map(|cut| cut.1.after).collect::<Vec<_>>(),
            "qlog": plan.transfers[number].qlog,
        })
    };
    measured.report.seen.iter().enumerate().map(row).collect()
}

fn cause(cause: Cause) -> &'static str {
    match cause {
        Cause::Loss => "loss",
        Cause::Mark => "mark",
        Cause::PersistentCongestion => "persistent congestion",
    }
}
