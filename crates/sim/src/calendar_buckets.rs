//! What is to come, by day: put behind others of its day, in no order, and taken with them when that day is the next.
//!
//! What a day holds lies in chunks of one store, so that it is written and read in long runs, and what one day gives back serves another.

use std::collections::BTreeMap;

/// So many lie together.
const CHUNK: usize = 16;

/// No chunk.
const NONE: u32 = u32::MAX;

/// Something due at a time.
pub trait Timed: Copy {
    /// When, seconds.
    fn at_s(&self) -> f64;
}

/// Where the things of a day are.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    first: u32,
    last: u32,
    /// Things in the last chunk.
    count: u32,
}

impl Bucket {
    /// As full as can be: the first thing needs a chunk.
    const EMPTY: Self = Self { first: NONE, last: NONE, count: CHUNK as u32 };
}

/// The things of days to come; what is due today, or was before, is elsewhere.
#[derive(Debug)]
pub struct CalendarBuckets<T> {
    buckets_per_s: f64,
    /// So many days have passed since the beginning.
    current: u64,
    /// A power of two of days are kept apart.
    buckets: Vec<Bucket>,
    events: Vec<T>,
    /// For each chunk of them the next of the same day.
    next: Vec<u32>,
    /// First of the chunks that no day has.
    free: u32,
    /// How many things there are.
    count: usize,
    /// What is due after all days that are kept apart, by time as bits and number: what is due at the same time stays in order.
    after_transmission: BTreeMap<(u64, u64), T>,
    /// How many ever went there.
    overflow_inserts: u64,
}

impl<T: Timed> CalendarBuckets<T> {
    /// Nothing is to come; so many days at least are kept apart.
    pub fn new(buckets_per_s: f64, buckets: usize) -> Self {
        Self {
            buckets_per_s,
            current: 0,
            buckets: vec![Bucket::EMPTY; buckets.next_power_of_two()],
            events: Vec::new(),
            next: Vec::new(),
            free: NONE,
            count: 0,
            after_transmission: BTreeMap::new(),
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

    /// Which part of today a time lies in, from 0 to 1.
    #[inline(always)]
    pub fn part(&self, at_s: f64) -> f64 {
        at_s * self.buckets_per_s - self.current as f64
    }

    /// Whether a time lies before today.
    pub fn is_past(&self, at_s: f64) -> bool {
        self.bucket(at_s) < self.current
    }

    /// Adds something, if it is due on a day to come; returns whether it is.
    #[inline(always)]
    pub fn insert(&mut self, event: T) -> bool {
        let bucket = self.bucket(event.at_s());
        if bucket.wrapping_sub(self.current).wrapping_sub(1) >= self.buckets.len() as u64 - 1 {
            return self.insert_overflow(bucket, event);
        }
        let index = self.index(bucket);
        if self.buckets[index].count as usize == CHUNK {
            self.add_chunk(index, event);
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
        self.after_transmission.insert((event.at_s().to_bits(), self.overflow_inserts), event);
        true
    }

    /// One more chunk for a day; what is in it until it is written does not matter.
    #[inline(never)]
    fn add_chunk(&mut self, index: usize, event: T) {
        let chunk = if self.free == NONE { self.next.len() as u32 } else { self.free };
        match self.next.get_mut(chunk as usize) {
            Some(next) => self.free = std::mem::replace(next, NONE),
            None => {
                self.events.resize(self.events.len() + CHUNK, event);
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

    /// Today is over: takes all of the next day that has anything, in the order in which it was put there; returns whether there is one.
    pub fn advance(&mut self, into: &mut impl Extend<T>) -> bool {
        loop {
            if self.count > 0 {
                self.current += 1;
            } else if let Some((&(at, _), _)) = self.after_transmission.first_key_value() {
                // A day earlier, so that it is one to come.
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

    /// Puts to their days what is not too far ahead any more.
    fn migrate_overflow(&mut self) {
        while let Some(first) = self.after_transmission.first_entry()
            && (first.get().at_s() * self.buckets_per_s) as u64 - self.current
                < self.buckets.len() as u64
        {
            let event = first.remove();
            self.insert(event);
        }
    }

    /// Takes all of a day; returns whether there was anything.
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

    /// Something is due before today: its day is today, and what was left of today is to come again.
    #[cold]
    pub fn rewind(&mut self, at_s: f64, left: impl Iterator<Item = T>) {
        let mut moved: Vec<T> = left.collect();
        let bucket = self.bucket(at_s);
        let (from, buckets) =
            (std::mem::replace(&mut self.current, bucket), self.buckets.len() as u64);
        // Days that are too far ahead now share their places with some that are not.
        for far in (from + 1).max(bucket + buckets)..from + buckets {
            self.take(far, &mut moved);
        }
        for event in moved {
            self.insert(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct TestEvent(u64, usize);

    impl Timed for TestEvent {
        fn at_s(&self) -> f64 {
            self.0 as f64
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Beside a map from days, of which there are eight apart, to what they hold.
        #[test]
        fn days_give_in_their_order_what_they_were_given(steps in prop::collection::vec((0u64..30, 0u8..40), 0..400)) {
            let (mut buckets, mut lists, mut current) = (CalendarBuckets::new(1.0, 5), BTreeMap::<u64, Vec<TestEvent>>::new(), 0);
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
                    8 if ahead < current => {
                        // Three things are left of today.
                        let left: Vec<TestEvent> = (0..3).map(|place| TestEvent(current, 1000 * number + place)).collect();
                        buckets.rewind(ahead as f64, left.iter().copied());
                        lists.insert(current, left);
                        current = ahead;
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
    fn what_a_day_gives_back_serves_others() {
        let mut buckets = CalendarBuckets::new(1.0, 1000);
        for bucket in 1..1000 {
            (0..100).for_each(|number| assert!(buckets.insert(TestEvent(bucket, number))));
            assert!(buckets.advance(&mut Vec::new()));
        }
        assert_eq!(buckets.events.len(), 100usize.next_multiple_of(CHUNK));
    }
}
