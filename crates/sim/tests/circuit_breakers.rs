//! Circuit breakers of a link (RFC 8084): persistent heavy loss triggers them, and congestion
//! control prevents that.

use cwndlab_scenario::Scenario;
use cwndlab_sim::Simulation;
use cwndlab_sim::results::LinkResult;

/// The link of 10 Mbit/s, and what crosses it, after 18 s.
fn link(of_link: &str, traffic: &str) -> LinkResult {
    let toml = format!(
        r#"
        duration = 18
        measure = [0, 18]
        profile = "rfc"
        [[links]]
        name = "only"
        rate = "10Mbit"
        delay = "20ms"
        {of_link}
        {traffic}
        "#
    );
    let scenario = Scenario::from_toml(&toml).unwrap_or_else(|error| panic!("{error}\n{toml}"));
    Simulation::new(&scenario).run().unwrap().links.remove(0)
}

/// Packets of 1000 bytes at a constant rate that reacts to nothing.
fn constant(rate: &str) -> String {
    format!(
        r#"[[cross]]
        rate = "{rate}"
        packet_size = "1000B"
        path = ["only"]"#
    )
}

const RENO: &str = r#"[[flows]]
        rule = "AIMD(1, 0.5)"
        path = ["only"]"#;
const BUFFER: &str = r#"queue = { kind = "drop-tail", limit = "25pkt" }"#;

/// 1500 packets arrive each second and 1250 leave: at least 225 of the 1500, 15 %, are lost in the
/// first second, as the buffer takes 25, and 250 in each other one.
#[test]
fn a_sender_that_does_not_react_trips_it_at_the_third_interval() {
    let tripped = |breaker: &str| {
        let link =
            link(&format!("{BUFFER}\ncircuit_breaker = {{ {breaker} }}"), &constant("12Mbit"));
        assert!(link.total_arrived_packets.abs_diff(27_000) <= 1, "{link:?}");
        (link.breaker_triggers, link.total_departed_packets)
    };
    // At 3 s for good. What waits then still leaves.
    let (triggers, departed) = tripped(r#"every = "1s""#);
    assert!(triggers == 1 && (3_749..=3_776).contains(&departed), "{triggers} {departed}");
    // At 3 s, 10 s and 17 s: three times three seconds.
    let (triggers, departed) = tripped(r#"every = "1s", pause = "4s""#);
    assert!(triggers == 3 && (11_247..=11_328).contains(&departed), "{triggers} {departed}");
    // At 2 s for good.
    let (triggers, departed) = tripped(r#"every = "1s", count = 2"#);
    assert!(triggers == 1 && (2_499..=2_526).contains(&departed), "{triggers} {departed}");
    // A sixth is lost, which is not a fifth.
    let (triggers, departed) = tripped(r#"every = "1s", loss = 0.2"#);
    assert!(triggers == 0 && (22_475..=22_500).contains(&departed), "{triggers} {departed}");
}

/// RFC 8084, section 4: congestion control reacts within round trips, the breaker after seconds.
#[test]
fn congestion_control_keeps_it_closed() {
    let breaker = r#"circuit_breaker = { every = "1s" }"#;
    let link = link(&format!("{BUFFER}\n{breaker}"), RENO);
    assert!(link.breaker_triggers == 0 && link.dropped_packets > 0, "{link:?}");
    assert!(link.utilization > 0.75, "{link:?}");
}

#[test]
fn losses_of_every_kind_count() {
    let breaker = r#"circuit_breaker = { every = "1s" }"#;
    let rate = "8Mbit";
    for cause in [
        // 30 % of 1000 packets a second, with a standard deviation of 1.5 %.
        r#"loss = [{ kind = "bernoulli", p = 0.3 }]"#,
        r#"loss = [{ kind = "bernoulli", p = 0.3, after_queue = true }]"#,
        r#"queue = { kind = "codel", limit = "1000pkt" }
        loss = [{ kind = "bernoulli", p = 0.3, after_queue = true }]"#,
        // 5 of 8 pass.
        r#"policer = { rate = "5Mbit", burst = "10kB" }"#,
        r#"queue = { kind = "fq-codel", limit = "1000pkt" }
        policer = { rate = "5Mbit", burst = "10kB" }"#,
    ] {
        let link = link(&format!("{cause}\n{breaker}"), &constant(rate));
        // 3000 packets arrived before it was triggered.
        assert!(link.breaker_triggers == 1 && link.total_departed_packets < 3_000, "{link:?}");
        assert!(link.total_departed_packets > 3 * 600, "{link:?}");
    }
    // A queue that drops at departure: of CoDel, from 12 Mbit/s.
    let codel = r#"queue = { kind = "codel", limit = "50pkt" }"#;
    let tripped = link(&format!("{codel}\n{breaker}"), &constant("12Mbit"));
    assert!(tripped.breaker_triggers == 1, "{tripped:?}");
    assert!((3_749..=3_801).contains(&tripped.total_departed_packets), "{tripped:?}");
}
