//! Packets that wait for an event, and what comes first of all that is due.
//!
//! There are two ways to keep them. Of some hundreds of flows each stream keeps its packets, and only their heads are put in order
//! (`Heads`): little to compare, and a sender can look at all that waits for it. Of thousands, most have a packet or none, and heads that lie
//! far apart in memory would be compared one with another: there all packets go into days of one calendar (`calendar.rs`).

use crate::lanes::{Lane, Lanes};
use crate::order::Order;
use crate::packet::Packet;
use std::fmt::Debug;

pub use crate::calendar::Calendar;
pub use crate::order::{SortedSet, WinnerTree};

/// No packet in the stream.
pub const EMPTY: f64 = f64::INFINITY;

/// Keeps the packets of streams `0..n`, and says which stream is due first. A stream either has packets or is given a time with
/// [`Scheduler::set`]; where times are equal, any is the first.
pub trait Scheduler: Send + Sync + 'static {
    /// What a stream itself knows of its packets.
    type Lane: Copy + Debug + Default + Send + Sync;

    /// Whether it knows some packets ahead what will be due ([`Scheduler::ahead`]).
    const KNOWS_AHEAD: bool;

    /// All streams empty. About `packets_s` packets a second will be due.
    fn new(streams: usize, packets_s: f64) -> Self;

    /// There are more streams now; the new ones are empty.
    fn grow(&mut self, streams: usize);

    /// A stream without packets is due at `time_s` ([`EMPTY`]: not at all).
    fn set(&mut self, stream: u32, time_s: f64);

    /// When the first is due, and which stream it is; [`EMPTY`] when there is none.
    fn first(&self) -> (f64, u32);

    /// Whether a stream has no packets.
    fn is_empty(&self, lane: &Self::Lane) -> bool;

    /// Adds a packet behind those of its stream; times of one stream never decrease.
    fn push(&mut self, stream: u32, lane: &mut Self::Lane, packet: Packet);

    /// Adds a packet where packets may have overtaken each other: behind all of its stream that arrive no later.
    fn insert(&mut self, stream: u32, lane: &mut Self::Lane, packet: Packet);

    /// Takes the first packet of the stream that is due first.
    fn pop(&mut self, stream: u32, lane: &mut Self::Lane) -> Packet;

    /// The same, but without looking for what is due next: until [`Scheduler::go_on`] more may be taken, as far as the stream's own are known.
    fn pop_ahead(&mut self, stream: u32, lane: &mut Self::Lane) -> Option<Packet>;

    /// When the next that [`Scheduler::pop_ahead`] would take is due, seconds, or [`EMPTY`].
    fn next_s(&self, lane: &Self::Lane) -> f64;

    /// Puts a stream of which some were taken ahead in order again: its next is due at `next_s`.
    fn go_on(&mut self, stream: u32, next_s: f64);

    /// What will be due when so many more packets have been, if that is known: a hint.
    fn ahead(&self, packets: usize) -> Option<(u32, &Packet)> {
        let _ = packets;
        None
    }
}

/// Each stream keeps its packets; an [`Order`] knows the earliest of their heads.
#[derive(Debug)]
pub struct Heads<O> {
    lanes: Lanes<Packet>,
    order: O,
}

impl<O: Order + Send + Sync + 'static> Scheduler for Heads<O> {
    type Lane = Lane;
    const KNOWS_AHEAD: bool = false;

    fn new(streams: usize, _: f64) -> Self {
        Self { lanes: Lanes::default(), order: O::new(streams) }
    }

    fn grow(&mut self, streams: usize) {
        self.order.grow(streams);
    }

    #[inline(always)]
    fn set(&mut self, stream: u32, time_s: f64) {
        self.order.set(stream, time_s);
    }

    #[inline(always)]
    fn first(&self) -> (f64, u32) {
        self.order.first()
    }

    #[inline(always)]
    fn is_empty(&self, lane: &Lane) -> bool {
        lane.is_empty()
    }

    #[inline(always)]
    fn push(&mut self, stream: u32, lane: &mut Lane, packet: Packet) {
        debug_assert!(self.lanes.back(lane).is_none_or(|last| last.at_s <= packet.at_s), "a stream is in order of time");
        let was_empty = lane.is_empty();
        let at_s = packet.at_s;
        self.lanes.push_back(lane, packet);
        if was_empty {
            self.order.set_first(stream, at_s);
        }
    }

    fn insert(&mut self, stream: u32, lane: &mut Lane, packet: Packet) {
        if self.lanes.insert(lane, packet, |earlier| earlier.at_s <= packet.at_s) == 0 {
            self.order.set(stream, packet.at_s);
        }
    }

    #[inline(always)]
    fn pop(&mut self, stream: u32, lane: &mut Lane) -> Packet {
        let packet = self.lanes.pop_front(lane).expect("a scheduled stream has a head");
        self.order.set(stream, self.next_s(lane));
        packet
    }

    #[inline(always)]
    fn pop_ahead(&mut self, _: u32, lane: &mut Lane) -> Option<Packet> {
        self.lanes.pop_front(lane)
    }

    #[inline(always)]
    fn next_s(&self, lane: &Lane) -> f64 {
        self.lanes.front(lane).map_or(EMPTY, |next| next.at_s)
    }

    #[inline(always)]
    fn go_on(&mut self, stream: u32, next_s: f64) {
        self.order.set(stream, next_s);
    }
}
