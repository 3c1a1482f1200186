//! Timers, outside the packet scheduler and lazily re-armed: a deadline that moves later costs nothing until the earlier entry comes up.

use crate::days::{Days, Due};
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

/// Timers of one span of time in order, and those of later spans in none.
///
/// With very many flows there are as many timers, most of which only come up to be armed again: a heap of all of them would be far larger than
/// the nearest caches. What is due soon is a heap of few; a span is put in order when its turn comes (Varghese and Lauck, 1987, scheme 4).
#[derive(Debug)]
pub struct Timers {
    /// Those due before the end of the present span, as long as there are any.
    near: BinaryHeap<Reverse<Entry>>,
    /// Those of spans to come.
    spans: Days<Reverse<Entry>>,
    /// Kept beside the heap: asked for at every event.
    first_s: f64,
}

/// Time as bits, what for, and whose: doubles that are not negative sort like their bits.
type Entry = (u64, Kind, u32);

impl Due for Reverse<Entry> {
    #[inline(always)]
    fn at_s(&self) -> f64 {
        f64::from_bits(self.0.0)
    }
}

/// Spans in a second, and how many are kept apart: two seconds.
const PER_S: f64 = 512.0;
const SPANS: usize = 1024;

impl Default for Timers {
    fn default() -> Self {
        Self { near: BinaryHeap::new(), spans: Days::new(PER_S, SPANS), first_s: f64::INFINITY }
    }
}

impl Timers {
    /// Adds one.
    pub fn push(&mut self, time_s: f64, kind: Kind, flow: u32) {
        let entry = Reverse((time_s.to_bits(), kind, flow));
        if !self.spans.put(entry) {
            self.near.push(entry);
        } else if self.near.is_empty() {
            self.spans.turn(&mut self.near);
        }
        self.first_s = self.first_s.min(time_s);
    }

    /// When the earliest is due, seconds; infinite when there is none.
    #[inline(always)]
    pub fn first_s(&self) -> f64 {
        self.first_s
    }

    /// Takes the earliest.
    pub fn pop(&mut self) -> Option<(f64, Kind, u32)> {
        let Reverse((bits, kind, flow)) = self.near.pop()?;
        if self.near.is_empty() {
            self.spans.turn(&mut self.near);
        }
        self.first_s = self.near.peek().map_or(f64::INFINITY, Due::at_s);
        Some((f64::from_bits(bits), kind, flow))
    }

    /// Whose the earliest is: a hint.
    pub fn next_flow(&self) -> Option<u32> {
        self.near.peek().map(|entry| entry.0.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    #[test]
    fn they_come_in_order_whatever_their_distance() {
        let mut random = Stream::new(3, "timers");
        let (mut timers, mut heap) = (Timers::default(), BinaryHeap::new());
        let mut now_s = 0.0;
        for flow in 0..60_000 {
            // Mostly within a second or so; now and then at once, at equal times, or in an hour.
            let ahead_s = match random.integer(0, 9) {
                0 => 0.0,
                1 => 4000.0 * random.uniform(),
                2 => 0.25,
                _ => random.uniform(),
            };
            let kind = if random.uniform() < 0.5 { Kind::Retransmission } else { Kind::Start };
            timers.push(now_s + ahead_s, kind, flow);
            heap.push(Reverse(((now_s + ahead_s).to_bits(), kind, flow)));
            // More is taken than put in for a while, then less: they run empty again and again.
            let taken = if flow / 3000 % 2 == 0 { random.integer(0, 1) } else { random.integer(0, 3) };
            for _ in 0..taken {
                assert_eq!(timers.first_s(), heap.peek().map_or(f64::INFINITY, |first| f64::from_bits(first.0.0)));
                let first = heap.pop().map(|Reverse((bits, kind, flow))| (f64::from_bits(bits), kind, flow));
                assert_eq!(timers.pop(), first);
                now_s = first.map_or(now_s, |first| first.0);
            }
        }
    }
}
