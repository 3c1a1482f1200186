//! Flows whose window is limited by the application or the receiver: what their rules learn from
//! that time.

use cwndlab_scenario::Scenario;
use cwndlab_sim::Simulation;

/// Time, phase and values of a rule.
type RuleRow = (f64, &'static str, Vec<(String, f64)>);

/// Window and rule trace of a flow: time and cwnd, and time, phase and values by name.
struct Recorded {
    windows: Vec<(f64, f64)>,
    rules: Vec<RuleRow>,
}

fn record(toml: &str) -> Recorded {
    let scenario = Scenario::from_toml(toml).unwrap_or_else(|error| panic!("{error}\n{toml}"));
    let mut simulation = Simulation::new(&scenario);
    simulation.run().unwrap();
    let traces = simulation.traces();
    let recorder = traces.recorder.unwrap();
    let windows = recorder.windows_in_order().iter().map(|row| (row.time_s, row.cwnd)).collect();
    let trace = &recorder.rules;
    let row = |number: usize| {
        let values = trace.values_of(number).iter();
        let values = values.map(|&(column, value)| (trace.columns[column as usize].clone(), value));
        let row = &trace.rows[number];
        (row.time_s, trace.phases[row.phase as usize], values.collect())
    };
    let rules = trace.in_order().into_iter().map(row).collect();
    Recorded { windows, rules }
}

impl Recorded {
    fn cwnd_at(&self, time_s: f64) -> f64 {
        let before = self.windows.iter().take_while(|row| row.0 <= time_s);
        before.last().expect("the flow has begun").1
    }

    fn value_at(&self, time_s: f64, name: &str) -> f64 {
        let row = self.rules.iter().take_while(|row| row.0 <= time_s).last();
        let values = &row.expect("the flow has begun").2;
        values.iter().find(|value| value.0 == name).expect("a column of the rule").1
    }

    /// The longest pause of the window trace: its begin and its end.
    fn pause(&self) -> (f64, f64) {
        let pairs = self.windows.windows(2).map(|pair| (pair[0].0, pair[1].0));
        pairs.max_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0))).unwrap()
    }
}

/// The loss of packet 700 cuts to 497 = 0.7 x 710, and 0.35 s later the flow rests for 20 s. RFC 9438
/// sections 4.2 and 5.8: the time of the curve leaves that out. The epoch moves by the pause, and in
/// the next second the window grows by less than the curve does in its first two: K = cbrt(0.3 x
/// 710/0.4) = 8.11 s, and 0.4 (8.11^3 - 6.11^3) = 122 packets. With the pause counted, W_cubic(20.45)
/// would ask for 0.4 x 12.3^3 = 744 packets above W_max.
#[test]
fn cubic_goes_on_where_it_was_before_a_pause() {
    for (profile, config) in [
        ("linux", r#"slow_start = "standard", idle_restart = false"#),
        ("rfc", r#"slow_start = "standard", idle_restart = false, initial_window = 10"#),
    ] {
        let recorded = record(&format!(
            r#"
            duration = "26s"
            profile = "{profile}"
            [dumbbell]
            rate = "100Mbit"
            delay = "50ms"
            queue = {{ kind = "drop-tail", limit = "10000pkt" }}
            loss = [{{ kind = "list", packets = [700], flow = "a" }}]
            [[flows]]
            name = "a"
            rule = "CUBIC"
            responses = {{ size = 3000, think = "20s" }}
            tcp = {{ {config} }}
            [trace]
            rule = "all"
            cwnd = "all"
            "#
        ));
        let (begin_s, end_s) = recorded.pause();
        assert!(end_s - begin_s > 19.5, "{profile}: {begin_s} to {end_s}");
        let before = recorded.cwnd_at(begin_s);
        let grown = recorded.cwnd_at(end_s + 1.1) - before;
        assert!((0.0..122.0).contains(&grown), "{profile}: {before} grew by {grown}");
        let moved = recorded.value_at(end_s + 0.5, "epoch_start_s")
            - recorded.value_at(begin_s, "epoch_start_s");
        // Data is supplied 20 s after the last ACK, which is when nothing was out any more.
        assert!((19.9..20.2).contains(&moved), "{profile}: the epoch moved by {moved} s");
    }
}

/// The largest window of a flow whose receiver's window of 64 packets is full all the time.
fn largest_of_receiver_limited(rule: &str) -> f64 {
    let recorded = record(&format!(
        r#"
        duration = "20s"
        profile = "linux"
        [dumbbell]
        rate = "100Mbit"
        delay = "50ms"
        queue = {{ kind = "drop-tail", limit = "10000pkt" }}
        [[flows]]
        name = "a"
        rule = "{rule}"
        tcp = {{ window = 64 }}
        [trace]
        cwnd = "1s"
        "#
    ));
    recorded.windows.iter().fold(0.0, |largest: f64, row| largest.max(row.1))
}

/// In slow start cwnd grows to twice the receiver's window at most, and by an ACK of two packets
/// one beyond (RFC 7661, Linux `tcp_is_cwnd_limited`).
#[test]
fn no_window_grows_beyond_twice_the_receivers() {
    for rule in ["NewReno", "CUBIC", "HTCP", "BIC", "HighSpeed", "Scalable", "Illinois"] {
        let rule = if rule == "NewReno" { "AIMD(1, 0.5)" } else { rule };
        let largest = largest_of_receiver_limited(rule);
        assert!((64.0..=129.0).contains(&largest), "{rule}: {largest}");
    }
}

/// Hybla's ACK of two packets adds 2 (2^4 - 1) = 30 at 100 ms: 127 + 30 at most. Where RTT0 is
/// longer than this round trip it is Reno.
#[test]
fn hyblas_window_grows_beyond_twice_the_receivers_by_one_ack_at_most() {
    for (rule, most) in [("Hybla", 157.0), ("Hybla(0.2)", 129.0)] {
        let largest = largest_of_receiver_limited(rule);
        assert!((64.0..=most).contains(&largest), "{rule}: {largest}");
    }
}

/// 2000 packets over 20 Mbit/s after 12 s of silence: BBR1 starts no ProbeRTT
/// (draft-cardwell-iccrg-bbr-congestion-control-00, sections 4.3.4.4 and 4.3.5). A response takes
/// 1.300 s, to the millisecond; ProbeRTT would add 200 ms and more.
#[test]
fn bbr_restarts_from_idle_without_a_probe_of_the_round_trip() {
    let recorded = record(
        r#"
        duration = "60s"
        profile = "linux"
        [dumbbell]
        rate = "20Mbit"
        delay = "50ms"
        queue = { kind = "drop-tail", limit = "1000pkt" }
        [[flows]]
        rule = "BBR1"
        responses = { size = 2000, think = "12s" }
        [trace]
        rule = "all"
        "#,
    );
    assert!(recorded.rules.iter().all(|row| row.1 != "ProbeRTT"));
    let times_s: Vec<f64> = recorded.rules.iter().map(|row| row.0).collect();
    let responses = times_s.chunk_by(|before, after| after - before < 5.0);
    let took_s: Vec<f64> =
        responses.map(|times_s| times_s[times_s.len() - 1] - times_s[0]).collect();
    // The first one has Startup, the last one may not be over.
    assert!(took_s.len() >= 4, "{took_s:?}");
    for took_s in &took_s[1..took_s.len() - 1] {
        assert!((took_s - 1.3).abs() < 0.0005, "{took_s}");
    }
}
