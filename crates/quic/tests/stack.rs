//! quinn in simulated time: runs that repeat, and what becomes of a flow.

use cwndlab_quic::QuinnStack;
use cwndlab_scenario::{CheckedScenario, Scenario};
use cwndlab_sim::results::RunResult;
use cwndlab_sim::{Options, Simulation, SimulationError, check_stacks};
use cwndlab_stack::Stack;
use std::sync::Arc;

const QUINN: &str = "rule = \"quinn:cubic\"\nstack = \"quinn\"\n";

fn scenario(head: &str, link: &str, flow: &str) -> CheckedScenario {
    let text = format!(
        "duration = \"20s\"\n{head}\n[tcp]\npacket_size = 1448\n[dumbbell]\nrate = \"10Mbit\"\n\
         delay = \"20ms\"\n{link}\n[[flows]]\nname = \"quic\"\n{flow}"
    );
    Scenario::from_toml(&text).unwrap()
}

fn stacks() -> [Arc<dyn Stack>; 1] {
    [Arc::new(QuinnStack::new())]
}

fn run(scenario: &CheckedScenario) -> RunResult {
    Simulation::with_stacks(scenario, Options::default(), &stacks()).run().unwrap()
}

fn of_flow(head: &str, link: &str, flow: &str) -> RunResult {
    run(&scenario(head, link, flow))
}

const LOSSY: &str = "loss = [{ kind = \"bernoulli\", p = 0.01 }]";
const BESIDE_TCP: &str = "[[flows]]\nname = \"tcp\"\nrule = \"CUBIC\"\ncount = 2\n\
                          start = [\"0s\", \"1s\"]\n[[cross]]\nrate = \"1Mbit\"\n";

#[test]
fn equal_seeds_give_equal_runs_and_others_do_not() {
    let flow = format!("{QUINN}count = 3\nstart = [\"0s\", \"1s\"]\n{BESIDE_TCP}");
    let hash = |seed: u64| of_flow(&format!("seed = {seed}"), LOSSY, &flow).trace_hash;
    assert_eq!(hash(1), hash(1));
    assert_ne!(hash(1), hash(2));
}

#[test]
fn a_run_in_steps_is_the_run_at_once() {
    let scenario = scenario("", LOSSY, &format!("{QUINN}{BESIDE_TCP}"));
    let mut stepped = Simulation::with_stacks(&scenario, Options::default(), &stacks());
    for tenth in 1..=200 {
        stepped.advance_to(f64::from(tenth) / 10.0);
    }
    assert_eq!(stepped.result().trace_hash, run(&scenario).trace_hash);
}

#[test]
fn tcp_beside_an_idle_stack_is_tcp_alone() {
    // The idle flow has a link of the network, and never sends.
    let idle = format!("{QUINN}start = \"19.999s\"\nstop = \"20s\"\n{BESIDE_TCP}");
    let alone = format!("rule = \"CUBIC\"\nstart = \"19.999s\"\nstop = \"20s\"\n{BESIDE_TCP}");
    let (with, without) = (of_flow("", LOSSY, &idle), of_flow("", LOSSY, &alone));
    for (a, b) in with.flows[1..].iter().zip(&without.flows[1..]) {
        assert_eq!((a.goodput_bps, a.sent_packets), (b.goodput_bps, b.sent_packets));
        assert!(a.goodput_bps > 1e6);
    }
}

#[test]
fn a_flow_alone_fills_the_link_and_its_packets_are_conserved() {
    let result = of_flow("measure = [\"5s\", \"20s\"]", "", QUINN);
    let flow = &result.flows[0];
    // 1472 bytes of a packet of 1500 are QUIC's, some 30 of them headers and the tag.
    assert!((9.4e6..9.8e6).contains(&flow.goodput_bps), "{}", flow.goodput_bps);
    assert!(result.links[0].utilization > 0.99);
    assert_eq!(
        flow.total_sent_packets,
        flow.total_delivered_packets + flow.total_dropped_packets + flow.in_flight_packets
    );
    assert_eq!(flow.dropped_packets, result.links[0].dropped_packets);
    // 40 ms of propagation, and a queue of one bandwidth-delay product when it is full.
    let rtt_s = flow.mean_rtt_s.unwrap();
    assert!((0.041..0.085).contains(&rtt_s), "{rtt_s}");
}

#[test]
fn a_transfer_arrives_as_a_whole_and_ends() {
    let result = of_flow("", LOSSY, &format!("{QUINN}bytes = \"1MB\"\n"));
    let flow = &result.flows[0];
    assert_eq!((flow.goodput_bps * 20.0 / 8.0).round(), 1e6);
    let (received_s, finish_s) = (flow.received_s.unwrap(), flow.finish_s.unwrap());
    // A megabyte takes 0.8 s at 10 Mbit/s; the last ACK comes half a round trip later at least.
    assert!(received_s > 0.8 && finish_s >= received_s + 0.02, "{received_s} {finish_s}");
    assert!(finish_s < 6.0, "{finish_s}");
}

