//! The result of a run with Linux TCP: the fields of a simulated run and those of live runs
//! (docs/live.md).

use super::congestion_controls::RuleReport;
use super::plan::Plan;
use super::play::Measurements;
use super::source::FlowMeasurements;
use crate::result::{EndpointFigures, LATENESS_P99_S, flow_result, mean, run_result, traces};
use cwndlab_scenario::Scenario;
use cwndlab_sim::results::FlowResult;
use serde_json::{Value, json};

/// Largest share of a flow's busy time in which buffers instead of its window may limit it.
const HELD_UP_SHARE: f64 = 0.02;

/// Limits of a valid run by name.
pub fn limits() -> Value {
    json!({ "lateness_p99_s": LATENESS_P99_S, "held_up_share": HELD_UP_SHARE })
}

/// The result and the traces of a run.
pub fn json(
    scenario: &Scenario,
    plan: &Plan,
    measured: &Measurements,
    reported: &[RuleReport],
    wall_s: f64,
) -> (Value, Value) {
    let run = run_result(
        scenario,
        "linux",
        &measured.emulator,
        flows(scenario, measured),
        measured.trace_hash,
    );
    let (delivered, mut fields) = (run.delivered_packets as f64, json!(run));
    let reasons = reasons(scenario, plan, measured);
    if let Value::Object(fields) = &mut fields {
        fields.extend([
            ("wall_s".to_string(), json!(wall_s)),
            ("packets_per_wall_s".to_string(), json!(delivered / wall_s)),
            ("backend".to_string(), json!("linux")),
            ("kernel".to_string(), json!(kernel())),
            ("valid".to_string(), json!(reasons.is_empty())),
            ("reasons".to_string(), json!(reasons)),
            ("health".to_string(), json!(measured.health)),
            (
                "namespaces".to_string(),
                json!({ "source": measured.losses[0], "sink": measured.losses[1] }),
            ),
            ("kernel_rules".to_string(), json!(reported)),
            ("kernel_flows".to_string(), kernel_flows(plan, measured)),
        ]);
    }
    let flow_counters = measured.emulator.flow_counters().iter();
    let bytes: Vec<&[u64]> = flow_counters
        .map(|counters| {
            counters.bytes.as_ref().map(|bins| bins.sums.as_slice()).unwrap_or_default()
        })
        .collect();
    let mut traces =
        traces(scenario, measured.rows.iter().copied(), &bytes, measured.emulator.network_path());
    if let Some(packets) = &measured.packets {
        traces["packets"] = packets.columns();
    }
    (fields, traces)
}

fn flows(scenario: &Scenario, measured: &Measurements) -> Vec<FlowResult> {
    let window_s = scenario.window().map(|time| time.seconds());
    let flow = |(number, seen): (usize, &FlowMeasurements)| {
        let counters = &measured.emulator.flow_counters()[number];
        let figures = EndpointFigures {
            delivered_bytes: counters.measured.delivered_bytes,
            retransmitted: counters.measured.retransmitted,
            cuts: [
                seen.timeouts[1].saturating_sub(seen.timeouts[0]),
                seen.fast_retransmits,
                seen.ecn_reductions,
            ],
            mean_rtt_s: mean(counters.rtt_sum_s, counters.rtt_count),
            mean_rto_s: mean(seen.rto_sum_s, seen.rto_samples),
            mean_cwnd_packets: mean(seen.cwnd_sum, seen.samples).unwrap_or(0.0),
            // When all data of the application was acknowledged.
            finish_s: if seen.is_over { counters.acknowledged_s(seen.written) } else { None },
        };
        let play = &measured.emulator.network_path().flows()[number];
        flow_result(window_s, play, counters, &figures)
    };
    measured.watched.iter().enumerate().map(flow).collect()
}

