//! Packets that wait to enter a station, in order: a calendar queue (Brown 1988).
//!
//! A packet is written once, behind others of its bucket, and read once. A bucket is sorted when
//! the station comes to it, so that all its packets are known in order and state of the next ones
//! can be prefetched.

use crate::packet::RoutedPacket;
use std::collections::BTreeMap;

/// Packets of one bucket to aim at: enough to amortise the cost of a bucket, and few enough that a
/// packet which enters the open bucket finds its place at once.
const PACKETS_PER_BUCKET: f64 = 64.0;

/// Bounds of the number of buckets per second.
const BUCKETS_PER_S: (f64, f64) = (16.0, 1e6);

/// Number of buckets, a power of two.
const BUCKETS: usize = 2048;

/// Packets per chunk of memory.
const CHUNK: usize = 8;

/// Packets in one queue beyond which a run stops: about 3 GiB.
const MOST_PACKETS: usize = 50_000_000;

/// Buckets up to this number of packets are sorted by insertion alone.
const FEW: usize = 8;

/// No chunk.
const NONE: u32 = u32::MAX;

/// Time of no packet.
pub const NEVER: f64 = f64::INFINITY;

/// A list of chunks, and the packets in its last one.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    first: u32,
    last: u32,
    count: u32,
}

impl Bucket {
    /// No chunk, counted as full: the first packet takes one.
    const EMPTY: Self = Self { first: NONE, last: NONE, count: CHUNK as u32 };
}

/// Packets in order of (time, start of last transmission, lead of its cause, flow, hop); those with
/// equal keys stay in the order in which they came.
#[derive(Debug)]
pub struct ArrivalQueue {
    buckets_per_s: f64,
    /// Number of the open bucket, counted from time 0: its packets and earlier ones are in `order`.
    open: u64,
    /// Times (as bits) and places of the packets of the open bucket, sorted.
    order: Vec<(u64, u32)>,
    /// How many of them have been taken.
    taken: usize,
    open_bucket: Bucket,
    buckets: Vec<Bucket>,
    /// Earliest time in each bucket, seconds.
    bucket_first_s: Vec<f64>,
    /// One bit for each bucket: whether it has packets.
    occupied: Vec<u64>,
    /// Packets in chunks, and the next chunk of the same bucket, for each chunk.
    packets: Vec<RoutedPacket>,
    next: Vec<u32>,
    free: u32,
    /// Packets in later buckets.
    later: usize,
    /// Packets beyond the last bucket, by time (as bits) and number.
    overflow: BTreeMap<(u64, u64), RoutedPacket>,
    overflow_inserts: u64,
    /// Workspace of the bucket sort.
    part_ends: Vec<u32>,
    /// Time of the first packet, seconds; stale while packets are taken.
    first_s: f64,
    /// Whether it exceeds the memory limit.
    pub overflows: bool,
}

impl ArrivalQueue {
    /// No packets; about `packets_s` packets per second will come.
    pub fn new(packets_s: f64) -> Self {
        Self {
            buckets_per_s: (packets_s / PACKETS_PER_BUCKET)
                .clamp(BUCKETS_PER_S.0, BUCKETS_PER_S.1),
            open: 0,
            order: Vec::new(),
            taken: 0,
            open_bucket: Bucket::EMPTY,
            buckets: Vec::new(),
            bucket_first_s: Vec::new(),
            occupied: Vec::new(),
            packets: Vec::new(),
            next: Vec::new(),
            free: NONE,
            later: 0,
            overflow: BTreeMap::new(),
            overflow_inserts: 0,
            part_ends: Vec::new(),
            first_s: NEVER,
            overflows: false,
        }
    }

    /// Number of packets.
    pub fn len(&self) -> usize {
        self.order.len() - self.taken + self.later + self.overflow.len()
    }

    /// Time of the first packet, seconds; [`NEVER`] if there is none. Not while packets are taken.
    #[inline(always)]
    pub fn first_s(&self) -> f64 {
        self.first_s
    }

