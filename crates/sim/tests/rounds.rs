//! Packets a round of the event loop: a station goes on by the least delay of a loop at once.

use cwndlab_scenario::Scenario;
use cwndlab_sim::{Options, Simulation};

const DURATION_S: f64 = 60.0;

/// Ten flows with access delays from 1 ms to 40 ms in each direction.
fn ten(delay: &str, bottleneck: &str, flows: &str) -> String {
    format!(
        r#"
        duration = "{DURATION_S}s"
        profile = "ns2-2.35"
        [dumbbell]
        delay = "{delay}"
        access_rate = "1Gbit"
        access_delay = ["1ms", "40ms"]
        {bottleneck}
        [[flows]]
        count = 10
        rule = "AIMD(1, 0.5)"
        recovery = "sack"
        start = ["0s", "1s"]
        {flows}
    "#
    )
}

/// Data packets delivered, and rounds.
fn packets_and_rounds(toml: &str, look_ahead: bool) -> (u64, u64) {
    let scenario = Scenario::from_toml(toml).unwrap();
    let mut simulation = Simulation::with(&scenario, Options { look_ahead });
    simulation.run().unwrap();
    (simulation.progress().1, simulation.rounds())
}

/// A loop has the bottleneck and its own access links in both directions, so that the bottleneck
/// goes on by twice its delay and the least access delay at once, in two rounds if the packets of
/// one are too many. A timer brings a round as well: the retransmission timer of a flow at most
/// every 0.2 s, that of delayed ACKs every 0.1 s. Twice that is allowed: horizons are not aligned.
#[test]
fn a_round_covers_the_least_delay_of_a_loop() {
    let fast = "rate = \"100Mbit\"\nqueue = { kind = \"drop-tail\", limit = \"100pkt\" }";
    let red = "rate = \"100Mbit\"\nqueue = { kind = \"red\", limit = \"1000pkt\" }";
    let drr = "rate = \"100Mbit\"\nqueue = { kind = \"drr\", limit = \"1000pkt\" }";
    let codel = "rate = \"100Mbit\"\nqueue = { kind = \"codel\", limit = \"1000pkt\" }";
    let slow = "rate = \"1Mbit\"\nqueue = { kind = \"drop-tail\", limit = \"100pkt\" }";
    let jitter = "jitter = { kind = \"uniform\", high = \"5ms\", reorder = true }\nrate = \"100Mbit\"\nqueue = { kind = \"drop-tail\", limit = \"100pkt\" }";
    for (name, delay, loop_s, bottleneck, flows, timers_hz) in [
        ("100 Mbit/s", "20ms", 0.042, fast, "", 5.0),
        ("1 Mbit/s", "20ms", 0.042, slow, "", 5.0),
        ("RED", "20ms", 0.042, red, "", 5.0),
        ("DRR", "20ms", 0.042, drr, "", 5.0),
        ("CoDel", "20ms", 0.042, codel, "", 5.0),
        ("windows of 1", "20ms", 0.042, fast, "tcp = { window = 1 }", 5.0),
        ("windows of 5", "20ms", 0.042, fast, "tcp = { window = 5 }", 5.0),
        ("a short loop", "1ms", 0.004, fast, "", 5.0),
        ("a long loop", "300ms", 0.602, fast, "", 5.0),
        ("jitter that reorders", "20ms", 0.042, jitter, "", 5.0),
        ("delayed ACKs", "20ms", 0.042, fast, "tcp = { delayed_ack = true }", 15.0),
    ] {
        let toml = ten(delay, bottleneck, flows);
        let (packets, rounds) = packets_and_rounds(&toml, true);
        println!("{name}: {:.1} packets a round", packets as f64 / rounds as f64);
        let most = 2.0 * DURATION_S * (2.0 / loop_s + 10.0 * timers_hz);
        assert!((rounds as f64) < most, "{name}: {rounds} rounds, at most {most:.0} expected");
        let (same, items) = packets_and_rounds(&toml, false);
        assert_eq!(same, packets);
        assert!(items > packets, "{name}: {items} rounds of one item for {packets} packets");
    }
}
