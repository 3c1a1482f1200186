//! Packets that wait to enter a station, in order: a calendar queue (Brown 1988).
//!
//! A packet is written once, behind others of its bucket, and a bucket is sorted when the station
//! comes to it: packets of many flows cost no comparison of each with all others, and state of the
//! next ones can be prefetched.

use crate::event::chunks::{Chunks, List};
use crate::event::occupied::{BUCKETS, Occupied};
use crate::packet::RoutedPacket;
use std::collections::BTreeMap;

/// Packets of one bucket to aim at: enough to amortise the cost of a bucket, and few enough for the
/// caches.
const PACKETS_PER_BUCKET: f64 = 64.0;

/// Time that the buckets cover at least, seconds; packets beyond lie in a tree.
const COVERED_S: f64 = 0.5;

/// Fewest buckets per second.
const FEWEST_PER_S: f64 = 2.0;

/// Packets per chunk of memory.
const CHUNK: usize = 23;

/// Packets in one queue beyond which a run stops: about 3 GiB.
const MOST_PACKETS: usize = 50_000_000;

/// Parts of a bucket in which its packets are counted, and the fewest packets for which that is
/// done; fewer are sorted by insertion alone.
const PARTS: usize = 128;
const FEWEST_COUNTED: usize = 12;

/// Packets at the end of the open bucket among which the place of a new one is looked for first.
const LIKELY_LAST: usize = 4;

/// Time of no packet.
pub const NEVER: f64 = f64::INFINITY;

/// Packets, and the earliest time of all, seconds.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    list: List,
    first_s: f64,
}

impl Bucket {
    const EMPTY: Self = Self { list: List::EMPTY, first_s: NEVER };
}

/// Packets in order of (time, start of last transmission, lead of its cause, flow, hop); those with
/// equal keys stay in the order in which they came.
#[derive(Debug)]
pub struct ArrivalQueue {
    parts_per_s: f64,
    /// Number of the open bucket, counted from time 0.
    open: u64,
    /// Places of the packets of the open bucket and earlier ones, sorted, and how many of them have
    /// been taken.
    order: Vec<u32>,
    taken: usize,
    open_list: List,
    /// Later buckets, unsorted; none until a packet comes.
    buckets: Vec<Bucket>,
    /// Which of them have packets.
    occupied: Occupied,
    packets: Chunks<RoutedPacket, CHUNK>,
    /// Packets in later buckets.
    later: usize,
    /// Packets beyond the last bucket, by time (as bits) and number.
    beyond: BTreeMap<(u64, u64), RoutedPacket>,
    beyond_count: u64,
    /// The last packet that did not go into a later bucket.
    other: RoutedPacket,
    /// Packets of a bucket before they are sorted: the part of each, and its place in the lower half.
    unsorted: Vec<u64>,
    /// Whether it exceeds the memory limit.
    pub overflows: bool,
}

impl ArrivalQueue {
    /// No packets; about `packets_s` packets per second will come.
    pub fn new(packets_s: f64) -> Self {
        Self {
            parts_per_s: PARTS as f64
                * (packets_s / PACKETS_PER_BUCKET).clamp(FEWEST_PER_S, BUCKETS as f64 / COVERED_S),
            open: 0,
            order: Vec::new(),
            taken: 0,
            open_list: List::EMPTY,
            buckets: Vec::new(),
            occupied: Occupied::default(),
            packets: Chunks::default(),
            later: 0,
            beyond: BTreeMap::new(),
            beyond_count: 0,
            other: RoutedPacket::default(),
            unsorted: Vec::new(),
            overflows: false,
        }
    }

    /// Number of packets.
    pub fn len(&self) -> usize {
        self.order.len() - self.taken + self.later + self.beyond.len()
    }

    /// Time of the first packet, seconds; [`NEVER`] if there is none.
    #[inline]
    pub fn first_s(&self) -> f64 {
        match self.order.get(self.taken) {
            Some(&place) => self.packets.items[place as usize].packet.at_s,
            None => self.later_first_s(),
        }
    }

    /// Number of the part of a bucket, counted from time 0.
    #[inline(always)]
    fn part(&self, at_s: f64) -> u64 {
        // Positive, and far below the largest of either type.
        (at_s * self.parts_per_s) as i64 as u64
    }

    fn bucket(&self, at_s: f64) -> u64 {
        self.part(at_s) / PARTS as u64
    }

