//! Sampling of a rule: growth and cuts at given windows and RTTs, as fixed-point values.

use crate::KernelError;
use cwndlab_rules::{Ack, Arithmetic, Congestion, Rule, RuleSpec, WindowRule};
use cwndlab_units::message::invalid;

/// Largest change of the window per acknowledged packet, packets: products stay below 64 bits
/// (bpf/fixed.h).
pub(crate) const MOST_GROWTH: f64 = 64.0;
/// Largest window after a cut, packets: products stay below 64 bits (bpf/table.h).
const MOST_CUT: f64 = 32767.0;

/// Scale of growth per acknowledged packet: packets times 2^44.
pub(crate) const Q44: f64 = (1u64 << 44) as f64;
/// Scale of windows: packets times 2^32.
pub(crate) const Q32: f64 = (1u64 << 32) as f64;

/// Evaluates a rule at any window and RTT, as if it had no memory.
pub(crate) struct Probe<'a> {
    spec: &'a RuleSpec,
    rule: Rule,
}

impl<'a> Probe<'a> {
    pub(crate) fn new(spec: &'a RuleSpec) -> Self {
        Self { spec, rule: spec.build(Arithmetic::Plain) }
    }

    /// Growth per acknowledged packet at a window of `cwnd` packets.
    pub(crate) fn growth(&mut self, cwnd: f64, rtt_s: f64) -> Result<f64, KernelError> {
        let growth = self.rule.increase(cwnd, &ack(rtt_s)) - cwnd;
        self.finite(growth, "growth", cwnd, rtt_s)?;
        if growth.abs() > MOST_GROWTH {
            let key = format!("growth per acknowledged packet at w = {cwnd}");
            let expected = format!("at most {MOST_GROWTH} packets up or down");
            return Err(self.refuse(invalid(key, format!("{growth:.0}"), expected)));
        }
        Ok(growth)
    }

    /// Growth limited to [`MOST_GROWTH`]: at the corners of a surface (windows of a few packets,
    /// RTTs of many seconds) reasonable formulas exceed it.
    pub(crate) fn held_growth(&mut self, cwnd: f64, rtt_s: f64) -> Result<f64, KernelError> {
        let growth = self.rule.increase(cwnd, &ack(rtt_s)) - cwnd;
        self.finite(growth, "growth", cwnd, rtt_s)?;
        Ok(growth.clamp(-MOST_GROWTH, MOST_GROWTH))
    }

    /// The window after a cut at `cwnd` packets.
    pub(crate) fn cut(&mut self, cwnd: f64, rtt_s: f64) -> Result<f64, KernelError> {
        // A formula uses the RTT of the last acknowledgement.
        self.rule.slow_start(cwnd, &ack(rtt_s));
        let cut = self.rule.decrease(cwnd, Congestion::FastRetransmit);
        self.finite(cut, "the window after a cut", cwnd, rtt_s)?;
        if cut > MOST_CUT {
            let key = format!("the window after a cut at w = {cwnd}");
            let expected = format!("at most {MOST_CUT} packets");
            return Err(self.refuse(invalid(key, format!("{cut:.0}"), expected)));
        }
        Ok(cut.max(-MOST_CUT))
    }

    fn finite(&mut self, value: f64, what: &str, cwnd: f64, rtt_s: f64) -> Result<(), KernelError> {
        let fault = self.rule.fault().map(str::to_string);
        match fault {
            Some(fault) => Err(self
                .refuse(format!("{fault}; the kernel may use any window from 1 to 16384 packets"))),
            None if value.is_finite() => Ok(()),
            None => Err(self.refuse(format!("{what} is {value} at w = {cwnd}, rtt = {rtt_s}"))),
        }
    }

    fn refuse(&self, why: String) -> KernelError {
        KernelError::Rule(format!("rule \"{}\" cannot run in the kernel: {why}", self.spec))
    }
}

fn ack(rtt_s: f64) -> Ack {
    Ack { acked_packets: 1, rtt_s, srtt_s: rtt_s, min_rtt_s: rtt_s, ..Ack::default() }
}

/// Rounds to fixed point.
pub(crate) fn fixed(value: f64, one: f64) -> i64 {
    (value * one).round() as i64
}

pub(crate) fn bytes(values: &[i64]) -> impl Iterator<Item = u8> + '_ {
    values.iter().flat_map(|value| value.to_ne_bytes())
}

/// Largest error of the interpolation against the rule, taken halfway between points.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Accuracy {
    /// Error of growth, as a share of the growth.
    pub growth_share: f64,
    /// Error of cuts, as a share of the window before the cut.
    pub cut_share: f64,
}

impl Accuracy {
    pub(crate) fn note_growth(&mut self, line: f64, rule: f64) {
        let off = (line - rule).abs();
        // One unit of the fixed-point format is rounding, not interpolation error.
        if off > 1.0 / Q44 {
            self.growth_share = self.growth_share.max(off / rule.abs().max(1.0 / Q44));
        }
    }

    pub(crate) fn note_cut(&mut self, line: f64, rule: f64, cwnd: f64) {
        self.cut_share = self.cut_share.max((line - rule).abs() / cwnd);
    }
}
