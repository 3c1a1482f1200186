//! The simulator against theory that can be worked by hand: the square-root law, sawtooths over
//! drop-tail, conservation.

use cwndlab_scenario::{CheckedScenario, Scenario};
use cwndlab_sim::Simulation;
use cwndlab_sim::results::RunResult;

fn scenario(toml: &str) -> CheckedScenario {
    Scenario::from_toml(toml).unwrap_or_else(|error| panic!("{error}\n{toml}"))
}

fn run(toml: &str) -> RunResult {
    Simulation::new(&scenario(toml)).run().unwrap()
}

/// Packets per round trip of one flow that loses packets as `loss` says, on a link that never
/// queues: round trip 50 ms, `seconds` after a minute of start-up.
fn packets_per_round_trip(rule: &str, loss: &str, seconds: u32) -> f64 {
    let result = run(&format!(
        r#"
        duration = "{end}s"
        profile = "rfc"
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
    assert!(
        flow.timeouts * 100 <= flow.fast_retransmits,
        "the law is about fast retransmits: {flow:?}"
    );
    flow.delivered_packets as f64 / f64::from(seconds) * flow.mean_rtt_s.unwrap()
}

/// Every `period`-th of so many packets.
fn every(period: u64, packets: u64) -> String {
    let list: Vec<String> = (1..=packets / period).map(|n| (n * period).to_string()).collect();
    format!(r#"{{ kind = "list", packets = [{}] }}"#, list.join(", "))
}

#[test]
fn periodic_loss_gives_the_square_root_law() {
    // Between two losses 1/p packets are sent while the window climbs from bW to W, in (1 - b)W/a
    // round trips of (1 + b)W/2 packets on average: 1/p = (1 - b^2) W^2/(2a), and the mean (1 +
    // b)W/2 = sqrt(a (1 + b)/(2 (1 - b) p)): sqrt(1.5/p) for AIMD(1, 0.5), Mathis et al. 1997. The
    // simulated flow stays below: it sends whole packets (half a packet less on average, 1.3 % of
    // 38), and after a cut its window stands still for the round trip of recovery (one in 15 to 80
    // of a cycle, at its lowest point). Hence 3 % for the long cycle, 6 % for the others.
    for (rule, period, packets, law, tolerance) in [
        ("AIMD(1, 0.5)", 10_000, 1_500_000, 122.5, 0.03),
        ("AIMD(1, 0.5)", 1_000, 500_000, 38.7, 0.06),
        // a (1 + b)/(2 (1 - b)): 0.31 x 1.875/0.25 = 2.325, the "TCP-friendly" pair; 1.8/0.4 = 4.5.
        ("AIMD(0.31, 0.875)", 1_000, 500_000, 48.2, 0.06),
        ("AIMD(1, 0.8)", 1_000, 500_000, 67.1, 0.06),
    ] {
        // Long enough to meet most of the losses listed, at `law` packets every 50 ms, and not
        // more.
        let seconds = (0.8 * packets as f64 / law * 0.05) as u32 - 60;
        let window = packets_per_round_trip(rule, &every(period, packets), seconds);
        assert!(
            (law * (1.0 - tolerance)..law).contains(&window),
            "{rule}, a loss every {period} packets: {window}, not {law}"
        );
    }
}

#[test]
fn random_loss_gives_the_square_root_law() {
    // Losses at random moments leave some cycles long: under them the mean of AIMD(1, 0.5) is
    // 1.31/sqrt(p) instead of 1.22/sqrt(p) (Ott, Kemperman and Mathis 1996), 7 % more; whole
    // packets and recovery take up to 6 % away (see above); 300 losses and more leave a standard
    // error of 2 %. So the law of periodic loss must hold to 7 %.
    for (rule, p, law) in [
        ("AIMD(1, 0.5)", 1e-4, 122.5),
        ("AIMD(1, 0.5)", 1e-3, 38.7),
        ("AIMD(1, 0.5)", 3e-3, 22.4),
        ("AIMD(0.31, 0.875)", 1e-3, 48.2),
        ("AIMD(1, 0.8)", 1e-3, 67.1),
    ] {
        let window =
            packets_per_round_trip(rule, &format!(r#"{{ kind = "bernoulli", p = {p} }}"#), 1200);
        assert!((window / law - 1.0).abs() < 0.07, "{rule}, p = {p}: {window}, not {law}");
    }
}

/// One flow alone: 1000 packets a second leave the link (1040 bytes at 8.32 Mbit/s), `delay_ms`
/// each way, acknowledgements undisturbed.
fn alone(rule: &str, delay_ms: u32, buffer: u32, seconds: u32) -> CheckedScenario {
    scenario(&format!(
        r#"
        duration = "{seconds}s"
        profile = "rfc"
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

/// A cycle of the sawtooth: how long it took in seconds and in round trips, its lowest and its
/// highest window.
#[derive(Debug)]
struct Tooth {
    seconds: f64,
    round_trips: f64,
    low: f64,
    high: f64,
}

/// Mean cycle from cut to cut in the measuring window. `delay_s` is the round trip without queueing
/// and transmission.
fn tooth(scenario: &CheckedScenario, delay_s: f64) -> Tooth {
    let mut simulation = Simulation::new(scenario);
    let result = simulation.run().unwrap();
    let traces = simulation.traces();
    let rows = &traces.recorder.unwrap().windows;
    let (mut teeth, mut begun, mut round_trips) = (Vec::new(), None, 0.0);
    for pair in rows.windows(2) {
        let (before, after) = (pair[0], pair[1]);
        // A window of w packets goes round in the time that the link takes for them, or in the
        // empty path's if that is longer.
        round_trips += (after.time_s - before.time_s) / (before.cwnd * 0.001).max(delay_s + 0.001);
        if after.cwnd < 0.95 * before.cwnd {
            if let Some((begin_s, low)) =
                begun.filter(|&(begin_s, _)| begin_s > result.measure_from_s)
            {
                teeth.push(Tooth {
                    seconds: after.time_s - begin_s,
                    round_trips,
                    low,
                    high: before.cwnd,
                });
            }
            (begun, round_trips) = (Some((after.time_s, after.cwnd)), 0.0);
        }
    }
    let mean = |of: fn(&Tooth) -> f64| teeth.iter().map(of).sum::<f64>() / teeth.len() as f64;
    assert!(teeth.len() > 5, "{} cycles are too few for a mean", teeth.len());
    Tooth {
        seconds: mean(|t| t.seconds),
        round_trips: mean(|t| t.round_trips),
        low: mean(|t| t.low),
        high: mean(|t| t.high),
    }
}

/// Whether a value lies within a fraction of what is expected.
fn near(value: f64, expected: f64, tolerance: f64) -> bool {
    (value / expected - 1.0).abs() < tolerance
}

#[test]
fn the_sawtooth_of_one_aimd_flow_over_drop_tail() {
    // What fits: the packets on the way out and of acknowledgements back (2 x 25 ms at 1000 packets
    // a second: 50), and the buffer with the packet in service: 100 with a buffer of 50. The window
    // that does not fit is noticed a round trip later, one packet on: the peak is 101, the foot
    // 50.5. The queue never empties, so a round of w packets takes w ms: (101^2 - 50.5^2)/2 = 3825
    // ms, and 50 to 101 ms of recovery.
    let short = tooth(&alone("AIMD(1, 0.5)", 25, 50, 200), 0.05);
    assert!(near(short.high, 101.0, 0.01) && near(short.low, 50.5, 0.01), "{short:?}");
    assert!(near(short.seconds, 3.9, 0.02), "{short:?}");
    assert!(
        (50.5..53.0).contains(&short.round_trips),
        "one packet a round trip from 50.5 to 101, and recovery: {short:?}"
    );
    // A buffer of 100: 151, 75.5, (151^2 - 75.5^2)/2 = 8550 ms, and 75 to 151 ms.
    let long = tooth(&alone("AIMD(1, 0.5)", 25, 100, 200), 0.05);
    assert!(
        near(long.high, 151.0, 0.01)
            && near(long.low, 75.5, 0.01)
            && near(long.seconds, 8.66, 0.02),
        "{long:?}"
    );
}

#[test]
fn the_period_of_mimd_does_not_depend_on_the_path() {
    // From 0.8 W to W at a factor of 1.01 a round trip: ln(1.25)/ln(1.01) = 22.4 round trips, one
    // of recovery, and at most one more because a packet is lost only when the window reaches the
    // next whole packet.
    for (delay, buffer, seconds) in [(25, 50, 100), (100, 200, 400)] {
        let tooth =
            tooth(&alone("MIMD(1.01, 0.8)", delay, buffer, seconds), 0.002 * f64::from(delay));
        assert!(
            (22.4..24.9).contains(&tooth.round_trips) && near(tooth.low, 0.8 * tooth.high, 0.01),
            "{tooth:?}"
        );
    }
}

#[test]
fn the_period_of_aiad_is_its_decrease_over_its_increase() {
    // 10 packets given up, half a packet gained a round trip: 20 round trips and one of recovery.
    let tooth = tooth(&alone("AIAD(0.5, 10)", 25, 50, 200), 0.05);
    assert!(
        (20.5..22.0).contains(&tooth.round_trips) && (tooth.high - tooth.low - 10.0).abs() < 0.1,
        "{tooth:?}"
    );
}

#[test]
fn a_buffer_of_the_bandwidth_delay_product_keeps_the_link_full() {
    let utilization = |delay, buffer| {
        Simulation::new(&alone("AIMD(1, 0.5)", delay, buffer, 400)).run().unwrap().links[0]
            .utilization
    };
    let full = utilization(25, 51);
    assert!((0.99..=1.0).contains(&full), "{full}");
    // A fifth of it (40 of 200 packets): the window runs from 0.6 to 1.2 products. Up to 1 the link
    // idles: 0.4 x 200 round trips of 0.8 products on average; from there it is full, and 0.2 x 200
    // round trips take 1.1 times as long: (0.4 x 0.8 + 0.2 x 1.1)/(0.4 + 0.2 x 1.1) = 0.871.
    // Recovery spends one of 120 round trips at half the window: 1 % less.
    let fifth = utilization(100, 40);
    assert!((0.85..0.871).contains(&fifth), "{fifth}");
}

#[test]
fn sent_packets_arrive_at_the_first_link() {
    // Senders that sit at the router: every packet is at the bottleneck the moment it is sent,
    // whenever the run ends; and what it does not lose goes on. Losses come from the queue and from
    // the wire, before and after it.
    for tenths in 7..30 {
        let result = run(&format!(
            r#"
            duration = "{}s"
            profile = "rfc"
            [dumbbell]
            rate = "3Mbit"
            delay = "20ms"
            queue = {{ kind = "drop-tail", limit = "12pkt" }}
            loss = [{{ kind = "bernoulli", p = 0.01 }}]
            [[flows]]
            count = 5
            rule = "MIMD(1.125, 0.8)"
            start = ["0s", "500ms"]
            "#,
            f64::from(tenths) / 10.0 + 0.001
        ));
        let sum = |of: fn(&cwndlab_sim::results::FlowResult) -> u64| {
            result.flows.iter().map(of).sum::<u64>()
        };
        assert_eq!(sum(|flow| flow.total_sent_packets), result.links[0].total_arrived_packets);
        assert_eq!(sum(|flow| flow.total_dropped_packets), result.links[0].total_dropped_packets);
        let left = sum(|flow| flow.total_delivered_packets) + sum(|flow| flow.in_flight_packets);
        assert_eq!(left, result.links[0].total_departed_packets + result.links[0].queued_packets);
    }
}
