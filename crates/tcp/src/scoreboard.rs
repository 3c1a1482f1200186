//! Which packets beyond the cumulative acknowledgement have arrived: a window of bits that slides.

/// Bits for packet numbers from a sliding start; the first 64 live inline, more spill to the heap, which a word stands for: few flows need it.
#[derive(Clone, Debug, Default)]
pub struct Bits {
    /// Packet number of the first bit; a multiple of 64.
    base: i64,
    first: u64,
    #[allow(clippy::box_collection, reason = "a list that is not there takes a word instead of three")]
    rest: Option<Box<Vec<u64>>>,
}

impl Bits {
    fn word(&self, index: usize) -> u64 {
        if index == 0 { self.first } else { self.rest().get(index - 1).copied().unwrap_or(0) }
    }

    fn rest(&self) -> &[u64] {
        self.rest.as_ref().map_or(&[], |rest| rest)
    }

    fn words(&self) -> usize {
        1 + self.rest().len()
    }

    /// Clears everything.
    pub fn clear(&mut self) {
        self.first = 0;
        self.rest.iter_mut().for_each(|rest| rest.clear());
    }

    /// As new, for another flow, but for the memory it has.
    pub fn renew(&mut self) {
        self.clear();
        self.base = 0;
    }

    /// Whether no bit is set.
    pub fn is_empty(&self) -> bool {
        self.first == 0 && self.rest().iter().all(|&word| word == 0)
    }

    /// Whether packet `number` is set.
    pub fn contains(&self, number: i64) -> bool {
        number >= self.base && {
            let offset = (number - self.base) as usize;
            self.word(offset / 64) >> (offset % 64) & 1 == 1
        }
    }

    /// Sets packet `number`; returns whether it was clear. Numbers below where [`Bits::advance`] left off are ignored.
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

    /// Forgets everything below `number`.
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

    /// First clear number at or above `number`.
    pub fn first_clear(&self, number: i64) -> i64 {
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

    /// First number of the run of set bits that ends at `number`.
    pub fn run_start(&self, number: i64) -> i64 {
        let mut start = number;
        while self.contains(start - 1) {
            // Whole words of ones are skipped at once.
            let offset = start - self.base;
            start -= if offset % 64 == 0 && self.word((offset / 64 - 1) as usize) == u64::MAX { 64 } else { 1 };
        }
        start
    }

    /// The highest set number.
    pub fn highest(&self) -> Option<i64> {
        (0..self.words())
            .rev()
            .find(|&index| self.word(index) != 0)
            .map(|index| self.base + (index * 64 + 63) as i64 - i64::from(self.word(index).leading_zeros()))
    }

    /// How many are set in `[from, to)`.
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

    /// The `n`-th highest set number (n from 1), if there are as many.
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

/// The sender's view of what selective acknowledgements reported.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    sacked: Bits,
    /// Lowest number that may still be retransmitted in this recovery: each hole is resent once.
    next_hole: i64,
}

impl Scoreboard {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.sacked.clear();
        self.next_hole = 0;
    }

    /// As new, for another flow, but for the memory it has.
    pub fn renew(&mut self) {
        self.sacked.renew();
        self.next_hole = 0;
    }

    /// Records blocks above the cumulative acknowledgement; returns whether anything new was learnt.
    ///
    /// `highest_sent` bounds what is believed: a block beyond it reports data that was never sent.
    #[inline(never)]
    pub fn update(&mut self, highest_ack: i64, highest_sent: i64, blocks: &[(i64, i64)]) -> bool {
        self.sacked.advance(highest_ack + 1);
        let mut changed = false;
        for &(left, right) in blocks {
            // Blocks repeat what earlier ones said: step from gap to gap instead of through every packet.
            let mut number = self.sacked.first_clear(left.max(highest_ack + 1));
            while number < right.min(highest_sent + 1) {
                changed |= self.sacked.insert(number);
                number = self.sacked.first_clear(number + 1);
            }
        }
        changed
    }

    /// A time-out: what was reported stays known (RFC 6675 section 5.1), but every hole may be resent.
    pub fn forget_retransmissions(&mut self) {
        self.next_hole = 0;
    }

