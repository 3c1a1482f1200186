//! Event scheduler: stores packets that wait for an event and finds the earliest.
//!
//! There are two implementations. With up to some thousands of flows each FIFO keeps its packets,
//! and only FIFO heads are compared ([`HeadScheduler`]): there is little to compare, and a sender
//! can see all ACKs that wait for it. With more flows most FIFOs hold one packet or none, and heads
//! would be compared all over memory: there all packets lie in one calendar queue
//! (`calendar_queue.rs`).

use crate::event::ring_pool::{PooledRing, RingPool};
use crate::event::winner_tree::IndexedPriorityQueue;
use crate::packet::Packet;
use std::fmt::Debug;

pub use crate::event::calendar_queue::CalendarQueue;
pub use crate::event::winner_tree::{SortedSet, WinnerTree};

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

    /// Appends a packet to its FIFO; times within a FIFO never decrease.
    fn push(&mut self, fifo: u32, state: &mut Self::FifoState, packet: Packet);

    /// Inserts a packet behind all of its FIFO that arrive no later: for a FIFO behind a stage that
    /// reorders.
    fn insert(&mut self, fifo: u32, state: &mut Self::FifoState, packet: Packet);

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

/// A scheduler in which each FIFO keeps its packets and an [`IndexedPriorityQueue`] finds the
/// earliest head.
#[derive(Debug)]
pub struct HeadScheduler<O> {
    rings: RingPool<Packet>,
    heads: O,
}

impl<O: IndexedPriorityQueue + Send + Sync + 'static> EventScheduler for HeadScheduler<O> {
    type FifoState = PooledRing;
    const CAN_PEEK_AHEAD: bool = false;

    fn new(fifos: usize, _: f64) -> Self {
        Self { rings: RingPool::default(), heads: O::new(fifos) }
    }

    fn grow(&mut self, fifos: usize) {
        self.heads.grow(fifos);
    }

    #[inline(always)]
    fn schedule(&mut self, fifo: u32, time_s: f64) {
        self.heads.schedule(fifo, time_s);
    }

    #[inline(always)]
    fn earliest(&self) -> (f64, u32) {
        self.heads.earliest()
    }

    #[inline(always)]
    fn is_empty(&self, state: &PooledRing) -> bool {
        state.is_empty()
    }

    #[inline(always)]
    fn push(&mut self, fifo: u32, state: &mut PooledRing, packet: Packet) {
        debug_assert!(
            self.rings.back(state).is_none_or(|last| last.at_s <= packet.at_s),
            "a FIFO is in heads of time"
        );
        let was_empty = state.is_empty();
        let at_s = packet.at_s;
        self.rings.push_back(state, packet);
        if was_empty {
            self.heads.schedule_empty(fifo, at_s);
        }
    }

    fn insert(&mut self, fifo: u32, state: &mut PooledRing, packet: Packet) {
        if self.rings.insert(state, packet, |earlier| earlier.at_s <= packet.at_s) == 0 {
            self.heads.schedule(fifo, packet.at_s);
        }
    }

    #[inline(always)]
    fn pop(&mut self, fifo: u32, state: &mut PooledRing) -> Packet {
        let packet = self.rings.pop_front(state).expect("a scheduled FIFO has a head");
        self.heads.schedule(fifo, self.next_time_s(state));
        packet
    }

    #[inline(always)]
    fn pop_unscheduled(&mut self, _: u32, state: &mut PooledRing) -> Option<Packet> {
        self.rings.pop_front(state)
    }

    #[inline(always)]
    fn next_time_s(&self, state: &PooledRing) -> f64 {
        self.rings.front(state).map_or(NO_EVENT, |next| next.at_s)
    }

    #[inline(always)]
    fn reschedule(&mut self, fifo: u32, next_time_s: f64) {
        self.heads.schedule(fifo, next_time_s);
    }
}
