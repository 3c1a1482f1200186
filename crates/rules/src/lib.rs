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

mod arithmetic;
mod base_delay;
mod classic_ecn;
mod custom;
mod cwnd_validation;
mod delivery_rate;
mod event;
mod family;
mod kernel_program;
mod notation;
mod rate_sample;
mod rule;
mod sibling;
mod window_rule;

pub use arithmetic::Arithmetic;
pub use custom::{CustomRule, CustomRuleFactory};
pub use cwnd_validation::CwndValidation;
pub use event::{Ack, AckFields, Congestion, MarkResponse, Needs, SlowStart};
pub use family::{FamilyOf, Parameter, ParameterKind, ParameterValues};
pub use kernel_program::KernelProgram;
pub use notation::{RuleError, RuleSpec};
pub use rate_sample::{Control, Delivery, PacingRate, Rate, RateSample, Repair};
pub use rule::*;
pub use rule::{FAMILIES, Family, Rule};
pub use sibling::Sibling;
pub use window_rule::WindowRule;
