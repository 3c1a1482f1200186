//! What limited a flow: shares of its time, by hand arithmetic, and over random scenarios.
//!
//! `CWNDLAB_SCENARIOS=10000 cargo test --release --test limited_by` tries more scenarios than CI
//! does. The sender itself asserts at each event that what limits it is what it noted before.

mod common;

use cwndlab_scenario::Scenario;
use cwndlab_sim::Simulation;
use cwndlab_sim::results::FlowResult;
use cwndlab_tcp::Limit;
use proptest::test_runner::{Config, RngSeed, TestError, TestRunner};

/// Results of the flows of a scenario over 100 ms of round trip, without a queue that matters.
fn flows(head: &str, flows: &str) -> Vec<FlowResult> {
    let toml = format!(
        "{head}\n[dumbbell]\nrate = \"100Mbit\"\ndelay = \"50ms\"\n\
         queue = {{ kind = \"drop-tail\", limit = \"10000pkt\" }}\n{flows}"
    );
    let scenario = Scenario::from_toml(&toml).unwrap_or_else(|error| panic!("{error}\n{toml}"));
    Simulation::new(&scenario).run().unwrap().flows
}

/// Asserts that these limits have these shares, give or take `margin`, and all others none.
fn assert_shares(flow: &FlowResult, margin: f64, expected: &[(Limit, f64)]) {
    let shares = flow.limited_by.0.expect("the flow was there");
    for limit in Limit::ALL {
        let share = shares[limit as usize];
        match expected.iter().find(|(one, _)| *one == limit) {
            Some((_, wanted)) => {
                assert!((share - wanted).abs() < margin, "{limit:?}: {share}, not {wanted}");
            }
            None => assert_eq!(share, 0.0, "{limit:?}"),
        }
    }
}

/// The handshake takes 100 ms of 20 s. Then each second and 100 ms a packet leaves, behind which
/// there is nothing to send.
#[test]
fn an_application_that_pauses_limits_its_flow() {
    for profile in ["rfc", "linux", "ns2-2.35"] {
        let head = format!("duration = \"20s\"\nprofile = \"{profile}\"");
        let flow = "[[flows]]\nrule = \"CUBIC\"\nresponses = { size = 1, think = \"1s\" }\n\
                    tcp = { syn = true }";
        let handshake = 0.1 / 20.0;
        let expected = [(Limit::SlowStart, handshake), (Limit::Application, 1.0 - handshake)];
        assert_shares(&flows(&head, flow)[0], 1e-4, &expected);
    }
}

/// The handshake and three round trips of slow start: 10, 20, 40 packets, then 64 are full, and
/// stay so. An ACK for each packet: at 400 ms 24 ACKs take cwnd from 40 to 64, within 3 ms.
#[test]
fn a_receivers_window_limits_once_cwnd_has_reached_it() {
    for profile in ["rfc", "linux"] {
        let head = format!("duration = \"10s\"\nprofile = \"{profile}\"");
        let flow = "[[flows]]\nrule = \"NewReno\"\ntcp = { window = 64, initial_window = 10, \
                    delayed_ack = false, slow_start = \"standard\", syn = true }";
        let expected = [(Limit::SlowStart, 0.04), (Limit::Receiver, 0.96)];
        assert_shares(&flows(&head, flow)[0], 1e-3, &expected);
    }
}

/// ns-2's window of 20 packets is small: cwnd reaches it in five round trips from one packet.
#[test]
fn the_window_of_ns2_limits_a_flow_on_a_long_path() {
    let head = "duration = \"30s\"\nmeasure = [\"1s\", \"30s\"]\nprofile = \"ns2-2.35\"";
    let found = flows(head, "[[flows]]\nrule = \"AIMD(1, 0.5)\"");
    assert_shares(&found[0], 1e-9, &[(Limit::Receiver, 1.0)]);
}

/// A packet is lost while the window of 64 is full. Its retransmission leaves with the third
/// duplicate ACK, and its ACK is back 100 ms later. Then cwnd grows from 32 to 64 by one packet in
/// a round trip: 3.2 s.
#[test]
fn recovery_and_congestion_avoidance_after_a_loss() {
    let head = "duration = \"10s\"\nprofile = \"rfc\"\nmeasure = [\"1s\", \"9s\"]";
    let flow = "loss = [{ kind = \"list\", packets = [2000] }]\n[[flows]]\nrule = \"NewReno\"\n\
                tcp = { window = 64, delayed_ack = false }";
    let expected = [
        (Limit::Recovery, 0.1 / 8.0),
        (Limit::Cwnd, 3.2 / 8.0),
        (Limit::Receiver, (8.0 - 3.3) / 8.0),
    ];
    assert_shares(&flows(head, flow)[0], 0.02, &expected);
}

