//! Random streams: one independent generator per source of randomness, derived from (seed, name),
//! so that adding a source leaves all other draws unchanged.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A named random stream (xoshiro256++).
#[derive(Clone, Debug)]
pub struct RandomStream(Xoshiro256PlusPlus);

impl RandomStream {
    /// The stream `name` of a run with `seed`.
    pub fn new(seed: u64, name: &str) -> Self {
        // FNV-1a over the name; the generator's own seeding (SplitMix64) spreads the result.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
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

    /// Exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.uniform())
    }

    /// Normal with mean 0 and variance 1.
    pub fn normal(&mut self) -> f64 {
        // Never 0, where the quantile is infinite: half a step of `uniform` stands for it.
        normal_quantile(self.uniform().max(0.5 / (1u64 << 53) as f64))
    }

    /// Uniform integer in [low, high].
    #[cfg(test)]
    pub fn integer(&mut self, low: u64, high: u64) -> u64 {
        if high <= low { low } else { low + ((high - low + 1) as f64 * self.uniform()) as u64 }
    }
}

/// Quantile of the standard normal distribution at `p` in (0, 1): Acklam's rational approximation
/// (relative error below 1.15e-9), which needs arithmetic only, and a square root and a logarithm
/// in the tails.
fn normal_quantile(p: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969683028665376e1,
        2.209460984245205e2,
        -2.759285104469687e2,
        1.38357751867269e2,
        -3.066479806614716e1,
        2.506628277459239,
    ];
    const B: [f64; 6] = [
        -5.447609879822406e1,
        1.615858368580409e2,
        -1.556989798598866e2,
        6.680131188771972e1,
        -1.328068155288572e1,
        1.0,
    ];
    const C: [f64; 6] = [
        -7.784894002430293e-3,
        -3.223964580411365e-1,
        -2.400758277161838,
        -2.549732539343734,
        4.374664141464968,
        2.938163982698783,
    ];
    const D: [f64; 5] =
        [7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416, 1.0];
    const TAIL: f64 = 0.02425;
    let polynomial =
        |coefficients: &[f64], x: f64| coefficients.iter().fold(0.0, |sum, c| sum * x + c);
    let tail = |p: f64| {
        let q = (-2.0 * libm::log(p)).sqrt();
        polynomial(&C, q) / polynomial(&D, q)
    };
    if p < TAIL {
        tail(p)
    } else if p > 1.0 - TAIL {
        -tail(1.0 - p)
    } else {
        let q = p - 0.5;
        q * polynomial(&A, q * q) / polynomial(&B, q * q)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_quantiles_as_in_tables() {
        // NIST/SEMATECH e-Handbook, 1.3.6.7.1: P(Z < 1.959964) = 0.975, P(Z < 1.281552) = 0.9; and
        // P(Z < -3.090232) = 0.001.
        for (p, z) in [
            (0.5, 0.0),
            (0.975, 1.959_964),
            (0.1, -1.281_552),
            (0.001, -3.090_232),
            (0.999, 3.090_232),
        ] {
            assert!((normal_quantile(p) - z).abs() < 1e-6, "{p}: {}", normal_quantile(p));
        }
    }

    #[test]
    fn streams_depend_on_seed_and_name_and_on_nothing_else() {
        let draws = |seed, name| {
            let mut stream = RandomStream::new(seed, name);
            [stream.uniform(), stream.uniform(), stream.uniform()]
        };
        assert_eq!(draws(1, "a"), draws(1, "a"));
        assert_ne!(draws(1, "a"), draws(1, "b"));
        assert_ne!(draws(1, "a"), draws(2, "a"));
    }

    #[test]
    fn the_mean_of_many_draws_is_one_half() {
        // Standard error of the mean of 1e5 uniform draws is 0.29/sqrt(1e5) = 0.0009.
        let mut stream = RandomStream::new(3, "mean");
        let mean = (0..100_000).map(|_| stream.uniform()).sum::<f64>() / 1e5;
        assert!((mean - 0.5).abs() < 0.004, "{mean}");
    }
}
