//! Routers and links, end to end, against what can be worked out by hand.

use cwndlab_scenario::Scenario;
use cwndlab_sim::results::RunResult;
use cwndlab_sim::{PacketEvent, Simulation};
use std::collections::BTreeMap;

fn run(toml: &str) -> RunResult {
    Simulation::new(&Scenario::from_toml(toml).unwrap_or_else(|error| panic!("{error}\n{toml}")))
        .run()
        .unwrap()
}

/// `found` is `expected` within this part of it.
fn assert_near(found: f64, expected: f64, part: f64) {
    assert!((found / expected - 1.0).abs() <= part, "{found} is not {expected} within {part}");
}

/// Two sources, (rate in Mbit/s, rest of the table) each, over 8 Mbit/s.
fn two_sources(queue: &str, sources: [(u32, &str); 2]) -> RunResult {
    let [(a, a_rest), (b, b_rest)] = sources;
    run(&format!(
        r#"
        duration = "21s"
        profile = "rfc"
        measure = ["1s", "21s"]
        [dumbbell]
        rate = "8Mbit"
        delay = "1ms"
        queue = {queue}
        [[cross]]
        name = "a"
        rate = "{a}Mbit"
        {a_rest}
        [[cross]]
        name = "b"
        rate = "{b}Mbit"
        {b_rest}
        "#
    ))
}

#[test]
fn deficit_round_robin_shares_bytes_whatever_packets_and_rates() {
    for queue in [
        r#"{ kind = "drr", limit = "100pkt" }"#,
        r#"{ kind = "drr", limit = "60kB", quantum = 500 }"#,
        r#"{ kind = "sfq", limit = "100pkt" }"#,
        r#"{ kind = "fq-codel", limit = "100pkt" }"#,
        r#"{ kind = "fq", limit = "100pkt", flow_limit = "40pkt" }"#,
    ] {
        let result = two_sources(queue, [(6, "packet_size = 300"), (20, "packet_size = 1500")]);
        assert_near(result.cross[0].delivered_bps, 4e6, 0.005);
        assert_near(result.cross[1].delivered_bps, 4e6, 0.005);
        // Who asks for less than its share gets it whole, and leaves the rest.
        let result = two_sources(queue, [(1, "packet_size = 300"), (20, "packet_size = 1500")]);
        assert_eq!(result.cross[0].dropped_packets, 0);
        assert_near(result.cross[0].delivered_bps, 1e6, 0.001);
        assert_near(result.cross[1].delivered_bps, 7e6, 0.001);
    }
}

#[test]
fn a_queue_that_holds_packets_back_leaves_the_link_idle() {
    // No flow exceeds 2 Mbit/s, whatever the link could carry; half of it stays idle.
    let queue = r#"{ kind = "fq", limit = "100pkt", flow_limit = "40pkt", max_rate = "2Mbit" }"#;
    let result = two_sources(queue, [(1, "packet_size = 300"), (20, "packet_size = 1500")]);
    assert_near(result.cross[0].delivered_bps, 1e6, 0.001);
    assert_near(result.cross[1].delivered_bps, 2e6, 0.001);
    assert_near(result.links[0].utilization, 3.0 / 8.0, 0.001);
    // At 6 Mbit/s, packets of 1000 bytes with 40 of overhead are 22 cells of ATM, 1166 bytes.
    let queue = concat!(
        r#"{ kind = "cake", limit = "100pkt", bandwidth = "6Mbit", "#,
        r#"overhead = 40, framing = "atm" }"#,
    );
    let result = two_sources(queue, [(20, ""), (20, "")]);
    let sum = result.cross[0].delivered_bps + result.cross[1].delivered_bps;
    assert_near(sum, 6e6 * 1000.0 / 1166.0, 0.001);
}

