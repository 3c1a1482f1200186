//! SACK scoreboard (RFC 6675 section 4): which packets beyond SND.UNA are selectively acknowledged.

use crate::{SackBlocks, SequenceSet};

/// The SACK scoreboard of a sender. What an ACK costs does not depend on the window: packets are
/// counted when their state changes.
///
/// ```
/// use cwndlab_tcp::Scoreboard;
/// let mut board = Scoreboard::default();
/// // Packets up to 0 are acknowledged, up to 9 are sent; 3 to 5 are SACKed.
/// assert!(board.update(0, 9, &[(3, 6)]));
/// assert_eq!(board.sacked_count(0), 3);
/// assert_eq!(board.next_hole(0), Some(1));
/// board.mark_retransmitted(1);
/// assert_eq!(board.next_hole(0), Some(2));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    sacked: SequenceSet,
    /// SND.UNA at the last update.
    snd_una: i64,
    /// HighRxt + 1: each hole below it was retransmitted in this recovery.
    next_rxt: i64,
    /// Packets in `sacked`, in all and below `next_rxt`.
    sacked_count: u64,
    sacked_below_next_rxt: u64,
    /// Highest packet in `sacked` (HighSACK), or one that is acknowledged.
    highest: i64,
    /// The blocks of the last update.
    recorded: [(i64, i64); SackBlocks::MAX],
}

impl Scoreboard {
    /// Removes all SACK information.
    pub fn clear(&mut self) {
        self.sacked.clear();
        (self.next_rxt, self.sacked_count, self.sacked_below_next_rxt) = (0, 0, 0);
        (self.highest, self.recorded) = (0, Default::default());
    }

    /// Resets the scoreboard for another flow and keeps allocated memory.
    pub fn reset(&mut self) {
        self.clear();
        self.sacked.reset();
        self.snd_una = 0;
    }

    /// Records SACK blocks above SND.UNA; returns whether any reports a new packet.
    ///
    /// Blocks beyond `highest_sent` report packets that were never sent and are ignored.
    #[inline(never)]
    pub fn update(&mut self, highest_ack: i64, highest_sent: i64, blocks: &[(i64, i64)]) -> bool {
        self.snd_una = highest_ack + 1;
        let removed = self.sacked.remove_below(self.snd_una);
        self.sacked_count -= removed;
        // All that was removed lies below SND.UNA.
        self.sacked_below_next_rxt =
            if self.snd_una < self.next_rxt { self.sacked_below_next_rxt - removed } else { 0 };
        let mut inserted = 0;
        for (&(left, right), recorded) in blocks.iter().zip(&mut self.recorded) {
            let right = right.min(highest_sent + 1);
            // Most blocks repeat one of the last ACK, or extend it by the packet that arrived.
            let known = if left == recorded.0 { recorded.1.min(right) } else { left };
            *recorded = (left, right);
            if left < right {
                self.highest = self.highest.max(right - 1);
            }
            let left = known.max(self.snd_una);
            if left < self.next_rxt {
                let below = self.sacked.insert_range(left, right.min(self.next_rxt));
                self.sacked_below_next_rxt += below;
                inserted += below;
            }
            inserted += self.sacked.insert_range(left.max(self.next_rxt), right);
        }
        self.sacked_count += inserted;
        inserted > 0
    }

    /// Timeout: keeps SACK information (RFC 6675 section 5.1), but every hole may be retransmitted
    /// again.
    pub fn forget_retransmissions(&mut self) {
        (self.next_rxt, self.sacked_below_next_rxt) = (0, 0);
    }

    /// The SACKed packets.
    pub(crate) fn sacked(&self) -> &SequenceSet {
        &self.sacked
    }

    /// Whether packet `number` is SACKed.
    pub fn is_sacked(&self, number: i64) -> bool {
        self.sacked.contains(number)
    }

    /// Records that packet `number` was retransmitted.
    pub fn mark_retransmitted(&mut self, number: i64) {
        if number >= self.next_rxt {
            self.sacked_below_next_rxt += self.sacked.count(self.next_rxt, number + 1);
            self.next_rxt = number + 1;
        }
    }

    /// The next hole below the highest SACKed packet that was not retransmitted in this recovery.
    pub fn next_hole(&self, highest_ack: i64) -> Option<i64> {
        let hole = self.sacked.first_missing(self.next_rxt.max(highest_ack + 1));
        (hole < self.highest).then_some(hole)
    }

    /// Number of SACKed packets from SND.UNA on.
    pub fn sacked_count(&self, highest_ack: i64) -> u64 {
        self.sacked_count - self.acknowledged(highest_ack)
    }

    /// SACKed packets that an ACK has acknowledged since the last update.
    fn acknowledged(&self, highest_ack: i64) -> u64 {
        self.sacked.count(self.snd_una, highest_ack + 1)
    }

    /// Estimate of packets in flight (pipe, RFC 6675 section 4) with DupThresh = `threshold`.
    pub fn pipe(&self, highest_ack: i64, highest_sent: i64, threshold: u32) -> i64 {
        let (first, end) = (highest_ack + 1, highest_sent + 1);
        let acknowledged = self.acknowledged(highest_ack);
        let not_lost = match self.lost_below(threshold).filter(|&number| number >= first) {
            // As many packets are SACKed from there on as define it.
            Some(number) => end - number - i64::from(threshold.max(1)),
            None => end - first - (self.sacked_count - acknowledged) as i64,
        };
        let retransmitted = if self.next_rxt > first {
            self.next_rxt - first - (self.sacked_below_next_rxt - acknowledged) as i64
        } else {
            0
        };
        not_lost.max(0) + retransmitted
    }

    /// Packets below this number that are not SACKed are lost (IsLost, RFC 6675 section 4).
    pub fn lost_below(&self, threshold: u32) -> Option<i64> {
        self.sacked.nth_highest(threshold)
    }

    /// Number of packets in `[from, to)` that are not SACKed.
    pub fn count_unsacked(&self, from: i64, to: i64) -> u64 {
        (to - from).max(0) as u64 - self.sacked.count(from, to)
    }

    /// The highest packet below `limit` that is not SACKed: the rescue retransmission of RFC 6675
    /// section 4, rule 4.
    pub fn highest_hole(&self, highest_ack: i64, limit: i64) -> Option<i64> {
        let hole = self.sacked.run_start(limit) - 1;
        (hole > highest_ack).then_some(hole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipe_counts_as_rfc_6675_does() {
        // 10..20 are outstanding; 13, 15, 16 and 17 are SACKed. Below 15, the third highest, 10,
        // 11, 12 and 14 are lost; 18 and 19 are in flight.
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
