//! Congestion-window rules: how cwnd grows on ACKs and shrinks on congestion.
//!
//! A rule is pure: no clock, no randomness, no I/O. It takes small events and returns the new
//! window; the endpoint applies it. Windows are packets, times seconds (`f64` both).
//!
//! ```
//! use cwndlab_rules::{Arithmetic, Congestion, Ack, RuleSpec, WindowRule};
//! let spec: RuleSpec = "AIMD(1, 0.5)".parse().unwrap();
//! let mut rule = spec.build(Arithmetic::Plain);
//! assert_eq!(rule.increase(10.0, &Ack::default()), 10.1);                   // 1/w per ACK
//! assert_eq!(rule.decrease(10.0, Congestion::FastRetransmit), 5.0);
//! assert_eq!(spec.to_string(), "AIMD(1, 0.5)");
//! ```

mod bbr;
mod bic;
mod bimodal;
mod binomial;
mod cubic;
mod custom;
mod dctcp;
mod delivery_rate;
mod event;
mod formula;
mod gaimd;
mod highspeed;
mod htcp;
mod illinois;
mod ledbat;
mod linear;
mod mraimd;
mod notation;
mod registry;
mod scalable;
mod vegas;
mod westwood;

pub use bbr::{Bbr1, Bbr3};
pub use bic::Bic;
pub use bimodal::{Bimodal, Compare};
pub use binomial::Binomial;
pub use cubic::Cubic;
pub use custom::{CustomRule, CustomRuleFactory};
pub use dctcp::Dctcp;
pub use event::{Ack, AckFields, Congestion, MarkResponse, Needs, SlowStart};
pub use formula::{Formula, FormulaError, FormulaRule};
pub use gaimd::Gaimd;
pub use highspeed::HighSpeed;
pub use htcp::Htcp;
pub use illinois::Illinois;
pub use ledbat::Ledbat;
pub use linear::{Arithmetic, Linear};
pub use mraimd::MrAimd;
pub use notation::{RuleError, RuleSpec};
pub use registry::{FAMILIES, Family, Parameter, ParameterKind, ParameterValues};
pub use scalable::Scalable;
pub use vegas::Vegas;
pub use westwood::Westwood;

use std::sync::Arc;

/// A congestion-window rule.
///
/// A custom rule needs [`increase`](Self::increase) and [`decrease`](Self::decrease) only. The
/// endpoint implements recovery and timeouts. Every return value is a finite window in packets; the
/// endpoint raises a value below one packet to its floor.
pub trait WindowRule {
    /// The window after an ACK of new data in congestion avoidance, from `cwnd` packets.
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64;

    /// The window after congestion at `cwnd` packets. The endpoint applies its floor.
    fn decrease(&mut self, cwnd: f64, congestion: Congestion) -> f64;

    /// Response to an ACK of new data in slow start (RFC 5681 section 3.1: one packet more).
    #[inline]
    fn slow_start(&mut self, cwnd: f64, _: &Ack) -> SlowStart {
        SlowStart::Grow(cwnd + 1.0)
    }

    /// Response to an ACK with ECE. Called for each, before anything else that the ACK does,
    /// whether or not it acknowledges new data.
    fn on_mark(&mut self, _cwnd: f64, _: &Ack) -> MarkResponse {
        MarkResponse::Reduce
    }

    /// Pacing rate, packets/s; `None` where ACKs alone clock the sender.
    #[inline]
    fn pacing_rate_packets_s(&self) -> Option<f64> {
        None
    }

    /// cwnd before the first packet after an idle period is sent: the application had no data, and
    /// nothing is in flight. Called with [`Needs::delivery_rate`].
    fn restart_from_idle(&mut self, cwnd: f64, _now_s: f64) -> f64 {
        cwnd
    }

    /// Restores the state of before a reduction that proved spurious, as `saved` holds it.
    fn undo(&mut self, saved: Self)
    where
        Self: Sized,
    {
        *self = saved;
    }

