//! Rates that change in time: shapes, as a scenario writes them.

use super::DeliveryOpportunities;
use cwndlab_units::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

/// A rate over time. Written as a rate (constant) or as a table with a `kind`.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(untagged)]
pub enum Waveform {
    /// One rate throughout.
    Constant(Rate),
    /// A shape.
    Shape(Shape),
}

/// Shapes of a rate over time, each constant between changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Shape {
    /// One rate throughout.
    Constant {
        /// The rate.
        rate: Rate,
    },
    /// High and low in turn, high first.
    Square {
        /// First rate.
        high: Rate,
        /// Second rate.
        low: Rate,
        /// Time at each.
        every: Time,
    },
    /// Rises from low to high over a period, then drops back.
    SawTooth {
        /// Rate at the start of a period.
        low: Rate,
        /// Rate at its end.
        high: Rate,
        /// Length of a period.
        period: Time,
        /// Time between changes; a hundredth of the period when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<Time>,
    },
    /// A random walk: each step adds a number drawn uniformly from [-spread, spread].
    Walk {
        /// First rate.
        start: Rate,
        /// Largest step.
        spread: Rate,
        /// Time between steps.
        every: Time,
        /// Floor.
        min: Rate,
        /// Ceiling.
        max: Rate,
    },
    /// Drawn afresh, uniformly, at each interval.
    Uniform {
        /// Smallest rate.
        low: Rate,
        /// Largest rate.
        high: Rate,
        /// Time between draws.
        every: Time,
    },
    /// A recorded link: a file in mahimahi's format, each line a millisecond at which 1500 bytes may leave, unused ones lost, again from
    /// the top at its end.
    Trace {
        /// The file; in a scenario file, beside it.
        file: String,
        /// What it says, once the scenario is read.
        #[serde(skip)]
        #[schemars(skip)]
        opportunities: DeliveryOpportunities,
    },
    /// A list of times and rates.
    Points {
        /// `[time, rate]`: the rate holds from that time on; the first time is 0.
        points: Vec<(Time, Rate)>,
        /// Start again at this time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repeat: Option<Time>,
    },
}

impl Waveform {
    /// The first rate, which sizes buffers; of a recording the mean.
    pub fn first(&self) -> Rate {
        match self {
            Self::Constant(rate) | Self::Shape(Shape::Constant { rate }) => *rate,
            Self::Shape(Shape::Square { high, .. }) => *high,
            Self::Shape(Shape::SawTooth { low, .. }) => *low,
            Self::Shape(Shape::Walk { start, .. }) => *start,
            Self::Shape(Shape::Uniform { high, .. }) => *high,
            Self::Shape(Shape::Trace { opportunities, .. }) => opportunities.mean(),
            Self::Shape(Shape::Points { points, .. }) => {
                points.first().map_or(Rate::bits_per_second(1), |point| point.1)
            }
        }
    }

    /// The largest rate it can take; of a recording the mean.
    pub fn largest(&self) -> Rate {
        match self {
            Self::Constant(rate) | Self::Shape(Shape::Constant { rate }) => *rate,
            Self::Shape(Shape::Square { high, low, .. } | Shape::SawTooth { high, low, .. }) => {
                *high.max(low)
            }
            Self::Shape(Shape::Walk { max, .. }) => *max,
            Self::Shape(Shape::Uniform { high, .. }) => *high,
            Self::Shape(Shape::Trace { opportunities, .. }) => opportunities.mean(),
            Self::Shape(Shape::Points { points, .. }) => {
                points.iter().map(|point| point.1).max().unwrap_or(Rate::bits_per_second(1))
            }
        }
    }

    /// The smallest rate it can take: of a recording 1 bit/s, since it has gaps.
    pub fn smallest(&self) -> Rate {
        match self {
            Self::Constant(rate) | Self::Shape(Shape::Constant { rate }) => *rate,
            Self::Shape(Shape::Square { high, low, .. } | Shape::SawTooth { high, low, .. }) => {
                *high.min(low)
            }
            Self::Shape(Shape::Walk { min, .. }) => *min,
            Self::Shape(Shape::Uniform { low, .. }) => *low,
            Self::Shape(Shape::Trace { .. }) => Rate::bits_per_second(1),
            Self::Shape(Shape::Points { points, .. }) => {
                points.iter().map(|point| point.1).min().unwrap_or(Rate::bits_per_second(1))
            }
        }
    }

