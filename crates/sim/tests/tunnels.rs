//! Tunnels around a link (RFC 6040): who hears of its marks, and what the outer headers cost.

use cwndlab_scenario::Scenario;
use cwndlab_sim::Simulation;
use cwndlab_sim::results::RunResult;

fn run(toml: &str) -> RunResult {
    let scenario = Scenario::from_toml(toml).unwrap_or_else(|error| panic!("{error}\n{toml}"));
    Simulation::new(&scenario).run().unwrap()
}

/// A flow over a link of 10 Mbit/s with a round trip of 40 ms: 50 packets of 1000 bytes.
fn one_flow(link: &str, flow: &str) -> RunResult {
    run(&format!(
        r#"
        duration = 40
        measure = [10, 40]
        profile = "rfc"
        [dumbbell]
        rate = "10Mbit"
        delay = "20ms"
        back_rate = "unlimited"
        {link}
        [[flows]]
        {flow}
        "#
    ))
}

const CODEL: &str = r#"queue = { kind = "codel", limit = "1000pkt", ecn = true }"#;
const RENO: &str = r#"rule = "AIMD(1, 0.5)"
        tcp = { ecn = true, initial_ssthresh = 20.0 }"#;

#[test]
fn compatibility_mode_turns_marks_into_drops() {
    let outcome = |tunnel: &str| {
        let result = one_flow(&format!("{CODEL}\n{tunnel}"), RENO);
        let (link, flow) = (&result.links[0], &result.flows[0]);
        (link.marked_packets, link.dropped_packets, flow.marked_packets)
    };
    let (marked, dropped, heard) = outcome("tunnel = {}");
    assert!(marked > 5 && dropped == 0 && heard == marked, "{marked} {dropped} {heard}");
    let (marked, dropped, heard) = outcome(r#"tunnel = { ingress = "compatibility" }"#);
    assert!(marked == 0 && dropped > 5 && heard == 0, "{marked} {dropped} {heard}");
}

#[test]
fn a_tunnel_that_copies_the_field_and_costs_nothing_changes_nothing() {
    let step = r#"queue = { kind = "step", limit = "200pkt", threshold = "20pkt" }"#;
    let priority = r#"queue = { kind = "dualpi2", limit = "200pkt" }"#;
    for (queue, flow) in [
        (CODEL, RENO),
        (
            step,
            r#"rule = "DCTCP(0.0625)"
        tcp = { ecn = true }"#,
        ),
        (priority, r#"rule = "Prague""#),
    ] {
        let [bare, tunneled] =
            ["", "tunnel = {}"].map(|tunnel| one_flow(&format!("{queue}\n{tunnel}"), flow));
        assert!(bare.links[0].marked_packets > 0);
        let texts = [&bare, &tunneled].map(|result| serde_json::to_string(result).unwrap());
        assert_eq!(texts[0], texts[1]);
    }
}

#[test]
fn an_l4s_flow_is_classic_in_compatibility_mode() {
    let outcome = |tunnel: &str| {
        let queue = r#"queue = { kind = "dualpi2", limit = "500pkt" }"#;
        let result = one_flow(&format!("{queue}\n{tunnel}"), r#"rule = "Prague""#);
        let link = &result.links[0];
        (link.l4s_marked_packets, link.dropped_packets, link.mean_queueing_delay_s.unwrap())
    };
    // RFC 9332, section 2.5: the threshold of the L queue is 1 ms, the target of the C queue 15 ms.
    let (marked, dropped, delay_s) = outcome("tunnel = {}");
    assert!(marked > 100 && dropped == 0 && delay_s < 0.005, "{marked} {dropped} {delay_s}");
    let (marked, dropped, delay_s) = outcome(r#"tunnel = { ingress = "compatibility" }"#);
    assert!(marked == 0 && dropped > 5 && delay_s > 0.005, "{marked} {dropped} {delay_s}");
}

#[test]
fn an_egress_that_ignores_marks_lets_the_queue_fill() {
    let outcome = |egress: &str| {
        let link = format!(
            r#"queue = {{ kind = "step", limit = "200pkt", threshold = "20pkt" }}
            tunnel = {{ egress = "{egress}" }}"#
        );
        let flow = r#"rule = "DCTCP(0.0625)"
        tcp = { ecn = true, packet_size = 948 }"#;
        let result = one_flow(&link, flow);
        (result.links[0].clone(), result.flows[0].clone())
    };
    // With marks the queue stays about the threshold of 20 packets.
    let (link, flow) = outcome("rfc6040");
    assert!(link.dropped_packets == 0 && link.mean_queue_packets < 25.0, "{link:?}");
    // At most a window is on its way as the measuring window starts or ends.
    assert!(flow.marked_packets.abs_diff(link.marked_packets) < 75 && flow.ecn_reductions > 0);
    // Without, losses alone halve the window of at most 250 packets: the queue is between 75 and
    // 200, but for the recovery.
    let (link, flow) = outcome("ignores-outer");
    assert!(link.dropped_packets > 0 && link.mean_queue_packets > 75.0, "{link:?}");
    assert!(link.marked_packets > 1000, "{link:?}");
    assert_eq!((flow.marked_packets, flow.ecn_reductions), (0, 0));
}

/// Packets of 1000 bytes, 12 Mbit/s of them, for 10 s on a link of 10 Mbit/s.
fn overload(link: &str) -> RunResult {
    run(&format!(
        r#"
        duration = 10
        [[links]]
        name = "only"
        rate = "10Mbit"
        delay = "1ms"
        {link}
        [[cross]]
        rate = "12Mbit"
        packet_size = "1000B"
        path = ["only"]
        "#
    ))
}

#[test]
fn overhead_takes_its_share_of_the_link_and_of_a_buffer_in_bytes() {
    let outcome = |tunnel: &str| {
        let limit = r#"queue = { kind = "drop-tail", limit = "12500B" }"#;
        let result = overload(&format!("{limit}\n{tunnel}"));
        let link = &result.links[0];
        (link.total_departed_packets, link.queued_packets, result.cross[0].delivered_bps)
    };
    // 1 kB or 1.25 kB on the link: 1250 or 1000 packets a second, and 12 or 10 fit into the buffer,
    // or one less after a departure.
    let (departed, queued, bps) = outcome("");
    assert!(
        (12_498..=12_500).contains(&departed) && (11..=12).contains(&queued),
        "{departed} {queued}"
    );
    assert!((bps - 10e6).abs() < 10e3, "{bps}");
    let (departed, queued, bps) = outcome(r#"tunnel = { overhead = "250B" }"#);
    assert!(
        (9_998..=10_000).contains(&departed) && (9..=10).contains(&queued),
        "{departed} {queued}"
    );
    assert!((bps - 8e6).abs() < 10e3, "{bps}");
    // A queue that decides at departure.
    let codel = r#"queue = { kind = "codel", limit = "100pkt" }"#;
    let link = &overload(&format!("{codel}\ntunnel = {{ overhead = \"250B\" }}")).links[0];
    assert!((9_998..=10_000).contains(&link.total_departed_packets), "{link:?}");
}

#[test]
fn overhead_lowers_goodput_by_the_ratio_of_the_sizes() {
    // 100 packets in flight, 50 of which wait: the link is always busy. Headers of 52 bytes
    // (IPv4, TCP, timestamps).
    let goodput = |tunnel: &str| {
        let link = format!(
            r#"queue = {{ kind = "drop-tail", limit = "1000pkt" }}
        {tunnel}"#
        );
        let flow = r#"rule = "AIMD(1, 0.5)"
        tcp = { window = 100.0, packet_size = 948 }"#;
        one_flow(&link, flow).flows[0].goodput_bps
    };
    // A packet in 30 s is 256 bit/s.
    assert!((goodput("") - 10e6 * 948.0 / 1000.0).abs() < 1e3);
    let overhead = r#"tunnel = { overhead = "50B" }"#;
    assert!((goodput(overhead) - 10e6 * 948.0 / 1050.0).abs() < 1e3);
}