    /// What the endpoint must measure. Constant over the rule's life.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Phase of a rule that has phases, for traces: BBR's Startup and the like.
    fn phase(&self) -> Option<&'static str> {
        None
    }

    /// Reports the rule's state for traces, name by name. A name ends in its unit, as a column
    /// does; a value that is not known yet is NaN.
    fn state(&self, _report: &mut dyn FnMut(&str, f64)) {}

    /// The first invalid congestion window that the rule returned, if any. The rule left cwnd alone
    /// since then.
    fn fault(&self) -> Option<&str> {
        None
    }

    /// Whether ns-2's `decrease_num_` is exactly 0.5 for this rule, so that ns-2 halves whatever
    /// the rule's other parameters (`TcpAgent::slowdown`). Only profiles that imitate ns-2 use it.
    fn halves_in_ns2(&self) -> bool {
        false
    }

    /// Whether a reduction for ECE also covers a loss in the same window of data (RFC 3168 section
    /// 6.1.2): false where it is smaller than the one for a loss.
    fn mark_covers_loss(&self) -> bool {
        true
    }

    /// Whether a reduction in slow start halves, whatever [`decrease`](Self::decrease) returns:
    /// only the endpoint knows whether it is in slow start.
    fn halves_in_slow_start(&self) -> bool {
        false
    }

    /// Whether Linux's implementation of the rule has HyStart. Only profiles that imitate Linux use
    /// it.
    fn has_hystart_in_linux(&self) -> bool {
        false
    }
}

/// The built-in rules as a closed set: the endpoint calls them without a virtual table.
///
/// Senders stay small: stateless rules are shared by all clones, stateful ones are boxed.
#[derive(Clone, Debug)]
pub enum Rule {
    /// The linear family.
    Linear(Arc<Linear>),
    /// General AIMD.
    Gaimd(Arc<Gaimd>),
    /// Binomial rules.
    Binomial(Arc<Binomial>),
    /// Bimodal.
    Bimodal(Box<Bimodal>),
    /// Multi-rate AIMD.
    MrAimd(Box<MrAimd>),
    /// CUBIC.
    Cubic(Box<Cubic>),
    /// DCTCP.
    Dctcp(Box<Dctcp>),
    /// HighSpeed TCP.
    HighSpeed(HighSpeed),
    /// Scalable TCP.
    Scalable(Arc<Scalable>),
    /// Westwood+.
    Westwood(Box<Westwood>),
    /// Vegas.
    Vegas(Box<Vegas>),
    /// H-TCP.
    Htcp(Box<Htcp>),
    /// TCP-Illinois.
    Illinois(Box<Illinois>),
    /// BIC.
    Bic(Box<Bic>),
    /// LEDBAT.
    Ledbat(Box<Ledbat>),
    /// BBR version 1.
    Bbr1(Box<Bbr1>),
    /// BBR version 3.
    Bbr3(Box<Bbr3>),
    /// A user's formulas.
    Formula(Box<FormulaRule>),
    /// A custom rule: the only one behind a virtual table.
    Custom(Box<dyn CustomRule>),
}

/// Makes the same call on any rule.
macro_rules! with {
    ($self:expr, $rule:ident => $call:expr) => {
        match $self {
            Rule::Linear($rule) => $call,
            Rule::Gaimd($rule) => $call,
            Rule::Binomial($rule) => $call,
            Rule::Bimodal($rule) => $call,
            Rule::MrAimd($rule) => $call,
            Rule::Cubic($rule) => $call,
            Rule::Dctcp($rule) => $call,
            Rule::HighSpeed($rule) => $call,
            Rule::Scalable($rule) => $call,
            Rule::Westwood($rule) => $call,
            Rule::Vegas($rule) => $call,
            Rule::Htcp($rule) => $call,
            Rule::Illinois($rule) => $call,
            Rule::Bic($rule) => $call,
            Rule::Ledbat($rule) => $call,
            Rule::Bbr1($rule) => $call,
            Rule::Bbr3($rule) => $call,
            Rule::Formula($rule) => $call,
            Rule::Custom($rule) => $call,
        }
    };
}

