//! The network of a scenario in real time: packets of real endpoints pass the links, queues and delays that simulated ones would.
//!
//! [`Emulator`] knows no clock and no socket: whoever drives it tells the time. [`drive`] does, over a [`Backend`] that brings
//! packets: two TUN devices ([`Tun`]), or whatever else implements it. [`Book`] counts, flow by flow, what a simulation would.

mod backend;
mod book;
mod driver;
mod emulator;
mod health;
mod ip;
mod sequence;
mod tun;

pub use backend::{Backend, Meta, Received, Segment, Side};
pub use book::{Book, Counts, RateBins};
pub use driver::{Driving, drive};
pub use emulator::{Emulator, Ready};
pub use health::{Health, Lateness};
pub use ip::{Malformed, Seen, mark, read};
pub use tun::Tun;
