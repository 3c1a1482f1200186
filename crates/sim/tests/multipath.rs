//! Connections over several paths.

mod common;

use cwndlab_scenario::{CheckedScenario, Scenario};
use cwndlab_sim::results::RunResult;
use cwndlab_sim::{Options, Simulation};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngSeed, TestError, TestRunner};
use serde_json::{Value, json};

/// Two links that share nothing, 10 and 30 ms long, and one behind them.
const LINKS: &str = r#"
    [[links]]
    name = "wifi"
    rate = "8Mbit"
    delay = "10ms"
    queue = { kind = "drop-tail", limit = "25pkt" }
    [[links]]
    name = "cell"
    rate = "4Mbit"
    delay = "30ms"
    queue = { kind = "drop-tail", limit = "40pkt" }
    [[links]]
    name = "core"
    rate = "6Mbit"
    delay = "5ms"
    queue = { kind = "drop-tail", limit = "30pkt" }
"#;

fn scenario(duration: &str, more: &str, flows: &str) -> CheckedScenario {
    let text = format!("duration = \"{duration}\"\n{more}\nflows = [{flows}]\n{LINKS}");
    Scenario::from_toml(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"))
}

fn run(scenario: &CheckedScenario) -> RunResult {
    Simulation::new(scenario).run().unwrap()
}

/// The same with and without lookahead, and with pauses.
fn run_in_both_engines(scenario: &CheckedScenario) -> RunResult {
    let result = run(scenario);
    let plain = Simulation::with(scenario, Options { look_ahead: false }).run().unwrap();
    let json = |result: &RunResult| serde_json::to_string(result).unwrap();
    assert_eq!(json(&result), json(&plain));
    result
}

/// Profiles, rules, sizes and options of endpoints: a connection of one subflow is the plain flow.
#[test]
fn a_connection_of_one_subflow_is_a_plain_flow() {
    for profile in ["linux", "rfc", "ns2-2000"] {
        for (rule, coupled) in
            [("NewReno", None), ("CUBIC", None), ("BBR1", None), ("NewReno", Some("LIA"))]
        {
            for keys in ["", "packets = 700", "stop = \"5s\"", "start = \"0.5s\""] {
                let more = format!("profile = \"{profile}\"");
                let flow = |rule: &str, one: &str| {
                    let flow = format!("{{ rule = \"{rule}\", path = [\"wifi\", \"core\"], ");
                    let own = if keys.is_empty() { String::new() } else { format!("{keys}, ") };
                    scenario("10s", &more, &format!("{flow}{own}{one} }}"))
                };
                let plain = run(&flow(rule, "access_delay = \"3ms\""));
                let one = flow(coupled.unwrap_or(rule), "subflows = [{ access_delay = \"3ms\" }]");
                let one = run_in_both_engines(&one);
                assert_eq!(one.trace_hash, plain.trace_hash, "{profile} {rule} {coupled:?} {keys}");
                let [flow] = &plain.flows[..] else { panic!() };
                // What waits behind a gap at the end has reached the subflow alone.
                let delivered = one.connections[0].delivered_packets;
                let waiting = flow.delivered_packets - delivered;
                assert!(waiting == 0 || keys != "packets = 700" && waiting < 100, "{waiting}");
                assert_eq!(
                    (one.flows[0].finish_s, one.connections[0].received_s.is_some()),
                    (flow.finish_s, keys == "packets = 700")
                );
            }
        }
    }
}

/// Two paths that share nothing carry more than either, and all data arrives in order.
#[test]
fn two_paths_carry_what_both_can() {
    for rule in ["NewReno", "LIA", "OLIA", "BALIA", "CUBIC"] {
        let flow = format!(
            "{{ rule = \"{rule}\", name = \"mp\", subflows = [{{ name = \"wifi\", path = \
             [\"wifi\"] }}, {{ name = \"cell\", path = [\"cell\"] }}] }}"
        );
        let result = run_in_both_engines(&scenario("60s", "", &flow));
        let [connection] = &result.connections[..] else { panic!() };
        assert_eq!(connection.connection, "mp");
        assert!(connection.goodput_bps > 9.5e6, "{rule}: {}", connection.goodput_bps);
        assert_eq!(connection.duplicate_packets, 0);
        let names: Vec<&str> = result.subflows.iter().map(|own| own.flow.as_str()).collect();
        assert_eq!(names, ["mp.wifi", "mp.cell"]);
        let shares: f64 = result.subflows.iter().filter_map(|own| own.share).sum();
        assert!((shares - 1.0).abs() < 1e-12);
    }
}

fn handover(wifi: &str, flow: &str) -> RunResult {
    let text = format!(
        "duration = \"40s\"\nlinks = [{{ name = \"wifi\", rate = \"8Mbit\", delay = \"10ms\", queue = \
         {{ kind = \"drop-tail\", limit = \"25pkt\" }}, {wifi} }}, {{ name = \"cell\", rate = \
         \"4Mbit\", delay = \"30ms\", queue = {{ kind = \"drop-tail\", limit = \"40pkt\" }} }}]\n\
         flows = [{{ name = \"mp\", rule = \"LIA\", packets = 4000, {flow} }}]\n"
    );
    let scenario = Scenario::from_toml(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
    run_in_both_engines(&scenario)
}

/// 4000 packets take 5 s on both links and 12 s on the slower one. Wi-Fi fails after 2 s: what it
/// has not delivered is sent on the other path once its timer expires.
#[test]
fn data_of_a_path_that_fails_are_sent_on_the_other() {
    let subflows = "subflows = [{ path = [\"wifi\"] }, { path = [\"cell\"], start = \"0.5s\" }]";
    let outage = "outages = [{ from = \"2s\", to = \"39s\", arrivals = \"lost\" }]";
    let result = handover(outage, subflows);
    let connection = &result.connections[0];
    assert_eq!(connection.delivered_packets, 4000);
    assert!(connection.reinjected_packets > 10);
    let finish_s = connection.finish_s.unwrap();
    assert!((8.0..14.0).contains(&finish_s), "{finish_s}");
    assert!(result.flows[0].timeouts > 0);
    // Without the other path nothing gets through.
    let alone = handover(outage, "subflows = [{ path = [\"wifi\"] }]");
    assert!(alone.connections[0].finish_s.is_none());
}

/// A subflow that leaves takes no data with it; one that joins takes its part.
#[test]
fn subflows_come_and_go() {
    let result = handover(
        "loss = []",
        "subflows = [{ name = \"wifi\", path = [\"wifi\"], stop = \"2s\" }, { name = \"cell\", path \
         = [\"cell\"], start = \"1.5s\" }]",
    );
    let connection = &result.connections[0];
    assert_eq!((connection.delivered_packets, connection.finish_s.is_some()), (4000, true));
    let [wifi, cell] = &result.subflows[..] else { panic!() };
    assert!(wifi.first_packets > 800 && cell.first_packets > 2000, "{wifi:?} {cell:?}");
    assert!(result.flows[0].finish_s.is_some_and(|at_s| at_s < 2.2));
}

/// Connections beside plain flows on one bottleneck, with delayed ACKs and without, with a reverse
/// link and drawn delays: the engine's windows change nothing.
#[test]
fn connections_share_links_with_flows() {
    for (profile, rule) in [("linux", "CUBIC"), ("rfc", "LIA"), ("rfc", "OLIA"), ("linux", "BBR1")]
    {
        let text = format!(
            "duration = \"20s\"\nprofile = \"{profile}\"\nhost_jitter = \"0.1ms\"\n\
             [dumbbell]\nrate = \"10Mbit\"\ndelay = \"20ms\"\naccess_delay = \"5ms\"\n\
             queue = {{ kind = \"red\" }}\n[[flows]]\nname = \"tcp\"\ncount = 2\nrule = \
             \"NewReno\"\n[[flows]]\nname = \"mp\"\ncount = 2\nrule = \"{rule}\"\npackets = 9000\n\
             connection_buffer = 50\nsubflows = [{{}}, {{ access_delay = [\"9ms\", \"15ms\"] }}, \
             {{ reverse = true, start = \"3s\", stop = \"9s\" }}]\n"
        );
        let scenario =
            Scenario::from_toml(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
        let result = run_in_both_engines(&scenario);
        assert_eq!(result.flows.len(), 8);
        let back = &result.links[1];
        assert!(back.mean_queueing_delay_s < Some(0.01), "{:?}", back.mean_queueing_delay_s);
        for connection in &result.connections {
            assert!(connection.delivered_packets > 2000 && connection.delivered_packets <= 9000);
        }
    }
}

/// Finite data, a small receive buffer, all schedulers: every packet arrives, once but with the
/// redundant scheduler.
#[test]
fn all_data_arrive() {
    for scheduler in ["min-rtt", "round-robin", "redundant"] {
        let mut blocked_s = Vec::new();
        for buffer in ["", "connection_buffer = 60, ", "connection_buffer = 8, "] {
            let flow = format!(
                "{{ rule = \"NewReno\", name = \"mp\", packets = 3000, scheduler = \"{scheduler}\", \
                 {buffer}subflows = [{{ path = [\"wifi\"] }}, {{ path = [\"cell\"] }}] }}"
            );
            let result = run_in_both_engines(&scenario("60s", "", &flow));
            let connection = &result.connections[0];
            assert_eq!(connection.delivered_packets, 3000, "{scheduler} {buffer}");
            assert!(connection.finish_s.is_some() && connection.received_s.is_some());
            blocked_s.push(connection.blocked_s);
            if scheduler == "redundant" {
                assert!(connection.duplicate_packets > 500);
            } else {
                assert_eq!(connection.reinjected_packets, 0, "{scheduler} {buffer}");
                assert_eq!(connection.duplicate_packets, 0, "{scheduler} {buffer}");
            }
        }
        assert!(blocked_s[0] == 0.0 && blocked_s[1] < blocked_s[2], "{scheduler} {blocked_s:?}");
    }
}

/// A random scenario in which some flows are connections over several paths.
fn scenario_with_subflows() -> impl Strategy<Value = Value> {
    let time = |from: u32, to: u32| (from..to).prop_map(|n| f64::from(n) * 0.01);
    let subflow = (
        0usize..4,
        option::weighted(0.6, (0u32..12).prop_map(|n| f64::from(n) * 0.001)),
        option::weighted(0.3, time(0, 80)),
        option::weighted(0.2, time(110, 250)),
    );
    let connection = (
        select(vec!["LIA", "OLIA", "BALIA", "NewReno", "CUBIC", "BBR1", "DCTCP"]),
        select(vec!["min-rtt", "round-robin", "redundant"]),
        option::weighted(0.5, 1u64..40),
        option::weighted(0.4, 1u64..300),
        vec(subflow, 1..4),
    );
    (common::scenario(), vec(option::weighted(0.8, connection), 8)).prop_map(
        |(mut scenario, chosen)| {
            let named =
                format!("{}{}{}", scenario["links"], scenario["dumbbell"], scenario["arrivals"]);
            let flows = scenario["flows"].as_array().cloned().unwrap_or_default();
            let forbidden = [
                "responses",
                "frames",
                "page",
                "video",
                "reader",
                "join",
                "leave",
                "bytes",
                "packets",
            ];
            for (i, (flow, chosen)) in flows.iter().zip(chosen).enumerate() {
                let Some((rule, scheduler, buffer, packets, subflows)) = chosen else { continue };
                let is_named = named.contains(&format!("\"f{i}"));
                if is_named || forbidden.iter().any(|key| flow.get(key).is_some()) {
                    continue;
                }
                let paths = ["path", "back", "from", "to", "reverse"];
                let subflows = subflows.into_iter().map(|(of, delay, start, stop)| {
                    let other = &flows[(i + of) % flows.len()];
                    let path = paths.map(|key| (key, other.get(key).cloned()));
                    let own = vec![
                        ("access_delay", delay.map(Value::from)),
                        ("start", start.map(Value::from)),
                        ("stop", stop.map(Value::from)),
                    ];
                    object(json!({}), path.into_iter().chain(own).collect())
                });
                let subflows: Vec<Value> = subflows.collect();
                let connection = &mut scenario["flows"][i];
                connection["rule"] = json!(rule);
                connection["scheduler"] = json!(scheduler);
                connection["subflows"] = json!(subflows);
                connection["tcp"].as_object_mut().map(|knobs| knobs.remove("slow_start"));
                *connection = object(
                    connection.clone(),
                    vec![
                        ("connection_buffer", buffer.map(Value::from)),
                        ("packets", packets.map(Value::from)),
                    ],
                );
            }
            scenario
        },
    )
}

/// `base` with the entries that are there.
fn object(mut base: Value, entries: Vec<(&str, Option<Value>)>) -> Value {
    for (key, value) in entries {
        if let Some(value) = value {
            base[key] = value;
        }
    }
    base
}

/// Random scenarios: the engine's windows change nothing, a repeated run neither, and packets are
/// counted once.
#[test]
fn random_connections_are_the_same_in_both_engines() {
    let config = Config {
        cases: 600,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        max_shrink_iters: 2_000,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(&scenario_with_subflows(), |json| {
        let scenario = Scenario::from_json(&json.to_string())
            .map_err(|error| proptest::test_runner::TestCaseError::reject(error.to_string()))?;
        let result = run(&scenario);
        let plain = Simulation::with(&scenario, Options { look_ahead: false }).run().unwrap();
        let text = |result: &RunResult| serde_json::to_string(result).unwrap();
        proptest::prop_assert!(
            text(&result) == text(&plain),
            "engines differ: {}\n{json}",
            differing(&text(&result), &text(&plain))
        );
        proptest::prop_assert!(text(&result) == text(&run(&scenario)), "runs differ\n{json}");
        for flow in &result.flows {
            let arrived = flow.total_delivered_packets + flow.total_dropped_packets;
            proptest::prop_assert_eq!(flow.total_sent_packets, arrived + flow.in_flight_packets);
        }
        for connection in &result.connections {
            let own = result.subflows.iter().filter(|own| own.connection == connection.connection);
            let first: u64 = own.clone().map(|own| own.first_packets).sum();
            proptest::prop_assert_eq!(first, connection.delivered_packets);
            let flows = own.filter_map(|own| {
                result.flows.iter().find(|flow| flow.identity.name() == own.flow)
            });
            let delivered: u64 = flows.map(|flow| flow.delivered_packets).sum();
            // What waited on a subflow when the measurement began is counted when it is delivered.
            let carried = connection.delivered_packets + connection.duplicate_packets;
            proptest::prop_assert!(carried <= delivered || result.measure_from_s > 0.0);
        }
        Ok(())
    });
    if let Err(TestError::Fail(reason, _)) = &outcome {
        panic!("{reason}");
    }
    assert!(outcome.is_ok(), "{outcome:?}");
}

/// Where two texts begin to differ.
fn differing(one: &str, other: &str) -> String {
    let at = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let part = |text: &str| text.chars().skip(at.saturating_sub(60)).take(120).collect::<String>();
    format!("{} and {}", part(one), part(other))
}