/// Why the run is not valid.
fn reasons(scenario: &Scenario, plan: &Plan, measured: &Measurements) -> Vec<String> {
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
            "1 packet in 100 was delivered {:.2} ms late or later (limit {:.2} ms): the machine \
             was too busy",
            p99_s * 1e3,
            LATENESS_P99_S * 1e3
        ),
    );
    let outside = health.refused_packets
        + measured.losses.iter().map(|losses| losses.dropped_packets).sum::<u64>();
    let by_whom = measured
        .losses
        .iter()
        .flat_map(|losses| &losses.dropped)
        .map(|(name, count)| format!("{name} {count}"));
    let by_whom: Vec<String> = by_whom
        .chain((health.refused_packets > 0).then(|| format!("refused {}", health.refused_packets)))
        .collect();
    say(
        outside > 0,
        format!("packets dropped outside the emulator: {outside} ({})", by_whom.join(", ")),
    );
    let broken = health.broken_packets
        + measured.losses.iter().map(|losses| losses.broken_packets).sum::<u64>();
    say(broken > 0, format!("packets with a wrong checksum: {broken}"));
    say(health.released_packets == 0, "no packet was delivered".into());
    say(
        measured.emulator.network_path().has_overflowed(),
        "a queue exceeded its memory limit".into(),
    );
    let end_s = scenario.duration.seconds();
    for (flow, seen) in plan.flows.iter().zip(&measured.watched) {
        let name = &flow.name;
        if let Some(error) = &seen.failed {
            say(true, format!("flow \"{name}\": {error}"));
        }
        say(
            seen.implausible > 0,
            format!(
                "flow \"{name}\": in {} samples ssthresh was above twice the largest window",
                seen.implausible
            ),
        );
        let Some(info) = &seen.last else {
            say(
                seen.failed.is_none() && flow.start_s + flow.base_rtt_s < end_s,
                format!("flow \"{name}\": never connected"),
            );
            continue;
        };
        let share = |held_up_us: u64| held_up_us as f64 / (info.busy_time.max(1)) as f64;
        say(
            share(info.sndbuf_limited) > HELD_UP_SHARE,
            format!(
                "flow \"{name}\": limited by its send buffer for {:.1} % of the time",
                100.0 * share(info.sndbuf_limited)
            ),
        );
        // A window that grows is Linux's own limit (`tcp_rcv_space_adjust`); one that does not is
        // not read in time. In virtual time the application reads at once.
        let reads_late = measured.trace_hash.is_none();
        let held_up = share(info.rwnd_limited.saturating_sub(seen.limited_growing_us));
        say(
            reads_late && flow.window_bytes.is_none() && held_up > HELD_UP_SHARE,
            format!(
                "flow \"{name}\": limited by the receive buffer for {:.1} % of the time",
                100.0 * held_up
            ),
        );
    }
    reasons
}

/// The kernel's figures of each flow.
fn kernel_flows(plan: &Plan, measured: &Measurements) -> Value {
    let row = |(number, seen): (usize, &FlowMeasurements)| {
        let info = seen.last.unwrap_or_default();
        let has_min_rtt = info.min_rtt > 0 && info.min_rtt < u32::MAX;
        let counters = &measured.emulator.flow_counters()[number];
        json!({
            "flow": plan.flows[number].name,
            "min_rtt_s": has_min_rtt.then(|| f64::from(info.min_rtt) / 1e6),
            "wire_min_rtt_s": counters.rtt_least_s.is_finite().then_some(counters.rtt_least_s),
            "largest_cwnd_packets": seen.largest_cwnd,
            "mss_bytes": info.snd_mss,
            "busy_s": info.busy_time as f64 / 1e6,
            "window_limited_s": info.rwnd_limited as f64 / 1e6,
            "buffer_limited_s": info.sndbuf_limited as f64 / 1e6,
            "implausible_samples": seen.implausible,
            "bytes_retransmitted": info.bytes_retrans,
            "failed": seen.failed,
        })
    };
    measured.watched.iter().enumerate().map(row).collect()
}

fn kernel() -> String {
    nix::sys::utsname::uname()
        .map(|name| {
            format!("{} {}", name.sysname().to_string_lossy(), name.release().to_string_lossy())
        })
        .unwrap_or_default()
}
