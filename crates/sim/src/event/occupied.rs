//! Which buckets of a calendar are occupied: the next one is found without a look at each.

/// Buckets of a calendar, in a ring.
pub const BUCKETS: usize = 1024;

/// Bits of a word.
const WORD: usize = u64::BITS as usize;

/// One bit for each bucket.
#[derive(Debug)]
pub struct Occupied([u64; BUCKETS / WORD]);

impl Default for Occupied {
    fn default() -> Self {
        Self([0; BUCKETS / WORD])
    }
}

impl Occupied {
    /// Bucket `index` is occupied.
    #[inline]
    pub fn set(&mut self, index: usize) {
        self.0[index / WORD] |= 1 << (index % WORD);
    }

    /// Bucket `index` is empty.
    #[inline]
    pub fn clear(&mut self, index: usize) {
        self.0[index / WORD] &= !(1 << (index % WORD));
    }

    /// How far ahead of bucket `from` (modulo [`BUCKETS`]) the next occupied one lies; none if all
    /// are empty.
    pub fn ahead(&self, from: usize) -> Option<usize> {
        let from = from % BUCKETS;
        let mut index = from / WORD;
        let mut word = self.0[index] & (!0 << (from % WORD));
        for _ in 0..=BUCKETS / WORD {
            if word != 0 {
                let bucket = index * WORD + word.trailing_zeros() as usize;
                return Some(bucket.wrapping_sub(from) % BUCKETS);
            }
            index = (index + 1) % (BUCKETS / WORD);
            word = self.0[index];
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_bucket_is_found_around_the_ring() {
        let mut occupied = Occupied::default();
        assert_eq!(occupied.ahead(5), None);
        occupied.set(3);
        assert_eq!(occupied.ahead(3), Some(0));
        assert_eq!(occupied.ahead(4), Some(BUCKETS - 1));
        assert_eq!(occupied.ahead(2 + 7 * BUCKETS), Some(1));
        occupied.set(700);
        assert_eq!(occupied.ahead(4), Some(696));
        occupied.clear(3);
        assert_eq!(occupied.ahead(701), Some(BUCKETS - 1));
        occupied.clear(700);
        assert_eq!(occupied.ahead(700), None);
    }
}
