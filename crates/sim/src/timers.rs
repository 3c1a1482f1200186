//! Timers, outside the packet scheduler and lazily re-armed: a deadline that moves later costs nothing until the earlier entry comes up.

use crate::days::Days;
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
    /// Those due before the end of the present span.
    near: BinaryHeap<Reverse<Entry>>,
    /// The present span: so many have passed since the beginning.
    span: u64,
    /// Those of spans to come.
    spans: Days<Entry>,
    /// Those beyond all spans that are kept apart.
    beyond: BinaryHeap<Reverse<Entry>>,
    first_s: f64,
}

/// Time as bits, what for, and whose: doubles that are not negative sort like their bits.
type Entry = (u64, Kind, u32);

/// Spans in a second, and how many are kept apart: two seconds.
const PER_S: f64 = 512.0;
const SPANS: usize = 1024;

impl Default for Timers {
    fn default() -> Self {
        Self { near: BinaryHeap::new(), span: 0, spans: Days::new(SPANS), beyond: BinaryHeap::new(), first_s: f64::INFINITY }
    }
}

fn span(time_s: f64) -> u64 {
    (time_s * PER_S) as u64
}

impl Timers {
    /// Adds one.
    pub fn push(&mut self, time_s: f64, kind: Kind, flow: u32) {
        self.put((time_s.to_bits(), kind, flow));
        self.first_s = self.first_s.min(time_s);
    }

    fn put(&mut self, entry: Entry) {
        let span = span(f64::from_bits(entry.0));
        if span <= self.span {
            return self.near.push(Reverse(entry));
        }
        if span - self.span >= SPANS as u64 {
            return self.beyond.push(Reverse(entry));
        }
        self.spans.put(span, entry);
    }

    /// When the earliest is due, seconds; infinite when there is none.
    #[inline(always)]
    pub fn first_s(&self) -> f64 {
        self.first_s
    }

    /// Takes the earliest.
    pub fn pop(&mut self) -> Option<(f64, Kind, u32)> {
        self.go_on();
        let first = self.near.pop();
        self.go_on();
        self.first_s = self.near.peek().map_or(f64::INFINITY, |entry| f64::from_bits(entry.0.0));
        first.map(|Reverse((bits, kind, flow))| (f64::from_bits(bits), kind, flow))
    }

    /// Whose the earliest is: a hint.
    pub fn next_flow(&self) -> Option<u32> {
        self.near.peek().map(|entry| entry.0.2)
    }

    /// Goes on to the next span that has any, if the present one has none.
    fn go_on(&mut self) {
        while self.near.is_empty() {
            if !self.spans.is_empty() {
                self.span += 1;
            } else if let Some(Reverse(first)) = self.beyond.peek() {
                self.span = span(f64::from_bits(first.0));
            } else {
                return;
            }
            self.spans.take(self.span, &mut Heaped(&mut self.near));
            // What is no longer too far ahead.
            while let Some(Reverse(first)) = self.beyond.peek().filter(|first| span(f64::from_bits(first.0.0)) - self.span < SPANS as u64) {
                let first = *first;
                self.beyond.pop();
                self.put(first);
            }
        }
    }
}

/// A heap that takes entries as they are.
struct Heaped<'a>(&'a mut BinaryHeap<Reverse<Entry>>);

impl Extend<Entry> for Heaped<'_> {
    fn extend<I: IntoIterator<Item = Entry>>(&mut self, entries: I) {
        self.0.extend(entries.into_iter().map(Reverse));
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
