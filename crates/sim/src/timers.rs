//! Timers, outside the packet scheduler and lazily re-armed: a deadline that moves later costs nothing until the earlier entry comes up.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a timer is for. At equal times smaller kinds come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The measuring window begins or ends: what happens at its begin counts, what happens at its end does not.
    Measure,
    /// A flow starts.
    Start,
    /// A flow of a group arrives (its number stands for the flow).
    Arrive,
    /// A request reaches a sender.
    Request,
    /// An acknowledgement was delayed long enough.
    DelayedAck,
    /// A paced sender may go on.
    Pace,
    /// A retransmission time-out.
    Retransmission,
    /// A flow's application stops.
    Stop,
}

/// Pending timers, ordered by (time, kind, flow).
#[derive(Debug, Default)]
pub struct Timers {
    /// Times as bits: doubles that are not negative sort like their bits.
    heap: BinaryHeap<Reverse<(u64, Kind, u32)>>,
}

impl Timers {
    /// Adds one.
    pub fn push(&mut self, time_s: f64, kind: Kind, flow: u32) {
        self.heap.push(Reverse((time_s.to_bits(), kind, flow)));
    }

    /// Time of the earliest, seconds; infinite when there is none.
    #[inline]
    pub fn first_s(&self) -> f64 {
        self.heap.peek().map_or(f64::INFINITY, |entry| f64::from_bits(entry.0.0))
    }

    /// Takes the earliest.
    pub fn pop(&mut self) -> Option<(f64, Kind, u32)> {
        self.heap.pop().map(|Reverse((bits, kind, flow))| (f64::from_bits(bits), kind, flow))
    }
}
