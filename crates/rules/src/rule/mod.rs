//! All rules, a file or a folder each, and the closed set of them. A new rule is its file, and here
//! its `mod`, its `pub use` and its line of the table.

mod balia;
mod bbr;
mod bic;
mod bimodal;
mod binomial;
mod cubic;
mod dctcp;
mod formula;
mod gaimd;
mod highspeed;
mod htcp;
mod hybla;
mod illinois;
mod kernel_bbr;
mod kernel_cubic;
mod kernel_dctcp;
mod kernel_reno;
mod ledbat;
mod lia;
mod linear;
mod mraimd;
mod nada;
mod olia;
mod prague;
mod scalable;
mod vegas;
mod westwood;

pub use balia::Balia;
pub use bbr::{Bbr1, Bbr3};
pub use bic::Bic;
pub use bimodal::{Bimodal, Compare};
pub use binomial::Binomial;
pub use cubic::Cubic;
pub use dctcp::Dctcp;
pub use formula::{Formula, FormulaError, FormulaRule};
pub use gaimd::Gaimd;
pub use highspeed::HighSpeed;
pub use htcp::Htcp;
pub use hybla::Hybla;
pub use illinois::Illinois;
pub use kernel_bbr::KernelBbr;
pub use kernel_cubic::KernelCubic;
pub use kernel_dctcp::KernelDctcp;
pub use kernel_reno::KernelReno;
pub use ledbat::Ledbat;
pub use lia::Lia;
pub use linear::Linear;
pub use mraimd::MrAimd;
pub use nada::Nada;
pub use olia::Olia;
pub use prague::Prague;
pub use scalable::Scalable;
pub use vegas::Vegas;
pub use westwood::Westwood;

use crate::{
    Ack, Congestion, Control, CustomRule, Delivery, FamilyOf, MarkResponse, Needs, PacingRate,
    RateSample, Sibling, SlowStart, WindowRule,
};
use std::sync::Arc;

/// Passes the tables of all rules to the macro `$use`, after its arguments. A line has a variant of
/// [`Rule`], what it holds, and the entries of its families; a line without what it holds adds
/// families to a variant above.
macro_rules! for_each_rule {
    ($use:ident $(($($argument:tt)*))?) => {
        $use! {
            $($($argument)*;)?

            /// Every built-in family.
            pub const FAMILIES {
                Linear(Arc<Linear>): linear::AIMD, linear::AIAD, linear::MIMD, linear::MIAD,
                    linear::AIMAD, linear::MAIMD, linear::LINEAR;
                Gaimd(Arc<Gaimd>): gaimd::FAMILY;
                Binomial(Arc<Binomial>): binomial::FAMILY, binomial::IIAD, binomial::SQRT;
                Bimodal(Box<Bimodal>): bimodal::FAMILY;
                MrAimd(Box<MrAimd>): mraimd::FAMILY;
                Linear: linear::NEWRENO;
                Cubic(Box<Cubic>): cubic::FAMILY;
                Dctcp(Box<Dctcp>): dctcp::FAMILY;
                Prague(Box<Prague>): prague::FAMILY;
                HighSpeed(HighSpeed): highspeed::FAMILY;
                Scalable(Arc<Scalable>): scalable::FAMILY;
                Westwood(Box<Westwood>): westwood::FAMILY;
                Vegas(Box<Vegas>): vegas::FAMILY;
                Htcp(Box<Htcp>): htcp::FAMILY;
                Hybla(Box<Hybla>): hybla::FAMILY;
                Illinois(Box<Illinois>): illinois::FAMILY;
                Bic(Box<Bic>): bic::FAMILY;
                Ledbat(Box<Ledbat>): ledbat::FAMILY;
                Nada(Box<Nada>): nada::FAMILY;
                Bbr1(Box<Bbr1>): bbr::BBR1;
                Bbr3(Box<Bbr3>): bbr::BBR3;
                Lia(Box<Lia>): lia::FAMILY;
                Olia(Box<Olia>): olia::FAMILY;
                Balia(Box<Balia>): balia::FAMILY;
                Formula(Box<FormulaRule>): formula::FAMILY;
            }

            /// Congestion controls of the Linux kernel with models of their own, by the kernel's
            /// names.
            pub(crate) const KERNEL_MODELS {
                KernelReno(Box<KernelReno>): kernel_reno::FAMILY;
                KernelCubic(Box<KernelCubic>): kernel_cubic::FAMILY;
                KernelBbr(Box<KernelBbr>): kernel_bbr::FAMILY;
                KernelDctcp(Box<KernelDctcp>): kernel_dctcp::FAMILY;
            }
        }
    };
}

