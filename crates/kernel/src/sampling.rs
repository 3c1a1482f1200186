//! Sampling of a rule: growth and cuts at given windows, RTTs and queueing delays, as fixed-point
//! values.

use crate::KernelError;
use cwndlab_rules::{Ack, Arithmetic, Congestion, Rule, RuleSpec, WindowRule};
use cwndlab_units::message::invalid;
use std::fmt;

/// Largest change of the window per acknowledged packet, packets: products stay below 64 bits
/// (bpf/fixed.h).
pub(crate) const MOST_GROWTH: f64 = 64.0;
/// Largest window after a cut, packets: products stay below 64 bits (bpf/table.h).
const MOST_CUT: f64 = 32767.0;

/// Scale of growth per acknowledged packet: packets times 2^44.
pub(crate) const Q44: f64 = (1u64 << 44) as f64;
/// Scale of windows: packets times 2^32.
pub(crate) const Q32: f64 = (1u64 << 32) as f64;

/// What a rule reads of an acknowledgement, seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) rtt_s: f64,
    pub(crate) qdelay_s: f64,
}

impl Times {
    fn ack(self) -> Ack {
        Ack {
            acked_packets: 1,
            rtt_s: self.rtt_s,
            srtt_s: self.rtt_s,
            min_rtt_s: self.rtt_s - self.qdelay_s,
            queueing_delay_s: self.qdelay_s,
            ..Ack::default()
        }
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rtt = {}, qdelay = {}", self.rtt_s, self.qdelay_s)
    }
}

/// Evaluates a rule at any window and times, as if it had no memory.
pub(crate) struct Probe<'a> {
    spec: &'a RuleSpec,
    rule: Rule,
}

impl<'a> Probe<'a> {
    pub(crate) fn new(spec: &'a RuleSpec) -> Self {
        Self { spec, rule: spec.build(Arithmetic::Plain) }
    }

    /// Growth per acknowledged packet at a window of `cwnd` packets.
    pub(crate) fn growth(&mut self, cwnd: f64, times: Times) -> Result<f64, KernelError> {
        let growth = self.rule.increase(cwnd, &times.ack()) - cwnd;
        self.finite(growth, "growth", cwnd, times)?;
        if growth.abs() > MOST_GROWTH {
            let key = format!("growth per acknowledged packet at w = {cwnd}, {times}");
            let expected = format!("at most {MOST_GROWTH} packets up or down");
            return Err(self.refuse(invalid(key, format!("{growth:.0}"), expected)));
        }
        Ok(growth)
    }

    /// Growth limited to [`MOST_GROWTH`]: at the corners of a surface (windows of a few packets,
    /// RTTs of many seconds) reasonable formulas exceed it.
    pub(crate) fn held_growth(&mut self, cwnd: f64, times: Times) -> Result<f64, KernelError> {
        let growth = self.rule.increase(cwnd, &times.ack()) - cwnd;
        self.finite(growth, "growth", cwnd, times)?;
        Ok(growth.clamp(-MOST_GROWTH, MOST_GROWTH))
    }

    /// The window after a cut at `cwnd` packets.
    pub(crate) fn cut(&mut self, cwnd: f64, times: Times) -> Result<f64, KernelError> {
        // A formula uses the times of the last acknowledgement.
        self.rule.slow_start(cwnd, &times.ack());
        let cut = self.rule.decrease(cwnd, Congestion::FastRetransmit);
        self.finite(cut, "the window after a cut", cwnd, times)?;
        if cut > MOST_CUT {
            let key = format!("the window after a cut at w = {cwnd}, {times}");
            let expected = format!("at most {MOST_CUT} packets");
            return Err(self.refuse(invalid(key, format!("{cut:.0}"), expected)));
        }
        Ok(cut.max(-MOST_CUT))
    }

    fn finite(
        &mut self,
        value: f64,
        what: &str,
        cwnd: f64,
        times: Times,
    ) -> Result<(), KernelError> {
        let fault = self.rule.fault().map(str::to_string);
        match fault {
            Some(fault) => Err(self.refuse(format!(
                "{fault}; in the kernel the window may be from 1 to 16384 packets, and rtt and \
                     qdelay up to 16.8 s"
            ))),
            None if value.is_finite() => Ok(()),
            None => Err(self.refuse(format!("{what} is {value} at w = {cwnd}, {times}"))),
        }
    }

    fn refuse(&self, why: String) -> KernelError {
        KernelError::Rule(format!("rule \"{}\" cannot run in the kernel: {why}", self.spec))
    }
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
    /// Error of growth, as a share of the growth; of formulas in `rtt` or `qdelay`, whose growth may
    /// pass zero, of a packet per round trip at least.
    pub growth_share: f64,
    /// Error of cuts, as a share of the window before the cut.
    pub cut_share: f64,
}

impl Accuracy {
    /// `least`: of what, at least, the error is a share.
    pub(crate) fn note_growth(&mut self, line: f64, rule: f64, least: f64) {
        let off = (line - rule).abs();
        // One unit of the fixed-point format is rounding, not interpolation error.
        if off > 1.0 / Q44 {
            self.growth_share = self.growth_share.max(off / rule.abs().max(least));
        }
    }

    pub(crate) fn note_cut(&mut self, line: f64, rule: f64, cwnd: f64) {
        self.cut_share = self.cut_share.max((line - rule).abs() / cwnd);
    }
}
