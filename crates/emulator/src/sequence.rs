//! TCP sequence numbers: unwrapping to 64 bits, and the ranges of bytes that have arrived.

/// Converts 32-bit sequence numbers to 64-bit positions in the byte stream.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwrapped {
    /// Sequence number of position 0; none before the first call.
    first: Option<u32>,
    /// Highest position so far.
    furthest: u64,
}

impl Unwrapped {
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

/// The bytes that have arrived: all before `upto`, and separate ranges beyond it.
#[derive(Clone, Debug, Default)]
pub struct Arrived {
    upto: u64,
    /// Ranges beyond `upto`, sorted and disjoint.
    pieces: Vec<(u64, u64)>,
}

impl Arrived {
    /// Adds the bytes [begin, end) and returns how many of them are new.
    pub fn add(&mut self, begin: u64, end: u64) -> u64 {
        let (mut begin, mut end) = (begin.max(self.upto), end);
        if begin >= end {
            return 0;
        }
        if begin == self.upto && self.pieces.is_empty() {
            self.upto = end;
            return end - begin;
        }
        let mut new = end - begin;
        let from = self.pieces.partition_point(|piece| piece.1 < begin);
        let to = self.pieces.partition_point(|piece| piece.0 <= end);
        let (lowest, highest) = (begin, end);
        for &(low, high) in &self.pieces[from..to] {
            new -= high.min(highest).saturating_sub(low.max(lowest));
            (begin, end) = (begin.min(low), end.max(high));
        }
        self.pieces.splice(from..to, [(begin, end)]);
        if self.pieces[0].0 == self.upto {
            self.upto = self.pieces.remove(0).1;
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
        let mut unwrapped = Unwrapped::default();
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
    fn holes_fill() {
        let mut arrived = Arrived::default();
        assert_eq!(
            [(0, 10), (20, 30), (40, 50), (20, 30), (5, 25), (25, 60)]
                .map(|(a, b)| arrived.add(a, b)),
            [10, 10, 10, 0, 10, 20]
        );
        assert_eq!((arrived.upto, arrived.pieces.len()), (60, 0));
    }

    proptest! {
        #[test]
        fn every_byte_is_new_once(pieces in prop::collection::vec((0u64..200, 1u64..30), 1..60)) {
            let (mut arrived, mut seen) = (Arrived::default(), [false; 230]);
            for (begin, length) in pieces {
                let bytes = &mut seen[begin as usize..(begin + length) as usize];
                let new = bytes.iter().filter(|seen| !**seen).count() as u64;
                bytes.fill(true);
                prop_assert_eq!(arrived.add(begin, begin + length), new);
            }
        }
    }
}
