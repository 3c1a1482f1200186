//! Keyed hash of flow numbers.

/// A hash function, one for each key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowHash {
    key: u64,
}

impl FlowHash {
    pub(crate) fn new(key: u64) -> Self {
        Self { key: mix(key) }
    }

    /// Hash of a flow, uniform over all 64-bit numbers.
    #[inline]
    pub(crate) fn of(self, flow: u32) -> u64 {
        mix(self.key ^ u64::from(flow))
    }
}

/// The output function of SplitMix64: every bit of the argument changes half of the result's (G.
/// Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014,
/// figure 16).
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_published() {
        // The first output of SplitMix64 for the state 0, whose increment `mix` includes.
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn flows_spread_over_buckets_and_keys_spread_them_anew() {
        let buckets = |key| [0u32, 1, 2, 3, 4, 5, 6, 7].map(|flow| FlowHash::new(key).of(flow) % 4);
        assert!((0..20).all(|key| buckets(key).windows(2).any(|pair| pair[0] != pair[1])));
        assert!((0..20).any(|key| buckets(key) != buckets(key + 1)));
        // 4096 flows over 8 buckets: 512 each on average, with a deviation of 21.
        let mut counts = [0; 8];
        (0..4096).for_each(|flow| counts[FlowHash::new(9).of(flow) as usize % 8] += 1);
        assert!(counts.iter().all(|count| (428..596).contains(count)), "{counts:?}");
    }
}
