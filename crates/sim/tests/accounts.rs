//! Accounts of flows add up to their results, and explanations to differences, over random
//! scenarios; and by hand arithmetic.
//!
//! `CWNDLAB_SCENARIOS=10000 cargo test --release --test accounts` tries more scenarios than CI does.

mod common;

use cwndlab_scenario::Scenario;
use cwndlab_sim::Simulation;
use cwndlab_sim::results::{Account, Explanation, FlowResult, RunResult, explain};
use cwndlab_tcp::Limit;
use proptest::test_runner::{Config, RngSeed, TestError, TestRunner};

fn run(toml: &str) -> RunResult {
    let scenario = Scenario::from_toml(toml).unwrap_or_else(|error| panic!("{error}\n{toml}"));
    Simulation::new(&scenario).run().unwrap()
}

/// Fails unless two sums are equal, give or take rounding of their size.
fn equal(what: &str, found: f64, wanted: f64, size: f64) -> Result<(), String> {
    if (found - wanted).abs() <= 1e-9 * size.max(1.0) {
        return Ok(());
    }
    Err(format!("{what}: {found}, not {wanted}"))
}

/// An account has what the results have, and adds up.
fn judge_account(account: &Account, flow: &FlowResult) -> Result<(), String> {
    let sum = |value: fn(&cwndlab_sim::results::PhaseRow) -> f64| {
        account.phases.iter().map(value).sum::<f64>()
    };
    equal("time", sum(|row| row.did.seconds), account.window_s, account.window_s)?;
    let known_bps = sum(|row| row.did.delivered_packets) * account.packet_bits / account.window_s;
    let edge_bps = account.edge_bits / account.window_s;
    equal("goodput", known_bps + edge_bps, flow.goodput_bps, known_bps.abs())?;
    equal("sent", sum(|row| row.did.sent_packets as f64), flow.sent_packets as f64, 1.0)?;
    equal("dropped", sum(|row| row.did.dropped_packets as f64), flow.dropped_packets as f64, 1.0)?;
    let by_link: u64 = account.dropped_by_link.iter().map(|drops| drops.packets).sum();
    equal("dropped by link", by_link as f64, flow.dropped_packets as f64, 1.0)?;
    const ABSENT: usize = 6;
    if let Some(shares) = flow.limited_by.0 {
        let there_s = account.window_s - account.phases[ABSENT].did.seconds;
        let share = |row: usize| account.phases[row].did.seconds / there_s;
        // A wait for an RTO counts as the timeout here, also of one that expires behind the window.
        let has_waited =
            flow.timeouts > 0 || account.bins_s.last().is_some_and(|phases| phases[0] > 0.0);
        let limits = [Limit::Timeout, Limit::Recovery, Limit::Application, Limit::Receiver];
        for (row, limit) in limits.into_iter().enumerate() {
            let wanted = shares[limit as usize];
            if !has_waited {
                equal(limit.name(), share(row), wanted, 1e3)?;
            } else if row == 0 && share(0) < wanted - 1e-6 || row > 0 && share(row) > wanted + 1e-6
            {
                return Err(format!("{}: {}, not {wanted}", limit.name(), share(row)));
            }
        }
        let others = [Limit::Pacing, Limit::SlowStart, Limit::Cwnd];
        let wanted = others.map(|limit| shares[limit as usize]).iter().sum();
        if !has_waited {
            equal("slow start and growth", share(4) + share(5), wanted, 1e3)?;
        }
    }
    let bins: f64 = account.bins_s.iter().flatten().sum();
    let there_s = sum(|row| row.did.seconds) - account.phases[ABSENT].did.seconds;
    equal("bins", bins, there_s, account.window_s)?;
    let width_s = account.window_s / account.bins_s.len() as f64;
    for bin in &account.bins_s {
        if bin.iter().sum::<f64>() > width_s * (1.0 + 1e-6) {
            return Err(format!("a bin of {width_s} s has {bin:?}"));
        }
    }
    let changed: f64 = account.cwnd_changes.iter().map(|row| row.changes.packets).sum();
    let paths: f64 = account.cwnd_changes.iter().map(|row| row.changes.packets.abs()).sum();
    if let Some(first) = account.first_cwnd {
        equal("cwnd", first + changed, account.last_cwnd, first + paths)?;
    }
    let times =
        |by: &str| account.cwnd_changes.iter().find(|row| row.cause == by).unwrap().changes.times;
    for (by, wanted) in [("timeout", flow.timeouts), ("loss", flow.fast_retransmits)] {
        equal(by, times(by) as f64, wanted as f64, 1.0)?;
    }
    // Rules that count marks reduce cwnd without the sender's doing.
    if times("ecn") < flow.ecn_reductions {
        return Err(format!("ecn: {}, not {}", times("ecn"), flow.ecn_reductions));
    }
    let carried = sum(|row| row.capacity_bits) / account.window_s;
    equal("capacity", carried, account.capacity_bps, account.capacity_bps)
}

