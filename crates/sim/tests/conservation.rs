//! What holds of every run, whatever the scenario: packets are counted once, windows lie within
//! totals, nothing is negative or infinite.

mod common;

use cwndlab_scenario::Scenario;
use cwndlab_sim::Simulation;
use cwndlab_sim::results::{ArrivalResult, CrossResult, FlowResult, LinkResult, RunResult};
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};
use serde_json::{Value, json};

type Held = Result<(), TestCaseError>;

macro_rules! hold {
    ($result:expr, $($what:expr),+ $(,)?) => {
        $(proptest::prop_assert!($what, "{} of {:?}", stringify!($what), $result);)+
    };
}

fn finite(value: Option<f64>) -> bool {
    value.is_none_or(|value| value.is_finite() && value >= 0.0)
}

fn check_flow(flow: &FlowResult, ecn: bool) -> Held {
    hold!(
        flow,
        flow.total_sent_packets
            == flow.total_delivered_packets + flow.total_dropped_packets + flow.in_flight_packets,
        flow.sent_packets <= flow.total_sent_packets,
        flow.dropped_packets <= flow.total_dropped_packets,
        flow.delivered_packets <= flow.total_delivered_packets,
        flow.retransmitted_packets <= flow.sent_packets,
        ecn || flow.ecn_reductions == 0,
        flow.mean_cwnd_packets.is_finite() && finite(Some(flow.goodput_bps)),
        flow.mean_rtt_s
            .is_none_or(|rtt_s| rtt_s.is_finite() && rtt_s >= flow.base_rtt_s * (1.0 - 1e-9)),
        finite(flow.mean_rto_s) && finite(flow.rate_cov) && finite(flow.loss_rate),
    );
    Ok(())
}

fn check_link(link: &LinkResult, ecn: bool, window_s: f64, opportunity_bits: f64) -> Held {
    // A packet counts whole when it leaves: one more than the link carries in the window may. The
    // mean rate spreads a delivery opportunity over time, and so may count one less.
    let most_bits = link.rate_bps * window_s + 8.0 * 1500.0 + opportunity_bits;
    hold!(
        link,
        link.total_arrived_packets
            == link.total_departed_packets + link.total_dropped_packets + link.queued_packets,
        link.arrived_packets <= link.total_arrived_packets,
        link.dropped_packets <= link.total_dropped_packets,
        link.departed_packets <= link.total_departed_packets,
        link.marked_packets <= link.arrived_packets,
        ecn || link.marked_packets == 0,
        link.rate_bps == 0.0 || link.utilization * link.rate_bps * window_s <= most_bits,
        // A difference of sums: zero but for rounding where nobody waits.
        link.mean_queue_packets.is_finite() && link.mean_queue_packets > -1e-9,
        finite(link.mean_queueing_delay_s) && finite(link.p95_queueing_delay_s),
        finite(Some(link.cross_bps)),
    );
    Ok(())
}

/// Of a run that is measured from its beginning, so that nothing arrives that was not sent.
fn check_cross(cross: &CrossResult) -> Held {
    hold!(
        cross,
        cross.delivered_packets + cross.dropped_packets <= cross.sent_packets,
        cross.delivered_bps <= cross.offered_bps
    );
    Ok(())
}

/// The same. `is_honest`: receivers acknowledge what has arrived, so that no transfer is faster than
/// the links.
fn check_transfers(group: &ArrivalResult, shortest_packets: u64, is_honest: bool) -> Held {
    hold!(
        group,
        group.finished_flows + group.unfinished_flows == group.arrived_flows,
        group.finished_flows * shortest_packets <= group.delivered_packets,
        group.dropped_packets + group.delivered_packets <= group.sent_packets,
        group.retransmitted_packets <= group.sent_packets,
        group.goodput_bps <= group.delivered_bps,
        group.p50_fct_s <= group.p95_fct_s && group.p95_fct_s <= group.p99_fct_s,
        finite(group.mean_fct_s) && group.mean_fct_s.is_some() == (group.finished_flows > 0),
        !is_honest || group.mean_slowdown.is_none_or(|slowdown| slowdown >= 1.0 - 1e-9),
        group.page.loaded_pages <= group.page.pages,
        group.page.p50_page_load_s <= group.page.p95_page_load_s,
        group.page.mean_page_load_s.is_some() == group.page.loaded_pages.is_some_and(|n| n > 0),
        group.video.rebuffering_share.is_none_or(|share| (0.0..=1.0).contains(&share)),
        group.video.bitrate_switches.is_none_or(|switches| switches <= group.arrived_flows),
    );
    Ok(())
}

fn check(result: &RunResult, json: &Value) -> Held {
    let ecn = has_ecn(json);
    let opportunity_bits = opportunity_bits(json);
    result.flows.iter().try_for_each(|flow| check_flow(flow, ecn))?;
    let window_s = result.measure_to_s - result.measure_from_s;
    result.links.iter().try_for_each(|link| check_link(link, ecn, window_s, opportunity_bits))?;
    if result.measure_from_s == 0.0 {
        result.cross.iter().try_for_each(check_cross)?;
        let is_honest = !json.to_string().contains("optimistic_acks");
        result.arrivals.iter().try_for_each(|group| check_transfers(group, 1, is_honest))?;
    }
    Ok(())
}

/// Bits of the largest delivery opportunity.
fn opportunity_bits(value: &Value) -> f64 {
    let within = match value {
        Value::Object(fields) => fields.values().map(opportunity_bits).fold(0.0, f64::max),
        Value::Array(values) => values.iter().map(opportunity_bits).fold(0.0, f64::max),
        _ => 0.0,
    };
    match value["kind"].as_str() {
        Some("cellular") => 12_000.0,
        Some("grants") => {
            value["rate"].as_f64().unwrap_or(0.0) * value["every"].as_f64().unwrap_or(0.0)
        }
        _ => within,
    }
}