    #[inline(always)]
    fn bucket(&self, at_s: f64) -> u64 {
        (at_s * self.buckets_per_s) as u64
    }

    /// Adds a packet, no earlier than the last one taken.
    #[inline(always)]
    pub fn push(&mut self, packet: &RoutedPacket) {
        let at_s = packet.packet.at_s;
        if at_s < self.first_s {
            self.first_s = at_s;
        }
        let ahead = self.bucket(at_s).wrapping_sub(self.open);
        let index = (ahead.wrapping_add(self.open) as usize) & (BUCKETS - 1);
        if ahead.wrapping_sub(1) >= BUCKETS as u64 - 1 || self.buckets.is_empty() {
            return self.push_elsewhere(packet);
        }
        if self.buckets[index].count as usize == CHUNK {
            self.extend_bucket(index);
        }
        let bucket = &mut self.buckets[index];
        self.packets[bucket.last as usize * CHUNK + bucket.count as usize] = *packet;
        bucket.count += 1;
        self.later += 1;
        let first_s = &mut self.bucket_first_s[index];
        if at_s < *first_s {
            *first_s = at_s;
        }
    }

    /// Adds a packet to the open bucket, or beyond the last one.
    #[inline(never)]
    fn push_elsewhere(&mut self, packet: &RoutedPacket) {
        if self.buckets.is_empty() {
            self.buckets = vec![Bucket::EMPTY; BUCKETS];
            self.bucket_first_s = vec![NEVER; BUCKETS];
            self.occupied = vec![0; BUCKETS / 64];
            return self.push(packet);
        }
        let at_s = packet.packet.at_s;
        if self.bucket(at_s) > self.open {
            self.overflow_inserts += 1;
            self.overflow.insert((at_s.to_bits(), self.overflow_inserts), *packet);
            return;
        }
        if self.open_bucket.count as usize == CHUNK {
            self.open_bucket = self.extended(self.open_bucket);
        }
        let place = self.open_bucket.last * CHUNK as u32 + self.open_bucket.count;
        self.open_bucket.count += 1;
        self.packets[place as usize] = *packet;
        let key = packet.key();
        let after = |&(at, place): &(u64, u32)| {
            at < at_s.to_bits()
                || at == at_s.to_bits() && self.packets[place as usize].key() <= key
        };
        let index = self.taken + self.order[self.taken..].partition_point(after);
        self.order.insert(index, (at_s.to_bits(), place));
    }

    /// The bucket with another chunk.
    fn extended(&mut self, bucket: Bucket) -> Bucket {
        let chunk = if self.free == NONE { self.next.len() as u32 } else { self.free };
        match self.next.get_mut(chunk as usize) {
            Some(next) => self.free = std::mem::replace(next, NONE),
            None => {
                self.packets.resize(self.packets.len() + CHUNK, RoutedPacket::default());
                self.next.push(NONE);
                self.overflows |= self.packets.len() > MOST_PACKETS;
            }
        }
        if bucket.last != NONE {
            self.next[bucket.last as usize] = chunk;
        }
        let first = if bucket.first == NONE { chunk } else { bucket.first };
        Bucket { first, last: chunk, count: 0 }
    }

    #[inline(never)]
    fn extend_bucket(&mut self, index: usize) {
        self.occupied[index / 64] |= 1 << (index % 64);
        self.buckets[index] = self.extended(self.buckets[index]);
    }

    /// Number of the next bucket with packets; none if there is none in reach.
    fn next_bucket(&self) -> Option<u64> {
        if self.later == 0 {
            return None;
        }
        let (words, from) = (self.occupied.len(), (self.open as usize + 1) & (BUCKETS - 1));
        let mut word = self.occupied[from / 64] & (!0 << (from % 64));
        for step in 0..=words {
            let index = (from / 64 + step) % words;
            if word != 0 {
                let bucket = index * 64 + word.trailing_zeros() as usize;
                let ahead = bucket.wrapping_sub(from) & (BUCKETS - 1);
                return Some(self.open + 1 + ahead as u64);
            }
            word = self.occupied[(index + 1) % words];
        }
        None
    }

