//! Checks of endpoint knobs: ranges, and combinations that have no meaning.

use super::conditions::{Checked, conflict, inside, invalid};
use crate::{KnobOverrides, PerFlow, RecoveryName, RuleText, Scenario};
use cwndlab_rules::{Arithmetic, WindowRule};
use cwndlab_tcp::{Recovery, SlowStartScheme, TcpConfig};

pub(super) fn check_knobs(knobs: &KnobOverrides, key: &str) -> Checked {
    if let Some((name, value, [least, most])) = knobs.outside() {
        return invalid(format!("{key}.{name}"), value, format!("{least} to {most}"));
    }
    for (i, &phase_s) in knobs.timer_phase.iter().flat_map(PerFlow::values).enumerate() {
        let is_list = knobs.timer_phase.as_ref().is_some_and(|phase| phase.count().is_some());
        let name = if is_list { format!("timer_phase.each[{i}]") } else { "timer_phase".into() };
        inside(format!("{key}.{name}"), phase_s, 0.0, 1e3)?;
    }
    Ok(())
}

impl Scenario {
    /// Refuses a slow-start scheme with a rule that sets cwnd itself in slow start. `flow_key`: the
    /// table of the flow's own knobs.
    pub(super) fn check_slow_start(
        &self,
        rule: &RuleText,
        knobs: &KnobOverrides,
        flow_key: String,
    ) -> Checked {
        let scheme = self.tcp_config(knobs).growth.slow_start;
        if matches!(scheme, SlowStartScheme::Standard | SlowStartScheme::Linux)
            || rule.0.kernel_name().is_some()
            || !rule.0.build(Arithmetic::Plain).needs().recovery
        {
            return Ok(());
        }
        let table = if knobs.slow_start.is_some() { flow_key } else { "tcp".into() };
        conflict(
            format!("{table}.slow_start"),
            format!(
                "must be \"standard\" for {}: a model-based rule sets cwnd in slow start, too",
                rule.0
            ),
        )
    }
}

/// Largest window of a sender whose receiver hides losses, packets.
const MOST_OPTIMISTIC_WINDOW: f64 = 1e5;
const OPTIMISTIC: &str = "tcp.optimistic_acks";

/// A flow's recovery scheme, and all its settings.
type Endpoint = (RecoveryName, TcpConfig);

/// A knob without effect where a condition does not hold.
struct Condition {
    knob: &'static str,
    /// Whether a table asks for it.
    is_set: fn(&KnobOverrides) -> bool,
    holds: fn(&Endpoint) -> bool,
    reason: &'static str,
}

const fn of_sack(knob: &'static str, is_set: fn(&KnobOverrides) -> bool) -> Condition {
    let reason = "only recovery = \"sack\" has it";
    Condition { knob, is_set, holds: |(recovery, _)| *recovery == RecoveryName::Sack, reason }
}

/// What every scheme with a SACK scoreboard has.
const fn of_scoreboard(knob: &'static str, is_set: fn(&KnobOverrides) -> bool) -> Condition {
    let reason = "only recovery = \"sack\" and \"fack\" have it";
    Condition { knob, is_set, holds: |(name, _)| Recovery::from(*name).uses_sack(), reason }
}

const CONDITIONS: &[Condition] = &[
    of_sack("sack_rfc6675", |knobs| knobs.sack_rfc6675 == Some(true)),
    Condition {
        knob: "prr",
        is_set: |knobs| knobs.prr == Some(true),
        holds: |(name, config)| {
            Recovery::from(*name).uses_sack()
                || (*name == RecoveryName::NewReno && config.recovery.rack)
        },
        reason: "only recovery = \"sack\" and \"fack\", and with rack = true \"newreno\", have it",
    },
    Condition {
        knob: "rack",
        is_set: |knobs| knobs.rack == Some(true),
        holds: |(recovery, _)| matches!(recovery, RecoveryName::Sack | RecoveryName::NewReno),
        reason: "only recovery = \"sack\" and \"newreno\" have it",
    },
    of_scoreboard("dsack", |knobs| knobs.dsack == Some(true)),
    Condition {
        knob: "tlp",
        is_set: |knobs| knobs.tlp == Some(true),
        holds: |(recovery, config)| *recovery == RecoveryName::Sack && config.recovery.rack,
        reason: "it needs recovery = \"sack\" and rack = true",
    },
    Condition {
        knob: "ect1",
        is_set: |knobs| knobs.ect1 == Some(true),
        holds: |(_, config)| config.ecn.ecn,
        reason: "it needs ecn = true",
    },
    Condition {
        knob: "ecn_feedback",
        is_set: |knobs| knobs.ecn_feedback.is_some_and(|feedback| feedback.is_accecn()),
        holds: |(_, config)| config.ecn.ecn,
        reason: "it needs ecn = true",
    },
];

impl Scenario {
    /// Refuses knobs that have no effect on any flow to which their table applies. Profiles may set
    /// such knobs.
    pub(super) fn check_combinations(&self) -> Checked {
        let flows = self.flows.iter().enumerate().map(|(i, flow)| {
            (self.flow_key(i, "tcp"), &flow.tcp, (flow.recovery, self.tcp_config(&flow.tcp)))
        });
        let arrivals = self.arrivals.iter().enumerate().map(|(i, spec)| {
            (format!("arrivals[{i}].tcp"), &spec.tcp, (spec.recovery, self.tcp_config(&spec.tcp)))
        });
        let mut endpoints = Vec::new();
        for (table, knobs, endpoint) in flows.chain(arrivals) {
            check_table(&table, knobs, std::slice::from_ref(&endpoint))?;
            let config = &endpoint.1;
            if config.receiver.optimistic_acks > 0 && config.limits.window > MOST_OPTIMISTIC_WINDOW
            {
                let own = knobs.optimistic_acks.is_some();
                let key = if own { format!("{table}.optimistic_acks") } else { OPTIMISTIC.into() };
                let most = format!("must be at most {MOST_OPTIMISTIC_WINDOW}");
                let reason = "nothing else limits a sender that hears of no loss";
                return conflict(key, format!("`window` {most}: {reason}"));
            }
            endpoints.push(endpoint);
        }
        if endpoints.is_empty() { Ok(()) } else { check_table("tcp", &self.tcp, &endpoints) }
    }
}

fn check_table(table: &str, knobs: &KnobOverrides, endpoints: &[Endpoint]) -> Checked {
    for Condition { knob, is_set, holds, reason } in CONDITIONS {
        if is_set(knobs) && !endpoints.iter().any(holds) {
            return conflict(format!("{table}.{knob}"), format!("has no effect: {reason}"));
        }
    }
    Ok(())
}