/// Two TCP sources in one host against one in another, and all of them as flows alone.
#[test]
fn hosts_are_the_nodes_between_which_flows_send() {
    let shares = |isolation: &str| {
        let result = run(&format!(
            r#"
            duration = "60s"
            measure = ["20s", "60s"]
            profile = "rfc"
            links = [
                {{ from = "busy", to = "router", rate = "1Gbit", delay = "1ms", duplex = true }},
                {{ from = "quiet", to = "router", rate = "1Gbit", delay = "1ms", duplex = true }},
                {{ from = "router", to = "net", rate = "8Mbit", delay = "10ms", duplex = true,
                  queue = {{ kind = "cake", limit = "200pkt", flow_isolation = "{isolation}" }} }},
            ]
            [[flows]]
            name = "busy"
            count = 3
            rule = "AIMD(1, 0.5)"
            from = "busy"
            to = "net"
            start = ["0s", "1s"]
            [[flows]]
            name = "quiet"
            rule = "AIMD(1, 0.5)"
            from = "quiet"
            to = "net"
            "#
        ));
        let goodput: Vec<f64> = result.flows.iter().map(|flow| flow.goodput_bps).collect();
        goodput[3] / goodput.iter().sum::<f64>()
    };
    assert_near(shares("dual-srchost"), 1.0 / 2.0, 0.05);
    assert_near(shares("flows"), 1.0 / 4.0, 0.05);
    // All have one destination, which so counts four flows for each.
    assert_near(shares("dual-dsthost"), 1.0 / 4.0, 0.05);
    assert_near(shares("triple-isolate"), 1.0 / 4.0, 0.05);
}

