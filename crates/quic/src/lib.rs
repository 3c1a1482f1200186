//! Window rules in QUIC: any rule of cwndlab as a congestion controller of quinn.
//!
//! Two lines, where a quinn application makes its `TransportConfig`:
//!
//! ```
//! use cwndlab_quic::RuleFactory;
//! let mut transport = quinn::TransportConfig::default();
//! let factory: RuleFactory = "GAIMD(0.31, 0.875)".parse().unwrap();
//! transport.congestion_controller_factory(std::sync::Arc::new(factory));
//! ```
//!
//! The rule decides as it does in a simulation; slow start, one cut per round trip and persistent congestion are those of RFC 9002.
//! quinn spaces packets out by itself, 1.25 windows a round trip (RFC 9002 section 7.7), so rules that set a rate of their own cannot be had.

mod controller;
mod factory;
#[cfg(feature = "transfers")]
mod record;
#[cfg(feature = "transfers")]
mod relay;
#[cfg(feature = "transfers")]
mod transfers;
mod window;

pub use controller::RuleController;
pub use factory::{RuleFactory, Unsupported};
#[cfg(feature = "transfers")]
pub use relay::{HEADER_BYTES, Relay, RelayFlow, drops, socket};
#[cfg(feature = "transfers")]
pub use transfers::{Endpoints, Playing, Report, Row, Seen, Transfer};
pub use window::{Cause, Cut};