/// The parts of an explanation add up to its differences.
fn judge_explanation(explanation: &Explanation) -> Result<(), String> {
    let goodput = &explanation.goodput_bps;
    let parts =
        goodput.phases.iter().flat_map(|part| [part.by_time, part.by_window, part.by_delay]);
    let sum: f64 = parts.clone().sum::<f64>() + goodput.edges;
    let size: f64 = parts.map(f64::abs).sum::<f64>() + goodput.sides[0] + goodput.sides[1];
    equal("goodput", sum, goodput.difference, size)?;
    if let Some(rtt) = &explanation.rtt_s {
        equal("RTT", rtt.propagation + rtt.queues + rtt.acks, rtt.difference, 1.0)?;
    }
    let loss = &explanation.loss_rate;
    let sum: f64 = loss.phases.iter().map(|part| part.1).sum();
    equal("loss", sum + loss.others, loss.difference, 1.0)
}

fn judge(result: &RunResult) -> Result<(), String> {
    for (account, flow) in result.accounts.iter().zip(&result.flows) {
        let wrong = |error| format!("{}: {error}", account.flow);
        judge_account(account, flow).map_err(wrong)?;
        let full = account.at_capacity(1);
        judge_explanation(&explain(&[account], &[&full])).map_err(wrong)?;
    }
    let accounts: Vec<&Account> = result.accounts.iter().collect();
    for split in 1..accounts.len() {
        judge_explanation(&explain(&accounts[..split], &accounts[split..]))?;
    }
    Ok(())
}

/// Scenarios to try.
#[allow(clippy::disallowed_methods, reason = "how long a test may take is no part of a scenario")]
fn cases() -> u32 {
    std::env::var("CWNDLAB_SCENARIOS").ok().and_then(|text| text.parse().ok()).unwrap_or(300)
}

