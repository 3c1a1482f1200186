//! Quantities drawn at random: a value, or a table with a `kind`.

use super::Cdf;
use cwndlab_units::Time;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};

/// A number of packets, where it is drawn: not always whole.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Packets(pub f64);

/// What can be drawn: seconds or packets.
pub trait Quantity {
    /// As a number.
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

/// A quantity drawn afresh each time.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Distribution<T> {
    /// Always the same.
    Constant(T),
    /// At random.
    Random(Law<T>),
}

/// A law of chance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Law<T> {
    /// Always the same.
    Constant {
        /// The value.
        value: T,
    },
    /// Uniform.
    Uniform {
        /// Least.
        low: T,
        /// Most.
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
        /// Shape, above 1; at most 2 the variance is infinite.
        shape: f64,
        /// Largest value: longer ones are cut.
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
    /// As in a file: each line a value and the share of draws up to it, neither ever decreasing, the last share 1; straight lines
    /// between. Times are seconds.
    Empirical {
        /// The file; in a scenario file, beside it.
        file: String,
        /// What it says, once the scenario is read.
        #[serde(skip)]
        #[schemars(skip)]
        cdf: Cdf,
    },
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Distribution<T> {
    /// A table is a law, anything else a value: so that messages speak of what was written.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let read = if value.is_object() { Law::deserialize(value).map(Self::Random) } else { T::deserialize(value).map(Self::Constant) };
        read.map_err(serde::de::Error::custom)
    }
}

fn none<T>() -> Option<T> {
    None
}