    /// The key and the length of the time between its changes; none if it does not change, or only so often.
    pub fn shortest_piece(&self) -> Option<(&'static str, Time)> {
        let Self::Shape(shape) = self else { return None };
        match shape {
            Shape::Constant { .. } | Shape::Points { repeat: None, .. } => None,
            Shape::Trace { opportunities, .. } => Some(("file", opportunities.mean_gap())),
            Shape::Square { every, .. }
            | Shape::Walk { every, .. }
            | Shape::Uniform { every, .. } => Some(("every", *every)),
            Shape::SawTooth { period, step, .. } => {
                Some(("step", step.unwrap_or(Time::ns(period.nanoseconds() / 100))))
            }
            Shape::Points { points, repeat: Some(repeat) } => {
                Some(("repeat", Time::ns(repeat.nanoseconds() / points.len().max(1) as u64)))
            }
        }
    }

    /// What is wrong with it, if anything: the key and a message.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        const SHORTEST: Time = Time::ns(1_000);
        let at_least = |key: &'static str, time: Time| {
            (time < SHORTEST).then(|| (key, format!("{time} is too short: at least 1us")))
        };
        let period_at_least = |period: Time| {
            (period < Time::ns(100_000))
                .then(|| ("period", format!("{period} is too short: at least 100us")))
        };
        let Self::Shape(shape) = self else { return None };
        match shape {
            Shape::Constant { .. } | Shape::Trace { .. } => None,
            Shape::Square { every, .. } => at_least("every", *every),
            Shape::SawTooth { low, high, period, step } => match (low <= high, step) {
                (false, _) => Some(("low", format!("{low} is above high = {high}"))),
                (_, Some(step)) if step > period => {
                    Some(("step", format!("{step} is longer than period = {period}")))
                }
                (_, step) => period_at_least(*period)
                    .or_else(|| step.and_then(|step| at_least("step", step))),
            },
            Shape::Walk { start, every, min, max, .. } => {
                match (min <= start && start <= max, every) {
                    (false, _) => {
                        Some(("start", format!("{start} is outside [min, max] = [{min}, {max}]")))
                    }
                    (_, every) => at_least("every", *every),
                }
            }
            Shape::Uniform { low, high, every } if low > high => {
                Some(("low", format!("{low} is above high = {high}")))
                    .or_else(|| at_least("every", *every))
            }
            Shape::Uniform { every, .. } => at_least("every", *every),
            Shape::Points { points, repeat } => {
                let last = points.last().map(|point| point.0);
                if points.first().is_none_or(|point| point.0 != Time::default()) {
                    Some(("points", "the first point must be at time 0".into()))
                } else if points.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
                    Some(("points", "times must increase from point to point".into()))
                } else if repeat.is_some_and(|repeat| Some(repeat) <= last) {
                    Some(("repeat", "it must be later than the last point".into()))
                } else {
                    None
                }
            }
        }
    }
}

impl<'de> Deserialize<'de> for Waveform {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Waveform;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a rate such as \"10Mbit\", or a table such as { kind = \"square\", high = \"10Mbit\", low = \"5Mbit\", every = \"5s\" }")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Waveform, E> {
                text.parse().map(Waveform::Constant).map_err(E::custom)
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Waveform, E> {
                Rate::from_bps(value).map(Waveform::Constant).map_err(E::custom)
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Waveform, E> {
                self.visit_f64(value as f64)
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Waveform, E> {
                self.visit_f64(value as f64)
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Waveform, A::Error> {
                Shape::deserialize(de::value::MapAccessDeserializer::new(map)).map(Waveform::Shape)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl Serialize for Waveform {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Constant(rate) => rate.serialize(serializer),
            Self::Shape(shape) => shape.serialize(serializer),
        }
    }
}
