//! Event scheduler: stores packets that wait for an event and finds the earliest.
//!
//! There are two implementations. With up to some thousands of flows each FIFO keeps its packets,
//! and only FIFO heads are compared (`head_scheduler.rs`): there is little to compare, and a sender
//! can see all ACKs that wait for it. With more flows most FIFOs hold one packet or none, and heads
//! would be compared all over memory: there all packets lie in one calendar queue
//! (`calendar_queue.rs`).

use crate::packet::Packet;
use std::fmt::Debug;

/// Time of no event.
pub const NO_EVENT: f64 = f64::INFINITY;

/// Stores the packets of the FIFOs `0..n` and finds the FIFO that is due first. A FIFO either has
/// packets or is scheduled for a time by [`EventScheduler::schedule`]; among equal times any may be
/// first.
pub trait EventScheduler: Send + Sync + 'static {
    /// State kept per FIFO.
    type FifoState: Copy + Debug + Default + Send + Sync;

    /// Whether upcoming packets are known in order ([`EventScheduler::peek_ahead`]).
    const CAN_PEEK_AHEAD: bool;

    /// All FIFOs empty. `packets_s` is the expected number of packets per second.
    fn new(fifos: usize, packets_s: f64) -> Self;

    /// Adds FIFOs, all empty.
    fn grow(&mut self, fifos: usize);

    /// Schedules a FIFO without packets for `time_s` ([`NO_EVENT`]: not at all).
    fn schedule(&mut self, fifo: u32, time_s: f64);

    /// Time and number of the FIFO that is due first; [`NO_EVENT`] if there is none.
    fn earliest(&self) -> (f64, u32);

    /// Whether a FIFO has no packets.
    fn is_empty(&self, state: &Self::FifoState) -> bool;

    /// Appends a packet to its FIFO. Times within a FIFO never decrease, or
    /// [`EventScheduler::sort_in_last`] is called next.
    fn push(&mut self, fifo: u32, state: &mut Self::FifoState, packet: Packet);

    /// Moves the packet that was appended last behind all of its FIFO that arrive no later: for a
    /// FIFO behind a stage that reorders.
    fn sort_in_last(&mut self, fifo: u32, state: &mut Self::FifoState);

    /// Removes the first packet of the FIFO that is due first.
    fn pop(&mut self, fifo: u32, state: &mut Self::FifoState) -> Packet;

    /// The same without updating the schedule: further packets of the FIFO may be taken until
    /// [`EventScheduler::reschedule`] is called.
    fn pop_unscheduled(&mut self, fifo: u32, state: &mut Self::FifoState) -> Option<Packet>;

    /// Time of the packet that [`EventScheduler::pop_unscheduled`] would take next, or
    /// [`NO_EVENT`].
    fn next_time_s(&self, state: &Self::FifoState) -> f64;

    /// Updates the schedule after [`EventScheduler::pop_unscheduled`]: the next packet is due at
    /// `next_time_s`.
    fn reschedule(&mut self, fifo: u32, next_time_s: f64);

    /// The packet that is due after this number of others, if it is known: a hint to prefetch.
    fn peek_ahead(&self, packets: usize) -> Option<(u32, &Packet)> {
        let _ = packets;
        None
    }
}
