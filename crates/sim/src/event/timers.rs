//! Timer queue with lazy re-arming: a deadline that moves later costs nothing until its earlier
//! entry comes up.

use crate::event::chunks::{Chunks, List};
use crate::event::occupied::{BUCKETS, Occupied};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Purpose of a timer. At equal times smaller kinds come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimerKind {
    /// A flow starts.
    #[default]
    FlowStart,
    /// A flow of `[[arrivals]]` arrives; the number of its group stands for the flow.
    FlowArrival,
    /// A browser requests objects of a web page; its number stands for the flow.
    PageRequest,
    /// A request reaches a sender.
    Request,
    /// A receiver's: delayed ACK, or repetition of a SYN-ACK.
    Receiver,
    /// Pacing of a sender.
    Pacing,
    /// Retransmission timer: RTO, tail loss probe, or RACK's reordering timer.
    Retransmission,
    /// A flow's application stops.
    AppStop,
}

impl TimerKind {
    /// Whether it is a timer of a sender: its owner is a flow.
    pub fn is_of_sender(self) -> bool {
        !matches!(self, Self::FlowArrival | Self::PageRequest | Self::Receiver)
    }

    /// Lead of the packets that the timer causes (`Packet::tie_break_s`), seconds: at one instant they
    /// precede those of all packets, in the order of kinds.
    pub fn tie_break_s(self) -> f64 {
        f64::MAX / (2.0 + f64::from(self as u8))
    }
}

/// Timers of the current time bucket in a heap, those of later buckets unsorted.
///
/// With very many flows there are as many timers, and most only come up to be armed again: one heap
/// of all of them would exceed the caches. A bucket is sorted when its time comes (Varghese and
/// Lauck 1987, scheme 4).
#[derive(Debug, Default)]
pub struct Timers {
    /// Timers due before the end of the current bucket; not empty while any timer is armed.
    current: BinaryHeap<Entry>,
    /// Number of the current bucket, counted from time 0.
    bucket: u64,
    /// Timers of later buckets, and which of them have any; no buckets until a timer is armed.
    buckets: Vec<List>,
    occupied: Occupied,
    entries: Chunks<Entry, CHUNK>,
    /// Timers beyond the last bucket.
    beyond: BinaryHeap<Entry>,
}

/// Time as bits, kind, and flow: non-negative doubles sort like their bits. The earliest one is the
/// largest.
type Entry = Reverse<(u64, TimerKind, u32)>;

/// Buckets per second: they cover two seconds.
const BUCKETS_PER_S: f64 = 512.0;

/// Timers per chunk of memory.
const CHUNK: usize = 16;

/// Number of the bucket of a timer, counted from time 0.
#[inline(always)]
fn bucket(&Reverse((at, ..)): &Entry) -> u64 {
    (f64::from_bits(at) * BUCKETS_PER_S) as u64
}

impl Timers {
    /// Adds a timer.
    #[inline(never)]
    pub fn push(&mut self, time_s: f64, kind: TimerKind, flow: u32) {
        if self.buckets.is_empty() {
            self.buckets.resize(BUCKETS, List::EMPTY);
        }
        self.put(Reverse((time_s.to_bits(), kind, flow)));
        self.go_on();
    }

    fn put(&mut self, entry: Entry) {
        let bucket = bucket(&entry);
        if bucket <= self.bucket {
            self.current.push(entry);
        } else if bucket - self.bucket < BUCKETS as u64 {
            let index = bucket as usize % BUCKETS;
            self.entries.push(&mut self.buckets[index], entry);
            self.occupied.set(index);
        } else {
            self.beyond.push(entry);
        }
    }

    /// If the current bucket is over, goes on to the next one that has timers.
    fn go_on(&mut self) {
        while self.current.is_empty() {
            self.bucket = match (self.occupied.ahead(self.bucket as usize + 1), self.beyond.peek())
            {
                (Some(ahead), _) => self.bucket + 1 + ahead as u64,
                (None, Some(first)) => bucket(first),
                (None, None) => return,
            };
            while let Some(first) = self.beyond.peek()
                && bucket(first) - self.bucket < BUCKETS as u64
                && let Some(first) = self.beyond.pop()
            {
                self.put(first);
            }
            let index = self.bucket as usize % BUCKETS;
            self.occupied.clear(index);
            let list = std::mem::replace(&mut self.buckets[index], List::EMPTY);
            for places in self.entries.places(list) {
                self.current.extend(&self.entries.items[places]);
            }
            self.entries.release(list);
        }
    }

    /// Earliest expiry, seconds; infinite if there is none.
    #[inline(always)]
    pub fn first_s(&self) -> f64 {
        self.first().map_or(f64::INFINITY, |first| first.0)
    }

    /// Removes the earliest timer.
    pub fn pop(&mut self) -> Option<(f64, TimerKind, u32)> {
        let Reverse((bits, kind, flow)) = self.current.pop()?;
        self.go_on();
        Some((f64::from_bits(bits), kind, flow))
    }

    /// Kind and flow of the timers that are due together with the earliest one.
    pub fn due_together(&self) -> impl Iterator<Item = (TimerKind, u32)> {
        let first = self.current.peek().map(|first| first.0.0);
        let due = self.current.iter().filter(move |entry| Some(entry.0.0) == first);
        due.map(|&Reverse((_, kind, flow))| (kind, flow))
    }

    /// Removes a timer of the current bucket.
    pub fn remove(&mut self, timer: (f64, TimerKind, u32)) {
        if self.first() == Some(timer) {
            self.pop();
        } else {
            self.remove_behind(timer);
        }
    }

    #[cold]
    fn remove_behind(&mut self, (at_s, kind, flow): (f64, TimerKind, u32)) {
        let removed = Reverse((at_s.to_bits(), kind, flow));
        self.current.retain(|entry| *entry != removed);
        self.go_on();
    }

    /// The earliest timer: time (seconds), kind and flow.
    #[inline(always)]
    pub fn first(&self) -> Option<(f64, TimerKind, u32)> {
        let &Reverse((bits, kind, flow)) = self.current.peek()?;
        Some((f64::from_bits(bits), kind, flow))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream::RandomStream;

    #[test]
    fn timers_expire_in_order() {
        let mut random = RandomStream::new(3, "timers");
        let (mut timers, mut heap) = (Timers::default(), BinaryHeap::new());
        let mut now_s = 0.0;
        for flow in 0..60_000 {
            // Mostly within a second; now and then at once, at equal times, or in an hour.
            let ahead_s = match random.integer(0, 9) {
                0 => 0.0,
                1 => 4000.0 * random.uniform(),
                2 => 0.25,
                _ => random.uniform(),
            };
            let kind = if random.uniform() < 0.5 {
                TimerKind::Retransmission
            } else {
                TimerKind::FlowStart
            };
            timers.push(now_s + ahead_s, kind, flow);
            heap.push(Reverse(((now_s + ahead_s).to_bits(), kind, flow)));
            // Removals outnumber insertions for a while, then the reverse, so that both queues run
            // empty again and again.
            let taken =
                if flow / 3000 % 2 == 0 { random.integer(0, 1) } else { random.integer(0, 3) };
            for _ in 0..taken {
                assert_eq!(
                    timers.first_s(),
                    heap.peek().map_or(f64::INFINITY, |first| f64::from_bits(first.0.0))
                );
                let first = heap
                    .pop()
                    .map(|Reverse((bits, kind, flow))| (f64::from_bits(bits), kind, flow));
                assert_eq!(timers.pop(), first);
                now_s = first.map_or(now_s, |first| first.0);
            }
        }
    }
}
