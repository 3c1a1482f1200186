//! Every source of randomness has its own stream: what is added to a scenario changes no other
//! draw. And topologies deliver.

use cwndlab_scenario::Scenario;
use cwndlab_sim::Simulation;
use cwndlab_sim::results::RunResult;

/// Draws that a scenario makes by itself, whatever the network does to its packets.
#[derive(Debug, PartialEq)]
struct Draws {
    base_rtts: Vec<f64>,
    sent: u64,
    /// Begin and size of the finite flows of a group.
    arrivals: Vec<(u64, u64)>,
    lost: u64,
}

const NETWORK: &str = r#"
duration = "40s"
profile = "rfc"
seed = 7
[[links]]
name = "wide"
rate = "1Gbit"
delay = "2ms"
queue = { kind = "drop-tail", limit = "unlimited" }
[[links]]
name = "other"
rate = "100Mbit"
delay = "2ms"
LOSS
[[flows]]
name = "drawn"
rule = "AIMD(1, 0.5)"
count = 3
path = ["wide"]
access_delay = ["1ms", "20ms"]
tcp = { window = 10 }
[[cross]]
name = "bursts"
rate = "2Mbit"
on = { kind = "exponential", mean = 0.3 }
off = { kind = "pareto", mean = 0.2, shape = 1.5 }
path = ["wide"]
[[cross]]
name = "through"
rate = "1Mbit"
path = ["other"]
[[arrivals]]
name = "short"
rule = "AIMD(1, 0.5)"
gap = "50ms"
size = { kind = "log-normal", mean = 8, sigma = 1 }
path = ["wide"]
access_delay = ["1ms", "9ms"]
stop = "35s"
"#;

const LOSS: &str = r#"loss = [{ kind = "bernoulli", p = 0.1 }]"#;

fn draws(loss: &str, more: &str) -> Draws {
    let scenario = Scenario::from_toml(&(NETWORK.replace("LOSS", loss) + more)).unwrap();
    let mut simulation = Simulation::new(&scenario);
    let result = simulation.run().unwrap();
    let traces = simulation.traces();
    let (transfers, groups) = traces.transfers.unwrap();
    let group = groups.iter().position(|name| name == "short").unwrap() as u32;
    let mut arrivals: Vec<_> = transfers
        .iter()
        .filter(|t| t.group == group)
        .map(|t| (t.start_s.to_bits(), t.packets))
        .collect();
    arrivals.sort_unstable();
    Draws {
        base_rtts: result
            .flows
            .iter()
            .filter(|flow| flow.identity.group() == "drawn")
            .map(|flow| flow.base_rtt_s)
            .collect(),
        sent: result.cross.iter().find(|cross| cross.source == "bursts").unwrap().sent_packets,
        arrivals,
        lost: result.cross.iter().find(|cross| cross.source == "through").unwrap().dropped_packets,
    }
}

#[test]
fn additions_leave_other_draws_unchanged() {
    let alone = draws(LOSS, "");
    // 40 s of 125 packets a second, a tenth lost: 500, and 21 is a standard deviation. 700 flows
    // arrive, deviation 26.
    assert!(
        alone.lost.abs_diff(500) < 84 && alone.arrivals.len().abs_diff(700) < 106 && alone.sent > 0,
        "{alone:?}"
    );
    let source = "[[cross]]\nname = \"new\"\nrate = \"3Mbit\"\ncount = 2\non = { kind = \
     \"exponential\", mean = 0.1 }\noff = 0.1\npath = [\"wide\"]\nstart = [0, 1]\n";
    let group = "[[arrivals]]\nname = \"new\"\nrule = \"AIMD(1, 0.5)\"\ngap = \"20ms\"\nsize = { \
     kind = \"exponential\", mean = 4 }\npath = [\"wide\"]\naccess_delay = [\"1ms\", \"9ms\"]\n";
    let flows = "[[flows]]\nname = \"new\"\nrule = \"AIMD(1, 0.5)\"\npath = \
     [\"wide\"]\naccess_delay = [\"1ms\", \"20ms\"]\nresponses = { size = { kind = \
     \"exponential\", mean = 9 }, think = 0.1 }\n";
    let link = "[[links]]\nname = \"new\"\nrate = \"5Mbit\"\ndelay = \"1ms\"\nqueue = { kind = \
     \"red\" }\nloss = [{ kind = \"bernoulli\", p = 0.2 }]\njitter = { kind = \"exponential\", \
     mean = \"1ms\" }\n[[cross]]\nname = \"new\"\nrate = \"8Mbit\"\npath = [\"new\"]\n";
    for more in [source, group, flows, link] {
        assert_eq!(draws(LOSS, more), alone, "{more}");
    }
    // Losses elsewhere change nothing but themselves.
    assert_eq!(draws("", ""), Draws { lost: 0, ..alone });
}

fn run(toml: &str) -> RunResult {
    Simulation::new(&Scenario::from_toml(toml).unwrap_or_else(|error| panic!("{error}\n{toml}")))
        .run()
        .unwrap()
}