    /// Time of the first packet behind the open bucket, seconds.
    fn later_first_s(&self) -> f64 {
        match self.next_bucket() {
            Some(bucket) => self.bucket_first_s[bucket as usize & (BUCKETS - 1)],
            None => self.overflow.first_key_value().map_or(NEVER, |(key, _)| f64::from_bits(key.0)),
        }
    }

    /// The first packet, if it arrives before `until_s`.
    #[inline(always)]
    pub fn peek_before(&mut self, until_s: f64) -> Option<&RoutedPacket> {
        if self.taken == self.order.len() && !self.open_next(until_s) {
            return None;
        }
        let (at, place) = self.order[self.taken];
        if f64::from_bits(at) >= until_s {
            self.first_s = f64::from_bits(at);
            return None;
        }
        Some(&self.packets[place as usize])
    }

    /// Takes the packet that [`ArrivalQueue::peek_before`] found.
    #[inline(always)]
    pub fn take(&mut self) {
        self.taken += 1;
    }

    /// Brings [`ArrivalQueue::first_s`] up to date after packets were taken.
    #[inline(always)]
    pub fn settle(&mut self) {
        self.first_s = match self.order.get(self.taken) {
            Some(next) => f64::from_bits(next.0),
            None => self.later_first_s(),
        };
    }

    /// The packet that is due after this number of others, if it is known: a hint to prefetch.
    #[inline(always)]
    pub fn peek_ahead(&self, packets: usize) -> Option<&RoutedPacket> {
        let &(_, place) = self.order.get(self.taken + packets)?;
        self.packets.get(place as usize)
    }