    /// Adds a packet, no earlier than the last one taken.
    ///
    /// Calls take no packet: what a call takes lies in memory, and every packet would be written
    /// there first.
    #[inline(always)]
    pub fn push(&mut self, mut packet: RoutedPacket) {
        let at_s = packet.packet.at_s;
        let part = self.part(at_s);
        let bucket = part / PARTS as u64;
        packet.part = part as u32 % PARTS as u32;
        if bucket.wrapping_sub(self.open).wrapping_sub(1) < BUCKETS as u64 - 1
            && let Some(bucket) = self.buckets.get_mut(bucket as usize & (BUCKETS - 1))
            && self.packets.push_within(&mut bucket.list, packet)
        {
            if at_s < bucket.first_s {
                bucket.first_s = at_s;
            }
            self.later += 1;
            return;
        }
        self.other = packet;
        self.push_elsewhere();
    }

    /// Adds a packet to the open bucket, beyond the last one, or to one without memory for it.
    #[inline(never)]
    fn push_elsewhere(&mut self) {
        let packet = self.other;
        let at_s = packet.packet.at_s;
        if self.buckets.is_empty() {
            self.buckets.resize(BUCKETS, Bucket::EMPTY);
        }
        let ahead = self.bucket(at_s).saturating_sub(self.open);
        if ahead >= BUCKETS as u64 {
            self.beyond_count += 1;
            self.beyond.insert((at_s.to_bits(), self.beyond_count), packet);
        } else if ahead > 0 {
            self.put(packet);
        } else {
            self.put_into_open(packet);
        }
        self.overflows |= self.len() > MOST_PACKETS;
    }

    /// Puts a packet into a later bucket.
    fn put(&mut self, packet: RoutedPacket) {
        let at_s = packet.packet.at_s;
        let index = self.bucket(at_s) as usize & (BUCKETS - 1);
        let Bucket { list, first_s } = &mut self.buckets[index];
        self.packets.push(list, packet);
        *first_s = first_s.min(at_s);
        self.occupied.set(index);
        self.later += 1;
    }

    /// Puts a packet into the open bucket.
    fn put_into_open(&mut self, packet: RoutedPacket) {
        if self.taken == self.order.len() {
            self.close();
        }
        let place = self.packets.push(&mut self.open_list, packet);
        let last = self.order.last().map(|&last| self.packets.items[last as usize].packet.at_s);
        if last.is_none_or(|last_s| last_s < packet.packet.at_s) {
            return self.order.push(place as u32);
        }
        let key = packet.key();
        let after = |&place: &u32| self.packets.items[place as usize].key() <= key;
        // Nearly always it is one of the last.
        let likely = self.order.len().saturating_sub(LIKELY_LAST).max(self.taken);
        let from = match self.order.get(likely) {
            Some(place) if !after(place) => self.taken,
            _ => likely,
        };
        let index = from + self.order[from..].partition_point(after);
        self.order.insert(index, place as u32);
    }

    /// Everything in the open bucket is taken: its memory is free.
    fn close(&mut self) {
        self.packets.release(std::mem::replace(&mut self.open_list, List::EMPTY));
        self.order.clear();
        self.taken = 0;
    }

    /// Number of the next bucket with packets; none if there is none in reach.
    fn next_bucket(&self) -> Option<u64> {
        let ahead = self.occupied.ahead(self.open as usize + 1)?;
        Some(self.open + 1 + ahead as u64)
    }

    /// Time of the first packet behind the open bucket, seconds.
    fn later_first_s(&self) -> f64 {
        match self.next_bucket() {
            Some(bucket) => self.buckets[bucket as usize & (BUCKETS - 1)].first_s,
            None => self.beyond.first_key_value().map_or(NEVER, |(key, _)| f64::from_bits(key.0)),
        }
    }

    /// The first packet, if it arrives before `until_s`.
    #[inline(always)]
    pub fn peek_before(&mut self, until_s: f64) -> Option<&RoutedPacket> {
        if self.taken >= self.order.len() && !self.open_before(until_s) {
            return None;
        }
        let place = *self.order.get(self.taken)?;
        self.packets.items.get(place as usize).filter(|first| first.packet.at_s < until_s)
    }

    /// Takes the packet that [`ArrivalQueue::peek_before`] found.
    #[inline(always)]
    pub fn take(&mut self) {
        self.taken += 1;
    }

    /// The packet that is due after this number of others, if it is known: a hint to prefetch.
    #[inline(always)]
    pub fn peek_ahead(&self, packets: usize) -> Option<&RoutedPacket> {
        let place = *self.order.get(self.taken + packets)?;
        self.packets.items.get(place as usize)
    }

