//! Random variables of a scenario, drawn by inversion: one uniform number per draw, so that
//! streams stay aligned whatever the distribution.
//!
//! | distribution | value at a uniform u in [0, 1) |
//! | --- | --- |
//! | uniform | low + (high - low) u |
//! | exponential | -mean ln(1 - u) |
//! | Pareto | m (1 - u)^(-1/shape), m = mean (shape - 1)/shape, truncated at `most` |
//! | log-normal | exp(mu + sigma z(u)), mu = ln(mean) - sigma^2/2, z the normal quantile |
//! | empirical | linear interpolation between the points of its file |

use crate::random::stream::RandomStream;
use cwndlab_scenario::{Distribution, EmpiricalCdf, Law, Quantity};

/// A distribution with its random stream.
#[derive(Clone, Debug)]
pub struct RandomVariable {
    law: PreparedDistribution,
    stream: RandomStream,
}

/// A distribution with its constants computed.
#[derive(Clone, Debug)]
enum PreparedDistribution {
    Constant(f64),
    Uniform { low: f64, high: f64 },
    Exponential { mean: f64 },
    Pareto { least: f64, exponent: f64, most: f64 },
    LogNormal { mu: f64, sigma: f64 },
    Empirical(EmpiricalCdf),
}

impl RandomVariable {
    /// A distribution of a checked scenario, drawn from `stream`.
    pub fn new<T: Quantity>(distribution: &Distribution<T>, stream: RandomStream) -> Self {
        let law = match distribution {
            Distribution::Constant(value) | Distribution::Random(Law::Constant { value }) => {
                PreparedDistribution::Constant(value.value())
            }
            Distribution::Random(Law::Uniform { low, high }) => {
                PreparedDistribution::Uniform { low: low.value(), high: high.value() }
            }
            Distribution::Random(Law::Exponential { mean }) => {
                PreparedDistribution::Exponential { mean: mean.value() }
            }
            Distribution::Random(Law::Pareto { mean, shape, most }) => {
                PreparedDistribution::Pareto {
                    least: mean.value() * (shape - 1.0) / shape,
                    exponent: -1.0 / shape,
                    most: most.as_ref().map_or(f64::INFINITY, Quantity::value),
                }
            }
            Distribution::Random(Law::LogNormal { mean, sigma }) => {
                PreparedDistribution::LogNormal {
                    mu: libm::log(mean.value()) - sigma * sigma / 2.0,
                    sigma: *sigma,
                }
            }
            Distribution::Random(Law::Empirical { cdf, .. }) => {
                PreparedDistribution::Empirical(cdf.clone())
            }
        };
        Self { law, stream }
    }

    /// The next value as an integer number of packets, at least one.
    pub fn next_packets(&mut self) -> u64 {
        self.next().round().clamp(1.0, 1e12) as u64
    }

