//! Packets a round of the event loop: a station goes on by the least delay of a loop at once.

use cwndlab_scenario::Scenario;
use cwndlab_sim::{Options, Simulation};

const DURATION_S: f64 = 60.0;

/// Ten flows with access delays from 1 ms to 40 ms in each direction. `rate`: Mbit/s.
fn ten(profile: &str, delay: &str, rate: u32, queue: &str, more: &str, flows: &str) -> String {
    format!(
        r#"
        duration = "{DURATION_S}s"
        profile = "{profile}"
        [dumbbell]
        rate = "{rate}Mbit"
        delay = "{delay}"
        queue = {{ kind = "{queue}", limit = "1000pkt" }}
        access_rate = "1Gbit"
        access_delay = ["1ms", "40ms"]
        {more}
        [[flows]]
        count = 10
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
/// every 0.2 s, that of delayed ACKs every 0.1 s (0.04 s in Linux). A paced sender always has a
/// timer pending: its access delay alone is certain. Twice that is allowed: horizons are not
/// aligned.
#[test]
fn a_round_covers_the_least_delay_of_a_loop() {
    let aimd = "rule = \"AIMD(1, 0.5)\"\nrecovery = \"sack\"";
    let windows = |window: u32| format!("{aimd}\ntcp = {{ window = {window} }}");
    let (one, five) = (windows(1), windows(5));
    let delayed = format!("{aimd}\ntcp = {{ delayed_ack = true }}");
    let jitter = "jitter = { kind = \"uniform\", high = \"5ms\", reorder = true }";
    let (ns2, linux) = ("ns2-2.35", "linux");
    for (name, profile, delay, loop_s, rate, queue, more, flows, timers_hz) in [
        ("100 Mbit/s", ns2, "20ms", 0.042, 100, "drop-tail", "", aimd, 5.0),
        ("1 Mbit/s", ns2, "20ms", 0.042, 1, "drop-tail", "", aimd, 5.0),
        ("RED", ns2, "20ms", 0.042, 100, "red", "", aimd, 5.0),
        ("DRR", ns2, "20ms", 0.042, 100, "drr", "", aimd, 5.0),
        ("CoDel", ns2, "20ms", 0.042, 100, "codel", "", aimd, 5.0),
        ("windows of 1", ns2, "20ms", 0.042, 100, "drop-tail", "", &one, 5.0),
        ("windows of 5", ns2, "20ms", 0.042, 100, "drop-tail", "", &five, 5.0),
        ("a short loop", ns2, "1ms", 0.004, 100, "drop-tail", "", aimd, 5.0),
        ("a long loop", ns2, "300ms", 0.602, 100, "drop-tail", "", aimd, 5.0),
        ("jitter that reorders", ns2, "20ms", 0.042, 100, "drop-tail", jitter, aimd, 5.0),
        ("delayed ACKs", ns2, "20ms", 0.042, 100, "drop-tail", "", &delayed, 15.0),
        ("CUBIC", linux, "20ms", 0.042, 100, "drop-tail", "", "rule = \"CUBIC\"", 30.0),
        ("BBR1", linux, "20ms", 0.001, 100, "drop-tail", "", "rule = \"BBR1\"", 30.0),
    ] {
        let toml = ten(profile, delay, rate, queue, more, flows);
        let (packets, rounds) = packets_and_rounds(&toml, true);
        println!("{name}: {:.1} packets a round", packets as f64 / rounds as f64);
        let most = 2.0 * DURATION_S * (2.0 / loop_s + 10.0 * timers_hz);
        assert!((rounds as f64) < most, "{name}: {rounds} rounds, at most {most:.0} expected");
        let (same, items) = packets_and_rounds(&toml, false);
        assert_eq!(same, packets);
        assert!(items > packets, "{name}: {items} rounds of one instant for {packets} packets");
    }
}
