//! A set of packet numbers as a sliding bitmap.

use std::collections::VecDeque;

/// A set of packet numbers from a sliding base. The first 64 bits are inline; the rest is on the
/// heap behind a one-word pointer, because few flows need it.
///
/// Searches skip runs of full words by means of a set of full words, which is a `SequenceSet` too,
/// so that they take O(log n) steps. A change takes O(log n) steps for each word that it changes.
///
/// ```
/// use cwndlab_tcp::SequenceSet;
/// let mut set = SequenceSet::default();
/// assert_eq!(set.insert_range(0, 100), 100);
/// assert!(set.insert(200) && !set.insert(200));
/// assert_eq!(set.first_missing(10), 100);
/// assert_eq!((set.count(50, 300), set.nth_highest(2)), (51, Some(99)));
/// ```
#[derive(Clone, Debug, Default)]
pub struct SequenceSet {
    /// Packet number of the first bit; a multiple of 64.
    base: i64,
    first: u64,
    rest: Option<Box<Rest>>,
}

/// The words after the first.
#[derive(Clone, Debug, Default)]
struct Rest {
    words: VecDeque<u64>,
    /// Numbers, counted from packet 0, of the words whose bits are all set.
    full: SequenceSet,
}

/// Sets the bits of `run`; returns how many were clear.
fn set_bits(word: &mut u64, run: u64) -> u64 {
    let fresh = run & !*word;
    *word |= run;
    // Mostly none or one, and counting bits takes a dozen instructions.
    if fresh & fresh.wrapping_sub(1) == 0 { (fresh != 0).into() } else { fresh.count_ones().into() }
}

impl SequenceSet {
    #[inline]
    fn word(&self, index: usize) -> u64 {
        if index == 0 {
            return self.first;
        }
        let rest = self.rest.as_ref();
        rest.and_then(|rest| rest.words.get(index - 1)).copied().unwrap_or(0)
    }

    fn words(&self) -> usize {
        1 + self.rest.as_ref().map_or(0, |rest| rest.words.len())
    }

    /// Removes all numbers.
    pub fn clear(&mut self) {
        self.first = 0;
        if let Some(rest) = &mut self.rest {
            rest.words.clear();
            rest.full.clear();
        }
    }

    /// Empties the set for another flow and keeps allocated memory.
    pub fn reset(&mut self) {
        self.clear();
        self.base = 0;
        self.rest.iter_mut().for_each(|rest| rest.full.reset());
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
        let bit = 1u64 << (offset % 64);
        if offset < 64 {
            let fresh = self.first & bit == 0;
            self.first |= bit;
            return fresh;
        }
        self.set_in_word(offset / 64, bit) > 0
    }

    /// Inserts `[from, to)`; returns how many numbers were missing. Ignores numbers below the last
    /// [`SequenceSet::advance`].
    #[inline]
    pub fn insert_range(&mut self, from: i64, to: i64) -> u64 {
        let from = from.max(self.base);
        if to <= from {
            return 0;
        }
        let (start, last) = ((from - self.base) as usize, (to - 1 - self.base) as usize);
        if last < 64 {
            return set_bits(&mut self.first, u64::MAX << start & u64::MAX >> (63 - last));
        }
        if start == last {
            return self.set_in_word(start / 64, 1 << (start % 64));
        }
        self.insert_long_range(from, to)
    }

    /// Inserts a range that ends beyond the first word: goes from one missing number to the next.
    #[inline(never)]
    fn insert_long_range(&mut self, from: i64, to: i64) -> u64 {
        let mut inserted = 0;
        let mut number = self.first_missing(from);
        while number < to {
            let offset = (number - self.base) as usize;
            let (index, bit) = (offset / 64, offset % 64);
            let end = (to - self.base) as usize - index * 64;
            if end <= 64 {
                return inserted
                    + self.set_in_word(index, u64::MAX << bit & u64::MAX >> (64 - end));
            }
            inserted += self.set_in_word(index, u64::MAX << bit);
            number = self.first_missing(self.base + (index * 64 + 64) as i64);
        }
        inserted
    }

    /// Sets the bits of `run` in word `index`; returns how many were clear.
    #[inline]
    fn set_in_word(&mut self, index: usize, run: u64) -> u64 {
        if index == 0 {
            return set_bits(&mut self.first, run);
        }
        let first_word = self.base / 64;
        let Some((word, full)) = self
            .rest
            .as_deref_mut()
            .and_then(|rest| rest.words.get_mut(index - 1).map(|word| (word, &mut rest.full)))
        else {
            self.grow(index);
            return self.set_in_word(index, run);
        };
        let inserted = set_bits(word, run);
        if inserted > 0 && *word == u64::MAX {
            full.insert(first_word + index as i64);
        }
        inserted
    }

    /// Adds words up to `index`.
    #[inline(never)]
    fn grow(&mut self, index: usize) {
        let first_word = self.base / 64;
        let rest = self.rest.get_or_insert_with(|| {
            let mut rest = Box::<Rest>::default();
            // Without it `full` would hold a bit for each word since packet 0.
            rest.full.advance(first_word);
            rest
        });
        rest.words.resize(index, 0);
    }

    /// Removes all numbers below `number`.
    #[inline]
    pub fn advance(&mut self, number: i64) {
        self.move_base::<false>(number);
    }

    /// Removes all numbers below `number`; returns how many there were.
    #[inline]
    pub fn remove_below(&mut self, number: i64) -> u64 {
        self.move_base::<true>(number)
    }