/// Whether any flow understands marks.
fn has_ecn(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields
            .iter()
            .any(|(key, value)| (key == "tcp" && value["ecn"] == json!(true)) || has_ecn(value)),
        Value::Array(values) => values.iter().any(has_ecn),
        _ => false,
    }
}

#[test]
fn every_packet_is_counted_once() {
    let config = Config {
        cases: 600,
        rng_seed: RngSeed::Fixed(4),
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new(config)
        .run(&common::scenario(), |mut json| {
            // Every other one is measured from its beginning.
            if json["seed"].as_u64().is_some_and(|seed| seed % 2 == 0) {
                json["measure"] = json!([0, json["duration"].clone()]);
            }
            let scenario = Scenario::from_json(&json.to_string())
                .unwrap_or_else(|error| panic!("{error}\n{json}"));
            let result = Simulation::new(&scenario).run().expect("the scenarios are small");
            check(&result, &json).map_err(|error| TestCaseError::fail(format!("{error}\n{json}")))
        })
        .unwrap_or_else(|error| match error {
            TestError::Fail(reason, _) => panic!("{reason}"),
            aborted => panic!("{aborted}"),
        });
}

#[test]
fn a_packet_lost_after_transmission_is_at_the_link_until_then() {
    // 10 kbit/s: a packet of 1000 bytes takes 0.8 s and is lost at the end of it, at 0.88 s, 1.68
    // s, ... The run ends at 1 s: one is gone, one in service, the rest of the 12 that were sent by
    // then waits; whether or not the queue owns its packets.
    for kind in ["drop-tail", "drr", "priority"] {
        let toml = format!(
            r#"
            duration = "1s"
            profile = "rfc"
            [dumbbell]
            rate = "10kbit"
            delay = "10ms"
            queue = {{ kind = "{kind}", limit = "100pkt" }}
            loss = [{{ kind = "gilbert-elliott", to_bad = 1, to_good = 1e-9, after_queue = true }}]
            [[cross]]
            rate = "100kbit"
            "#
        );
        let result = Simulation::new(&Scenario::from_toml(&toml).unwrap()).run().unwrap();
        let link = &result.links[0];
        let counts = [
            link.total_arrived_packets,
            link.total_dropped_packets,
            link.total_departed_packets,
            link.queued_packets,
        ];
        assert_eq!(counts, [12, 1, 0, 11], "{kind}");
    }
}

#[test]
fn packets_that_wait_at_the_end_are_in_flight() {
    // Whenever the run ends: queues that lose packets at departure would lose some of those that
    // are left, too.
    for kind in ["codel", "fq-codel", "drr", "priority"] {
        for tenths in 20..80 {
            let toml = format!(
                r#"
                duration = {}
                [dumbbell]
                rate = "3Mbit"
                delay = "5ms"
                queue = {{ kind = "{kind}", limit = "100pkt" }}
                [[flows]]
                rule = "MIMD(1.125, 0.8)"
                count = 5
                "#,
                f64::from(tenths) / 10.0
            );
            let result = Simulation::new(&Scenario::from_toml(&toml).unwrap()).run().unwrap();
            result.flows.iter().try_for_each(|flow| check_flow(flow, false)).unwrap();
            result
                .links
                .iter()
                .try_for_each(|link| check_link(link, false, result.duration_s, 0.0))
                .unwrap();
        }
    }
}

#[test]
fn arriving_flows_leave_no_packets_behind() {
    // Arrivals stop at 10 s, and two minutes later all is over: every packet sent was lost or has
    // arrived. Without SYN and timestamps each has 1040 bytes. A short queue and losses on the way
    // make for retransmissions and timeouts; slots are used again and again.
    let toml = r#"
        duration = "130s"
        profile = "rfc"
        [dumbbell]
        rate = "5Mbit"
        delay = "10ms"
        queue = { kind = "drop-tail", limit = "15pkt" }
        loss = [
            { kind = "bernoulli", p = 0.01 },
            { kind = "bernoulli", p = 0.01, after_queue = true },
        ]
        back_rate = "1Mbit"
        [tcp]
        syn = false
        timestamps = false
        delayed_ack = true
        [[arrivals]]
        name = "reno"
        rule = "AIMD(1, 0.5)"
        recovery = "reno"
        gap = "20ms"
        size = { kind = "pareto", mean = 12, shape = 1.2, most = 500 }
        stop = "10s"
        [[arrivals]]
        name = "sack"
        rule = "AIMD(1, 0.5)"
        gap = "20ms"
        size = { kind = "exponential", mean = 5 }
        access_delay = ["1ms", "30ms"]
        stop = "10s"
    "#;
    let result = Simulation::new(&Scenario::from_toml(toml).unwrap()).run().unwrap();
    for group in &result.arrivals {
        let arrived = group.delivered_bps * 130.0 / (8.0 * 1040.0);
        assert!((arrived - arrived.round()).abs() < 1e-6, "{arrived} packets of 1040 bytes");
        assert_eq!(group.sent_packets, group.dropped_packets + arrived.round() as u64, "{group:?}");
        assert!(
            group.unfinished_flows == 0 && group.dropped_packets > 50 && group.timeouts > 0,
            "{group:?}"
        );
        assert_eq!(
            group.sent_packets - group.retransmitted_packets,
            group.delivered_packets,
            "{group:?}"
        );
    }
}
