//! Calendar queue of packets, sorted bucket by bucket (Brown 1988): the event scheduler for many
//! thousands of flows.
//!
//! A packet is written once, behind others of its bucket, and read once with them, in long
//! sequential runs that hardware prefetchers follow. All events of the current bucket are known in
//! order, so state of upcoming packets can be prefetched.

use crate::event::calendar_buckets::{CalendarBuckets, Timed};
use crate::event::scheduler::{EventScheduler, NO_EVENT};
use crate::event::winner_tree::{IndexedPriorityQueue, SortedSet};
use crate::packet::Packet;

/// A packet and the FIFO in which it waits.
#[derive(Clone, Copy, Debug, Default)]
struct Event {
    packet: Packet,
    fifo: u32,
}

impl Timed for Event {
    #[inline(always)]
    fn at_s(&self) -> f64 {
        self.packet.at_s
    }
}

/// Packets per bucket to aim at: few enough for the L1 cache, and enough to amortise the cost of a
/// bucket.
const EVENTS_PER_BUCKET: f64 = 256.0;

/// Bounds of the number of buckets per second.
const MIN_BUCKETS_PER_S: f64 = 1e2;
const MAX_BUCKETS_PER_S: f64 = 1e5;

/// Time span that the buckets cover, seconds.
const HORIZON_S: f64 = 1.0;

/// The calendar queue.
#[derive(Debug)]
pub struct CalendarQueue {
    buckets: CalendarBuckets<Event>,
    /// Packets of the current bucket; `order` has their times as bits and their indices, sorted;
    /// the first `taken` of them are processed.
    current: Vec<Event>,
    order: Vec<(u64, u32)>,
    taken: usize,
    /// Workspace of the bucket sort.
    part_ends: Vec<u32>,
    /// FIFOs without packets that are scheduled for a time.
    packetless: SortedSet,
    earliest: (f64, u32),
}

impl CalendarQueue {
    #[inline(always)]
    fn add(&mut self, event: Event) {
        if !self.buckets.insert(event) {
            self.add_current();
        } else if self.taken == self.order.len() {
            self.advance();
        }
    }

    /// Adds the packet that the buckets refused to the current one. If the packet lies before the current bucket, the
    /// calendar rewinds: so far it has only looked ahead.
    #[inline(never)]
    fn add_current(&mut self) {
        let event = self.buckets.refused();
        if self.buckets.is_past(event.packet.at_s) {
            let left =
                self.order[self.taken..].iter().map(|&(_, index)| self.current[index as usize]);
            self.buckets.rewind(event.packet.at_s, left);
            self.clear();
        }
        let at = event.packet.at_s.to_bits();
        let index = self.taken + self.order[self.taken..].partition_point(|other| other.0 <= at);
        self.order.insert(index, (at, self.current.len() as u32));
        self.current.push(event);
        self.update_earliest();
    }

    fn clear(&mut self) {
        self.current.clear();
        self.order.clear();
        self.taken = 0;
    }

    /// The current bucket is empty: goes on to the next bucket that has packets.
    #[inline(never)]
    fn advance(&mut self) {
        self.clear();
        self.buckets.advance(&mut self.current);
        self.sort();
        self.update_earliest();
    }

    /// Sorts the current bucket by a bucket sort with as many parts as packets: nearly all parts
    /// have one or two.
    fn sort(&mut self) {
        let parts = self.current.len();
        let part = |event: &Event| {
            ((self.buckets.part(event.packet.at_s) * parts as f64) as usize)
                .min(parts.saturating_sub(1))
        };
        // Counts the packets of each part, then turns counts into start positions.
        self.part_ends.clear();
        self.part_ends.resize(parts, 0);
        self.current.iter().for_each(|event| self.part_ends[part(event)] += 1);
        let mut begin = 0;
        for count in &mut self.part_ends {
            begin += std::mem::replace(count, begin);
        }
        self.order.resize(parts, (0, 0));
        for (index, event) in self.current.iter().enumerate() {
            let begin = &mut self.part_ends[part(event)];
            self.order[*begin as usize] = (event.packet.at_s.to_bits(), index as u32);
            *begin += 1;
        }
        // Filling a part has advanced its start position to its end.
        let mut begin = 0;
        for &end in &self.part_ends {
            if end - begin > 1 {
                self.order[begin as usize..end as usize].sort_unstable();
            }
            begin = end;
        }
    }

    /// Updates the earliest event: a packet, or a FIFO without packets.
    #[inline(always)]
    fn update_earliest(&mut self) {
        let other = self.packetless.earliest();
        self.earliest = match self.order.get(self.taken) {
            Some(&(at, index)) if f64::from_bits(at) <= other.0 => {
                (f64::from_bits(at), self.current[index as usize].fifo)
            }
            _ => other,
        };
    }
}

impl EventScheduler for CalendarQueue {
    /// Number of packets.
    type FifoState = u32;
    const CAN_PEEK_AHEAD: bool = true;

