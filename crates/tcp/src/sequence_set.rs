//! A set of packet numbers as a sliding bitmap.

/// A set of packet numbers from a sliding base. The first 64 bits are inline; the rest is on the
/// heap behind a one-word pointer, because few flows need it.
#[derive(Clone, Debug, Default)]
pub struct SequenceSet {
    /// Packet number of the first bit; a multiple of 64.
    base: i64,
    first: u64,
    #[allow(
        clippy::box_collection,
        reason = "a list that is not there takes a word instead of three"
    )]
    rest: Option<Box<Vec<u64>>>,
}

impl SequenceSet {
    #[inline]
    fn word(&self, index: usize) -> u64 {
        if index == 0 { self.first } else { self.rest().get(index - 1).copied().unwrap_or(0) }
    }

    fn rest(&self) -> &[u64] {
        self.rest.as_ref().map_or(&[], |rest| rest)
    }

    fn words(&self) -> usize {
        1 + self.rest().len()
    }

    /// Removes all numbers.
    pub fn clear(&mut self) {
        self.first = 0;
        self.rest.iter_mut().for_each(|rest| rest.clear());
    }

    /// Empties the set for another flow and keeps allocated memory.
    pub fn reset(&mut self) {
        self.clear();
        self.base = 0;
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.first == 0 && self.rest().iter().all(|&word| word == 0)
    }

    /// Whether `number` is in the set.
    pub fn contains(&self, number: i64) -> bool {
        number >= self.base && {
            let offset = (number - self.base) as usize;
            self.word(offset / 64) >> (offset % 64) & 1 == 1
        }
    }

    /// Inserts `number`; returns whether it was missing. Ignores numbers below the last
    /// [`SequenceSet::advance`].
    pub fn insert(&mut self, number: i64) -> bool {
        if number < self.base {
            return false;
        }
        let offset = (number - self.base) as usize;
        let (index, bit) = (offset / 64, 1u64 << (offset % 64));
        let word = if index == 0 {
            &mut self.first
        } else {
            let rest = self.rest.get_or_insert_default();
            if index > rest.len() {
                rest.resize(index, 0);
            }
            &mut rest[index - 1]
        };
        let fresh = *word & bit == 0;
        *word |= bit;
        fresh
    }

    /// Inserts `[from, to)`; returns whether any number was missing. Ignores numbers below the last
    /// [`SequenceSet::advance`].
    #[inline]
    pub fn insert_range(&mut self, from: i64, to: i64) -> bool {
        let from = from.max(self.base);
        if to <= from {
            return false;
        }
        let (start, last) = ((from - self.base) as usize, (to - 1 - self.base) as usize);
        if last < 64 {
            let run = u64::MAX << start & u64::MAX >> (63 - last);
            let fresh = run & !self.first != 0;
            self.first |= run;
            return fresh;
        }
        self.insert_long_range(start, last)
    }

    /// Sets bits `start` to `last`, where `last` is beyond the first word.
    #[inline(never)]
    fn insert_long_range(&mut self, start: usize, last: usize) -> bool {
        let rest = self.rest.get_or_insert_default();
        if last / 64 > rest.len() {
            rest.resize(last / 64, 0);
        }
        let mut set = |index: usize, run: u64| {
            let word = if index == 0 { &mut self.first } else { &mut rest[index - 1] };
            let fresh = run & !*word != 0;
            *word |= run;
            fresh
        };
        let (above, below) = (u64::MAX << (start % 64), u64::MAX >> (63 - last % 64));
        if start / 64 == last / 64 {
            return set(last / 64, above & below);
        }
        let middle =
            (start / 64 + 1..last / 64).fold(false, |fresh, index| set(index, u64::MAX) | fresh);
        set(start / 64, above) | set(last / 64, below) | middle
    }

    /// Removes all numbers below `number`.
    pub fn advance(&mut self, number: i64) {
        let shift = ((number & !63) - self.base) / 64;
        if shift > 0 {
            let shift = shift as usize;
            match &mut self.rest {
                Some(rest) if shift <= rest.len() => {
                    self.first = rest[shift - 1];
                    rest.drain(..shift);
                }
                _ => self.clear(),
            }
            self.base = number & !63;
        }
        if number > self.base {
            self.first &= u64::MAX << (number - self.base).min(63);
        }
    }

