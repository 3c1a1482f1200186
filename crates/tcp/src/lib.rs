//! TCP endpoints without I/O: they are fed segments and the time, and hand back segments to send and their next deadline.
//!
//! Sequence numbers count packets, as in ns-2. Times are seconds. The sender owns slow start, recovery and time-outs; the window in
//! congestion avoidance belongs to a [`cwndlab_rules::WindowRule`]. What varies between ns-2 of 2011, ns-2 of the papers' years and
//! today's RFCs is a [`Knobs`] value, not code.

mod application;
mod bits;
mod counters;
mod ecn;
mod knobs;
mod output;
mod pacing;
mod prr;
mod rack;
mod receiver;
mod recovery;
mod rtt;
mod scoreboard;
mod segment;
mod sender;
mod steady;
mod timer;
mod told;
mod window;

pub use bits::Bits;
pub use counters::Counters;
pub use knobs::{Knobs, Profile};
pub use receiver::Receiver;
pub use recovery::Recovery;
pub use rtt::RttEstimator;
pub use scoreboard::Scoreboard;
pub use segment::{AckSegment, DataSegment, Output, SackBlocks};
pub use sender::Sender;

/// A deadline that never comes, seconds.
pub const NEVER: f64 = f64::INFINITY;