#[test]
fn a_transfer_takes_the_shortest_paths() {
    // A ring a-b-c-d of 1, 1, 1 and 5 ms: from a to d over b and c. 50 packets and the SYN there,
    // as many acknowledgements back.
    let mut toml = "duration = \"10s\"\nprofile = \"rfc\"\n".to_string();
    for (from, to, ms) in [("a", "b", 1), ("b", "c", 1), ("c", "d", 1), ("d", "a", 5)] {
        toml += &format!(
            "[[links]]\nfrom = \"{from}\"\nto = \"{to}\"\nduplex = true\nrate = \"10Mbit\"\ndelay \
             = \"{ms}ms\"\nqueue = {{ kind = \"fq-codel\", limit = \"100pkt\" }}\n"
        );
    }
    let result =
        run(&(toml
            + "[[flows]]\nrule = \"AIMD(1, 0.5)\"\npackets = 50\nfrom = \"a\"\nto = \"d\"\n"));
    let flow = &result.flows[0];
    assert_eq!(
        (flow.delivered_packets, flow.total_delivered_packets, flow.base_rtt_s),
        (50, 51, 0.006)
    );
    assert!(flow.finish_s.is_some());
    let arrived: Vec<(&str, u64)> =
        result.links.iter().map(|link| (link.link.as_str(), link.total_arrived_packets)).collect();
    assert_eq!(
        arrived,
        [
            ("a-b", 51),
            ("b-a", 51),
            ("b-c", 51),
            ("c-b", 51),
            ("c-d", 51),
            ("d-c", 51),
            ("d-a", 0),
            ("a-d", 0)
        ]
    );
}

#[test]
fn data_in_both_directions_fills_both() {
    let result = run(r#"
        duration = "60s"
        profile = "rfc"
        measure = ["10s", "60s"]
        [dumbbell]
        rate = "10Mbit"
        delay = "10ms"
        queue = { kind = "drr", limit = "100pkt" }
        [[flows]]
        name = "there"
        rule = "AIMD(1, 0.5)"
        count = 3
        [[flows]]
        name = "back"
        rule = "AIMD(1, 0.5)"
        count = 3
        reverse = true
    "#);
    assert!(result.links.iter().all(|link| link.utilization > 0.97), "{:?}", result.links);
    // Acknowledgements take 64 bytes for each 1052: what is left for data is the same both ways.
    let sum = |group: &str| {
        result
            .flows
            .iter()
            .filter(|flow| flow.identity.group() == group)
            .map(|flow| flow.goodput_bps)
            .sum::<f64>()
    };
    assert!(
        (sum("there") / sum("back") - 1.0).abs() < 0.02 && sum("back") > 8.3e6,
        "{} {}",
        sum("there"),
        sum("back")
    );
}

#[test]
fn a_source_population_leaves_the_available_rate() {
    // Beside 4 flows on 10 Mbit/s: 8 Mbit/s are left by 4 (10 - 8)/8 = 1 source, 2 by 16, 5 by 4.
    // They send faster than their share, but at most four times as fast: of 16 sources the last
    // four have 40/17, 40/18, 40/19, 40/20 Mbit/s, so that half the time 38.68 Mbit/s are sent.
    for (available, offered, left) in [
        ("\"5Mbit\"", 10e6, 5e6),
        (
            r#"{ kind = "square", high = "8Mbit", low = "2Mbit", every = "20s" }"#,
            (38.68e6 + 2.5e6) / 2.0,
            5e6,
        ),
    ] {
        let result = run(&format!(
            r#"
            duration = "140s"
            profile = "rfc"
            measure = ["20s", "140s"]
            [dumbbell]
            rate = "10Mbit"
            delay = "10ms"
            queue = {{ kind = "drr", limit = "200pkt" }}
            [[flows]]
            rule = "AIMD(1, 0.5)"
            count = 4
            [[cross]]
            available = {available}
            source_rate = "2.5Mbit"
            "#
        ));
        assert!((result.cross[0].offered_bps / offered - 1.0).abs() < 0.01, "{:?}", result.cross);
        // Payload is 1000 of 1052 bytes.
        let wire_bps = result.fairness.aggregate_goodput_bps * 1.052;
        assert!((wire_bps / left - 1.0).abs() < 0.05, "{wire_bps}");
        assert!(
            (result.links[0].left_bps / left - 1.0).abs() < 0.05
                && (result.links[0].available_bps / left - 1.0).abs() < 1e-9
        );
    }
}

#[test]
fn sources_that_start_together_are_desynchronised() {
    // 20 sources of 1 % of the link each, from 0 on: in step they would find 9.5 others in front of
    // them on average, 7.6 ms; each at its own phase they seldom meet, a few hundredths of a
    // millisecond.
    let result = run(r#"
        duration = "10s"
        profile = "rfc"
        [dumbbell]
        rate = "10Mbit"
        delay = "1ms"
        [[cross]]
        available = "6Mbit"
        source_rate = "100kbit"
        beside = 30
    "#);
    assert!((result.cross[0].sent_packets as i64 - 2500).abs() < 21, "{:?}", result.cross);
    assert!(result.links[0].mean_queueing_delay_s.unwrap() < 0.2e-3, "{:?}", result.links[0]);
}
