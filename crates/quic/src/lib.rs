//! Window rules as congestion controllers of quinn, a QUIC implementation.
//! A quinn application sets the controller in its `TransportConfig`:
//!
//! ```
//! use cwndlab_quic::RuleFactory;
//! let mut transport = quinn::TransportConfig::default();
//! let factory: RuleFactory = "GAIMD(0.31, 0.875)".parse().unwrap();
//! transport.congestion_controller_factory(std::sync::Arc::new(factory));
//! ```
//! The rule behaves as in a simulation; slow start, one cut per round trip and persistent
//! congestion follow RFC 9002. quinn paces packets at 1.25 windows per round trip (RFC 9002 section
//! 7.7), so rules that set a pacing rate are not supported.
//!
//! [`QuinnStack`] runs connections of quinn in simulated time.

mod controller;
mod factory;
#[cfg(feature = "transfers")]
mod qlog;
#[cfg(feature = "transfers")]
mod relay;
mod stack;
#[cfg(feature = "transfers")]
mod transfers;
mod window;

pub use controller::RuleController;
pub use factory::{RuleFactory, Unsupported};
#[cfg(feature = "transfers")]
pub use relay::{HEADER_BYTES, Relay, RelayFlow, drops, socket};
pub use stack::{NAME as SERVER_NAME, QuinnStack};
#[cfg(feature = "transfers")]
pub use transfers::{Endpoints, FlowReport, Report, RunOptions, Transfer, WindowSample};
pub use window::{Cause, Cut};
