//! Packets of very many flows: a calendar, each day of which is put in order when it comes (Brown, 1988).
//!
//! What a packet needs is written once behind others of its day and read once with them, in long runs that the processor foresees. Within a day all
//! is known that will be due, so that what the next packets need can be fetched while those before them are handled.

use crate::days::Days;
use crate::packet::Packet;
use crate::scheduler::{EMPTY, Scheduler};
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// A packet and the stream that it waits in.
#[derive(Clone, Copy, Debug)]
struct Event {
    packet: Packet,
    stream: u32,
}

/// Packets that a day should have: few enough for the nearest cache, and enough that its begin does not matter.
const A_DAY: f64 = 256.0;

/// Days in a second.
const LEAST_DAYS: f64 = 1e2;
const MOST_DAYS: f64 = 1e5;

/// Seconds whose days are kept apart; what is due later waits in order of time.
const HORIZON_S: f64 = 1.0;

/// What is due after all days that are kept apart: its time as bits, and its number, because packets of one stream stay in order.
#[derive(Debug)]
struct Beyond(u64, u64, Event);

impl Ord for Beyond {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.0, self.1).cmp(&(other.0, other.1))
    }
}

impl PartialOrd for Beyond {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Beyond {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Beyond {}

/// The calendar.
#[derive(Debug)]
pub struct Calendar {
    days_a_second: f64,
    /// The present day: so many have passed since the beginning.
    day: u64,
    /// Its packets, and in `order` their times as bits and places, the first of which are over.
    today: Vec<Event>,
    order: Vec<(u64, u32)>,
    over: usize,
    /// For sorting.
    begins: Vec<u32>,
    /// Packets of days to come.
    days: Days<Event>,
    beyond: BinaryHeap<Reverse<Beyond>>,
    /// How many ever went there.
    numbered: u64,
    /// Streams without packets that are due, in order of time, and by stream.
    others: BTreeSet<(u64, u32)>,
    times: BTreeMap<u32, u64>,
    first_other: (u64, u32),
    first: (u64, u32),
}

/// Nothing is due.
const NOTHING: (u64, u32) = (EMPTY.to_bits(), 0);

impl Calendar {
    #[inline(always)]
    fn day_of(&self, at_s: f64) -> u64 {
        (at_s * self.days_a_second) as u64
    }

    #[inline(always)]
    fn add(&mut self, event: Event) {
        let day = self.day_of(event.packet.at_s);
        let ahead = day.wrapping_sub(self.day);
        if ahead.wrapping_sub(1) < self.days.days() - 1 {
            self.days.put(day, event);
        } else {
            self.add_elsewhere(day, event);
        }
        if self.over == self.order.len() {
            self.turn();
        }
    }

    /// A packet of today, of an earlier day (today has been nothing but ahead), or of one far ahead.
    #[inline(never)]
    fn add_elsewhere(&mut self, day: u64, event: Event) {
        let at = event.packet.at_s.to_bits();
        if day > self.day {
            return self.defer(event);
        }
        if day < self.day {
            self.go_back(day);
        }
        let place = self.over + self.order[self.over..].partition_point(|other| other.0 <= at);
        self.order.insert(place, (at, self.today.len() as u32));
        self.today.push(event);
        self.find_first();
    }

    /// What is left of today goes back among the days to come: an earlier day comes first.
    #[cold]
    fn go_back(&mut self, day: u64) {
        let mut moved: Vec<Event> = self.order[self.over..].iter().map(|&(_, place)| self.today[place as usize]).collect();
        self.clear();
        // So do days that are too far ahead now.
        let (from, days) = (std::mem::replace(&mut self.day, day), self.days.days());
        for far in (from + 1).max(day + days)..from + days {
            self.days.take(far, &mut moved);
        }
        for event in moved {
            let day = self.day_of(event.packet.at_s);
            if day - self.day < days { self.days.put(day, event) } else { self.defer(event) }
        }
    }

