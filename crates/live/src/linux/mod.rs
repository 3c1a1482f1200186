//! Live runs with Linux TCP: two network namespaces with a TUN device each, and the emulator
//! between them.

mod clock;
mod congestion_controls;
mod namespace;
mod packet_trace;
mod plan;
mod play;
mod play_virtual;
pub(crate) mod result;
mod ring;
mod routes;
mod run;
mod sink;
pub(crate) mod socket;
mod source;

pub use clock::Clock;
pub use plan::check;
pub use run::{limits, run};
