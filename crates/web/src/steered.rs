//! A rule that a person steers: cwnd follows a list of inputs, such as `steered:10@0 14@2.5`.
//!
//! The inputs are part of the rule's notation, so a game is an ordinary scenario: it runs again with
//! the same trace hash wherever it is opened, and its results are the simulator's.

use cwndlab_rules::{
    Ack, Congestion, CustomRuleFactory, MarkResponse, Needs, RuleSpec, SlowStart, WindowRule,
};
use std::sync::Arc;

const PREFIX: &str = "steered:";

/// Largest cwnd that an input may set, packets.
const MOST_PACKETS: f64 = 1e6;

/// cwnd (packets) from a time (seconds) on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Input {
    from_s: f64,
    cwnd: f64,
}

/// The rule of a flow. It ignores losses and marks: what they mean is the person's decision.
#[derive(Clone, Debug)]
struct Steered {
    /// In order of time; the first is at 0.
    inputs: Arc<[Input]>,
    /// The input in force.
    number: usize,
}

impl Steered {
    fn cwnd_at(&mut self, now_s: f64) -> f64 {
        while self.inputs.get(self.number + 1).is_some_and(|next| next.from_s <= now_s) {
            self.number += 1;
        }
        self.inputs[self.number].cwnd
    }
}

impl WindowRule for Steered {
    fn increase(&mut self, _: f64, ack: &Ack) -> f64 {
        self.cwnd_at(ack.now_s)
    }

    fn decrease(&mut self, _: f64, _: Congestion) -> f64 {
        self.inputs[self.number].cwnd
    }

    fn slow_start(&mut self, _: f64, ack: &Ack) -> SlowStart {
        SlowStart::Leave(self.cwnd_at(ack.now_s))
    }

    fn on_mark(&mut self, _: f64, _: &Ack) -> MarkResponse {
        MarkResponse::Consumed
    }

    /// The person steers during recovery, too.
    fn needs(&self) -> Needs {
        Needs { recovery: true, ..Needs::default() }
    }
}

/// The rule that `text` names, or what is wrong with it.
pub fn parse(text: &str) -> Result<RuleSpec, String> {
    let inputs = text.strip_prefix(PREFIX).ok_or("rules in Python do not run in a browser")?;
    let inputs: Arc<[Input]> = inputs
        .split_whitespace()
        .map(|input| {
            parse_input(input).ok_or_else(|| {
                format!(
                    "input \"{input}\" is not valid: expected packets@seconds, such as 14@2.5, \
                     with 1 to {MOST_PACKETS} packets"
                )
            })
        })
        .collect::<Result<_, _>>()?;
    let starts_at_0 = inputs.first().is_some_and(|first| first.from_s == 0.0);
    if !starts_at_0 || !inputs.is_sorted_by(|a, b| a.from_s <= b.from_s) {
        return Err("the inputs are not valid: expected times in order, the first one 0".into());
    }
    let make = move || Steered { inputs: Arc::clone(&inputs), number: 0 };
    Ok(RuleSpec::custom(text, CustomRuleFactory::new(make)))
}

fn parse_input(text: &str) -> Option<Input> {
    let (cwnd, from_s) = text.split_once('@')?;
    let input = Input { from_s: from_s.parse().ok()?, cwnd: cwnd.parse().ok()? };
    let is_valid = (1.0..=MOST_PACKETS).contains(&input.cwnd) && input.from_s.is_finite();
    is_valid.then_some(input)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwndlab_scenario::{Resolver, Scenario};
    use cwndlab_sim::Simulation;
    use cwndlab_sim::results::RunResult;

    struct Rules;

    impl Resolver for Rules {
        fn read(&self, path: &str) -> Result<String, String> {
            Err(path.into())
        }

        fn rule(&self, text: &str) -> Result<RuleSpec, String> {
            parse(text)
        }
    }

    /// A flow alone on a link of 1000 packets/s with an RTT of 100 ms: 100 packets fill it.
    fn run(rule: &str, loss_p: f64) -> RunResult {
        let text = format!(
            r#"
                duration = "20s"
                profile = "rfc"
                measure = ["5s", "15s"]
                [dumbbell]
                rate = "8.416Mbit"
                delay = "50ms"
                loss = [{{ kind = "bernoulli", p = {loss_p} }}]
                [[flows]]
                rule = "{rule}"
                tcp = {{ packet_size = 1000 }}
            "#
        );
        let scenario = Scenario::from_toml_with(&text, &Rules).unwrap();
        Simulation::new(&scenario).run().unwrap()
    }

    #[test]
    fn cwnd_follows_the_inputs_as_they_fall_due() {
        let steered = run("steered:50@0 10@10", 0.0);
        // 50 packets per RTT of 101.3 ms for 5 s, then 10 packets for 5 s.
        assert!((steered.flows[0].mean_cwnd_packets - 30.0).abs() < 0.5, "{steered:?}");
        let expected_packets = 5.0 / 0.1013 * (50.0 + 10.0);
        let delivered = steered.flows[0].delivered_packets as f64;
        assert!((delivered / expected_packets - 1.0).abs() < 0.01, "{delivered}");
    }

    #[test]
    fn losses_leave_cwnd_alone() {
        let lossy = run("steered:50@0", 0.005);
        assert!(lossy.flows[0].fast_retransmits > 10, "{lossy:?}");
        assert!((lossy.flows[0].mean_cwnd_packets - 50.0).abs() < 1e-6, "{lossy:?}");
    }

    #[test]
    fn the_inputs_of_a_later_time_do_not_change_what_was_before() {
        let (a, b) = (run("steered:50@0", 0.0), run("steered:50@0 90@20", 0.0));
        assert_eq!(a.trace_hash, b.trace_hash);
    }

    #[test]
    fn what_is_wrong_with_an_input_is_said() {
        for (text, expected) in [
            ("steered:", "times in order"),
            ("steered:10@1", "the first one 0"),
            ("steered:10@0 11@3 12@2", "times in order"),
            ("steered:10@0 0@1", "input \"0@1\" is not valid"),
            ("steered:10@0 NaN@1", "input \"NaN@1\" is not valid"),
            ("steered:10@0 10@inf", "input \"10@inf\" is not valid"),
            ("rules.py:Patient", "Python"),
        ] {
            let message = parse(text).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }
}
