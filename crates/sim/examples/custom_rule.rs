//! A window rule of another crate, beside a standard flow: `cargo run --release --example
//! custom_rule`.
//!
//! Everything a crate needs is here: implement `WindowRule`, tell the scenario's reader what the
//! rule's name means, run.

use cwndlab_rules::{Ack, Congestion, CustomRuleFactory, RuleSpec, WindowRule};
use cwndlab_scenario::{Resolver, Scenario};
use cwndlab_sim::Simulation;

/// Adds a packet per round trip; the n-th loss in a row takes 1/(n + 1) of the window, `most`
/// losses being counted.
#[derive(Clone, Debug)]
struct Patient {
    most: u32,
    losses: u32,
}

impl WindowRule for Patient {
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        if ack.rtt_s <= 1.1 * ack.min_rtt_s {
            self.losses = 0; // The queue is empty again.
        }
        ack.per_packet(cwnd, |cwnd| cwnd + 1.0 / cwnd)
    }

    fn decrease(&mut self, cwnd: f64, _: Congestion) -> f64 {
        self.losses = self.most.min(self.losses + 1);
        cwnd * (1.0 - 1.0 / f64::from(self.losses + 1))
    }
}

/// Gives the names in a scenario their meaning. A name with a colon is not built in:
/// `mine:Patient(3)`.
struct Mine;

impl Resolver for Mine {
    fn read(&self, path: &str) -> Result<String, String> {
        Err(format!("{path}: this scenario has no files"))
    }

    fn rule(&self, text: &str) -> Result<RuleSpec, String> {
        let most = text
            .strip_prefix("mine:Patient(")
            .and_then(|rest| rest.strip_suffix(')'))
            .and_then(|most| most.parse().ok());
        let most = most.ok_or("expected mine:Patient(LOSSES)")?;
        Ok(RuleSpec::custom(text, CustomRuleFactory::new(move || Patient { most, losses: 0 })))
    }
}

const SCENARIO: &str = r#"
    duration = "100s"
    [dumbbell]
    rate = "10Mbit"
    delay = "20ms"
    [[flows]]
    name = "patient"
    rule = "mine:Patient(3)"
    [[flows]]
    name = "standard"
    rule = "AIMD(1, 0.5)"
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scenario = Scenario::from_toml_with(SCENARIO, &Mine)?;
    let result = Simulation::new(&scenario).run()?;
    for flow in &result.flows {
        println!(
            "{:10} {:18} {:6.3} Mbit/s",
            flow.identity.name(),
            flow.identity.rule(),
            flow.goodput_bps / 1e6
        );
    }
    Ok(())
}