    /// All packets, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &RoutedPacket> {
        let open = self.order[self.taken..].iter().map(|&place| place as usize);
        let later = self.buckets.iter().flat_map(|bucket| self.packets.places(bucket.list));
        let places = open.chain(later.flatten());
        places.map(|place| &self.packets.items[place]).chain(self.beyond.values())
    }

    /// Opens the next bucket with packets if one of them arrives before `until_s`; returns whether
    /// it does.
    #[inline(never)]
    fn open_before(&mut self, until_s: f64) -> bool {
        let first_s = self.later_first_s();
        if first_s >= until_s {
            return false;
        }
        self.open = self.bucket(first_s);
        while let Some((key, _)) = self.beyond.first_key_value()
            && self.bucket(f64::from_bits(key.0)) - self.open < BUCKETS as u64
            && let Some((_, packet)) = self.beyond.pop_first()
        {
            self.put(packet);
        }
        let index = self.open as usize & (BUCKETS - 1);
        self.occupied.clear(index);
        self.close();
        self.open_list = std::mem::replace(&mut self.buckets[index], Bucket::EMPTY).list;
        self.sort();
        self.later -= self.order.len();
        true
    }

    /// Sorts the open bucket: by counting its packets in parts, nearly all of which have one or two,
    /// and then by insertion.
    fn sort(&mut self) {
        let mut ends = [0u32; PARTS];
        let Self { packets, order, unsorted, .. } = self;
        unsorted.clear();
        for places in packets.places(self.open_list) {
            let from = places.start as u64;
            let packets = packets.items[places].iter();
            unsorted.extend((from..).zip(packets).map(|(place, routed)| {
                ends[routed.part as usize % PARTS] += 1;
                u64::from(routed.part) << 32 | place
            }));
        }
        order.resize(unsorted.len(), 0);
        if unsorted.len() < FEWEST_COUNTED {
            order.iter_mut().zip(unsorted.iter()).for_each(|(place, new)| *place = *new as u32);
        } else {
            let mut begin = 0;
            for end in &mut ends {
                begin += std::mem::replace(end, begin);
            }
            for &new in unsorted.iter() {
                let end = &mut ends[(new >> 32) as usize % PARTS];
                order[*end as usize] = new as u32;
                *end += 1;
            }
        }
        let mut last_s = f64::NEG_INFINITY;
        for index in 0..order.len() {
            let at_s = packets.items[order[index] as usize].packet.at_s;
            if at_s > last_s {
                last_s = at_s;
            } else {
                insert(&packets.items, order, index);
            }
        }
    }
}

/// Moves an entry to its place among those before it, which are sorted.
#[inline(never)]
fn insert(packets: &[RoutedPacket], order: &mut [u32], index: usize) {
    let new = order[index];
    let key = packets[new as usize].key();
    let mut i = index;
    while i > 0 && key < packets[order[i - 1] as usize].key() {
        order[i] = order[i - 1];
        i -= 1;
    }
    order[i] = new;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{FlowId, HopId};
    use crate::packet::Packet;
    use proptest::prelude::*;

    fn packet(at_s: f64, tx_start_s: f64, flow: u32, number: i64) -> RoutedPacket {
        let packet = Packet { at_s, tx_start_s, number, ..Packet::default() };
        RoutedPacket::new(packet, FlowId::new(flow), HopId::default(), 0)
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        /// Packets at whole seconds: many ties, and many beyond the last bucket.
        #[test]
        fn packets_come_out_in_order(
            packets_s in prop::sample::select(vec![1.0, 4e3, 1e9]),
            steps in prop::collection::vec((0u64..60, 0u64..3, 0u32..3, 0u8..4), 0..600),
        ) {
            let (mut queue, mut sorted) = (ArrivalQueue::new(packets_s), Vec::<RoutedPacket>::new());
            let mut now_s = 0.0f64;
            for (number, (ahead, since, flow, kind)) in steps.into_iter().enumerate() {
                if kind == 0 {
                    let until_s = now_s + ahead as f64 / 10.0;
                    while let Some(&first) = queue.peek_before(until_s) {
                        queue.take();
                        prop_assert_eq!(first.packet.number, sorted.remove(0).packet.number);
                        now_s = first.packet.at_s;
                    }
                    prop_assert!(sorted.first().is_none_or(|first| first.packet.at_s >= until_s));
                    now_s = now_s.max(until_s);
                } else {
                    let at_s = (now_s + ahead as f64).floor().max(now_s);
                    let new = packet(at_s, since as f64, flow, number as i64);
                    queue.push(new);
                    sorted.insert(sorted.partition_point(|old| old.key() <= new.key()), new);
                }
                let first_s = sorted.first().map_or(NEVER, |first| first.packet.at_s);
                prop_assert_eq!(queue.first_s(), first_s);
                prop_assert_eq!(queue.len(), sorted.len());
                prop_assert_eq!(queue.iter().count(), sorted.len());
            }
        }
    }

    #[test]
    fn places_are_reused() {
        let mut queue = ArrivalQueue::new(1000.0);
        for round in 0..1000 {
            for number in 0..100 {
                queue.push(packet(f64::from(round), 0.0, 0, number));
            }
            while queue.peek_before(NEVER).is_some() {
                queue.take();
            }
        }
        let places = queue.packets.items.len();
        assert!(places <= 256, "{places}");
    }
}
