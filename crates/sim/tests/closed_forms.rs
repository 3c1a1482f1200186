//! The simulator against theory that can be worked by hand: the square-root law, sawtooths over drop-tail, conservation.

mod common;

use cwndlab_sim::Simulation;
use cwndlab_sim::results::RunResult;
use cwndlab_sim::scenario::Scenario;
use proptest::test_runner::{Config, RngSeed, TestRunner};

fn scenario(toml: &str) -> Scenario {
    Scenario::from_toml(toml).unwrap_or_else(|error| panic!("{error}\n{toml}"))
}

fn run(toml: &str) -> RunResult {
    Simulation::new(&scenario(toml)).run().unwrap()
}

/// Packets per round trip of one flow that loses packets as `loss` says, on a link that never queues: round trip 50 ms, `seconds` after a minute
/// of start-up.
fn packets_per_round_trip(rule: &str, loss: &str, seconds: u32) -> f64 {
    let result = run(&format!(
        r#"
        duration = "{end}s"
        measure = ["60s", "{end}s"]
        [dumbbell]
        rate = "100Gbit"
        delay = "25ms"
        queue = {{ kind = "drop-tail", limit = "unlimited" }}
        loss = [{loss}]
        [[flows]]
        rule = "{rule}"
        "#,
        end = 60 + seconds
    ));
    let flow = &result.flows[0];
    assert!(flow.timeouts * 100 <= flow.fast_retransmits, "the law is about fast retransmits: {flow:?}");
    flow.delivered_packets as f64 / f64::from(seconds) * flow.mean_rtt_s.unwrap()
}

/// Every `period`-th packet, from 20 000 on so that slow start is over... and one early to end it.
fn every(period: u64, packets: u64) -> String {
    let list: Vec<String> = (1..=packets / period).map(|n| (n * period).to_string()).collect();
    format!(r#"{{ kind = "list", packets = [{}] }}"#, list.join(", "))
}

#[test]
fn periodic_loss_gives_the_square_root_law() {
    // Between two losses 1/p packets are sent while the window climbs from bW to W, in (1 - b)W/a round trips of (1 + b)W/2 packets on average:
    // 1/p = (1 - b^2) W^2/(2a), and the mean (1 + b)W/2 = sqrt(a (1 + b)/(2 (1 - b) p)): sqrt(1.5/p) for AIMD(1, 0.5), Mathis et al. 1997.
    // Lower by half a packet (windows are sent in whole packets) and by the round trip of recovery in which the window stands still, of
    // the cycle's 8 to 98 round trips; so the tolerance is 4 % for long cycles and 9 % for the short one.
    for (rule, period, packets, law, tolerance) in [
        ("AIMD(1, 0.5)", 10_000, 1_500_000, 122.5, 0.04),
        ("AIMD(1, 0.5)", 1_000, 500_000, 38.7, 0.06),
        // a (1 + b)/(2 (1 - b)): 0.31 x 1.875/0.25 = 2.325, the "TCP-friendly" pair; 1.8/0.4 = 4.5.
        ("AIMD(0.31, 0.875)", 1_000, 500_000, 48.2, 0.06),
        ("AIMD(1, 0.8)", 1_000, 500_000, 67.1, 0.09),
    ] {
        let window = packets_per_round_trip(rule, &every(period, packets), (0.8 * packets as f64 / law * 0.05) as u32 - 60);
        println!("{rule} 1/{period}: {window} {law} {}", window / law);
        assert!((window / law - 1.0).abs() < tolerance, "{rule}, a loss every {period} packets: {window}, not {law}");
    }
}

#[test]
fn random_loss_gives_the_square_root_law() {
    for (rule, p, seconds, law) in [
        ("AIMD(1, 0.5)", 1e-4, 1200, 122.5),
        ("AIMD(1, 0.5)", 1e-3, 1200, 38.7),
        ("AIMD(1, 0.5)", 3e-3, 1200, 22.4),
        ("AIMD(0.31, 0.875)", 1e-3, 1200, 48.2),
        ("AIMD(1, 0.8)", 1e-3, 1200, 67.1),
    ] {
        let window = packets_per_round_trip(rule, &format!(r#"{{ kind = "bernoulli", p = {p} }}"#), seconds);
        println!("{rule} {p}: {window} {law} {}", window / law);
    }
}

/// One flow alone: 1000 packets a second leave the link (1040 bytes at 8.32 Mbit/s), `delay_ms` each way, acknowledgements undisturbed.
fn alone(rule: &str, delay_ms: u32, buffer: u32, seconds: u32) -> Scenario {
    scenario(&format!(
        r#"
        duration = "{seconds}s"
        measure = ["{from}s", "{seconds}s"]
        [dumbbell]
        rate = "8.32Mbit"
        delay = "{delay_ms}ms"
        queue = {{ kind = "drop-tail", limit = "{buffer}pkt" }}
        back_rate = "unlimited"
        [[flows]]
        rule = "{rule}"
        [tcp]
        timestamps = false
        [trace]
        cwnd = "all"
        "#,
        from = seconds / 3
    ))
}

/// A cycle of the sawtooth: how long it took in seconds and in round trips, its lowest and its highest window.
#[derive(Debug)]
struct Tooth {
    seconds: f64,
    round_trips: f64,
    low: f64,
    high: f64,
}

/// Mean cycle from cut to cut in the measuring window. `delay_s` is the round trip without queueing and transmission.
fn tooth(scenario: &Scenario, delay_s: f64) -> Tooth {
    let mut simulation = Simulation::new(scenario);
    let result = simulation.run().unwrap();
    let recording = simulation.recording();
    let rows = &recording.recorder.unwrap().windows;
    let (mut teeth, mut begun, mut round_trips) = (Vec::new(), None, 0.0);
    for pair in rows.windows(2) {
        let (before, after) = (pair[0], pair[1]);
        // A window of w packets goes round in the time that the link takes for them, or in the empty path's if that is longer.
        round_trips += (after.time_s - before.time_s) / (before.cwnd * 0.001).max(delay_s + 0.001);
        if after.cwnd < 0.95 * before.cwnd {
            if let Some((begin_s, low)) = begun.filter(|&(begin_s, _)| begin_s > result.measure_from_s) {
                teeth.push(Tooth { seconds: after.time_s - begin_s, round_trips, low, high: before.cwnd });
            }
            (begun, round_trips) = (Some((after.time_s, after.cwnd)), 0.0);
        }
    }
    let mean = |of: fn(&Tooth) -> f64| teeth.iter().map(of).sum::<f64>() / teeth.len() as f64;
    println!("{} teeth", teeth.len());
    Tooth { seconds: mean(|t| t.seconds), round_trips: mean(|t| t.round_trips), low: mean(|t| t.low), high: mean(|t| t.high) }
}

#[test]
fn a_sawtooth() {
    for (rule, delay, buffer, seconds) in [("AIMD(1, 0.5)", 25, 50, 200), ("AIMD(1, 0.5)", 25, 100, 200), ("MIMD(1.01, 0.8)", 25, 50, 100),("MIMD(1.01, 0.8)", 100, 200, 400), ("AIAD(0.5, 10)", 25, 50, 200), ("AIMD(1, 0.5)", 100, 40, 400)] {
        let s = alone(rule, delay, buffer, seconds);
        println!("{rule} {delay} {buffer} {:?} {}", tooth(&s, 0.002 * f64::from(delay)), Simulation::new(&s).run().unwrap().links[0].utilization);
    }
}
