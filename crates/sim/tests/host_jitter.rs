//! Host jitter, by closed forms.

use cwndlab_scenario::{CheckedScenario, Scenario};
use cwndlab_sim::Simulation;

fn scenario(more: &str, flows: &str) -> CheckedScenario {
    let text = format!(
        r#"
        duration = "400s"
        profile = "ns2-2.35"
        {more}
        [dumbbell]
        rate = "8Mbit"
        delay = "24ms"
        queue = {{ kind = "drop-tail", limit = "unlimited" }}
        back_rate = "unlimited"
        {flows}
        [tcp]
        window = 1
        packet_size = 1000
        header_size = 0
        "#
    );
    Scenario::from_toml(&text).unwrap_or_else(|error| panic!("{error}"))
}

const FLOW: &str = r#"
[[flows]]
name = "flow"
rule = "AIMD(1, 0.5)"
"#;

#[test]
fn a_round_trip_is_longer_by_the_mean_of_the_jitter() {
    // One packet at a time: 48 ms of propagation and 1 ms of transmission.
    let exact = Simulation::new(&scenario("", FLOW)).run().unwrap();
    let late = Simulation::new(&scenario(r#"host_jitter = "10ms""#, FLOW)).run().unwrap();
    let [exact_s, late_s] = [&exact, &late].map(|run| run.flows[0].mean_rtt_s.unwrap());
    // One of 8163 round trips is that of the SYN of 40 bytes, 0.96 ms shorter.
    assert!((exact_s - (0.049 - 0.96e-3 / 8163.0)).abs() < 1e-9, "{exact_s}");
    // Uniform up to 10 ms: 5 ms more. 400 s hold 7400 round trips of 54 ms, so that the standard
    // error is 10 ms / sqrt(12 x 7400) = 0.034 ms; four of them are allowed.
    assert!((late_s - exact_s - 5e-3).abs() < 0.14e-3, "{}", late_s - exact_s);
}

#[test]
fn each_flow_draws_by_its_name() {
    let jitter = r#"host_jitter = "10ms""#;
    let alone = Simulation::new(&scenario(jitter, FLOW)).run().unwrap();
    // A second flow on the link that nothing queues on changes no draw of the first: at most one
    // packet of each is under way, and 1 ms of waiting is rare.
    let second =
        FLOW.replace("\"flow\"", "\"other\"").replace("[[flows]]", "[[flows]]\nstart = \"399s\"");
    let both = Simulation::new(&scenario(jitter, &format!("{FLOW}{second}"))).run().unwrap();
    let [first, again] = [&alone, &both].map(|run| run.flows[0].mean_rtt_s.unwrap());
    assert!((first - again).abs() < 10e-6, "{first} {again}");
}

#[test]
fn zero_is_the_default_and_changes_nothing() {
    let two = FLOW.replace("name = \"flow\"", "name = \"flow\"\ncount = 2");
    let [default, zero] = ["", r#"host_jitter = "0s""#]
        .map(|more| Simulation::new(&scenario(more, &two)).run().unwrap().trace_hash);
    assert_eq!(default, zero);
}

#[test]
fn too_long_is_refused_by_name() {
    let error = Scenario::from_toml(
        "duration = \"1s\"\nhost_jitter = \"2min\"\n[dumbbell]\nrate = \"1Mbit\"\ndelay = \"1ms\"\n\
         [[flows]]\nrule = \"CUBIC\"\n",
    )
    .unwrap_err();
    assert_eq!(error.to_string(), "host_jitter: 120s is not valid: expected at most 60s");
}