    /// First number at or above `number` that is missing.
    pub fn first_missing(&self, number: i64) -> i64 {
        if number < self.base {
            return number;
        }
        let offset = (number - self.base) as usize;
        let mut index = offset / 64;
        let mut word = !self.word(index) & (u64::MAX << (offset % 64));
        while word == 0 {
            index += 1;
            word = !self.word(index);
        }
        self.base + (index * 64) as i64 + i64::from(word.trailing_zeros())
    }

    /// First number of the contiguous run that ends at `number`.
    pub fn run_start(&self, number: i64) -> i64 {
        let mut start = number;
        while start > self.base {
            let (index, bit) =
                ((start - 1 - self.base) as usize / 64, (start - 1 - self.base) as u32 % 64);
            let ones = (self.word(index) << (63 - bit)).leading_ones();
            start -= i64::from(ones);
            if ones <= bit {
                break;
            }
        }
        start
    }

    /// The highest number.
    pub fn highest(&self) -> Option<i64> {
        (0..self.words()).rev().find(|&index| self.word(index) != 0).map(|index| {
            self.base + (index * 64 + 63) as i64 - i64::from(self.word(index).leading_zeros())
        })
    }

    /// How many numbers of `[from, to)` are in the set.
    pub fn count(&self, from: i64, to: i64) -> u64 {
        let from = from.max(self.base);
        if to <= from {
            return 0;
        }
        let (start, end) = ((from - self.base) as usize, (to - self.base) as usize);
        (start / 64..=(end - 1) / 64)
            .map(|index| {
                let mut word = self.word(index);
                if index == start / 64 {
                    word &= u64::MAX << (start % 64);
                }
                if index == end / 64 {
                    word &= (1 << (end % 64)) - 1;
                }
                u64::from(word.count_ones())
            })
            .sum()
    }

    /// The `n`-th highest number (n from 1), if there are as many.
    pub fn nth_highest(&self, n: u32) -> Option<i64> {
        let mut left = n;
        for index in (0..self.words()).rev() {
            let mut word = self.word(index);
            if word.count_ones() < left {
                left -= word.count_ones();
                continue;
            }
            for _ in 1..left {
                word &= !(1 << (63 - word.leading_zeros()));
            }
            return Some(self.base + (index * 64 + 63) as i64 - i64::from(word.leading_zeros()));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// A small deterministic generator for the model test below.
    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        *state >> 33
    }

    #[test]
    fn bits_agree_with_a_set_of_numbers() {
        let mut state = 7;
        for round in 0..200 {
            let (mut sequence_set, mut model) = (SequenceSet::default(), BTreeSet::new());
            let mut low = (random(&mut state) % 1000) as i64;
            sequence_set.advance(low);
            sequence_set.insert(low);
            model.insert(low);
            for _ in 0..150 {
                if random(&mut state).is_multiple_of(3) {
                    let from = low + (random(&mut state) % 200) as i64;
                    let to = from + (random(&mut state) % 130) as i64;
                    let fresh = (from..to).filter(|&number| model.insert(number)).count() > 0;
                    assert_eq!(
                        sequence_set.insert_range(from, to),
                        fresh,
                        "round {round}: {from} to {to}"
                    );
                }
                let number = low + (random(&mut state) % 300) as i64;
                assert_eq!(sequence_set.insert(number), model.insert(number), "round {round}");
                if random(&mut state).is_multiple_of(10) {
                    low += (random(&mut state) % 90) as i64;
                    sequence_set.advance(low);
                    model.retain(|&x| x >= low);
                }
                let probe = low + (random(&mut state) % 320) as i64;
                assert_eq!(sequence_set.contains(probe), model.contains(&probe));
                assert_eq!(sequence_set.highest(), model.last().copied());
                assert_eq!(
                    sequence_set.first_missing(probe),
                    (probe..).find(|x| !model.contains(x)).unwrap()
                );
                assert_eq!(
                    sequence_set.count(low, probe),
                    model.range(low..probe.max(low)).count() as u64
                );
                assert_eq!(sequence_set.nth_highest(3), model.iter().rev().nth(2).copied());
                if model.contains(&probe) {
                    assert_eq!(
                        sequence_set.run_start(probe),
                        (low - 1..=probe).rev().find(|x| !model.contains(x)).unwrap() + 1
                    );
                }
            }
        }
    }
}
