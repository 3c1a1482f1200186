//! Collections on the path of every packet.

pub mod ring_buffer;