/// The one data packet leaves after the handshake, at 100 ms, and is lost. The RTO is a second (RFC
/// 6298 section 2.4); the ACK of the retransmission comes 100 ms later, and the flow is over.
#[test]
fn a_timeout_limits_from_its_expiry_until_what_was_lost_is_repaired() {
    let head = "duration = \"10s\"\nprofile = \"rfc\"";
    let flow = "loss = [{ kind = \"list\", packets = [1] }]\n[[flows]]\nrule = \"NewReno\"\n\
                packets = 1\ntcp = { delayed_ack = false, syn = true }";
    let found = flows(head, flow);
    assert_eq!(found[0].timeouts, 1);
    let expected = [(Limit::SlowStart, 0.1), (Limit::Application, 1.0), (Limit::Timeout, 0.1)];
    let expected = expected.map(|(limit, seconds)| (limit, seconds / 1.2));
    assert_shares(&found[0], 1e-3, &expected);
}

/// In ProbeBW cwnd is twice the bandwidth-delay product: pacing alone holds packets back. From 5 s
/// on, one ProbeRTT of 200 ms in 10 s, with a window of 4 packets, and its ends of a round trip.
#[test]
fn pacing_limits_bbr() {
    let head = "duration = \"15s\"\nprofile = \"linux\"\nmeasure = [\"5s\", \"15s\"]";
    let found = flows(head, "[[flows]]\nrule = \"BBR1\"");
    let shares = found[0].limited_by.0.unwrap();
    let paced = shares[Limit::Pacing as usize];
    assert!(paced > 0.95 && paced < 0.99, "{shares:?}");
}

/// A flow that stops before the window, and one that starts after the run, have no time in it. A
/// flow that completes counts until then: 100 packets take the handshake and four round trips of
/// slow start (10, 20, 40, 30), in the last of which nothing is left to send.
#[test]
fn only_the_time_of_a_flow_counts() {
    let head = "duration = \"10s\"\nprofile = \"rfc\"\nmeasure = [\"2s\", \"10s\"]";
    let tcp = "tcp = { delayed_ack = false, initial_window = 10, syn = true }";
    let flow = |name: &str, start: &str| {
        format!(
            "[[flows]]\nname = \"{name}\"\nrule = \"NewReno\"\npackets = 100\n\
             start = \"{start}\"\n{tcp}\n"
        )
    };
    let all = [flow("early", "0s"), flow("within", "3s"), flow("late", "11s")].concat();
    let found = flows(head, &all);
    assert_eq!(found[0].limited_by.0, None);
    assert_eq!(found[2].limited_by.0, None);
    let expected = [(Limit::SlowStart, 0.8), (Limit::Application, 0.2)];
    assert_shares(&found[1], 0.02, &expected);
}

/// Scenarios to try.
#[allow(clippy::disallowed_methods, reason = "how long a test may take is no part of a scenario")]
fn cases() -> u32 {
    std::env::var("CWNDLAB_SCENARIOS").ok().and_then(|text| text.parse().ok()).unwrap_or(500)
}

/// Shares add up to 1; what never happened over the whole run limited no flow.
fn judge(flow: &FlowResult, whole_run: bool) -> Result<(), String> {
    let Some(shares) = flow.limited_by.0 else {
        let was_there = whole_run && flow.total_sent_packets > 0 && flow.finish_s.is_none();
        return if was_there { Err("no shares".into()) } else { Ok(()) };
    };
    let sum: f64 = shares.iter().sum();
    let share = |limit: Limit| shares[limit as usize];
    if (sum - 1.0).abs() > 1e-12 || shares.iter().any(|share| !(0.0..=1.0).contains(share)) {
        return Err(format!("sum {sum}"));
    }
    if whole_run && flow.timeouts == 0 && share(Limit::Timeout) > 0.0 {
        return Err("a timeout that never was".into());
    }
    let repaired = flow.fast_retransmits + flow.ecn_reductions + flow.timeouts;
    if whole_run && repaired == 0 && share(Limit::Recovery) > 0.0 {
        return Err("a recovery that never was".into());
    }
    Ok(())
}

#[test]
fn shares_add_up_to_one_in_random_scenarios() {
    let config = Config {
        cases: cases(),
        rng_seed: RngSeed::Fixed(47),
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new(config)
        .run(&common::scenario(), |json| {
            let scenario = Scenario::from_json(&json.to_string()).unwrap();
            let result = Simulation::new(&scenario).run().unwrap();
            let whole_run =
                result.measure_from_s == 0.0 && result.measure_to_s == result.duration_s;
            for flow in &result.flows {
                if let Err(wrong) = judge(flow, whole_run) {
                    let name = flow.identity.name();
                    proptest::prop_assert!(false, "{name}: {wrong} {:?}\n{json}", flow.limited_by);
                }
            }
            Ok(())
        })
        .unwrap_or_else(|error| match error {
            TestError::Fail(reason, _) => panic!("{reason}"),
            aborted => panic!("{aborted}"),
        });
}
