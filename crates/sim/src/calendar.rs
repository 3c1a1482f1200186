//! Packets of very many flows: a calendar, each day of which is put in order when it comes (Brown, 1988).
//!
//! What a packet needs is written once behind others of its day and read once with them, in long runs that the processor foresees. Within a day all
//! is known that will be due, so that what the next packets need can be fetched while those before them are handled.

use crate::days::{Days, Due};
use crate::order::{Order, SortedSet};
use crate::packet::Packet;
use crate::scheduler::{EMPTY, Scheduler};

/// A packet and the stream that it waits in.
#[derive(Clone, Copy, Debug)]
struct Event {
    packet: Packet,
    stream: u32,
}

impl Due for Event {
    #[inline(always)]
    fn at_s(&self) -> f64 {
        self.packet.at_s
    }
}

/// Packets that a day should have: few enough for the nearest cache, and enough that its begin does not matter.
const A_DAY: f64 = 256.0;

/// Days in a second.
const LEAST_DAYS: f64 = 1e2;
const MOST_DAYS: f64 = 1e5;

/// Seconds whose days are kept apart.
const HORIZON_S: f64 = 1.0;

/// The calendar.
#[derive(Debug)]
pub struct Calendar {
    days: Days<Event>,
    /// Packets of today, and in `order` their times as bits and places, the first of which are over.
    today: Vec<Event>,
    order: Vec<(u64, u32)>,
    over: usize,
    /// For sorting.
    begins: Vec<u32>,
    /// Streams without packets that are due.
    others: SortedSet,
    first: (f64, u32),
}

impl Calendar {
    #[inline(always)]
    fn add(&mut self, event: Event) {
        if !self.days.put(event) {
            self.add_today(event);
        } else if self.over == self.order.len() {
            self.turn();
        }
    }

    /// A packet of today, or of before: then today has been nothing but ahead.
    #[inline(never)]
    fn add_today(&mut self, event: Event) {
        if self.days.is_past(event.packet.at_s) {
            let left = self.order[self.over..].iter().map(|&(_, place)| self.today[place as usize]);
            self.days.go_back(event.packet.at_s, left);
            self.clear();
        }
        let at = event.packet.at_s.to_bits();
        let place = self.over + self.order[self.over..].partition_point(|other| other.0 <= at);
        self.order.insert(place, (at, self.today.len() as u32));
        self.today.push(event);
        self.find_first();
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
        self.days.turn(&mut self.today);
        self.sort();
        self.find_first();
    }

    /// Puts today in order: by parts of the day, of which there are as many as packets, then within these, where nearly all have one or two.
    fn sort(&mut self) {
        let parts = self.today.len();
        let part = |event: &Event| ((self.days.part(event.packet.at_s) * parts as f64) as usize).min(parts.saturating_sub(1));
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
        let other = self.others.first();
        self.first = match self.order.get(self.over) {
            Some(&(at, place)) if f64::from_bits(at) <= other.0 => (f64::from_bits(at), self.today[place as usize].stream),
            _ => other,
        };
    }
}

impl Scheduler for Calendar {
    /// How many packets it has.
    type Lane = u32;
    const KNOWS_AHEAD: bool = true;

    fn new(streams: usize, packets_s: f64) -> Self {
        let days_a_second = (packets_s / A_DAY).clamp(LEAST_DAYS, MOST_DAYS);
        Self {
            days: Days::new(days_a_second, (HORIZON_S * days_a_second) as usize),
            today: Vec::new(),
            order: Vec::new(),
            over: 0,
            begins: Vec::new(),
            others: SortedSet::new(streams),
            first: (EMPTY, 0),
        }
    }

    fn grow(&mut self, _: usize) {}

    fn set(&mut self, stream: u32, time_s: f64) {
        self.others.set(stream, time_s);
        self.find_first();
    }

    #[inline(always)]
    fn first(&self) -> (f64, u32) {
        self.first
    }

    #[inline(always)]
    fn is_empty(&self, count: &u32) -> bool {
        *count == 0
    }

    #[inline(always)]
    fn push(&mut self, stream: u32, count: &mut u32, packet: Packet) {
        *count += 1;
        self.add(Event { packet, stream });
    }

    fn insert(&mut self, stream: u32, count: &mut u32, packet: Packet) {
        self.push(stream, count, packet);
    }

    #[inline(always)]
    fn pop(&mut self, stream: u32, count: &mut u32) -> Packet {
        *count -= 1;
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
    fn pop_ahead(&mut self, stream: u32, count: &mut u32) -> Option<Packet> {
        Some(self.pop(stream, count))
    }

    #[inline(always)]
    fn next_s(&self, _: &u32) -> f64 {
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
            let (mut counts, mut lanes) = (vec![0; STREAMS as usize], vec![Default::default(); STREAMS as usize]);
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
                calendar.push(stream, &mut counts[stream as usize], packet);
                heads.push(stream, &mut lanes[stream as usize], packet);
                if random.uniform() < 0.1 {
                    let at_s = now_s + random.uniform();
                    calendar.set(STREAMS, at_s);
                    heads.set(STREAMS, at_s);
                }
                // Both run empty now and then.
                for _ in 0..if number / 2000 % 2 == 0 { random.integer(0, 1) } else { 2 } {
                    let first = due(&mut calendar, &mut counts);
                    assert_eq!(first, due(&mut heads, &mut lanes));
                    now_s = if first.0 == EMPTY { now_s } else { first.0 };
                }
            }
        }
    }
}
