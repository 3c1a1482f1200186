//! A network emulator: real packets cross the links, queues and delays of a scenario in real time.
//! [`Emulator`] has neither clock nor socket: its caller passes the time. [`drive`] is the event
//! loop that does so, over a [`Backend`] for packet I/O, such as two TUN devices ([`Tun`]).
//! [`Book`] has the counters of a flow, as a simulation reports them.

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