#[test]
fn fair_queues_share_equally_whatever_the_round_trips() {
    // Round trips of 10 and 100 ms. By the window alone the near flow gets many times as much
    // (goodput by 1/RTT to 1/RTT^2; Floyd and Jacobson 1992).
    let near_share = |queue: &str| {
        let result = run(&format!(
            r#"
            duration = "100s"
            measure = ["20s", "100s"]
            profile = "rfc"
            [dumbbell]
            rate = "8Mbit"
            delay = "5ms"
            queue = {queue}
            [[flows]]
            count = 2
            rule = "AIMD(1, 0.5)"
            access_delay = {{ each = ["0ms", "45ms"] }}
            "#
        ));
        let goodput: Vec<f64> = result.flows.iter().map(|flow| flow.goodput_bps).collect();
        goodput[0] / (goodput[0] + goodput[1])
    };
    assert!(near_share(r#"{ kind = "drop-tail", limit = "20pkt" }"#) > 0.75);
    for kind in ["sfq", "fq"] {
        let share = near_share(&format!(r#"{{ kind = "{kind}", limit = "400pkt" }}"#));
        assert_near(share, 1.0 / 2.0, 0.01);
    }
}

#[test]
fn acks_are_lost_from_a_time_on() {
    let back = |from: u32| {
        let result = run(&format!(
            r#"
            duration = "20s"
            measure = ["{from}s", "{}s"]
            profile = "rfc"
            [dumbbell]
            rate = "8Mbit"
            delay = "10ms"
            back_loss = [{{ kind = "bernoulli", p = 0.5, from = "10s" }}]
            [[flows]]
            rule = "AIMD(1, 0.5)"
            "#,
            from + 10
        ));
        let link = &result.links[1];
        (link.dropped_packets, link.dropped_packets as f64 / link.arrived_packets as f64)
    };
    assert_eq!(back(0).0, 0);
    // A half of 9,500 ACKs, within 4 sqrt(0.25 / 9,500) = 0.02.
    assert!((back(10).1 - 0.5).abs() < 0.02, "{:?}", back(10));
}

#[test]
fn strict_priority_leaves_the_lower_class_the_rest() {
    let queue = r#"{ kind = "priority", limit = "50pkt" }"#;
    let result = two_sources(queue, [(6, "priority = 0"), (8, "priority = 1")]);
    assert_eq!(result.cross[0].dropped_packets, 0);
    assert_near(result.cross[0].delivered_bps, 6e6, 0.001);
    assert_near(result.cross[1].delivered_bps, 2e6, 0.001);
    // More than the link carries, since before the window began: nothing is left.
    let result = two_sources(queue, [(10, "priority = 0"), (8, "priority = 1")]);
    assert_near(result.cross[0].delivered_bps, 8e6, 0.001);
    assert_eq!(result.cross[1].delivered_packets, 0);
}

#[test]
fn rio_keeps_packets_in_profile() {
    // 3 of 8 Mbit/s in profile, 16 out of it. The averages: out-packets fill the queue to between
    // 10 and 30; never are 40 in-packets there.
    let queue = concat!(
        r#"{ kind = "rio", limit = "200pkt", min = "10pkt", max = "30pkt", "#,
        r#"in_min = "40pkt", in_max = "80pkt" }"#,
    );
    let result = two_sources(queue, [(3, "priority = 0"), (16, "priority = 1")]);
    assert_eq!(result.cross[0].dropped_packets, 0);
    assert_near(result.cross[0].delivered_bps, 3e6, 0.003);
    assert_near(result.cross[1].delivered_bps, 5e6, 0.003);
}

#[test]
fn losses_in_bursts_have_their_rate() {
    // A share 0.01/(0.01 + 0.1) = 1/11 of packets, in runs of 10. Of 100,000: states go together
    // with 0.89 from packet to packet, so the variance of the share is
    // (1/11)(10/11)(1.89/0.11)/1e5: 0.00377. After the queue only what it lets pass is at risk: 8
    // of 16 Mbit/s.
    for (rate, after_queue, transmitted) in [(7, false, 1.0), (16, true, 0.5)] {
        let result = run(&format!(
            r#"
            duration = "100s"
            profile = "rfc"
            [dumbbell]
            rate = "8Mbit"
            delay = "1ms"
            queue = {{ kind = "drop-tail", limit = "20pkt" }}
            [[dumbbell.loss]]
            kind = "gilbert-elliott"
            to_bad = 0.01
            to_good = 0.1
            after_queue = {after_queue}
            [[cross]]
            rate = "{rate}Mbit"
            "#
        ));
        let [sent, delivered] =
            [result.cross[0].sent_packets, result.cross[0].delivered_packets].map(|n| n as f64);
        assert!(
            (1.0 - delivered / (transmitted * sent) - 1.0 / 11.0).abs() < 4.0 * 0.00377,
            "{delivered} of {sent}"
        );
    }
}

#[test]
fn an_outage_stops_delivery_and_nothing_else() {
    // A packet every 10 ms from 10 ms on, each 1 ms on the link and 10 ms on the way; the link is
    // down from 2 s to 3 s. 100 arrive meanwhile (at 2.00 to 2.99 s): they wait and leave within
    // 100 ms from 3 s on, or they are lost.
    for (arrivals, delivered) in [("wait", 500), ("lost", 400)] {
        let toml = format!(
            r#"
            duration = "5.0205s"
            profile = "rfc"
            trace = {{ rate = "50ms" }}
            [dumbbell]
            rate = "8Mbit"
            delay = "10ms"
            queue = {{ kind = "drop-tail", limit = "200pkt" }}
            outages = [{{ from = "2s", to = "3s", arrivals = "{arrivals}" }}]
            [[cross]]
            rate = "800kbit"
            stop = "5.005s"
            "#
        );
        let scenario = Scenario::from_toml(&toml).unwrap();
        let mut simulation = Simulation::new(&scenario);
        let result = simulation.run().unwrap();
        let cross = &result.cross[0];
        assert!(
            cross.delivered_packets.abs_diff(delivered) <= 1
                && cross.delivered_packets + cross.dropped_packets == 500,
            "{cross:?}"
        );
        let traces = simulation.traces();
        let bins: Vec<u64> =
            traces.recorder.unwrap().carried[0].iter().map(|bits| bits / 8000).collect();
        // In bins of 50 ms: the last before is delivered at 2.001 s, the first after at 3.011 s or,
        // where those that waited are lost, 3.021 s.
        assert!(bins[40] <= 2 && bins[41..60].iter().all(|&packets| packets == 0), "{bins:?}");
        assert_eq!(bins[60] > 35, arrivals == "wait", "{bins:?}");
        // 5 s of 5.0205.
        assert_near(result.links[0].rate_bps, 8e6 * 4.0205 / 5.0205, 1e-9);
    }
}

#[test]
fn a_permanent_outage_keeps_counters_consistent() {
    // 1000 packets a second from 1 ms on and a link that carries 500: it is down from 1 s to the
    // end. With room for 10 there are 10 from some 20 ms on: 9 wait, and one is, or would be, in
    // service.
    for kind in ["drop-tail", "priority"] {
        let result = run(&format!(
            r#"
            duration = "10s"
            profile = "rfc"
            [dumbbell]
            rate = "4Mbit"
            delay = "10ms"
            queue = {{ kind = "{kind}", limit = "10pkt" }}
            outages = [{{ from = "1s", to = "20s" }}]
            [[cross]]
            rate = "8Mbit"
            "#
        ));
        let link = &result.links[0];
        let waiting = if kind == "priority" { 10.0 } else { 9.0 };
        assert_near(link.mean_queue_packets, waiting, 0.01);
        // 2 ms for each in front; what the outage keeps has no waiting time.
        assert!(link.mean_queueing_delay_s.unwrap() < 0.0021 * waiting, "{link:?}");
        assert!(link.total_departed_packets.abs_diff(500) <= 1, "{link:?}");
    }
}

/// Mean round trip of a flow of so many packets at a time, and whether its packets arrived in
/// order.
fn with_jitter(jitter: &str, window: u32) -> (f64, bool) {
    let toml = format!(
        r#"
        duration = "100s"
        profile = "rfc"
        trace = {{ packets = true }}
        [dumbbell]
        rate = "100Mbit"
        delay = "20ms"
        back_rate = "unlimited"
        {jitter}
        [[flows]]
        rule = "AIMD(1, 0.5)"
        tcp = {{ window = {window}, syn = false, initial_window = {window} }}
        "#
    );
    let scenario = Scenario::from_toml(&toml).unwrap();
    let mut simulation = Simulation::new(&scenario);
    let result = simulation.run().unwrap();
    let traces = simulation.traces();
    let rows = traces
        .recorder
        .unwrap()
        .packets
        .iter()
        .filter(|row| row.event == PacketEvent::Receive && !row.retransmission);
    let mut received: Vec<(f64, i64)> = rows.map(|row| (row.time_s, row.number)).collect();
    received.sort_by(|a, b| a.0.total_cmp(&b.0));
    (result.flows[0].mean_rtt_s.unwrap(), received.is_sorted_by_key(|row| row.1))
}

#[test]
fn jitter_adds_its_mean_and_reorders_only_where_it_may() {
    let (plain_s, _) = with_jitter("", 1);
    // One at a time: 2000 round trips or more; uniform within 10 ms deviates by 2.9 ms, its mean by
    // 0.065 ms.
    let (one_s, in_order) = with_jitter(r#"jitter = { kind = "uniform", high = "10ms" }"#, 1);
    assert!((one_s - plain_s - 0.005).abs() < 4.0 * 0.065e-3 && in_order, "{one_s}");
    // 8 at once, as close as 0.08 ms: nearly every round some overtake, and none where they may
    // not.
    assert!(!with_jitter(r#"jitter = { kind = "uniform", high = "10ms", reorder = true }"#, 8).1);
    let (held_s, in_order) = with_jitter(r#"jitter = { kind = "uniform", high = "10ms" }"#, 8);
    // The first of a clump is late by 5 ms on average, and those behind it are no earlier: between
    // that and the 10 ms that jitter may add.
    assert!(in_order && (5.3e-3..9e-3).contains(&(held_s - plain_s)), "{held_s}");
}

#[test]
fn steps_change_the_delay_and_packets_of_a_shorter_path_wait_or_overtake() {
    // One at a time: 40 ms and the time of a packet for 50 s, then 100 ms. Round trips are counted,
    // not time: 1250 of 40 ms and 500 of 100 ms.
    let (plain_s, _) = with_jitter("", 1);
    let (mean_s, in_order) =
        with_jitter(r#"jitter = { kind = "steps", points = [["50s", "60ms"]] }"#, 1);
    let expected_s = plain_s + 0.06 * 50.0 / 0.1001 / (50.0 / 0.0401 + 50.0 / 0.1001);
    assert!((mean_s - expected_s).abs() < 2e-4 && in_order, "{mean_s} {expected_s}");
    // Back to the shorter path: eight packets at once, the last of which may be on the shorter one.
    let back = r#"kind = "steps", points = [["0s", "60ms"], ["50.00371s", "0ms"]]"#;
    assert!(with_jitter(&format!("jitter = {{ {back} }}"), 2000).1);
    assert!(!with_jitter(&format!("jitter = {{ {back}, reorder = true }}"), 2000).1);
}

#[test]
fn ecn_marks_reach_ecn_capable_senders_only() {
    for queue in [
        "\"red\", ecn = true",
        "\"codel\", ecn = true",
        "\"fq-codel\", ecn = true",
        "\"pie\", ecn = true",
        "\"step\", threshold = \"20pkt\"",
    ] {
        let result = run(&format!(
            r#"
            duration = "30s"
            profile = "rfc"
            [[links]]
            name = "first"
            rate = "5Mbit"
            delay = "10ms"
            queue = {{ limit = "300pkt", kind = {queue} }}
            [[links]]
            name = "second"
            rate = "6Mbit"
            delay = "10ms"
            [[flows]]
            name = "new"
            rule = "AIMD(1, 0.5)"
            path = ["first", "second"]
            tcp = {{ ecn = true }}
            [[flows]]
            name = "old"
            rule = "AIMD(1, 0.5)"
            path = ["first", "second"]
            "#
        ));
        let [new, old] = &result.flows[..] else { panic!() };
        assert!(new.ecn_reductions > 5 && old.ecn_reductions == 0, "{queue}: {new:?} {old:?}");
        assert!(old.dropped_packets > 5, "{queue}: {old:?}");
        assert!(
            result.links[0].marked_packets >= new.ecn_reductions
                && result.links[1].marked_packets == 0,
            "{queue}"
        );
    }
}

#[test]
fn listed_marks_count_whatever_the_queue() {
    for kind in ["drop-tail", "red", "drr"] {
        let result = run(&format!(
            r#"
            duration = "10s"
            profile = "rfc"
            [dumbbell]
            rate = "1Mbit"
            delay = "10ms"
            queue = {{ kind = "{kind}", limit = "100pkt" }}
            loss = [{{ kind = "marks", packets = [5, 50, 100] }}]
            [[flows]]
            rule = "AIMD(1, 0.5)"
            tcp = {{ ecn = true }}
            "#
        ));
        assert_eq!(
            (result.links[0].marked_packets, result.flows[0].ecn_reductions),
            (3, 3),
            "{kind}"
        );
    }
}

fn with_file(toml: &str, recording: &str) -> RunResult {
    let files = BTreeMap::from([("link".to_string(), recording.to_string())]);
    Simulation::new(&Scenario::from_toml_with(toml, &files).unwrap()).run().unwrap()
}

#[test]
fn a_saturated_trace_uses_every_opportunity() {
    // Four in 7 ms, at 1, 3, 3 and 7. The first packet is there at 0.12 ms, so all of them until
    // 0.7005 s serve: 400 packets of 1500 bytes, or 800 of 750.
    for (size, expected) in [(1500, 400), (750, 800)] {
        for queue in ["drop-tail", "drr"] {
            let result = with_file(
                &format!(
                    r#"
                    duration = "700.5ms"
                    profile = "rfc"
                    [dumbbell]
                    rate = {{ kind = "trace", file = "link" }}
                    delay = 0
                    queue = {{ kind = "{queue}", limit = "100pkt" }}
                    [[cross]]
                    rate = "100Mbit"
                    packet_size = {size}
                    "#
                ),
                "1\n3\n3\n7\n",
            );
            assert_eq!(result.cross[0].delivered_packets, expected, "{queue}, {size} bytes");
            assert_near(result.links[0].utilization, 1.0, 0.002);
        }
    }
}

#[test]
fn packets_that_share_an_opportunity_stay_in_order() {
    // They leave at one moment, having begun at different ones; rounding must not turn them round
    // on the next link.
    for delay in ["13ms", "7.3ms", "0.37ms", "1.1ms"] {
        let toml = format!(
            r#"
            duration = "20s"
            profile = "rfc"
            [[links]]
            name = "recorded"
            rate = {{ kind = "trace", file = "link" }}
            delay = "{delay}"
            queue = {{ kind = "drop-tail", limit = "200pkt" }}
            [[links]]
            name = "next"
            rate = "100Mbit"
            delay = "1ms"
            queue = {{ kind = "drop-tail", limit = "unlimited" }}
            [[cross]]
            rate = "1.313Mbit"
            packet_size = 50
            path = ["recorded", "next"]
            [[flows]]
            rule = "AIMD(1, 0.5)"
            path = ["next"]
            tcp = {{ window = 20 }}
            "#
        );
        let cross = with_file(&toml, "1\n").cross.swap_remove(0);
        // A tick and two transmissions after the last was sent.
        assert!(cross.sent_packets - cross.delivered_packets < 60, "{cross:?}");
    }
}
