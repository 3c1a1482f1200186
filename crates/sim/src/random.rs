//! Streams of random numbers: one for each source of randomness, derived from (seed, name), so that adding a source leaves the
//! draws of all others alone.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A named stream.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of `name` in a run with `seed`.
    pub fn new(seed: u64, name: &str) -> Self {
        // FNV-1a over the name; the generator's own seeding (SplitMix64) spreads the result.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        Self(Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ hash))
    }

    /// Uniform in [0, 1), 53 bits.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in [low, high].
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Uniform integer in [low, high].
    #[cfg(test)]
    pub fn integer(&mut self, low: u64, high: u64) -> u64 {
        if high <= low { low } else { low + ((high - low + 1) as f64 * self.uniform()) as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_depend_on_seed_and_name_and_on_nothing_else() {
        let draws = |seed, name| {
            let mut stream = Stream::new(seed, name);
            [stream.uniform(), stream.uniform(), stream.uniform()]
        };
        assert_eq!(draws(1, "a"), draws(1, "a"));
        assert_ne!(draws(1, "a"), draws(1, "b"));
        assert_ne!(draws(1, "a"), draws(2, "a"));
    }

    #[test]
    fn the_mean_of_many_draws_is_one_half() {
        // Standard error of the mean of 1e5 uniform draws is 0.29/sqrt(1e5) = 0.0009.
        let mut stream = Stream::new(3, "mean");
        let mean = (0..100_000).map(|_| stream.uniform()).sum::<f64>() / 1e5;
        assert!((mean - 0.5).abs() < 0.004, "{mean}");
    }
}
