//! Trace hash: a hash over all packets sent and their fate, equal on every machine and thread count.
//!
//! Each sender and each link hashes its own events in order of time, and the run combines these
//! hashes in a fixed order. So runs with and without lookahead agree.

/// A running hash.
#[derive(Clone, Copy, Debug)]
pub struct TraceHash(u64);

impl Default for TraceHash {
    fn default() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }
}

impl TraceHash {
    /// Adds a value.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(23) ^ value).wrapping_mul(0xff51_afd7_ed55_8ccd);
    }

    /// The hash so far.
    pub fn value(self) -> u64 {
        let hash = (self.0 ^ (self.0 >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        hash ^ (hash >> 33)
    }
}