    /// It is due after all days that are kept apart.
    fn defer(&mut self, event: Event) {
        self.numbered += 1;
        self.beyond.push(Reverse(Beyond(event.packet.at_s.to_bits(), self.numbered, event)));
    }

    fn clear(&mut self) {
        self.today.clear();
        self.order.clear();
        self.over = 0;
    }

    /// Today is over: the next day that has packets, if any has.
    #[inline(never)]
    fn turn(&mut self) {
        self.clear();
        while self.today.is_empty() {
            if !self.days.is_empty() {
                self.day += 1;
            } else if let Some(Reverse(Beyond(at, ..))) = self.beyond.peek() {
                self.day = self.day_of(f64::from_bits(*at));
            } else {
                break;
            }
            while let Some(Reverse(first)) = self.beyond.peek()
                && self.day_of(f64::from_bits(first.0)) - self.day < self.days.days()
            {
                let Some(Reverse(Beyond(at, _, event))) = self.beyond.pop() else { break };
                self.days.put(self.day_of(f64::from_bits(at)), event);
            }
            self.days.take(self.day, &mut self.today);
        }
        self.sort();
        self.find_first();
    }

    /// Puts today in order: by parts of the day, of which there are as many as packets, then within these, where nearly all have one or two.
    fn sort(&mut self) {
        let (parts, day) = (self.today.len(), self.day as f64);
        let part = |event: &Event| (((event.packet.at_s * self.days_a_second - day) * parts as f64) as usize).min(parts.saturating_sub(1));
        // First how many each part has, then where each begins.
        self.begins.clear();
        self.begins.resize(parts, 0);
        self.today.iter().for_each(|event| self.begins[part(event)] += 1);
        let mut begin = 0;
        for count in &mut self.begins {
            begin += std::mem::replace(count, begin);
        }
        self.order.resize(parts, (0, 0));
        for (place, event) in self.today.iter().enumerate() {
            let begin = &mut self.begins[part(event)];
            self.order[*begin as usize] = (event.packet.at_s.to_bits(), place as u32);
            *begin += 1;
        }
        // Where one began the next begins now.
        let mut begin = 0;
        for &end in &self.begins {
            if end - begin > 1 {
                self.order[begin as usize..end as usize].sort_unstable();
            }
            begin = end;
        }
    }

    /// What is due first: a packet, or a stream without.
    #[inline(always)]
    fn find_first(&mut self) {
        self.first = match self.order.get(self.over) {
            Some(&(at, place)) => (at, self.today[place as usize].stream),
            None => NOTHING,
        };
        if self.first_other.0 < self.first.0 {
            self.first = self.first_other;
        }
    }
}

impl Scheduler for Calendar {
    type Lane = ();
    const KNOWS_AHEAD: bool = true;

    fn new(_: usize, packets_s: f64) -> Self {
        let days_a_second = (packets_s / A_DAY).clamp(LEAST_DAYS, MOST_DAYS);
        Self {
            days_a_second,
            day: 0,
            today: Vec::new(),
            order: Vec::new(),
            over: 0,
            begins: Vec::new(),
            days: Days::new((HORIZON_S * days_a_second) as usize),
            beyond: BinaryHeap::new(),
            numbered: 0,
            others: BTreeSet::new(),
            times: BTreeMap::new(),
            first_other: NOTHING,
            first: NOTHING,
        }
    }

    fn grow(&mut self, _: usize) {}

    fn set(&mut self, stream: u32, time_s: f64) {
        if let Some(old) = self.times.remove(&stream) {
            self.others.remove(&(old, stream));
        }
        if time_s != EMPTY {
            self.times.insert(stream, time_s.to_bits());
            self.others.insert((time_s.to_bits(), stream));
        }
        self.first_other = self.others.first().copied().unwrap_or(NOTHING);
        self.find_first();
    }

    #[inline(always)]
    fn first(&self) -> (f64, u32) {
        (f64::from_bits(self.first.0), self.first.1)
    }

    #[inline(always)]
    fn push(&mut self, stream: u32, (): &mut (), packet: Packet) {
        self.add(Event { packet, stream });
    }

