//! Timer queue with lazy re-arming: a deadline that moves later costs nothing until its earlier
//! entry comes up.

use crate::event::calendar_buckets::{CalendarBuckets, Timed};
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
    /// Retransmission timeout (RTO) or tail loss probe.
    Retransmission,
    /// A flow's application stops.
    AppStop,
}

impl TimerKind {
    /// Lead of the packets that the timer causes (`Packet::lead_s`), seconds: at one instant they
    /// precede those of all packets, in the order of kinds.
    pub fn lead_s(self) -> f64 {
        f64::MAX / (2.0 + f64::from(self as u8))
    }
}

/// Timers of the current time bucket in a heap, those of later buckets unsorted.
///
/// With very many flows there are as many timers, and most only come up to be armed again: one heap
/// of all of them would exceed the caches. A bucket is sorted when its time comes (Varghese and
/// Lauck 1987, scheme 4).
#[derive(Debug)]
pub struct Timers {
    /// Timers due before the end of the current bucket; not empty while any timer is armed.
    current: BinaryHeap<Reverse<Entry>>,
    /// Timers of later buckets.
    buckets: CalendarBuckets<Reverse<Entry>>,
    /// Earliest time, cached.
    first_s: f64,
}

/// Time as bits, kind, and flow: non-negative doubles sort like their bits.
type Entry = (u64, TimerKind, u32);

impl Timed for Reverse<Entry> {
    #[inline(always)]
    fn at_s(&self) -> f64 {
        f64::from_bits(self.0.0)
    }
}

/// Buckets per second, and number of buckets: two seconds.
const BUCKETS_PER_S: f64 = 512.0;
const BUCKETS: usize = 1024;

impl Default for Timers {
    fn default() -> Self {
        Self {
            current: BinaryHeap::new(),
            buckets: CalendarBuckets::new(BUCKETS_PER_S, BUCKETS),
            first_s: f64::INFINITY,
        }
    }
}

impl Timers {
    /// Adds a timer.
    #[inline(never)]
    pub fn push(&mut self, time_s: f64, kind: TimerKind, flow: u32) {
        let entry = Reverse((time_s.to_bits(), kind, flow));
        if !self.buckets.insert(entry) {
            self.current.push(entry);
        } else if self.current.is_empty() {
            self.buckets.advance(&mut self.current);
        }
        self.first_s = self.first_s.min(time_s);
    }

    /// Earliest expiry, seconds; infinite if there is none.
    #[inline(always)]
    pub fn first_s(&self) -> f64 {
        self.first_s
    }

    /// Removes the earliest timer.
    pub fn pop(&mut self) -> Option<(f64, TimerKind, u32)> {
        let Reverse((bits, kind, flow)) = self.current.pop()?;
        if self.current.is_empty() {
            self.buckets.advance(&mut self.current);
        }
        self.first_s = self.current.peek().map_or(f64::INFINITY, Timed::at_s);
        Some((f64::from_bits(bits), kind, flow))
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
