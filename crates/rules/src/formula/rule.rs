//! Formula rule: a user's increase and decrease as two formulas.
//!
//! ```text
//! without loss, per round trip:  w <- w + inc(w, rtt)
//! on congestion:                 w <- dec(w, rtt)
//! ```
//!
//! `w` in packets, `rtt` the smoothed RTT in seconds. Each ACK adds inc(w, rtt)/w. Slow start is
//! the standard one; marks count as losses. Before the first sample the RTT is 1 s (RFC 6298's
//! initial RTO).
//!
//! A value that is not finite, or growth to a window that is not positive, leaves the window alone
//! and is a fault from then on, which the endpoint reports. The endpoint raises a `dec` below one
//! packet to its floor.

use crate::family::{no_check, parameter};
use crate::{
    Ack, AckFields, Congestion, FamilyOf, Formula, Needs, Parameter, ParameterKind, SlowStart,
    WindowRule,
};

/// The rule of two formulas.
#[derive(Clone, Debug)]
pub struct FormulaRule {
    increase: Formula,
    decrease: Formula,
    rtt_s: f64,
    fault: Option<String>,
}

impl FormulaRule {
    /// `increase`: packets per round trip; `decrease`: the window after a congestion signal.
    pub fn new(increase: Formula, decrease: Formula) -> Self {
        Self { increase, decrease, rtt_s: 1.0, fault: None }
    }

    #[inline]
    fn note_rtt(&mut self, ack: &Ack) {
        let rtt_s = if ack.srtt_s > 0.0 { ack.srtt_s } else { ack.rtt_s };
        if rtt_s > 0.0 {
            self.rtt_s = rtt_s;
        }
    }

    #[cold]
    fn fail(&mut self, what: &str, cwnd: f64, value: f64) {
        if self.fault.is_none() {
            let formula = if what == "inc" { &self.increase } else { &self.decrease };
            self.fault = Some(format!(
                "{what} = \"{formula}\" is {value} at w = {cwnd}, rtt = {}",
                self.rtt_s
            ));
        }
    }
}

impl WindowRule for FormulaRule {
    #[inline]
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        self.note_rtt(ack);
        let value = self.increase.value(cwnd, self.rtt_s);
        let grown = cwnd + value / cwnd;
        if !(grown.is_finite() && grown > 0.0) {
            self.fail("inc", cwnd, value);
            return cwnd;
        }
        grown
    }

    #[inline]
    fn decrease(&mut self, cwnd: f64, _: Congestion) -> f64 {
        let value = self.decrease.value(cwnd, self.rtt_s);
        if !value.is_finite() {
            self.fail("dec", cwnd, value);
            return cwnd;
        }
        value
    }

    #[inline]
    fn slow_start(&mut self, cwnd: f64, ack: &Ack) -> SlowStart {
        self.note_rtt(ack);
        SlowStart::Grow(cwnd + 1.0)
    }

    fn needs(&self) -> Needs {
        Needs { ack: AckFields::Rtt, faults: true, ..Needs::default() }
    }

    fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    fn state(&self, report: &mut dyn FnMut(&str, f64)) {
        report("rtt_s", self.rtt_s);
    }
}

const fn formula(name: &'static str, meaning: &'static str) -> Parameter {
    const EXPECTED: &str =
        "a formula in w (packets) and rtt (seconds): + - * / ^ ( ) min max sqrt log exp abs";
    Parameter { kind: ParameterKind::Formula, ..parameter(name, meaning, EXPECTED, |_| true) }
}

pub(crate) const FAMILY: FamilyOf<Box<FormulaRule>> = FamilyOf {
    name: "Rule",
    summary: "your own: what a round trip adds, and the window after a congestion signal",
    source: "your formulas",
    example: "Rule(inc=\"1/w^0.5\", dec=\"w - 0.5*w^0.5\")",
    deployed: false,
    parameters: &[
        formula("inc", "packets added per round trip"),
        formula("dec", "window after a congestion signal, packets"),
    ],
    check: |p| {
        let shrinks = |w: f64| p.formulas[1].value(w, 0.1) < w;
        // At one of these windows suffices: a rule may be gentle at others.
        let shrinks_somewhere = [2.0, 10.0, 100.0, 1000.0].into_iter().any(shrinks);
        if shrinks_somewhere {
            no_check(p)
        } else {
            Some("it never shrinks: dec is not below w at 2, 10, 100 or 1000 packets")
        }
    },
    build: |p| Box::new(FormulaRule::new(p.formulas[0].clone(), p.formulas[1].clone())),
};
