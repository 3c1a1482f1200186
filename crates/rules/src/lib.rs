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
mod bbr;
mod bic;
mod bimodal;
mod binomial;
mod classic_ecn;
mod cubic;
mod custom;
mod cwnd_validation;
mod dctcp;
mod delivery_rate;
mod event;
mod family;
mod formula;
mod gaimd;
mod highspeed;
mod htcp;
mod illinois;
mod kernel_cubic;
mod kernel_program;
mod kernel_reno;
mod ledbat;
mod linear;
mod mraimd;
mod nada;
mod notation;
mod prague;
mod registry;
mod rule;
mod scalable;
mod vegas;
mod westwood;
mod window_rule;

pub use arithmetic::Arithmetic;
pub use bbr::{Bbr1, Bbr3};
pub use bic::Bic;
pub use bimodal::{Bimodal, Compare};
pub use binomial::Binomial;
pub use cubic::Cubic;
pub use custom::{CustomRule, CustomRuleFactory};
pub use cwnd_validation::CwndValidation;
pub use dctcp::Dctcp;
pub use event::{Ack, AckFields, Congestion, MarkResponse, Needs, SlowStart};
pub use family::{FamilyOf, Parameter, ParameterKind, ParameterValues};
pub use formula::{Formula, FormulaError, FormulaRule};
pub use gaimd::Gaimd;
pub use highspeed::HighSpeed;
pub use htcp::Htcp;
pub use illinois::Illinois;
pub use kernel_cubic::KernelCubic;
pub use kernel_program::KernelProgram;
pub use kernel_reno::KernelReno;
pub use ledbat::Ledbat;
pub use linear::Linear;
pub use mraimd::MrAimd;
pub use nada::Nada;
pub use notation::{RuleError, RuleSpec};
pub use prague::Prague;
pub use registry::{FAMILIES, Family};
pub use rule::Rule;
pub use scalable::Scalable;
pub use vegas::Vegas;
pub use westwood::Westwood;
pub use window_rule::WindowRule;