#[test]
fn a_receiver_with_little_credit_limits_the_flow() {
    // 10 packets of 1472 bytes in each round trip of 40 ms or somewhat more.
    let result = of_flow("", "", &format!("{QUINN}tcp = {{ window = 10 }}\n"));
    let flow = &result.flows[0];
    let most_bps = 10.0 * 1472.0 * 8.0 / 0.04;
    assert!((0.5 * most_bps..most_bps).contains(&flow.goodput_bps), "{}", flow.goodput_bps);
    assert_eq!(flow.dropped_packets, 0);
}

#[test]
fn an_application_that_stops_sends_no_more() {
    let stopped = of_flow("measure = [\"11s\", \"20s\"]", "", &format!("{QUINN}stop = \"10s\"\n"));
    assert_eq!((stopped.flows[0].goodput_bps, stopped.flows[0].dropped_packets), (0.0, 0));
    assert!(stopped.flows[0].total_delivered_packets > 5_000);
}

#[test]
fn an_outage_ends_in_persistent_congestion_and_the_flow_goes_on() {
    // A link that holds packets back would also give a round trip of 4 s, by which the period of
    // persistent congestion were longer than the outage.
    let outage = "loss = [{ kind = \"bernoulli\", p = 0.999999, from = \"5s\", to = \"9s\" }]";
    for rule in ["quinn:newreno", "NewReno"] {
        let flow = format!("rule = \"{rule}\"\nstack = \"quinn\"\n");
        let result = of_flow("measure = [\"4s\", \"20s\"]", outage, &flow);
        assert!(result.flows[0].timeouts >= 1, "{rule}: {:?}", result.flows[0]);
        let after = of_flow("measure = [\"15s\", \"20s\"]", outage, &flow);
        assert!(after.flows[0].goodput_bps > 5e6, "{rule}: {}", after.flows[0].goodput_bps);
    }
}

#[test]
fn marks_reach_the_controller_where_ecn_is_on() {
    let queue = "queue = { kind = \"codel\", ecn = true }";
    for rule in ["quinn:newreno", "NewReno", "DCTCP"] {
        let flow =
            |ecn: bool| format!("rule = \"{rule}\"\nstack = \"quinn\"\ntcp = {{ ecn = {ecn} }}\n");
        let (on, off) = (of_flow("", queue, &flow(true)), of_flow("", queue, &flow(false)));
        let (on, off) = (&on.flows[0], &off.flows[0]);
        assert!(on.marked_packets > 0 && on.ecn_reductions > 0, "{rule}: {on:?}");
        assert_eq!((off.marked_packets, off.ecn_reductions), (0, 0));
        assert!(off.fast_retransmits > 0, "{rule}: {off:?}");
    }
}

#[test]
fn the_largest_datagrams_get_through_the_handshake() {
    // 5972 + 40 + 12 - 28 = 5996 bytes.
    let flow = &of_flow("", "", &format!("{QUINN}tcp = {{ packet_size = 5972 }}\n")).flows[0];
    assert!(flow.goodput_bps > 9e6, "{}", flow.goodput_bps);
}

#[test]
fn a_host_with_a_coarse_clock_notices_packets_later() {
    let flow = &of_flow("host_clock = \"1ms\"", "", QUINN).flows[0];
    assert!(flow.goodput_bps > 9e6, "{}", flow.goodput_bps);
}

#[test]
fn what_quinn_does_not_accept_is_refused_before_the_run() {
    for (flow, expected) in [
        ("rule = \"BBR1\"\nstack = \"quinn\"\n", "flows[0].rule: rule \"BBR1\" sets the pacing"),
        (
            "rule = \"CUBIC\"\nstack = \"quin\"\n",
            "flows[0].stack: \"quin\" is not known: expected quinn",
        ),
        (
            "rule = \"quinn:newreno\"\nstack = \"quinn\"\ntcp = { packet_size = 9000 }\n",
            "flows[0].tcp.packet_size: datagrams of 9024 bytes are not valid: expected at most 6000",
        ),
        (
            "rule = \"quinn:newreno\"\nstack = \"quinn\"\ntcp = { initial_ssthresh = 20 }\n",
            "flows[0].tcp.initial_ssthresh: 20 has no effect on quinn:newreno",
        ),
    ] {
        let scenario = scenario("", "", flow);
        let error = check_stacks(&scenario, &stacks()).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
        let mut simulation = Simulation::with_stacks(&scenario, Options::default(), &stacks());
        assert_eq!(simulation.run().unwrap_err(), SimulationError::StackRefused(error));
    }
    let here = Simulation::new(&scenario("", "", QUINN)).run().unwrap_err().to_string();
    assert!(here.starts_with("flows[0].stack: \"quinn\" cannot run here"), "{here}");
}
