//! A rule reads no field of an ACK that it did not declare: whatever stands in the others, the run is
//! the same.

use cwndlab_rules::{
    Ack, AckFields, Arithmetic, Congestion, CustomRuleFactory, FAMILIES, MarkResponse, Needs, Rule,
    RuleSpec, SlowStart, WindowRule,
};
use cwndlab_scenario::{Resolver, Scenario};
use cwndlab_sim::Simulation;

/// What no endpoint measures.
const POISON: Ack = Ack {
    now_s: f64::NAN,
    acked_packets: u64::MAX / 2,
    growth_packets: 0,
    ssthresh_packets: f64::NAN,
    cwnd_limited: false,
    delivered_packets: u64::MAX / 2,
    lost_packets: u64::MAX / 2,
    in_flight_packets: u64::MAX / 2,
    sent_in_flight_packets: u64::MAX / 2,
    delivered_since_sent_packets: u64::MAX / 2,
    lost_since_sent_packets: u64::MAX / 2,
    in_recovery: true,
    rtt_s: f64::NAN,
    srtt_s: f64::NAN,
    min_rtt_s: f64::NAN,
    queueing_delay_s: f64::NAN,
    delivery_rate_packets_s: f64::NAN,
    marked: true,
    marked_packets: u64::MAX / 2,
    round_start: true,
    app_limited: true,
};

/// A rule whose undeclared fields come from elsewhere.
#[derive(Clone, Debug)]
struct Shielded {
    rule: Rule,
    others: Ack,
}

impl Shielded {
    /// The fields of `ack` that the rule declared.
    fn declared(&self, ack: &Ack) -> Ack {
        let (needs, mut seen) = (self.rule.needs(), self.others);
        (seen.growth_packets, seen.ssthresh_packets) = (ack.growth_packets, ack.ssthresh_packets);
        if needs.ack >= AckFields::Rtt {
            (seen.rtt_s, seen.srtt_s) = (ack.rtt_s, ack.srtt_s);
        }
        if needs.ack >= AckFields::All {
            seen = Ack {
                round_start: seen.round_start,
                delivery_rate_packets_s: seen.delivery_rate_packets_s,
                app_limited: seen.app_limited,
                sent_in_flight_packets: seen.sent_in_flight_packets,
                delivered_since_sent_packets: seen.delivered_since_sent_packets,
                lost_since_sent_packets: seen.lost_since_sent_packets,
                ..*ack
            };
        }
        if needs.rounds {
            seen.round_start = ack.round_start;
        }
        if needs.delivery_rate {
            seen.delivery_rate_packets_s = ack.delivery_rate_packets_s;
            seen.app_limited = ack.app_limited;
        }
        if needs.recovery {
            seen.sent_in_flight_packets = ack.sent_in_flight_packets;
            seen.delivered_since_sent_packets = ack.delivered_since_sent_packets;
            seen.lost_since_sent_packets = ack.lost_since_sent_packets;
        }
        seen
    }
}

impl WindowRule for Shielded {
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        let ack = self.declared(ack);
        self.rule.increase(cwnd, &ack)
    }

    fn decrease(&mut self, cwnd: f64, congestion: Congestion) -> f64 {
        self.rule.decrease(cwnd, congestion)
    }

    fn slow_start(&mut self, cwnd: f64, ack: &Ack) -> SlowStart {
        let ack = self.declared(ack);
        self.rule.slow_start(cwnd, &ack)
    }

    fn on_mark(&mut self, cwnd: f64, ack: &Ack) -> MarkResponse {
        let ack = self.declared(ack);
        self.rule.on_mark(cwnd, &ack)
    }

    fn pacing_rate_packets_s(&self) -> Option<f64> {
        self.rule.pacing_rate_packets_s()
    }

    fn restart_from_idle(&mut self, cwnd: f64, now_s: f64) -> f64 {
        self.rule.restart_from_idle(cwnd, now_s)
    }

    fn needs(&self) -> Needs {
        self.rule.needs()
    }
}

/// Grows by a packet at the start of each round trip, which it does not declare.
#[derive(Clone, Debug)]
struct Careless;

impl WindowRule for Careless {
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        cwnd + f64::from(u8::from(ack.round_start))
    }

    fn decrease(&mut self, cwnd: f64, _: Congestion) -> f64 {
        cwnd / 2.0
    }
}

struct Rules(Ack);

impl Resolver for Rules {
    fn read(&self, path: &str) -> Result<String, String> {
        Err(path.into())
    }

    fn rule(&self, text: &str) -> Result<RuleSpec, String> {
        let others = self.0;
        let name = text.strip_prefix("shielded:").ok_or("no such rule")?;
        if name == "careless" {
            let make = move || Shielded { rule: Rule::custom(Careless), others };
            return Ok(RuleSpec::custom(text, CustomRuleFactory::new(make)));
        }
        let spec: RuleSpec = name.parse().map_err(|_| "no such rule")?;
        let make = move || Shielded { rule: spec.build(Arithmetic::Plain), others };
        Ok(RuleSpec::custom(text, CustomRuleFactory::new(make)))
    }
}

/// Two flows, one of them with pauses, over a queue that marks and drops.
fn trace_hash(rule: &str, profile: &str, others: Ack) -> String {
    let text = format!(
        r#"
        duration = "6s"
        profile = "{profile}"
        [dumbbell]
        rate = "4Mbit"
        delay = "15ms"
        queue = {{ kind = "red", limit = "30pkt", min = "5pkt", max = "15pkt", ecn = true }}
        [[flows]]
        name = "bulk"
        rule = 'shielded:{rule}'
        tcp = {{ ecn = true }}
        [[flows]]
        name = "pauses"
        rule = 'shielded:{rule}'
        responses = {{ size = 60, think = "700ms" }}
        "#
    );
    let scenario = Scenario::from_toml_with(&text, &Rules(others));
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let result = Simulation::new(&scenario).run();
    format!("{:?}", result.unwrap_or_else(|error| panic!("{rule}: {error:?}")).trace_hash)
}

#[test]
fn no_rule_reads_what_it_did_not_declare() {
    for profile in ["rfc", "linux"] {
        for family in FAMILIES {
            let of = |others| trace_hash(family.example, profile, others);
            assert_eq!(of(Ack::EMPTY), of(POISON), "{}, {profile}", family.example);
        }
    }
}

/// The test above would notice one that does.
#[test]
fn an_undeclared_field_changes_the_run() {
    let of = |others| trace_hash("careless", "linux", others);
    assert_ne!(of(Ack::EMPTY), of(POISON));
}
