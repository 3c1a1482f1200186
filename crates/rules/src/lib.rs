//! Congestion-window rules: how a window grows and shrinks, and nothing else.
//!
//! A rule is pure: no clock, no randomness, no I/O. It receives small events and returns the new window; the endpoint
//! applies it. Windows are packets, times seconds (`f64` both).
//!
//! ```
//! use cwndlab_rules::{Arithmetic, Congestion, Ack, RuleSpec, WindowRule};
//! let spec: RuleSpec = "AIMD(1, 0.5)".parse().unwrap();
//! let mut rule = spec.build(Arithmetic::Plain);
//! assert_eq!(rule.increase(10.0, &Ack::default()), 10.1);                   // 1/w per acknowledgement
//! assert_eq!(rule.decrease(10.0, Congestion::FastRetransmit), 5.0);
//! assert_eq!(spec.to_string(), "AIMD(1, 0.5)");
//! ```

mod bbr;
mod bic;
mod bimodal;
mod binomial;
mod cubic;
mod dctcp;
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
mod own;
mod registry;
mod rounds;
mod scalable;
mod vegas;
mod westwood;

pub use bbr::{Bbr1, Bbr3};
pub use bic::Bic;
pub use bimodal::{Bimodal, Compare};
pub use binomial::Binomial;
pub use cubic::Cubic;
pub use dctcp::Dctcp;
pub use event::{Ack, Congestion, Mark, Needs, SlowStart};
pub use formula::{Formula, FormulaError, FormulaRule};
pub use gaimd::Gaimd;
pub use highspeed::HighSpeed;
pub use htcp::Htcp;
pub use illinois::Illinois;
pub use ledbat::Ledbat;
pub use linear::{Arithmetic, Linear};
pub use mraimd::MrAimd;
pub use notation::{RuleError, RuleSpec};
pub use own::{Maker, OwnRule};
pub use registry::{FAMILIES, Family, Kind, Parameter, Values};
pub use scalable::Scalable;
pub use vegas::Vegas;
pub use westwood::Westwood;

use std::sync::Arc;

/// How a window grows and shrinks.
///
/// Implement this for a rule of your own: [`increase`](Self::increase) and [`decrease`](Self::decrease) are enough. The
/// endpoint owns recovery and time-outs. Every answer is a finite window in packets; what a rule that subtracts may ask for below
/// one packet is lifted to the endpoint's floor.
pub trait WindowRule {
    /// The window after one acknowledgement of new data in congestion avoidance, from `cwnd` packets.
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64;

    /// The window that the rule asks for when congestion is signalled at `cwnd` packets. The endpoint applies its floor.
    fn decrease(&mut self, cwnd: f64, congestion: Congestion) -> f64;

    /// What one acknowledgement of new data does in slow start (RFC 5681 section 3.1: one packet more).
    #[inline]
    fn slow_start(&mut self, cwnd: f64, _: &Ack) -> SlowStart {
        SlowStart::Grow(cwnd + 1.0)
    }

    /// What an acknowledgement that echoes a mark does. Called for each of them, before anything else that it does, whether it
    /// acknowledges new data or not.
    fn on_mark(&mut self, _cwnd: f64, _: &Ack) -> Mark {
        Mark::Congestion
    }

    /// The rate at which packets should leave, packets/s; `None` where acknowledgements alone clock them.
    #[inline]
    fn pacing_rate_packets_s(&self) -> Option<f64> {
        None
    }

    /// What the endpoint should measure and ask. Constant over the rule's life.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Why the rule cannot go on, if so: its first answer that was no window. It left the window alone since then.
    fn fault(&self) -> Option<&str> {
        None
    }

    /// Whether ns-2's `decrease_num_` would be exactly 0.5 for this rule, which makes ns-2 halve whatever the rule's
    /// other parameters say (`TcpAgent::slowdown`). Only endpoint profiles that imitate ns-2 ask.
    fn halves_in_ns2(&self) -> bool {
        false
    }

    /// Whether a cut for a mark also answers a loss in the same window of data (RFC 3168 section 6.1.2): not where it is shallower than one for a loss.
    fn mark_covers_loss(&self) -> bool {
        true
    }

    /// Whether a cut in slow start halves, whatever [`decrease`](Self::decrease) says: the endpoint knows whether it is in slow start.
    fn halves_in_slow_start(&self) -> bool {
        false
    }
}

/// The built-in rules as a closed set: the endpoint calls them without a virtual table.
///
/// Senders stay small: rules without memory are shared by all senders that have a clone of one, and the others are boxed.
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
    /// A rule written elsewhere: the only one behind a virtual table.
    Own(Box<dyn OwnRule>),
}

/// Calls the rule inside, whichever it is.
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
            Rule::Own($rule) => $call,
        }
    };
}

/// A rule without memory answers all its users alike.
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

    fn on_mark(&mut self, cwnd: f64, ack: &Ack) -> Mark {
        let mut rule = **self;
        rule.on_mark(cwnd, ack)
    }

    fn pacing_rate_packets_s(&self) -> Option<f64> {
        (**self).pacing_rate_packets_s()
    }

    fn needs(&self) -> Needs {
        (**self).needs()
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
}

impl Rule {
    /// Whether it has no memory, so that a clone of one serves as well as a rule built anew, and takes no room.
    pub fn is_shared(&self) -> bool {
        matches!(self, Self::Linear(_) | Self::Gaimd(_) | Self::Binomial(_) | Self::HighSpeed(_) | Self::Scalable(_))
    }

    #[inline(never)]
    fn increase_other(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        with!(self, rule => rule.increase(cwnd, ack))
    }
}

impl WindowRule for Rule {
    #[inline(always)]
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        // Most flows have it: in line, and one test instead of a jump table.
        if let Self::Linear(rule) = self { rule.increase(cwnd, ack) } else { self.increase_other(cwnd, ack) }
    }

    #[inline]
    fn decrease(&mut self, cwnd: f64, congestion: Congestion) -> f64 {
        with!(self, rule => rule.decrease(cwnd, congestion))
    }

    #[inline]
    fn slow_start(&mut self, cwnd: f64, ack: &Ack) -> SlowStart {
        with!(self, rule => rule.slow_start(cwnd, ack))
    }

    fn on_mark(&mut self, cwnd: f64, ack: &Ack) -> Mark {
        with!(self, rule => rule.on_mark(cwnd, ack))
    }

    #[inline]
    fn pacing_rate_packets_s(&self) -> Option<f64> {
        with!(self, rule => rule.pacing_rate_packets_s())
    }

    fn needs(&self) -> Needs {
        with!(self, rule => rule.needs())
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
}