    /// All packets, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &RoutedPacket> {
        let open = self.order[self.taken..].iter().map(|&(_, place)| &self.packets[place as usize]);
        let later = self.buckets.iter().flat_map(|bucket| self.places(*bucket));
        open.chain(later.map(|place| &self.packets[place as usize])).chain(self.overflow.values())
    }

    /// Places of the packets of a bucket.
    fn places(&self, bucket: Bucket) -> impl Iterator<Item = u32> {
        let mut chunk = bucket.first;
        std::iter::from_fn(move || {
            let this = chunk;
            if this == NONE {
                return None;
            }
            let count = if this == bucket.last { bucket.count } else { CHUNK as u32 };
            chunk = if this == bucket.last { NONE } else { self.next[this as usize] };
            Some((this * CHUNK as u32)..(this * CHUNK as u32 + count))
        })
        .flatten()
    }

    /// Opens the next bucket with packets if one of them arrives before `until_s`; returns whether
    /// it does.
    #[inline(never)]
    fn open_next(&mut self, until_s: f64) -> bool {
        self.first_s = self.later_first_s();
        if self.first_s >= until_s {
            return false;
        }
        if self.open_bucket.first != NONE {
            // The chunks of the last open bucket are free.
            self.next[self.open_bucket.last as usize] = self.free;
            self.free = self.open_bucket.first;
        }
        self.open = self.bucket(self.first_s);
        self.migrate_overflow();
        let index = self.open as usize & (BUCKETS - 1);
        self.occupied[index / 64] &= !(1 << (index % 64));
        self.bucket_first_s[index] = NEVER;
        self.open_bucket = std::mem::replace(&mut self.buckets[index], Bucket::EMPTY);
        self.sort();
        self.later -= self.order.len();
        true
    }

    /// Moves packets from the overflow to buckets that now cover them, the open one included.
    fn migrate_overflow(&mut self) {
        while let Some(first) = self.overflow.first_entry()
            && (first.get().packet.at_s * self.buckets_per_s) as u64 - self.open < BUCKETS as u64
        {
            let packet = first.remove();
            let index = self.bucket(packet.packet.at_s) as usize & (BUCKETS - 1);
            if self.buckets[index].count as usize == CHUNK {
                self.extend_bucket(index);
            }
            let bucket = &mut self.buckets[index];
            self.packets[bucket.last as usize * CHUNK + bucket.count as usize] = packet;
            bucket.count += 1;
            self.later += 1;
            let first_s = &mut self.bucket_first_s[index];
            *first_s = first_s.min(packet.packet.at_s);
        }
    }

    /// Sorts the open bucket: by a bucket sort with as many parts as packets, nearly all of which
    /// have one or two, and then by insertion.
    fn sort(&mut self) {
        let Bucket { first, last, count } = self.open_bucket;
        self.order.clear();
        self.taken = 0;
        let mut chunk = first;
        while chunk != NONE {
            let count = if chunk == last { count } else { CHUNK as u32 };
            let begin = chunk * CHUNK as u32;
            for place in begin..begin + count {
                let at_s = self.packets[place as usize].packet.at_s;
                self.order.push((at_s.to_bits(), place));
            }
            chunk = if chunk == last { NONE } else { self.next[chunk as usize] };
        }
        if self.order.len() > FEW {
            self.sort_by_parts();
        }
        let order = &mut self.order;
        for i in 1..order.len() {
            let new = order[i];
            let mut j = i;
            while j > 0
                && (new.0 < order[j - 1].0
                    || new.0 == order[j - 1].0
                        && self.packets[new.1 as usize].key()
                            < self.packets[order[j - 1].1 as usize].key())
            {
                order[j] = order[j - 1];
                j -= 1;
            }
            order[j] = new;
        }
    }

    fn sort_by_parts(&mut self) {
        let parts = self.order.len();
        let (begin, scale) = (self.open as f64, parts as f64);
        let per_s = self.buckets_per_s;
        let part = |at: u64| {
            (((f64::from_bits(at) * per_s - begin) * scale) as u32).min(parts as u32 - 1) as usize
        };
        // Counts the packets of each part, then turns counts into start positions.
        self.part_ends.clear();
        self.part_ends.resize(parts, 0);
        self.order.iter().for_each(|&(at, _)| self.part_ends[part(at)] += 1);
        let mut begin = 0;
        for count in &mut self.part_ends {
            begin += std::mem::replace(count, begin);
        }
        // The second half of `order` is the workspace.
        self.order.extend_from_within(..);
        for i in 0..parts {
            let entry = self.order[parts + i];
            let begin = &mut self.part_ends[part(entry.0)];
            self.order[*begin as usize] = entry;
            *begin += 1;
        }
        self.order.truncate(parts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Packet;
    use proptest::prelude::*;

    fn packet(at_s: f64, tx_start_s: f64, flow: u32, number: i64) -> RoutedPacket {
        let packet = Packet { at_s, tx_start_s, number, ..Packet::default() };
        RoutedPacket { packet, flow, ..RoutedPacket::default() }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        /// Packets at whole seconds in buckets of 4, 1/4 and 1/1000 second: many ties, and many
        /// beyond the last bucket.
        #[test]
        fn packets_come_out_in_order(
            packets_s in prop::sample::select(vec![1.0, 256.0, 64e3]),
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
                    queue.settle();
                    prop_assert!(sorted.first().is_none_or(|first| first.packet.at_s >= until_s));
                    now_s = now_s.max(until_s);
                } else {
                    let at_s = (now_s + ahead as f64).floor().max(now_s);
                    let new = packet(at_s, since as f64, flow, number as i64);
                    queue.push(&new);
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
    fn chunks_are_reused() {
        let mut queue = ArrivalQueue::new(1000.0);
        for round in 0..1000 {
            for number in 0..100 {
                queue.push(&packet(f64::from(round), 0.0, 0, number));
            }
            while queue.peek_before(NEVER).is_some() {
                queue.take();
            }
            queue.settle();
        }
        assert!(queue.packets.len() <= 300, "{}", queue.packets.len());
    }
}
