//! What is to come, by day: put behind others of its day, in no order, and taken with them when that day is the next.
//!
//! What a day holds lies in chunks of one store, so that it is written and read in long runs, and what one day gives back serves another.

use std::collections::BTreeMap;

/// So many lie together.
const CHUNK: usize = 16;

/// No chunk.
const NONE: u32 = u32::MAX;

/// Something due at a time.
pub trait Due: Copy {
    /// When, seconds.
    fn at_s(&self) -> f64;
}

/// Where the things of a day are.
#[derive(Clone, Copy, Debug)]
struct Day {
    first: u32,
    last: u32,
    /// Things in the last chunk.
    count: u32,
}

impl Day {
    /// As full as can be: the first thing needs a chunk.
    const EMPTY: Self = Self { first: NONE, last: NONE, count: CHUNK as u32 };
}

/// The things of days to come; what is due today, or was before, is elsewhere.
#[derive(Debug)]
pub struct Days<T> {
    days_a_second: f64,
    /// So many days have passed since the beginning.
    today: u64,
    /// A power of two of days are kept apart.
    days: Vec<Day>,
    things: Vec<T>,
    /// For each chunk of them the next of the same day.
    next: Vec<u32>,
    /// First of the chunks that no day has.
    free: u32,
    /// How many things there are.
    count: usize,
    /// What is due after all days that are kept apart, by time as bits and number: what is due at the same time stays in order.
    beyond: BTreeMap<(u64, u64), T>,
    /// How many ever went there.
    numbered: u64,
}

impl<T: Due> Days<T> {
    /// Nothing is to come; so many days at least are kept apart.
    pub fn new(days_a_second: f64, days: usize) -> Self {
        Self {
            days_a_second,
            today: 0,
            days: vec![Day::EMPTY; days.next_power_of_two()],
            things: Vec::new(),
            next: Vec::new(),
            free: NONE,
            count: 0,
            beyond: BTreeMap::new(),
            numbered: 0,
        }
    }

    #[inline(always)]
    fn day(&self, at_s: f64) -> u64 {
        (at_s * self.days_a_second) as u64
    }

    #[inline(always)]
    fn index(&self, day: u64) -> usize {
        day as usize & (self.days.len() - 1)
    }

    /// Which part of today a time lies in, from 0 to 1.
    #[inline(always)]
    pub fn part(&self, at_s: f64) -> f64 {
        at_s * self.days_a_second - self.today as f64
    }

    /// Whether a time lies before today.
    pub fn is_past(&self, at_s: f64) -> bool {
        self.day(at_s) < self.today
    }

    /// Adds something, if it is due on a day to come; returns whether it is.
    #[inline(always)]
    pub fn put(&mut self, thing: T) -> bool {
        let day = self.day(thing.at_s());
        if day.wrapping_sub(self.today).wrapping_sub(1) >= self.days.len() as u64 - 1 {
            return self.put_beyond(day, thing);
        }
        let index = self.index(day);
        if self.days[index].count as usize == CHUNK {
            self.lengthen(index, thing);
        }
        let day = &mut self.days[index];
        self.things[day.last as usize * CHUNK + day.count as usize] = thing;
        day.count += 1;
        self.count += 1;
        true
    }

    #[inline(never)]
    fn put_beyond(&mut self, day: u64, thing: T) -> bool {
        if day <= self.today {
            return false;
        }
        self.numbered += 1;
        self.beyond.insert((thing.at_s().to_bits(), self.numbered), thing);
        true
    }

    /// One more chunk for a day; what is in it until it is written does not matter.
    #[inline(never)]
    fn lengthen(&mut self, index: usize, thing: T) {
        let chunk = if self.free == NONE { self.next.len() as u32 } else { self.free };
        match self.next.get_mut(chunk as usize) {
            Some(next) => self.free = std::mem::replace(next, NONE),
            None => {
                self.things.resize(self.things.len() + CHUNK, thing);
                self.next.push(NONE);
            }
        }
        let day = &mut self.days[index];
        if day.first == NONE {
            day.first = chunk;
        } else {
            self.next[day.last as usize] = chunk;
        }
        (day.last, day.count) = (chunk, 0);
    }