    /// The next value: seconds, or packets (not always an integer).
    pub fn next(&mut self) -> f64 {
        match &self.law {
            PreparedDistribution::Constant(value) => *value,
            PreparedDistribution::Uniform { low, high } => self.stream.between(*low, *high),
            PreparedDistribution::Exponential { mean } => mean * self.stream.exponential(),
            PreparedDistribution::Pareto { least, exponent, most } => {
                (least * libm::pow(1.0 - self.stream.uniform(), *exponent)).min(*most)
            }
            PreparedDistribution::LogNormal { mu, sigma } => {
                libm::exp(mu + sigma * self.stream.normal())
            }
            PreparedDistribution::Empirical(cdf) => cdf.quantile(self.stream.uniform()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwndlab_scenario::Packets;

    fn draws(json: &str, count: usize) -> Vec<f64> {
        let mut distribution: Distribution<Packets> = serde_json::from_str(json).unwrap();
        if let Distribution::Random(Law::Empirical { cdf, .. }) = &mut distribution {
            *cdf = EmpiricalCdf::parse("1 0.25\n3 0.75\n7 1\n").unwrap();
        }
        let mut draw = RandomVariable::new(&distribution, RandomStream::new(11, "draw"));
        (0..count).map(|_| draw.next()).collect()
    }

    /// Mean and the share of draws below `limit`, of 100,000.
    fn mean_and_share(json: &str, limit: f64) -> (f64, f64) {
        let all = draws(json, 100_000);
        (all.iter().sum::<f64>() / 1e5, all.iter().filter(|&&x| x < limit).count() as f64 / 1e5)
    }

    /// `found` is within four standard errors of `expected`.
    fn assert_near(found: f64, expected: f64, standard_error: f64) {
        assert!(
            (found - expected).abs() < 4.0 * standard_error,
            "{found} is not {expected} within {standard_error} times 4"
        );
    }

    // Each law: standard error of the mean = standard deviation/sqrt(1e5) = deviation/316.2; of a
    // share q: sqrt(q (1-q)/1e5).

    #[test]
    fn constant() {
        assert_eq!(draws("2.5", 2), [2.5, 2.5]);
        assert_eq!(draws(r#"{"kind": "constant", "value": 3}"#, 2), [3.0, 3.0]);
    }

    #[test]
    fn uniform_has_its_middle_as_mean() {
        // Deviation 6/sqrt(12) = 1.732; a quarter lies below 2 + 6/4.
        let (mean, share) = mean_and_share(r#"{"kind": "uniform", "low": 2, "high": 8}"#, 3.5);
        assert_near(mean, 5.0, 0.0055);
        assert_near(share, 0.25, 0.00137);
    }

    #[test]
    fn exponential_has_its_mean_and_median() {
        // Deviation 10; the median is 10 ln 2 = 6.931472.
        let (mean, share) = mean_and_share(r#"{"kind": "exponential", "mean": 10}"#, 6.931472);
        assert_near(mean, 10.0, 0.0316);
        assert_near(share, 0.5, 0.00158);
    }

    #[test]
    fn pareto_has_its_mean_and_tail_and_is_cut() {
        // Shape 3, mean 12: least 8, variance 64 * 3/((2)^2 (1)) = 48, deviation 6.93; P(X < 16) =
        // 1 - (8/16)^3 = 0.875.
        let json = r#"{"kind": "pareto", "mean": 12, "shape": 3}"#;
        let (mean, share) = mean_and_share(json, 16.0);
        assert_near(mean, 12.0, 0.0219);
        assert_near(share, 0.875, 0.00105);
        assert!(draws(json, 100_000).iter().all(|&x| x >= 8.0));
        let cut = draws(r#"{"kind": "pareto", "mean": 12, "shape": 3, "most": 16}"#, 100_000);
        // One in eight would be longer.
        assert_near(cut.iter().filter(|&&x| x == 16.0).count() as f64 / 1e5, 0.125, 0.00105);
        assert!(cut.iter().all(|&x| x <= 16.0));
    }

    #[test]
    fn log_normal_has_its_mean_and_median() {
        // Mean 10, sigma 1: deviation 10 sqrt(e - 1) = 13.1; median 10 exp(-1/2) = 6.065307.
        let (mean, share) =
            mean_and_share(r#"{"kind": "log-normal", "mean": 10, "sigma": 1}"#, 6.065307);
        assert_near(mean, 10.0, 0.0415);
        assert_near(share, 0.5, 0.00158);
    }

    #[test]
    fn empirical_follows_its_file() {
        // A quarter is 1; half lies evenly in 1..3, a quarter in 3..7. Mean 0.25 + 0.5 * 2 + 0.25 *
        // 5 = 2.5. Mean of squares 0.25 + 0.5 * 13/3 + 0.25 * 79/3 = 9, so the deviation is
        // sqrt(2.75) = 1.66. Below 2: 0.25 + 0.25.
        let (mean, share) = mean_and_share(r#"{"kind": "empirical", "file": "x"}"#, 2.0);
        assert_near(mean, 2.5, 0.0052);
        assert_near(share, 0.5, 0.00158);
        let cdf = EmpiricalCdf::parse("1 0.25\n3 0.75\n7 1\n").unwrap();
        assert_eq!(
            [0.0, 0.1, 0.25, 0.5, 0.875].map(|u| cdf.quantile(u)),
            [1.0, 1.0, 1.0, 2.0, 5.0]
        );
        assert_eq!(cdf.mean(), 2.5);
    }
}