/// Whether a rule has state, by what its variant holds.
macro_rules! has_state {
    (Box<$type:ty>) => {
        true
    };
    ($($stateless:tt)+) => {
        false
    };
}

macro_rules! define_rule {
    ($(
        $(#[$about:meta])* $visible:vis const $list:ident {
            $($variant:ident $(($($held:tt)+))?: $($entry:path),+;)*
        }
    )*) => {
        /// The built-in rules as a closed set: the endpoint calls them without a virtual table.
        ///
        /// Senders stay small: stateless rules are shared by all clones, stateful ones are boxed.
        #[derive(Clone, Debug)]
        pub enum Rule {
            $($($(
                /// A rule of this type.
                $variant($($held)+),
            )?)*)*
            /// A custom rule: the only one behind a virtual table.
            Custom(Box<dyn CustomRule>),
        }

        impl Rule {
            /// Whether the rule is stateless: its clones share memory.
            pub fn is_stateless(&self) -> bool {
                match self {
                    $($($(Self::$variant(_) => !has_state!($($held)+),)?)*)*
                    Self::Custom(_) => false,
                }
            }
        }

        $(
            $(#[$about])*
            $visible const $list: &[Family] =
                &[$($($entry.built_by(|values| Rule::$variant(($entry.build)(values))),)+)*];
        )*
    };
}

for_each_rule!(define_rule);

/// A named family of rules.
pub type Family = FamilyOf<Rule>;

/// The rule in what a variant holds; a copy of one that is shared.
macro_rules! rule_in {
    ($held:ident, Arc<$type:ty>) => {
        &mut { **$held }
    };
    ($held:ident, $($own:tt)+) => {
        $held
    };
}

macro_rules! match_rule {
    (
        $self:expr, $rule:ident => $call:expr;
        $(
            $(#[$about:meta])* $visible:vis const $list:ident {
                $($variant:ident $(($($held:tt)+))?: $($entry:path),+;)*
            }
        )*
    ) => {
        match $self {
            $($($(
                Rule::$variant(held) => {
                    let $rule = rule_in!(held, $($held)+);
                    $call
                }
            )?)*)*
            Rule::Custom($rule) => $call,
        }
    };
}

/// Makes the same call on any rule; on a copy of one that is shared.
macro_rules! with {
    ($($call:tt)+) => {
        for_each_rule!(match_rule($($call)+))
    };
}

impl Rule {
    /// Wraps a custom rule.
    pub fn custom(rule: impl CustomRule + 'static) -> Self {
        Self::Custom(Box::new(rule))
    }

    /// Phase of a model-based rule, for traces: BBR's Startup and the like.
    pub fn phase(&self) -> Option<&'static str> {
        match self {
            Self::Nada(rule) => Some(rule.phase()),
            Self::Bbr1(rule) => Some(rule.phase()),
            Self::Bbr3(rule) => Some(rule.phase()),
            Self::KernelBbr(rule) => Some(rule.phase()),
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
            Self::Nada(_) | Self::KernelReno(_) | Self::KernelCubic(_) | Self::KernelDctcp(_) => {}
            Self::KernelBbr(rule) => rule.undo(),
            Self::Bbr1(rule) => rule.undo(),
            Self::Bbr3(rule) => rule.undo(),
            rule => *rule = saved,
        }
    }

    /// What the rule shall take for its next random numbers, as they were drawn elsewhere: the
    /// phases that BBR of Linux skips as it enters ProbeBW. Other rules draw none.
    pub fn give_draws(&mut self, draws: &[u32]) {
        if let Self::KernelBbr(rule) = self {
            rule.give_draws(draws);
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

    fn on_siblings(&mut self, siblings: &[Sibling], own: usize) {
        with!(self, rule => rule.on_siblings(siblings, own));
    }

    fn on_connected(&mut self, cwnd: f64, sample: &RateSample) {
        with!(self, rule => rule.on_connected(cwnd, sample));
    }

    fn on_delivery(&mut self, delivery: &Delivery) {
        with!(self, rule => rule.on_delivery(delivery));
    }

    fn on_sample(&mut self, cwnd: f64, sample: &RateSample) -> Control {
        with!(self, rule => rule.on_sample(cwnd, sample))
    }

    fn on_timeout(&mut self, sample: &RateSample) {
        with!(self, rule => rule.on_timeout(sample));
    }

    fn pacing_rate(&self) -> Option<PacingRate> {
        with!(self, rule => rule.pacing_rate())
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