    fn insert(&mut self, stream: u32, (): &mut (), packet: Packet) {
        self.add(Event { packet, stream });
    }

    #[inline(always)]
    fn pop(&mut self, stream: u32, (): &mut ()) -> Packet {
        let event = self.today[self.order[self.over].1 as usize];
        debug_assert_eq!(event.stream, stream, "what is due first is taken");
        self.over += 1;
        if self.over == self.order.len() {
            self.turn();
        } else {
            self.find_first();
        }
        event.packet
    }

    #[inline(always)]
    fn pop_ahead(&mut self, stream: u32, lane: &mut ()) -> Option<Packet> {
        Some(self.pop(stream, lane))
    }

    #[inline(always)]
    fn next_s(&self, (): &()) -> f64 {
        EMPTY
    }

    #[inline(always)]
    fn go_on(&mut self, _: u32, _: f64) {}

    #[inline(always)]
    fn ahead(&self, packets: usize) -> Option<(u32, &Packet)> {
        let &(_, place) = self.order.get(self.over + packets)?;
        self.today.get(place as usize).map(|event| (event.stream, &event.packet))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Flags;
    use crate::random::Stream;
    use crate::scheduler::{Heads, SortedSet};

    const STREAMS: u32 = 50;

    /// Takes all that is due first: the time, and streams with the numbers of packets, in order.
    fn due<S: Scheduler>(scheduler: &mut S, lanes: &mut [S::Lane]) -> (f64, Vec<(u32, i64)>) {
        let (at_s, mut found) = (scheduler.first().0, Vec::new());
        while at_s != EMPTY && scheduler.first().0 == at_s {
            let stream = scheduler.first().1;
            if stream == STREAMS {
                scheduler.set(stream, EMPTY);
                found.push((stream, 0));
            } else {
                let packet = scheduler.pop(stream, &mut lanes[stream as usize]);
                assert_eq!(packet.at_s, at_s);
                found.push((stream, packet.number));
            }
        }
        found.sort_by_key(|found| found.0);
        (at_s, found)
    }

    #[test]
    fn packets_come_as_from_streams_of_their_own() {
        let mut random = Stream::new(8, "calendar");
        // Few packets a second and very many: days of seconds, and days so short that all is beyond them.
        for packets_s in [1.0, 3e4, 1e9] {
            let (mut calendar, mut heads) = (Calendar::new(51, packets_s), Heads::<SortedSet>::new(51, packets_s));
            let (mut none, mut lanes) = (vec![(); STREAMS as usize], vec![Default::default(); STREAMS as usize]);
            let mut last_s = [0.0f64; STREAMS as usize];
            let mut now_s = 0.0;
            for number in 0..30_000 {
                let stream = random.integer(0, u64::from(STREAMS) - 1) as u32;
                let ahead_s = match random.integer(0, 9) {
                    0 => 0.0,
                    1 => 3.0 * random.uniform(),
                    2 => 0.01,
                    _ => 0.1 * random.uniform(),
                };
                let at_s = last_s[stream as usize].max(now_s + ahead_s);
                last_s[stream as usize] = at_s;
                let packet = Packet { at_s, since_s: now_s, number, sent_s: now_s, size_bytes: 1000, flags: Flags::default(), options: 0 };
                calendar.push(stream, &mut none[stream as usize], packet);
                heads.push(stream, &mut lanes[stream as usize], packet);
                if random.uniform() < 0.1 {
                    let at_s = now_s + random.uniform();
                    calendar.set(STREAMS, at_s);
                    heads.set(STREAMS, at_s);
                }
                // Both run empty now and then.
                for _ in 0..if number / 2000 % 2 == 0 { random.integer(0, 1) } else { 2 } {
                    let first = due(&mut calendar, &mut none);
                    assert_eq!(first, due(&mut heads, &mut lanes));
                    now_s = if first.0 == EMPTY { now_s } else { first.0 };
                }
            }
        }
    }
}
