//! Formula rule: a user's increase and decrease as two formulas.
//!
//! ```text
//! without loss, per round trip:  w <- w + inc(w, rtt, qdelay)
//! on congestion:                 w <- dec(w, rtt, qdelay)
//! ```
//!
//! `w` in packets, `rtt` the smoothed RTT in seconds, `qdelay` its part above the minimum RTT so
//! far: the time in queues, and what a data packet takes longer to transmit than the SYN. It does
//! not have the granularity of a clock, which `rtt` has with ns-2's endpoints. Each ACK adds inc/w.
//! Slow start is the standard one; marks count as losses. Before the first sample the RTT is 1 s
//! (RFC 6298's initial RTO), and no packet waits.
//!
//! An `inc` below zero shrinks the window, to two packets at least: a single packet waits for the
//! receiver's delayed ACK, which would read as a queue. The endpoint raises a `dec` below one packet
//! to its floor. A value that is not finite leaves the window alone and is a fault from then on,
//! which the endpoint reports.

use crate::family::{no_check, parameter};
use crate::{
    Ack, AckFields, Congestion, FamilyOf, Formula, Needs, Parameter, ParameterKind, SlowStart,
    WindowRule,
};

/// The least window that an `inc` below zero leaves.
const LEAST_PACKETS: f64 = 2.0;

/// The rule of two formulas.
#[derive(Clone, Debug)]
pub struct FormulaRule {
    increase: Formula,
    decrease: Formula,
    rtt_s: f64,
    qdelay_s: f64,
    fault: Option<String>,
}

impl FormulaRule {
    /// `increase`: packets per round trip; `decrease`: the window after a congestion signal.
    pub fn new(increase: Formula, decrease: Formula) -> Self {
        Self { increase, decrease, rtt_s: 1.0, qdelay_s: 0.0, fault: None }
    }

    /// Whether `rtt` occurs in one of the formulas.
    pub fn has_rtt(&self) -> bool {
        self.increase.has_rtt() || self.decrease.has_rtt()
    }

    /// Whether `qdelay` occurs in one of the formulas.
    pub fn has_qdelay(&self) -> bool {
        self.increase.has_qdelay() || self.decrease.has_qdelay()
    }

    /// The window after a packet in congestion avoidance.
    #[inline]
    fn step(&mut self, cwnd: f64) -> f64 {
        let value = self.increase.value(cwnd, self.rtt_s, self.qdelay_s);
        let grown = cwnd + value / cwnd;
        if !grown.is_finite() {
            self.fail("inc", cwnd, value);
            return cwnd;
        }
        grown.max(cwnd.min(LEAST_PACKETS))
    }

    #[inline]
    fn note_rtt(&mut self, ack: &Ack) {
        let rtt_s = if ack.srtt_s > 0.0 { ack.srtt_s } else { ack.rtt_s };
        if rtt_s > 0.0 {
            self.rtt_s = rtt_s;
        }
        self.qdelay_s = ack.queueing_delay_s;
    }

    #[cold]
    fn fail(&mut self, what: &str, cwnd: f64, value: f64) {
        if self.fault.is_none() {
            let formula = if what == "inc" { &self.increase } else { &self.decrease };
            self.fault = Some(format!(
                "{what} = \"{formula}\" is {value} at w = {cwnd}, rtt = {}, qdelay = {}",
                self.rtt_s, self.qdelay_s
            ));
        }
    }
}

impl WindowRule for FormulaRule {
    #[inline]
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        self.note_rtt(ack);
        ack.per_packet(cwnd, |cwnd| self.step(cwnd))
    }

    fn decrease(&mut self, cwnd: f64, _: Congestion) -> f64 {
        let value = self.decrease.value(cwnd, self.rtt_s, self.qdelay_s);
        if !value.is_finite() {
            self.fail("dec", cwnd, value);
            return cwnd;
        }
        value
    }

    #[inline]
    fn slow_start(&mut self, cwnd: f64, ack: &Ack) -> SlowStart {
        self.note_rtt(ack);
        SlowStart::Grow(ack.slow_start(cwnd, |cwnd| self.step(cwnd)))
    }

    fn needs(&self) -> Needs {
        let ack = if self.has_qdelay() { AckFields::All } else { AckFields::Rtt };
        Needs { ack, faults: true, ..Needs::default() }
    }

    fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    fn state(&self, report: &mut dyn FnMut(&str, f64)) {
        report("rtt_s", self.rtt_s);
        report("qdelay_s", self.qdelay_s);
    }
}

const fn formula(name: &'static str, meaning: &'static str) -> Parameter {
    const EXPECTED: &str = "a formula in w (packets), rtt and qdelay (seconds): \
                            + - * / ^ ( ) min max sqrt log exp abs";
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
        let shrinks = |w: f64| {
            let at = |qdelay_s: f64| p.formulas[1].value(w, 0.1 + qdelay_s, qdelay_s);
            [0.0, 0.05, 1.0].into_iter().any(|qdelay_s| at(qdelay_s) < w)
        };
        // At one of these windows suffices, with or without a queue: a rule may be gentle at others.
        let shrinks_somewhere = [2.0, 10.0, 100.0, 1000.0].into_iter().any(shrinks);
        if shrinks_somewhere {
            no_check(p)
        } else {
            Some(
                "it never shrinks: dec is not below w at 2, 10, 100 or 1000 packets, with qdelay \
                 up to 1 s",
            )
        }
    },
    build: |p| Box::new(FormulaRule::new(p.formulas[0].clone(), p.formulas[1].clone())),
};
