//! Tests that an invalid congestion window ends the run, and that the fault reported is the first,
//! although senders run ahead of one another.

use cwndlab_scenario::Scenario;
use cwndlab_sim::{Options, Simulation};
use std::collections::BTreeSet;

/// All windows grow alike in time, and beyond 9 packets the window is NaN: faults lie close
/// together, of flows near and far.
const NETWORK: &str = r#"
duration = "20s"
profile = "rfc"
seed = SEED
[dumbbell]
rate = "20Mbit"
delay = "10ms"
queue = { kind = "drop-tail", limit = "80pkt" }
[[flows]]
name = "grows"
rule = 'Rule(inc="2*rtt + 0*sqrt(9 - w)", dec="0.5*w")'
count = 12
start = ["0s", "0.1s"]
access_delay = ["1ms", "90ms"]
tcp = { initial_ssthresh = 4 }
"#;

#[test]
fn the_engine_reports_the_first_invalid_window() {
    let mut faults = BTreeSet::new();
    for seed in 0..40 {
        let scenario = Scenario::from_toml(&NETWORK.replace("SEED", &seed.to_string())).unwrap();
        let message = |look_ahead| {
            let stopped = Simulation::with(&scenario, Options { look_ahead })
                .run()
                .expect_err("all windows grow beyond 9");
            stopped.to_string()
        };
        let plain = message(false);
        assert_eq!(message(true), plain, "seed {seed}");
        faults.insert(plain);
    }
    assert_eq!(faults.len(), 40, "not always the same flow at the same time");
}