#[test]
fn accounts_add_up_in_random_scenarios() {
    let config = Config {
        cases: cases(),
        rng_seed: RngSeed::Fixed(47),
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new(config)
        .run(&common::scenario(), |mut json| {
            let bare = Scenario::from_json(&json.to_string()).unwrap();
            let hash = Simulation::new(&bare).run().unwrap().trace_hash;
            json["trace"] = serde_json::json!({ "account": true });
            let scenario = Scenario::from_json(&json.to_string()).unwrap();
            let result = Simulation::new(&scenario).run().unwrap();
            proptest::prop_assert_eq!(&result.trace_hash, &hash, "{}", json);
            if let Err(wrong) = judge(&result) {
                proptest::prop_assert!(false, "{wrong}\n{json}");
            }
            Ok(())
        })
        .unwrap_or_else(|error| match error {
            TestError::Fail(reason, _) => panic!("{reason}"),
            aborted => panic!("{aborted}"),
        });
}

/// Pacing holds back a retransmission, so that no timer runs as the last ACK comes. What a page
/// loads next must not meet the timeout of an idle period long over.
#[test]
fn a_timeout_of_an_earlier_idle_period_does_not_expire() {
    let json = include_str!("data/page-paced-tahoe.json");
    let scenario = Scenario::from_json(json).unwrap();
    judge(&Simulation::new(&scenario).run().unwrap()).unwrap();
}

/// Two flows with receiver's windows of 20 and 10 packets over 100 ms: 200 and 100 packets a
/// second. Both are limited by the receiver for nearly all of the time; half the rate is missing
/// because half the packets are outstanding.
#[test]
fn half_a_window_is_half_a_goodput() {
    let flow = |name: &str, window: u32| {
        format!(
            "[[flows]]\nname = \"{name}\"\nrule = \"NewReno\"\n\
             tcp = {{ window = {window}, packet_size = 1000, delayed_ack = false }}\n"
        )
    };
    let result = run(&format!(
        "duration = \"12s\"\nmeasure = [\"2s\", \"12s\"]\nprofile = \"rfc\"\n\
         trace = {{ account = true }}\ndumbbell = {{ rate = \"1Gbit\", delay = \"50ms\" }}\n{}{}",
        flow("wide", 20),
        flow("narrow", 10)
    ));
    let [wide, narrow] = &result.accounts[..] else { panic!() };
    let why = explain(&[wide], &[narrow]).goodput_bps;
    let receiver = &why.phases[3];
    assert_eq!(receiver.time, [1.0, 1.0]);
    assert!((receiver.by_window / 800_000.0 - 1.0).abs() < 1e-3, "{receiver:?}");
    assert!(receiver.by_time.abs() + receiver.by_delay.abs() < 2_000.0, "{receiver:?}");
    assert!((why.difference - 800_000.0).abs() < 2_000.0, "{why:?}");
}

/// Accounts that differ from one of a run in the time, Mbit and packet seconds of recovery and
/// growth alone: a window of 10 s.
fn held(recovery: [f64; 3], growth: [f64; 3]) -> Account {
    let result = run("duration = \"10s\"\ntrace = { account = true }\n\
         dumbbell = { rate = \"10Mbit\", delay = \"20ms\" }\n[[flows]]\nrule = \"NewReno\"\n");
    let mut account = result.accounts[0].clone();
    for row in &mut account.phases {
        let [seconds, megabits, outstanding_packet_s] = match row.phase.as_str() {
            "recovery" => recovery,
            "growth" => growth,
            _ => [0.0; 3],
        };
        row.did.seconds = seconds;
        row.did.delivered_packets = megabits * 1e6 / account.packet_bits;
        row.did.outstanding_packet_s = outstanding_packet_s;
    }
    account
}

/// Sums over the phases by time, by window and by delay, Mbit/s.
fn sums(sides: [&Account; 2]) -> [f64; 3] {
    let parts = explain(&[sides[0]], &[sides[1]]).goodput_bps.phases;
    let sum = |value: fn(&cwndlab_sim::results::PhasePart) -> f64| {
        parts.iter().map(value).sum::<f64>() / 1e6
    };
    [sum(|part| part.by_time), sum(|part| part.by_window), sum(|part| part.by_delay)]
}

fn assert_near(found: [f64; 3], wanted: [f64; 3]) {
    assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
}

/// One flow is in recovery for half of the time, and gets 10 Mbit/s in recovery and out of it; the
/// other gets 4 with two fifths of the window. Time has no part in it.
#[test]
fn time_in_a_phase_that_is_as_fast_explains_nothing() {
    let fast = held([5.0, 50.0, 500.0], [5.0, 50.0, 500.0]);
    let slow = held([0.0; 3], [10.0, 40.0, 400.0]);
    assert_near(sums([&fast, &slow]), [0.0, 6.0, 0.0]);
    assert_near(sums([&slow, &fast]), [0.0, -6.0, 0.0]);
}

/// Both get 10 Mbit/s out of recovery, and one gets nothing in it, for half of the time. Its mean
/// rate is 5 of 10: with U = 0.5 and V = 0 time makes (0.5 - 0) (10 + 5) / 2, and the rest, 1.25,
/// is that its mean rate is lower.
#[test]
fn time_in_a_phase_that_stops_a_flow_explains_most() {
    let steady = held([0.0; 3], [10.0, 100.0, 1000.0]);
    let stopped = held([5.0, 0.0, 500.0], [5.0, 50.0, 500.0]);
    let [time, window, delay] = sums([&steady, &stopped]);
    assert!((time - 3.75).abs() < 1e-9 && (window + delay - 1.25).abs() < 1e-9);
}

/// A link of 10 Mbit/s is down from 20 to 30 s of 40. What it carries is 3/4 of what it would, and
/// nearly nothing of it in the timeout that spans the outage.
#[test]
fn the_capacity_of_a_phase_is_what_the_link_carries_in_it() {
    let result = run("duration = \"40s\"\nprofile = \"rfc\"\ntrace = { account = true }\n\
         [dumbbell]\nrate = \"10Mbit\"\ndelay = \"20ms\"\n\
         outages = [{ from = \"20s\", to = \"30s\" }]\n[[flows]]\nrule = \"NewReno\"\n");
    let account = &result.accounts[0];
    let carried: f64 = account.phases.iter().map(|row| row.capacity_bits).sum();
    let payload = carried / 40.0 / (0.75 * 10e6);
    assert!(payload > 0.95 && payload < 1.0, "{payload}");
    let timeout = &account.phases[0];
    let up_s = timeout.capacity_bits / payload / 10e6;
    assert!((timeout.did.seconds - up_s - 10.0).abs() < 0.5, "{timeout:?}");
}

/// Little's law on a link that a flow keeps full: its packets wait in the queue or are being
/// transmitted.
#[test]
fn packets_behind_propagation_are_those_of_the_queue_and_one_on_the_link() {
    let result = run("duration = \"60s\"\nmeasure = [\"10s\", \"60s\"]\nprofile = \"rfc\"\n\
         trace = { account = true }\n[dumbbell]\nrate = \"10Mbit\"\ndelay = \"20ms\"\n\
         queue = { kind = \"drop-tail\", limit = \"100pkt\" }\n\
         [[flows]]\nrule = \"NewReno\"\nname = \"a\"\n[[flows]]\nrule = \"CUBIC\"\nname = \"b\"\n");
    let queued: f64 = result.accounts.iter().map(|account| account.queued_packets).sum();
    let link = &result.links[0];
    let on_link = link.mean_queue_packets + link.utilization;
    assert!((queued / on_link - 1.0).abs() < 0.01, "{queued}, not {on_link}");
}
