//! Event scheduler in which each FIFO keeps its packets, and only FIFO heads are compared.

use crate::event::ring_pool::{PooledRing, RingPool};
use crate::event::scheduler::{EventScheduler, NO_EVENT};
use crate::event::winner_tree::{IndexedPriorityQueue, WinnerTree};
use crate::packet::Packet;

/// A scheduler in which each FIFO keeps its packets and an [`IndexedPriorityQueue`] finds the
/// earliest head.
#[derive(Debug)]
pub struct HeadScheduler<H> {
    rings: RingPool<Packet>,
    heads: H,
}

/// The scheduler of runs with up to some thousands of flows.
pub type WinnerTreeScheduler = HeadScheduler<WinnerTree>;

impl<H: IndexedPriorityQueue + Send + Sync + 'static> EventScheduler for HeadScheduler<H> {
    type FifoState = PooledRing;
    const CAN_PEEK_AHEAD: bool = false;

    fn new(fifos: usize, _: f64) -> Self {
        Self { rings: RingPool::default(), heads: H::new(fifos) }
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
        let was_empty = state.is_empty();
        let at_s = packet.at_s;
        self.rings.push_back(state, packet);
        if was_empty {
            self.heads.schedule_empty(fifo, at_s);
        }
    }

    fn sort_in_last(&mut self, fifo: u32, state: &mut PooledRing) {
        let Some(at_s) = self.rings.back(state).map(|last| last.at_s) else { return };
        if self.rings.move_last_behind(*state, |earlier| earlier.at_s <= at_s) == 0 {
            self.heads.schedule(fifo, at_s);
        }
    }

    #[inline(always)]
    fn pop(&mut self, fifo: u32, state: &mut PooledRing) -> Packet {
        let packet = self.rings.pop_front(state).expect("a scheduled FIFO has a head");
        debug_assert!(packet.at_s <= self.next_time_s(state), "a FIFO is in order of time");
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
