//! Packets that wait for an event, and what comes first of all that is due.
//!
//! There are two ways to keep them. Of some hundreds of flows each stream keeps its packets, and only their heads are put in order
//! (`HeadScheduler`): little to compare, and a sender can look at all that waits for it. Of thousands, most have a packet or none, and heads that lie
//! far apart in memory would be compared one with another: there all packets go into days of one calendar (`calendar.rs`).

use crate::packet::Packet;
use crate::ring_pool::{PooledRing, RingPool};
use crate::winner_tree::IndexedPriorityQueue;
use std::fmt::Debug;

pub use crate::calendar_queue::CalendarQueue;
pub use crate::winner_tree::{SortedSet, WinnerTree};

/// No packet in the stream.
pub const NO_EVENT: f64 = f64::INFINITY;

/// Keeps the packets of streams `0..n`, and says which stream is due first. A stream either has packets or is given a time with
/// [`EventScheduler::set`]; where times are equal, any is the first.
pub trait EventScheduler: Send + Sync + 'static {
    /// What a stream itself knows of its packets.
    type FifoState: Copy + Debug + Default + Send + Sync;

    /// Whether it knows some packets ahead what will be due ([`EventScheduler::ahead`]).
    const CAN_PEEK_AHEAD: bool;

    /// All streams empty. About `packets_s` packets a second will be due.
    fn new(fifos: usize, packets_s: f64) -> Self;

    /// There are more streams now; the new ones are empty.
    fn grow(&mut self, fifos: usize);

    /// A stream without packets is due at `time_s` ([`NO_EVENT`]: not at all).
    fn schedule(&mut self, fifo: u32, time_s: f64);

    /// When the first is due, and which stream it is; [`NO_EVENT`] when there is none.
    fn earliest(&self) -> (f64, u32);

    /// Whether a stream has no packets.
    fn is_empty(&self, state: &Self::FifoState) -> bool;

    /// Adds a packet behind those of its stream; times of one stream never decrease.
    fn push(&mut self, fifo: u32, state: &mut Self::FifoState, packet: Packet);

    /// Adds a packet where packets may have overtaken each other: behind all of its stream that arrive no later.
    fn insert(&mut self, fifo: u32, state: &mut Self::FifoState, packet: Packet);

    /// Takes the first packet of the stream that is due first.
    fn pop(&mut self, fifo: u32, state: &mut Self::FifoState) -> Packet;

    /// The same, but without looking for what is due next: until [`EventScheduler::reschedule`] more may be taken, as far as the stream's own are known.
    fn pop_unscheduled(&mut self, fifo: u32, state: &mut Self::FifoState) -> Option<Packet>;

    /// When the next that [`EventScheduler::pop_unscheduled`] would take is due, seconds, or [`NO_EVENT`].
    fn next_time_s(&self, state: &Self::FifoState) -> f64;

    /// Puts a stream of which some were taken ahead in order again: its next is due at `next_time_s`.
    fn reschedule(&mut self, fifo: u32, next_time_s: f64);

    /// What will be due when so many more packets have been, if that is known: a hint.
    fn peek_ahead(&self, packets: usize) -> Option<(u32, &Packet)> {
        let _ = packets;
        None
    }
}

/// Each stream keeps its packets; an [`IndexedPriorityQueue`] knows the earliest of their heads.
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
