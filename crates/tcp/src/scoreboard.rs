//! Which packets beyond the cumulative acknowledgement have arrived, as far as the sender knows.

use crate::Bits;

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
            changed |= self.sacked.insert_run(left.max(highest_ack + 1), right.min(highest_sent + 1));
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
