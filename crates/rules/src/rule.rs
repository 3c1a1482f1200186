//! Any rule: the enum of all of them, which passes each event to the rule it holds.

use crate::{
    Ack, Bbr1, Bbr3, Bic, Bimodal, Binomial, Congestion, Cubic, CustomRule, Dctcp, FormulaRule,
    Gaimd, HighSpeed, Htcp, Illinois, KernelCubic, KernelReno, Ledbat, Linear, MarkResponse,
    MrAimd, Nada, Needs, Prague, Scalable, SlowStart, Vegas, Westwood, WindowRule,
};
use std::sync::Arc;

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
    /// Prague.
    Prague(Box<Prague>),
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
    /// Reno of the Linux kernel.
    KernelReno(Box<KernelReno>),
    /// CUBIC of the Linux kernel.
    KernelCubic(Box<KernelCubic>),
    /// NADA.
    Nada(Box<Nada>),
    /// BBR version 1.
    Bbr1(Box<Bbr1>),
    /// BBR version 3.
    Bbr3(Box<Bbr3>),
    /// A user's formulas.
    Formula(Box<FormulaRule>),
    /// A custom rule: the only one behind a virtual table.
    Custom(Box<dyn CustomRule>),
}

/// Makes the same call on any rule; on a copy of one that is shared.
macro_rules! with {
    ($self:expr, $rule:ident => $call:expr) => {
        match $self {
            Rule::Linear(shared) => {
                let $rule = &mut { **shared };
                $call
            }
            Rule::Gaimd(shared) => {
                let $rule = &mut { **shared };
                $call
            }
            Rule::Binomial(shared) => {
                let $rule = &mut { **shared };
                $call
            }
            Rule::Bimodal($rule) => $call,
            Rule::MrAimd($rule) => $call,
            Rule::Cubic($rule) => $call,
            Rule::Dctcp($rule) => $call,
            Rule::Prague($rule) => $call,
            Rule::HighSpeed($rule) => $call,
            Rule::Scalable(shared) => {
                let $rule = &mut { **shared };
                $call
            }
            Rule::Westwood($rule) => $call,
            Rule::Vegas($rule) => $call,
            Rule::Htcp($rule) => $call,
            Rule::Illinois($rule) => $call,
            Rule::Bic($rule) => $call,
            Rule::Ledbat($rule) => $call,
            Rule::KernelReno($rule) => $call,
            Rule::KernelCubic($rule) => $call,
            Rule::Nada($rule) => $call,
            Rule::Bbr1($rule) => $call,
            Rule::Bbr3($rule) => $call,
            Rule::Formula($rule) => $call,
            Rule::Custom($rule) => $call,
        }
    };
}

impl Rule {
    /// Wraps a custom rule.
    pub fn custom(rule: impl CustomRule + 'static) -> Self {
        Self::Custom(Box::new(rule))
    }

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

    /// Phase of a model-based rule, for traces: BBR's Startup and the like.
    pub fn phase(&self) -> Option<&'static str> {
        match self {
            Self::Nada(rule) => Some(rule.phase()),
            Self::Bbr1(rule) => Some(rule.phase()),
            Self::Bbr3(rule) => Some(rule.phase()),
            _ => None,
        }
    }

    /// Rate at which a media encoder shall produce its next frame, packets/s, while
    /// `backlog_packets` of earlier frames were never sent; `None` where the rule, any but NADA,
    /// leaves the rate to the application. Called at each frame.
    pub fn encoder_rate_packets_s(&mut self, backlog_packets: u64) -> Option<f64> {
        match self {
            Self::Nada(rule) => Some(rule.encoder_rate_packets_s(backlog_packets)),
            _ => None,
        }
    }

    /// Restores the state of before a reduction that proved spurious, as `saved` holds it. A
    /// model-based rule keeps its model and takes back only what the reduction changed.
    pub fn undo(&mut self, saved: Self) {
        match self {
            // NADA: a reduction did nothing, the rate of now stays. Linux leaves a rule its state
            // (`tcp_undo_cwnd_reduction`).
            Self::Nada(_) | Self::KernelReno(_) | Self::KernelCubic(_) => {}
            Self::Bbr1(rule) => rule.undo(),
            Self::Bbr3(rule) => rule.undo(),
            rule => *rule = saved,
        }
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
            Linear::increase(&mut { **rule }, cwnd, ack)
        } else {
            self.increase_other(cwnd, ack)
        }
    }

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

    fn needs(&self) -> Needs {
        with!(self, rule => rule.needs())
    }

    fn state(&self, report: &mut dyn FnMut(&str, f64)) {
        with!(self, rule => rule.state(report));
    }

    fn fault(&self) -> Option<&str> {
        match self {
            Self::Formula(rule) => rule.fault(),
            Self::Custom(rule) => rule.fault(),
            _ => None,
        }
    }
}