    /// Today is over: takes all of the next day that has anything, in the order in which it was put there; returns whether there is one.
    pub fn turn(&mut self, into: &mut impl Extend<T>) -> bool {
        loop {
            if self.count > 0 {
                self.today += 1;
            } else if let Some((&(at, _), _)) = self.beyond.first_key_value() {
                // A day earlier, so that it is one to come.
                self.today = self.day(f64::from_bits(at)) - 1;
            } else {
                return false;
            }
            self.keep_apart();
            if self.take(self.today, into) {
                return true;
            }
        }
    }

    /// Puts to their days what is not too far ahead any more.
    fn keep_apart(&mut self) {
        while let Some(first) = self.beyond.first_entry()
            && (first.get().at_s() * self.days_a_second) as u64 - self.today < self.days.len() as u64
        {
            let thing = first.remove();
            self.put(thing);
        }
    }

    /// Takes all of a day; returns whether there was anything.
    fn take(&mut self, day: u64, into: &mut impl Extend<T>) -> bool {
        let index = self.index(day);
        let Day { first, last, count } = std::mem::replace(&mut self.days[index], Day::EMPTY);
        let mut chunk = first;
        while chunk != NONE {
            let begin = chunk as usize * CHUNK;
            let things = if chunk == last { count as usize } else { CHUNK };
            into.extend(self.things[begin..begin + things].iter().copied());
            self.count -= things;
            let next = std::mem::replace(&mut self.next[chunk as usize], self.free);
            (self.free, chunk) = (chunk, next);
        }
        first != NONE
    }

    /// Something is due before today: its day is today, and what was left of today is to come again.
    #[cold]
    pub fn go_back(&mut self, at_s: f64, left: impl Iterator<Item = T>) {
        let mut moved: Vec<T> = left.collect();
        let day = self.day(at_s);
        let (from, days) = (std::mem::replace(&mut self.today, day), self.days.len() as u64);
        // Days that are too far ahead now share their places with some that are not.
        for far in (from + 1).max(day + days)..from + days {
            self.take(far, &mut moved);
        }
        for thing in moved {
            self.put(thing);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Thing(u64, usize);

    impl Due for Thing {
        fn at_s(&self) -> f64 {
            self.0 as f64
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Beside a map from days, of which there are eight apart, to what they hold.
        #[test]
        fn days_give_in_their_order_what_they_were_given(steps in prop::collection::vec((0u64..30, 0u8..40), 0..400)) {
            let (mut days, mut lists, mut today) = (Days::new(1.0, 5), BTreeMap::<u64, Vec<Thing>>::new(), 0);
            for (number, (ahead, kind)) in steps.into_iter().enumerate() {
                match kind {
                    0..8 => {
                        let mut taken = Vec::new();
                        prop_assert_eq!(days.turn(&mut taken), !lists.is_empty());
                        if let Some((day, list)) = lists.pop_first() {
                            prop_assert_eq!(taken, list);
                            today = day;
                        }
                    }
                    8 if ahead < today => {
                        // Three things are left of today.
                        let left: Vec<Thing> = (0..3).map(|place| Thing(today, 1000 * number + place)).collect();
                        days.go_back(ahead as f64, left.iter().copied());
                        lists.insert(today, left);
                        today = ahead;
                    }
                    _ => {
                        let thing = Thing(today + ahead, number);
                        prop_assert_eq!(days.put(thing), ahead > 0);
                        if ahead > 0 {
                            lists.entry(thing.0).or_default().push(thing);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_a_day_gives_back_serves_others() {
        let mut days = Days::new(1.0, 1000);
        for day in 1..1000 {
            (0..100).for_each(|number| assert!(days.put(Thing(day, number))));
            assert!(days.turn(&mut Vec::new()));
        }
        assert_eq!(days.things.len(), 100usize.next_multiple_of(CHUNK));
    }
}
