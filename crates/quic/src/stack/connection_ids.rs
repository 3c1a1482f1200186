//! Connection identifiers that repeat with their seed.

use quinn_proto::{ConnectionId, ConnectionIdGenerator};
use std::time::Duration;

/// Bytes of an identifier, as quinn's own generator makes them.
const BYTES: usize = 8;

/// Numbers connections, mixed with a seed (SplitMix64: Steele, Lea and Flood, "Fast splittable
/// pseudorandom number generators", OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct SeededConnectionIds(u64);

impl SeededConnectionIds {
    /// The identifiers of an endpoint with this seed.
    pub fn new(seed: &[u8; 32]) -> Self {
        let [a, b, c, d, e, f, g, h, ..] = *seed;
        Self(u64::from_le_bytes([a, b, c, d, e, f, g, h]))
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl ConnectionIdGenerator for SeededConnectionIds {
    fn generate_cid(&mut self) -> ConnectionId {
        ConnectionId::new(&self.next().to_be_bytes())
    }

    fn cid_len(&self) -> usize {
        BYTES
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}