    /// `COUNTS`: whether to count, which takes a dozen instructions a word.
    #[inline]
    fn move_base<const COUNTS: bool>(&mut self, number: i64) -> u64 {
        let mut removed = 0;
        if number >= self.base + 64 {
            removed = self.drop_words::<COUNTS>(((number & !63) - self.base) as usize / 64);
        }
        if number > self.base {
            let kept = u64::MAX << (number - self.base);
            let passed = self.first & !kept;
            if COUNTS && passed != 0 {
                removed += u64::from(passed.count_ones());
            }
            self.first &= kept;
        }
        removed
    }

    /// Moves the base by `shift` words, more than none; returns how many numbers are dropped.
    #[inline(never)]
    fn drop_words<const COUNTS: bool>(&mut self, shift: usize) -> u64 {
        self.base += shift as i64 * 64;
        let mut passed = u64::from(self.first.count_ones());
        self.first = 0;
        if let Some(rest) = &mut self.rest {
            let count = shift.min(rest.words.len());
            for (index, word) in rest.words.drain(..count).enumerate() {
                if index + 1 == shift {
                    self.first = word;
                } else if COUNTS {
                    passed += u64::from(word.count_ones());
                }
            }
            rest.full.advance(self.base / 64 + 1);
        }
        passed
    }

    /// First number at or above `number` that is missing.
    pub fn first_missing(&self, number: i64) -> i64 {
        if number < self.base {
            return number;
        }
        let offset = (number - self.base) as usize;
        let mut index = offset / 64;
        let mut clear = !self.word(index) & (u64::MAX << (offset % 64));
        if clear == 0 {
            index += 1;
            clear = !self.word(index);
        }
        if clear == 0
            && let Some(rest) = &self.rest
        {
            let first_word = self.base / 64;
            index = (rest.full.first_missing(first_word + index as i64) - first_word) as usize;
            clear = !self.word(index);
        }
        self.base + (index * 64) as i64 + i64::from(clear.trailing_zeros())
    }

    /// First number of the contiguous run that ends before `number`; `number` itself if the one
    /// before it is missing.
    pub fn run_start(&self, number: i64) -> i64 {
        if number <= self.base {
            return number;
        }
        let offset = (number - 1 - self.base) as usize;
        let (mut index, bit) = (offset / 64, offset as u32 % 64);
        let ones = (self.word(index) << (63 - bit)).leading_ones();
        if ones <= bit || index == 0 {
            return number - i64::from(ones);
        }
        if let Some(rest) = &self.rest {
            let first_word = self.base / 64;
            index = (rest.full.run_start(first_word + index as i64) - first_word) as usize;
        }
        // The words from `index` on are full, and the word before them is not or is the first.
        let ones = self.word(index - 1).leading_ones();
        self.base + (index * 64) as i64 - i64::from(ones)
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

    /// Random changes and searches, compared with a sorted set. `spread`: distance of the numbers
    /// from the lowest; `longest`: range inserted at once; `step`: numbers removed at once.
    fn compare_with_a_set_of_numbers(rounds: u64, spread: u64, longest: u64, step: u64) {
        let mut state = 7;
        for round in 0..rounds {
            let (mut sequence_set, mut model) = (SequenceSet::default(), BTreeSet::new());
            let mut low = (random(&mut state) % 1000) as i64;
            sequence_set.advance(low);
            sequence_set.insert(low);
            model.insert(low);
            for _ in 0..150 {
                if random(&mut state).is_multiple_of(3) {
                    let from = low + (random(&mut state) % spread * 2 / 3) as i64;
                    let to = from + (random(&mut state) % longest) as i64;
                    let fresh = (from..to).filter(|&number| model.insert(number)).count() as u64;
                    assert_eq!(
                        sequence_set.insert_range(from, to),
                        fresh,
                        "round {round}: {from} to {to}"
                    );
                }
                let number = low + (random(&mut state) % spread) as i64;
                assert_eq!(sequence_set.insert(number), model.insert(number), "round {round}");
                if random(&mut state).is_multiple_of(10) {
                    low += (random(&mut state) % step) as i64;
                    let above = model.split_off(&low);
                    assert_eq!(sequence_set.remove_below(low), model.len() as u64, "round {round}");
                    model = above;
                }
                let probe = low + (random(&mut state) % (spread + 20)) as i64;
                assert_eq!(sequence_set.contains(probe), model.contains(&probe));
                assert_eq!(sequence_set.nth_highest(1), model.last().copied());
                assert_eq!(
                    sequence_set.first_missing(probe),
                    (probe..).find(|x| !model.contains(x)).unwrap()
                );
                assert_eq!(
                    sequence_set.count(low, probe),
                    model.range(low..probe.max(low)).count() as u64
                );
                assert_eq!(sequence_set.nth_highest(3), model.iter().rev().nth(2).copied());
                assert_eq!(
                    sequence_set.run_start(probe),
                    (low - 1..probe).rev().find(|x| !model.contains(x)).unwrap_or(probe - 1) + 1
                );
            }
            sequence_set.clear();
            assert_eq!(sequence_set.nth_highest(1), None);
            assert_eq!(sequence_set.first_missing(low), low);
        }
    }

    #[test]
    fn a_few_words_agree_with_a_set_of_numbers() {
        compare_with_a_set_of_numbers(200, 300, 130, 90);
    }

    #[test]
    fn runs_of_full_words_agree_with_a_set_of_numbers() {
        compare_with_a_set_of_numbers(10, 40_000, 12_000, 15_000);
    }
}