    fn new(fifos: usize, packets_s: f64) -> Self {
        let buckets_per_s =
            (packets_s / EVENTS_PER_BUCKET).clamp(MIN_BUCKETS_PER_S, MAX_BUCKETS_PER_S);
        Self {
            buckets: CalendarBuckets::new(buckets_per_s, (HORIZON_S * buckets_per_s) as usize),
            current: Vec::new(),
            order: Vec::new(),
            taken: 0,
            part_ends: Vec::new(),
            packetless: SortedSet::new(fifos),
            earliest: (NO_EVENT, 0),
        }
    }

    fn grow(&mut self, _: usize) {}

    fn schedule(&mut self, fifo: u32, time_s: f64) {
        self.packetless.schedule(fifo, time_s);
        self.update_earliest();
    }

    #[inline(always)]
    fn earliest(&self) -> (f64, u32) {
        self.earliest
    }

    #[inline(always)]
    fn is_empty(&self, count: &u32) -> bool {
        *count == 0
    }

    #[inline(always)]
    fn push(&mut self, fifo: u32, count: &mut u32, packet: Packet) {
        *count += 1;
        self.add(Event { packet, fifo });
    }

    /// Packets are in order wherever they were appended.
    fn sort_in_last(&mut self, _: u32, _: &mut u32) {}

    #[inline(always)]
    fn pop(&mut self, fifo: u32, count: &mut u32) -> Packet {
        *count -= 1;
        let event = self.current[self.order[self.taken].1 as usize];
        debug_assert_eq!(event.fifo, fifo, "what is due earliest is taken");
        self.taken += 1;
        if self.taken == self.order.len() {
            self.advance();
        } else {
            self.update_earliest();
        }
        event.packet
    }

    #[inline(always)]
    fn pop_unscheduled(&mut self, fifo: u32, count: &mut u32) -> Option<Packet> {
        Some(self.pop(fifo, count))
    }

    #[inline(always)]
    fn next_time_s(&self, _: &u32) -> f64 {
        NO_EVENT
    }

    #[inline(always)]
    fn reschedule(&mut self, _: u32, _: f64) {}

    #[inline(always)]
    fn peek_ahead(&self, packets: usize) -> Option<(u32, &Packet)> {
        let &(_, index) = self.order.get(self.taken + packets)?;
        self.current.get(index as usize).map(|event| (event.fifo, &event.packet))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::head_scheduler::HeadScheduler;
    use crate::event::winner_tree::SortedSet;
    use crate::packet::Flags;
    use crate::random::stream::RandomStream;

    const STREAMS: u32 = 50;

    /// Takes all events that are due first: their time, and FIFOs with packet numbers, sorted.
    fn due<S: EventScheduler>(
        scheduler: &mut S,
        states: &mut [S::FifoState],
    ) -> (f64, Vec<(u32, i64)>) {
        let (at_s, mut found) = (scheduler.earliest().0, Vec::new());
        while at_s != NO_EVENT && scheduler.earliest().0 == at_s {
            let fifo = scheduler.earliest().1;
            if fifo == STREAMS {
                scheduler.schedule(fifo, NO_EVENT);
                found.push((fifo, 0));
            } else {
                let packet = scheduler.pop(fifo, &mut states[fifo as usize]);
                assert_eq!(packet.at_s, at_s);
                found.push((fifo, packet.number));
            }
        }
        found.sort_by_key(|found| found.0);
        (at_s, found)
    }

    #[test]
    fn it_agrees_with_sorted_fifo_heads() {
        let mut random = RandomStream::new(8, "calendar");
        // Very few and very many packets per second: buckets of seconds, and buckets so short that
        // all events overflow.
        for packets_s in [1.0, 3e4, 1e9] {
            let (mut calendar, mut heads) =
                (CalendarQueue::new(51, packets_s), HeadScheduler::<SortedSet>::new(51, packets_s));
            let (mut counts, mut states) =
                (vec![0; STREAMS as usize], vec![Default::default(); STREAMS as usize]);
            let mut last_s = [0.0f64; STREAMS as usize];
            let mut now_s = 0.0;
            for number in 0..30_000 {
                let fifo = random.integer(0, u64::from(STREAMS) - 1) as u32;
                let ahead_s = match random.integer(0, 9) {
                    0 => 0.0,
                    1 => 3.0 * random.uniform(),
                    2 => 0.01,
                    _ => 0.1 * random.uniform(),
                };
                let at_s = last_s[fifo as usize].max(now_s + ahead_s);
                last_s[fifo as usize] = at_s;
                let packet = Packet {
                    at_s,
                    tx_start_s: now_s,
                    lead_s: 0.0,
                    number,
                    sent_s: now_s,
                    size_bytes: 1000,
                    flags: Flags::default(),
                    options: 0,
                };
                calendar.push(fifo, &mut counts[fifo as usize], packet);
                heads.push(fifo, &mut states[fifo as usize], packet);
                if random.uniform() < 0.1 {
                    let at_s = now_s + random.uniform();
                    calendar.schedule(STREAMS, at_s);
                    heads.schedule(STREAMS, at_s);
                }
                // Both run empty now and then.
                for _ in 0..if number / 2000 % 2 == 0 { random.integer(0, 1) } else { 2 } {
                    let earliest = due(&mut calendar, &mut counts);
                    assert_eq!(earliest, due(&mut heads, &mut states));
                    now_s = if earliest.0 == NO_EVENT { now_s } else { earliest.0 };
                }
            }
        }
    }
}
