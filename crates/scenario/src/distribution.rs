//! Distributions of a scenario: a constant value, or a table with a `kind`.

use crate::EmpiricalCdf;
use cwndlab_units::Time;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// A number of packets that may be drawn: not always an integer.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Packets(pub f64);

impl fmt::Display for Packets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A quantity with a distribution: a time or a number of packets.
pub trait Quantity {
    /// Its value, in seconds or packets.
    fn value(&self) -> f64;
}

impl Quantity for Time {
    fn value(&self) -> f64 {
        self.seconds()
    }
}

impl Quantity for Packets {
    fn value(&self) -> f64 {
        self.0
    }
}

/// A quantity that is drawn each time.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Distribution<T> {
    /// A constant.
    Constant(T),
    /// A probability distribution.
    Random(Law<T>),
}

/// A probability distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Law<T> {
    /// A constant.
    Constant {
        /// The value.
        value: T,
    },
    /// Uniform.
    Uniform {
        /// Least value.
        low: T,
        /// Greatest value.
        high: T,
    },
    /// Exponential.
    Exponential {
        /// Mean.
        mean: T,
    },
    /// Pareto: P(X > x) = (m/x)^shape with m = mean (shape - 1)/shape.
    Pareto {
        /// Mean.
        mean: T,
        /// Shape, above 1; up to 2 the variance is infinite.
        shape: f64,
        /// Greatest value: larger draws are truncated.
        #[serde(default = "none::<T>", skip_serializing_if = "Option::is_none")]
        most: Option<T>,
    },
    /// Log-normal.
    LogNormal {
        /// Mean.
        mean: T,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// Empirical CDF from a file: each line a value and the cumulative probability, neither ever
    /// decreasing, the last probability 1; linear in between. Times are seconds.
    Empirical {
        /// File name, relative to the scenario file.
        file: String,
        /// The parsed file.
        #[serde(skip)]
        #[schemars(skip)]
        cdf: EmpiricalCdf,
    },
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Distribution<T> {
    /// A table is a distribution, anything else a value, so that messages quote what was written.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let read = if value.is_object() {
            Law::deserialize(value).map(Self::Random)
        } else {
            T::deserialize(value).map(Self::Constant)
        };
        read.map_err(serde::de::Error::custom)
    }
}

impl<T: Quantity> Distribution<T> {
    /// Mean: seconds or packets.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Constant(value) | Self::Random(Law::Constant { value }) => value.value(),
            Self::Random(Law::Uniform { low, high }) => (low.value() + high.value()) / 2.0,
            Self::Random(Law::Pareto { mean, shape, most: Some(most) }) => {
                // Truncation takes the integral of (m/x)^shape from `most` on from the mean.
                let least = mean.value() * (shape - 1.0) / shape;
                mean.value() - least * libm::pow(least / most.value(), shape - 1.0) / (shape - 1.0)
            }
            Self::Random(
                Law::Exponential { mean }
                | Law::Pareto { mean, most: None, .. }
                | Law::LogNormal { mean, .. },
            ) => mean.value(),
            Self::Random(Law::Empirical { cdf, .. }) => cdf.mean(),
        }
    }
}

fn none<T>() -> Option<T> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_by_hand() {
        for (json, mean) in [
            ("7", 7.0),
            (r#"{"kind": "uniform", "low": 2, "high": 8}"#, 5.0),
            (r#"{"kind": "pareto", "mean": 12, "shape": 3}"#, 12.0),
            // From 16 on (8/x)^3 integrates to 512/(2 * 256) = 1.
            (r#"{"kind": "pareto", "mean": 12, "shape": 3, "most": 16}"#, 11.0),
            (r#"{"kind": "log-normal", "mean": 10, "sigma": 1}"#, 10.0),
        ] {
            let distribution: Distribution<Packets> = serde_json::from_str(json).unwrap();
            assert!((distribution.mean() - mean).abs() < 1e-12, "{json}: {}", distribution.mean());
        }
    }
}