    /// Whether packet `number` was reported.
    pub fn is_sacked(&self, number: i64) -> bool {
        self.sacked.contains(number)
    }

    /// Marks `number` as retransmitted.
    pub fn mark_retransmitted(&mut self, number: i64) {
        self.next_hole = self.next_hole.max(number + 1);
    }

    /// The next hole below the highest reported packet that was not resent yet.
    pub fn next_hole(&self, highest_ack: i64) -> Option<i64> {
        let highest = self.sacked.highest()?;
        let hole = self.sacked.first_clear(self.next_hole.max(highest_ack + 1));
        (hole < highest).then_some(hole)
    }

    /// RFC 6675 section 4: packets believed to be in the network, with `threshold` reports above a packet meaning it is lost.
    pub fn pipe(&self, highest_ack: i64, highest_sent: i64, threshold: u32) -> i64 {
        let first = highest_ack + 1;
        let unsacked = |from: i64, to: i64| if to > from { to - from - self.sacked.count(from, to) as i64 } else { 0 };
        let lost_below = self.lost_below(threshold).unwrap_or(first);
        let retransmitted = unsacked(first, self.next_hole.min(highest_sent + 1));
        unsacked(lost_below.max(first), highest_sent + 1) + retransmitted
    }

    /// RFC 6675 section 4, IsLost: packets below this number without a report are lost.
    pub fn lost_below(&self, threshold: u32) -> Option<i64> {
        self.sacked.nth_highest(threshold)
    }

    /// How many in `[from, to)` were not reported.
    pub fn unreported(&self, from: i64, to: i64) -> u64 {
        (to - from).max(0) as u64 - self.sacked.count(from, to)
    }

    /// The highest packet below `limit` that was not reported: what a rescue retransmission sends.
    pub fn highest_hole(&self, highest_ack: i64, limit: i64) -> Option<i64> {
        (highest_ack + 1..limit).rev().find(|&number| !self.sacked.contains(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Small deterministic generator for the model test below.
    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        *state >> 33
    }

    #[test]
    fn bits_agree_with_a_set_of_numbers() {
        let mut state = 7;
        for round in 0..200 {
            let (mut bits, mut model) = (Bits::default(), BTreeSet::new());
            let mut low = (random(&mut state) % 1000) as i64;
            bits.advance(low);
            bits.insert(low);
            model.insert(low);
            for _ in 0..150 {
                let number = low + (random(&mut state) % 300) as i64;
                assert_eq!(bits.insert(number), model.insert(number), "round {round}");
                if random(&mut state).is_multiple_of(10) {
                    low += (random(&mut state) % 90) as i64;
                    bits.advance(low);
                    model.retain(|&x| x >= low);
                }
                let probe = low + (random(&mut state) % 320) as i64;
                assert_eq!(bits.contains(probe), model.contains(&probe));
                assert_eq!(bits.highest(), model.last().copied());
                assert_eq!(bits.first_clear(probe), (probe..).find(|x| !model.contains(x)).unwrap());
                assert_eq!(bits.count(low, probe), model.range(low..probe.max(low)).count() as u64);
                assert_eq!(bits.nth_highest(3), model.iter().rev().nth(2).copied());
                if model.contains(&probe) {
                    assert_eq!(bits.run_start(probe), (low - 1..=probe).rev().find(|x| !model.contains(x)).unwrap() + 1);
                }
            }
        }
    }

    #[test]
    fn pipe_counts_as_rfc_6675_does() {
        // 10..20 outstanding, 13, 15, 16 and 17 reported: below 15 (third highest) 10, 11, 12, 14 are lost; 18 and 19 are in the network.
        let mut board = Scoreboard::default();
        assert!(board.update(9, 19, &[(13, 14), (15, 18)]));
        assert!(!board.update(9, 19, &[(15, 18)]));
        assert_eq!(board.pipe(9, 19, 3), 2);
        board.mark_retransmitted(10);
        assert_eq!(board.pipe(9, 19, 3), 3);
        assert_eq!(board.next_hole(9), Some(11));
        assert_eq!(board.highest_hole(9, 20), Some(19));
    }
}
