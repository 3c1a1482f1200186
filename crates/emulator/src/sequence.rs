//! TCP sequence numbers: unwrapping to 64 bits, and the ranges of bytes that have arrived.

/// Converts 32-bit sequence numbers to 64-bit positions in the byte stream.
#[derive(Clone, Copy, Debug, Default)]
pub struct SequenceUnwrapper {
    /// Sequence number of position 0; none before the first call.
    first: Option<u32>,
    /// Highest position so far.
    furthest: u64,
}

impl SequenceUnwrapper {
    /// The position of a sequence number. The first call defines position 0; returns none for
    /// numbers before it.
    pub fn position(&mut self, sequence: u32) -> Option<u64> {
        let first = *self.first.get_or_insert(sequence);
        // A number lies within half the sequence space of the highest, ahead or behind (RFC 9293
        // section 3.4).
        let ahead = sequence.wrapping_sub(first).wrapping_sub(self.furthest as u32) as i32;
        let position = self.furthest.checked_add_signed(i64::from(ahead))?;
        self.furthest = self.furthest.max(position);
        Some(position)
    }
}

/// The number of the packet that begins at a position of a stream whose full packets carry so many
/// bytes, as simulated runs number packets: the SYN, which takes the first position, is packet 0.
/// What begins within a packet, as a part of one does, has its number.
pub fn packet_number(position: u64, payload_bytes: u32) -> u64 {
    if position == 0 { 0 } else { 1 + (position - 1) / u64::from(payload_bytes.max(1)) }
}

/// The bytes that have arrived: all before `received_to`, and separate ranges beyond it.
#[derive(Clone, Debug, Default)]
pub struct ReceivedRanges {
    received_to: u64,
    /// Ranges beyond `received_to`, sorted and disjoint.
    ranges: Vec<(u64, u64)>,
}

impl ReceivedRanges {
    /// Adds the bytes [begin, end) and returns how many of them are new.
    pub fn add(&mut self, begin: u64, end: u64) -> u64 {
        let (mut begin, mut end) = (begin.max(self.received_to), end);
        if begin >= end {
            return 0;
        }
        if begin == self.received_to && self.ranges.is_empty() {
            self.received_to = end;
            return end - begin;
        }
        let mut new = end - begin;
        let from = self.ranges.partition_point(|range| range.1 < begin);
        let to = self.ranges.partition_point(|range| range.0 <= end);
        let (lowest, highest) = (begin, end);
        for &(low, high) in &self.ranges[from..to] {
            new -= high.min(highest).saturating_sub(low.max(lowest));
            (begin, end) = (begin.min(low), end.max(high));
        }
        self.ranges.splice(from..to, [(begin, end)]);
        if self.ranges[0].0 == self.received_to {
            self.received_to = self.ranges.remove(0).1;
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_wrap() {
        let mut unwrapped = SequenceUnwrapper::default();
        assert_eq!(unwrapped.position(u32::MAX - 1), Some(0));
        assert_eq!(unwrapped.position(5), Some(7));
        assert_eq!(unwrapped.position(u32::MAX), Some(1));
        assert_eq!(unwrapped.position(u32::MAX - 10), None);
        // After eight steps of 2^30 bytes the sequence number repeats and the position does not.
        let positions: Vec<u64> =
            (1..=8u32).filter_map(|i| unwrapped.position(5u32.wrapping_add(i << 30))).collect();
        assert_eq!(positions.last(), Some(&(7 + (8 << 30))));
    }

    #[test]
    fn packets_are_numbered_behind_the_syn() {
        let numbers = [0, 1, 1000, 1001, 1500, 2001].map(|position| packet_number(position, 1000));
        assert_eq!(numbers, [0, 1, 1, 2, 2, 3]);
    }

    #[test]
    fn holes_fill() {
        let mut arrived = ReceivedRanges::default();
        assert_eq!(
            [(0, 10), (20, 30), (40, 50), (20, 30), (5, 25), (25, 60)]
                .map(|(a, b)| arrived.add(a, b)),
            [10, 10, 10, 0, 10, 20]
        );
        assert_eq!((arrived.received_to, arrived.ranges.len()), (60, 0));
    }

    proptest! {
        #[test]
        fn every_byte_is_new_once(ranges in prop::collection::vec((0u64..200, 1u64..30), 1..60)) {
            let (mut arrived, mut seen) = (ReceivedRanges::default(), [false; 230]);
            for (begin, length) in ranges {
                let bytes = &mut seen[begin as usize..(begin + length) as usize];
                let new = bytes.iter().filter(|seen| !**seen).count() as u64;
                bytes.fill(true);
                prop_assert_eq!(arrived.add(begin, begin + length), new);
            }
        }
    }
}
