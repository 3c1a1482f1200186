//! A FIFO head that is due together with other events.

use crate::packet::Packet;

/// A FIFO head that is due together with other events.
#[derive(Debug)]
pub struct SimultaneousEvent {
    pub tx_start_s: f64,
    /// [`Packet::lead_s`] of the packet.
    pub lead_s: f64,
    pub flow: u32,
    /// Pass in which the event became due: events that earlier ones cause at the same instant come
    /// after them.
    pub round: u64,
    pub fifo: u32,
    /// Keeps packets of one FIFO in order.
    pub order: u64,
    pub head: Option<Packet>,
}
