//! Calendar buckets: events grouped by time, unsorted within a bucket; the storage of
//! timers.
//!
//! Events of a bucket lie in chunks of one store, so that they are written and read sequentially,
//! and chunks of a finished bucket are reused.

use std::collections::BTreeMap;

/// Events per chunk.
const CHUNK: usize = 16;

/// No chunk.
const NONE: u32 = u32::MAX;

/// An event with a time.
pub trait Timed: Copy + Default {
    /// Time, seconds.
    fn at_s(&self) -> f64;
}

/// Chunks of one bucket.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    first: u32,
    last: u32,
    /// Events in the last chunk.
    count: u32,
}

impl Bucket {
    /// No chunk, counted as full: the first event allocates one.
    const EMPTY: Self = Self { first: NONE, last: NONE, count: CHUNK as u32 };
}

/// Events of future buckets; those of the current bucket or earlier are elsewhere.
#[derive(Debug)]
pub struct CalendarBuckets<T> {
    buckets_per_s: f64,
    /// Number of the current bucket, counted from time 0.
    current: u64,
    /// A power of two of buckets.
    buckets: Vec<Bucket>,
    events: Vec<T>,
    /// The next chunk of the same bucket, for each chunk.
    next: Vec<u32>,
    /// First free chunk.
    free: u32,
    /// Number of events in buckets.
    count: usize,
    /// Events beyond the last bucket, by time as bits and insertion number: events of equal times
    /// stay in order.
    overflow: BTreeMap<(u64, u64), T>,
    /// Insertions into the overflow so far.
    overflow_inserts: u64,
}

impl<T: Timed> CalendarBuckets<T> {
    /// No events; at least this number of buckets.
    pub fn new(buckets_per_s: f64, buckets: usize) -> Self {
        Self {
            buckets_per_s,
            current: 0,
            buckets: vec![Bucket::EMPTY; buckets.next_power_of_two()],
            events: Vec::new(),
            next: Vec::new(),
            free: NONE,
            count: 0,
            overflow: BTreeMap::new(),
            overflow_inserts: 0,
        }
    }

    #[inline(always)]
    fn bucket(&self, at_s: f64) -> u64 {
        (at_s * self.buckets_per_s) as u64
    }

    #[inline(always)]
    fn index(&self, bucket: u64) -> usize {
        bucket as usize & (self.buckets.len() - 1)
    }

    /// Adds an event if it belongs to a future bucket; returns whether it does.
    #[inline(always)]
    pub fn insert(&mut self, event: T) -> bool {
        let bucket = self.bucket(event.at_s());
        if bucket.wrapping_sub(self.current).wrapping_sub(1) >= self.buckets.len() as u64 - 1 {
            return self.insert_overflow(bucket, event);
        }
        let index = self.index(bucket);
        if self.buckets[index].count as usize == CHUNK {
            self.add_chunk(index);
        }
        let bucket = &mut self.buckets[index];
        self.events[bucket.last as usize * CHUNK + bucket.count as usize] = event;
        bucket.count += 1;
        self.count += 1;
        true
    }

    #[inline(never)]
    fn insert_overflow(&mut self, bucket: u64, event: T) -> bool {
        if bucket <= self.current {
            return false;
        }
        self.overflow_inserts += 1;
        self.overflow.insert((event.at_s().to_bits(), self.overflow_inserts), event);
        true
    }

    /// Adds a chunk to a bucket.
    #[inline(never)]
    fn add_chunk(&mut self, index: usize) {
        let chunk = if self.free == NONE { self.next.len() as u32 } else { self.free };
        match self.next.get_mut(chunk as usize) {
            Some(next) => self.free = std::mem::replace(next, NONE),
            None => {
                self.events.resize(self.events.len() + CHUNK, T::default());
                self.next.push(NONE);
            }
        }
        let bucket = &mut self.buckets[index];
        if bucket.first == NONE {
            bucket.first = chunk;
        } else {
            self.next[bucket.last as usize] = chunk;
        }
        (bucket.last, bucket.count) = (chunk, 0);
    }

    /// Goes on to the next bucket that has events and takes all of them, in order of insertion;
    /// returns whether there is one.
    pub fn advance(&mut self, into: &mut impl Extend<T>) -> bool {
        loop {
            if self.count > 0 {
                self.current += 1;
            } else if let Some((&(at, _), _)) = self.overflow.first_key_value() {
                // One bucket earlier, so that this one is a future bucket.
                self.current = self.bucket(f64::from_bits(at)) - 1;
            } else {
                return false;
            }
            self.migrate_overflow();
            if self.take(self.current, into) {
                return true;
            }
        }
    }

    /// Moves events from the overflow to buckets that now cover them.
    fn migrate_overflow(&mut self) {
        while let Some(first) = self.overflow.first_entry()
            && (first.get().at_s() * self.buckets_per_s) as u64 - self.current
                < self.buckets.len() as u64
        {
            let event = first.remove();
            self.insert(event);
        }
    }

    /// Takes all events of a bucket; returns whether there are any.
    fn take(&mut self, bucket: u64, into: &mut impl Extend<T>) -> bool {
        let index = self.index(bucket);
        let Bucket { first, last, count } =
            std::mem::replace(&mut self.buckets[index], Bucket::EMPTY);
        let mut chunk = first;
        while chunk != NONE {
            let begin = chunk as usize * CHUNK;
            let events = if chunk == last { count as usize } else { CHUNK };
            into.extend(self.events[begin..begin + events].iter().copied());
            self.count -= events;
            let next = std::mem::replace(&mut self.next[chunk as usize], self.free);
            (self.free, chunk) = (chunk, next);
        }
        first != NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct TestEvent(u64, usize);

    impl Timed for TestEvent {
        fn at_s(&self) -> f64 {
            self.0 as f64
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        /// Compares with a map from bucket numbers to events; eight buckets.
        #[test]
        fn buckets_return_their_events_in_order(
            steps in prop::collection::vec((0u64..30, 0u8..40), 0..400),
        ) {
            let (mut buckets, mut lists, mut current) =
                (CalendarBuckets::new(1.0, 5), BTreeMap::<u64, Vec<TestEvent>>::new(), 0);
            for (number, (ahead, kind)) in steps.into_iter().enumerate() {
                match kind {
                    0..8 => {
                        let mut taken = Vec::new();
                        prop_assert_eq!(buckets.advance(&mut taken), !lists.is_empty());
                        if let Some((bucket, list)) = lists.pop_first() {
                            prop_assert_eq!(taken, list);
                            current = bucket;
                        }
                    }
                    _ => {
                        let event = TestEvent(current + ahead, number);
                        prop_assert_eq!(buckets.insert(event), ahead > 0);
                        if ahead > 0 {
                            lists.entry(event.0).or_default().push(event);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn chunks_are_reused() {
        let mut buckets = CalendarBuckets::new(1.0, 1000);
        for bucket in 1..1000 {
            (0..100).for_each(|number| assert!(buckets.insert(TestEvent(bucket, number))));
            assert!(buckets.advance(&mut Vec::new()));
        }
        assert_eq!(buckets.events.len(), 100usize.next_multiple_of(CHUNK));
    }
}
