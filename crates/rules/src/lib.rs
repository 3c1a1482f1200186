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

mod event;
mod linear;
mod notation;
mod registry;

pub use event::{Ack, Congestion};
pub use linear::{Arithmetic, Linear};
pub use notation::{RuleError, RuleSpec};
pub use registry::{FAMILIES, Family, Parameter};

/// How a window grows and shrinks in congestion avoidance.
///
/// Implement this for a rule of your own; the endpoint owns slow start, recovery and time-outs.
pub trait WindowRule {
    /// The window after one acknowledgement of new data, from `cwnd` packets.
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64;

    /// The window that the rule asks for when congestion is signalled at `cwnd` packets. The endpoint applies its floor.
    fn decrease(&mut self, cwnd: f64, congestion: Congestion) -> f64;

    /// Whether ns-2's `decrease_num_` would be exactly 0.5 for this rule, which makes ns-2 halve whatever the rule's
    /// other parameters say (`TcpAgent::slowdown`). Only endpoint profiles that imitate ns-2 ask.
    fn halves_in_ns2(&self) -> bool {
        false
    }
}

/// The built-in rules as a closed set: the endpoint calls them without a virtual table.
#[derive(Clone, Debug)]
pub enum Rule {
    /// The linear family.
    Linear(Linear),
}

impl WindowRule for Rule {
    #[inline]
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        match self {
            Self::Linear(rule) => rule.increase(cwnd, ack),
        }
    }

    #[inline]
    fn decrease(&mut self, cwnd: f64, congestion: Congestion) -> f64 {
        match self {
            Self::Linear(rule) => rule.decrease(cwnd, congestion),
        }
    }

    fn halves_in_ns2(&self) -> bool {
        match self {
            Self::Linear(rule) => rule.halves_in_ns2(),
        }
    }
}
