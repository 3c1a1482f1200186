//! Things to come, by day: put behind others of their day, and taken with them when that day comes.
//!
//! What a day holds lies in chunks of one store, so that it is written and read in long runs, and what one day gives back serves another.

/// So many lie together.
const CHUNK: usize = 16;

/// No chunk.
const NONE: u32 = u32::MAX;

/// Where the things of a day are.
#[derive(Clone, Copy, Debug)]
struct Day {
    first: u32,
    last: u32,
    /// Things in the last chunk.
    count: u32,
}

impl Day {
    const EMPTY: Self = Self { first: NONE, last: NONE, count: 0 };
}

/// The things of a power of two of days; a number of a day stands for all that are a whole round apart.
#[derive(Debug)]
pub struct Days<T> {
    days: Vec<Day>,
    things: Vec<T>,
    /// For each chunk of them the next of the same day.
    next: Vec<u32>,
    /// First of the chunks that no day has.
    free: u32,
    /// How many things there are.
    count: usize,
}

impl<T: Copy> Days<T> {
    /// So many days at least, all empty.
    pub fn new(days: usize) -> Self {
        Self { days: vec![Day::EMPTY; days.next_power_of_two()], things: Vec::new(), next: Vec::new(), free: NONE, count: 0 }
    }

    /// How many days there are.
    #[inline(always)]
    pub fn days(&self) -> u64 {
        self.days.len() as u64
    }

    /// Whether there is nothing in any.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds something to a day.
    #[inline(always)]
    pub fn put(&mut self, day: u64, thing: T) {
        let index = day as usize & (self.days.len() - 1);
        if self.days[index].first == NONE || self.days[index].count as usize == CHUNK {
            self.lengthen(index, thing);
        }
        let day = &mut self.days[index];
        self.things[day.last as usize * CHUNK + day.count as usize] = thing;
        day.count += 1;
        self.count += 1;
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

    /// Takes all of a day, in the order in which they were put there.
    pub fn take(&mut self, day: u64, into: &mut impl Extend<T>) {
        let index = day as usize & (self.days.len() - 1);
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_day_gives_what_it_was_given(steps in prop::collection::vec((0u64..20, 0u8..40), 0..400)) {
            let (mut days, mut lists) = (Days::new(5), [const { Vec::new() }; 8]);
            for (number, (day, kind)) in steps.into_iter().enumerate() {
                let list = &mut lists[day as usize % 8];
                if kind == 0 {
                    let mut taken = Vec::new();
                    days.take(day, &mut taken);
                    prop_assert_eq!(&taken, &*list);
                    list.clear();
                } else {
                    days.put(day, number);
                    list.push(number);
                }
                prop_assert_eq!(days.is_empty(), lists.iter().all(Vec::is_empty));
            }
        }
    }

    #[test]
    fn what_a_day_gives_back_serves_others() {
        let mut days = Days::new(1000);
        for day in 0..1000 {
            (0..100).for_each(|number| days.put(day, number));
            days.take(day, &mut Vec::new());
        }
        assert_eq!(days.things.len(), 100usize.next_multiple_of(CHUNK));
    }
}