/// A stateless rule is shared.
impl<R: WindowRule + Copy> WindowRule for Arc<R> {
    #[inline]
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        let mut rule = **self;
        rule.increase(cwnd, ack)
    }

    #[inline]
    fn decrease(&mut self, cwnd: f64, congestion: Congestion) -> f64 {
        let mut rule = **self;
        rule.decrease(cwnd, congestion)
    }

    fn slow_start(&mut self, cwnd: f64, ack: &Ack) -> SlowStart {
        let mut rule = **self;
        rule.slow_start(cwnd, ack)
    }

    fn on_mark(&mut self, cwnd: f64, ack: &Ack) -> MarkResponse {
        let mut rule = **self;
        rule.on_mark(cwnd, ack)
    }

    fn pacing_rate_packets_s(&self) -> Option<f64> {
        (**self).pacing_rate_packets_s()
    }

    fn restart_from_idle(&mut self, cwnd: f64, now_s: f64) -> f64 {
        let mut rule = **self;
        rule.restart_from_idle(cwnd, now_s)
    }

    fn needs(&self) -> Needs {
        (**self).needs()
    }

    fn phase(&self) -> Option<&'static str> {
        (**self).phase()
    }

    fn state(&self, report: &mut dyn FnMut(&str, f64)) {
        (**self).state(report);
    }

    fn fault(&self) -> Option<&str> {
        (**self).fault()
    }

    fn halves_in_ns2(&self) -> bool {
        (**self).halves_in_ns2()
    }

    fn mark_covers_loss(&self) -> bool {
        (**self).mark_covers_loss()
    }

    fn halves_in_slow_start(&self) -> bool {
        (**self).halves_in_slow_start()
    }

    fn has_hystart_in_linux(&self) -> bool {
        (**self).has_hystart_in_linux()
    }
}

impl Rule {
    /// Whether the rule is stateless: its clones share memory.
    pub fn is_stateless(&self) -> bool {
        matches!(
            self,
            Self::Linear(_)
                | Self::Gaimd(_)
                | Self::Binomial(_)
                | Self::HighSpeed(_)
                | Self::Scalable(_)
        )
    }

    #[inline(never)]
    fn increase_other(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        with!(self, rule => rule.increase(cwnd, ack))
    }
}

impl WindowRule for Rule {
    #[inline(always)]
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        // The most common rule is inlined: one test instead of a jump table.
        if let Self::Linear(rule) = self {
            rule.increase(cwnd, ack)
        } else {
            self.increase_other(cwnd, ack)
        }
    }

    #[inline]
    fn decrease(&mut self, cwnd: f64, congestion: Congestion) -> f64 {
        with!(self, rule => rule.decrease(cwnd, congestion))
    }

    #[inline]
    fn slow_start(&mut self, cwnd: f64, ack: &Ack) -> SlowStart {
        with!(self, rule => rule.slow_start(cwnd, ack))
    }

    fn on_mark(&mut self, cwnd: f64, ack: &Ack) -> MarkResponse {
        with!(self, rule => rule.on_mark(cwnd, ack))
    }

    #[inline]
    fn pacing_rate_packets_s(&self) -> Option<f64> {
        with!(self, rule => rule.pacing_rate_packets_s())
    }

    fn restart_from_idle(&mut self, cwnd: f64, now_s: f64) -> f64 {
        with!(self, rule => rule.restart_from_idle(cwnd, now_s))
    }

    fn undo(&mut self, saved: Self) {
        match (self, saved) {
            (Self::Bbr1(rule), Self::Bbr1(saved)) => rule.undo(*saved),
            (Self::Bbr3(rule), Self::Bbr3(saved)) => rule.undo(*saved),
            (rule, saved) => *rule = saved,
        }
    }

    fn needs(&self) -> Needs {
        with!(self, rule => rule.needs())
    }

    fn phase(&self) -> Option<&'static str> {
        with!(self, rule => rule.phase())
    }

    fn state(&self, report: &mut dyn FnMut(&str, f64)) {
        with!(self, rule => rule.state(report));
    }

    fn fault(&self) -> Option<&str> {
        with!(self, rule => rule.fault())
    }

    fn halves_in_ns2(&self) -> bool {
        with!(self, rule => rule.halves_in_ns2())
    }

    fn mark_covers_loss(&self) -> bool {
        with!(self, rule => rule.mark_covers_loss())
    }

    fn halves_in_slow_start(&self) -> bool {
        with!(self, rule => rule.halves_in_slow_start())
    }

    fn has_hystart_in_linux(&self) -> bool {
        with!(self, rule => rule.has_hystart_in_linux())
    }
}
