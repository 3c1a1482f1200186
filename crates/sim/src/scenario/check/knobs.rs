//! Checks of endpoint knobs: ranges.

use super::{Checked, conflict};
use crate::scenario::{KnobOverrides, RuleText, Scenario};
use cwndlab_rules::{Arithmetic, WindowRule};
use cwndlab_tcp::SlowStartScheme;
use cwndlab_units::Time;

pub(super) fn check_knobs(knobs: &KnobOverrides, key: &str) -> Checked {
    let inside = |name: &str, value: Option<f64>, low: f64, high: f64| match value {
        Some(value) if !(low..=high).contains(&value) => {
            super::invalid(format!("{key}.{name}"), value, format!("{low} to {high}"))
        }
        _ => Ok(()),
    };
    inside("packet_size", knobs.packet_size.map(f64::from), 1.0, 65_000.0)?;
    inside("header_size", knobs.header_size.map(f64::from), 0.0, 400.0)?;
    inside("syn_size", knobs.syn_size.map(f64::from), 1.0, 65_000.0)?;
    inside("ack_size", knobs.ack_size.map(f64::from), 1.0, 65_000.0)?;
    inside("sack_block_size", knobs.sack_block_size.map(f64::from), 0.0, 40.0)?;
    inside("ack_timestamp_size", knobs.ack_timestamp_size.map(f64::from), 0.0, 40.0)?;
    inside("timestamp_size", knobs.timestamp_size.map(f64::from), 0.0, 40.0)?;
    inside("max_sack_blocks", knobs.max_sack_blocks.map(f64::from), 0.0, 3.0)?;
    inside("window", knobs.window, 1.0, 1e9)?;
    inside("initial_ssthresh", knobs.initial_ssthresh, 1.0, 1e9)?;
    inside("initial_window", knobs.initial_window, 1.0, 1e6)?;
    inside("dupack_threshold", knobs.dupack_threshold.map(f64::from), 1.0, 1e6)?;
    inside("cwnd_floor", knobs.cwnd_floor, -1e9, 1e6)?;
    inside("timer_phase", knobs.timer_phase, 0.0, 1e3)?;
    inside("initial_rto", knobs.initial_rto.map(Time::seconds), 1e-3, 1e5)?;
    inside("max_rto", knobs.max_rto.map(Time::seconds), 1e-3, 1e5)
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
        let scheme = self.knobs(knobs).slow_start;
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
