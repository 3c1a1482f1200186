//! A network emulator: real packets cross the links, queues and delays of a scenario in real time.
//! [`Emulator`] has neither clock nor socket: its caller passes the time. [`drive`] is the event
//! loop that does so, over a [`Backend`] for packet I/O, such as two TUN devices ([`Tun`]).
//! [`FlowCounters`] has the counters of a flow, as a simulation reports them.

mod backend;
mod emulator;
mod event_loop;
mod flow_counters;
mod health;
mod ip;
mod sequence;
mod tun;

pub use backend::{Backend, PacketMeta, Received, Side, TcpSegment};
pub use emulator::{DuePacket, Emulator};
pub use event_loop::{LoopOptions, drive};
pub use flow_counters::{Counts, FlowCounters, RateBins};
pub use health::{Health, Lateness};
pub use ip::{AckOptions, Malformed, ParsedPacket, parse_packet, set_ce};
pub use sequence::{SequenceUnwrapper, packet_number};
pub use tun::Tun;
