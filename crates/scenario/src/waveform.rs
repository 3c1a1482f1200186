//! Waveforms of a scenario: piecewise constant rates over time.

use crate::check::conditions::{Checked, at_least, conflict, invalid, low_first};
use crate::{DeliveryOpportunities, LogSpec, TraceStart};
use cwndlab_units::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

/// A rate over time: a rate (constant), or a table with a `kind`.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(untagged)]
pub enum Waveform {
    /// A constant rate.
    Constant(Rate),
    /// A waveform.
    Shape(Shape),
}

/// Piecewise constant waveforms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Shape {
    /// A constant rate.
    Constant {
        /// The rate.
        rate: Rate,
    },
    /// Square wave: high and low in turn, high first.
    Square {
        /// First rate.
        high: Rate,
        /// Second rate.
        low: Rate,
        /// Time at each rate.
        every: Time,
    },
    /// Sawtooth: rises from low to high over a period, then drops back.
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
    /// Random walk: each step adds a number drawn uniformly from [-spread, spread].
    Walk {
        /// Initial rate.
        start: Rate,
        /// Largest step.
        spread: Rate,
        /// Time between steps.
        every: Time,
        /// Lower bound.
        min: Rate,
        /// Upper bound.
        max: Rate,
    },
    /// Uniform random rate, drawn at each interval.
    Uniform {
        /// Smallest rate.
        low: Rate,
        /// Largest rate.
        high: Rate,
        /// Time between draws.
        every: Time,
    },
    /// A trace in mahimahi's format: each line a millisecond at which 1500 bytes may leave; unused
    /// opportunities are lost, and the trace repeats at its end.
    Trace {
        /// File name, relative to the scenario file.
        file: String,
        /// Time in the trace at which the run starts, in whole milliseconds, or "random": drawn
        /// from the seed. The trace is a cycle.
        #[serde(default, skip_serializing_if = "TraceStart::is_beginning")]
        start: TraceStart,
        /// The parsed file.
        #[serde(skip)]
        #[schemars(skip)]
        opportunities: DeliveryOpportunities,
    },
    /// A recorded rate: a text file of times and rates, or of times and amounts.
    Log(Box<LogSpec>),
    /// A synthetic cellular link: delivery opportunities of 1500 bytes are a Poisson process whose
    /// rate does a Brownian motion, with outages (after Winstein et al. 2013).
    Cellular {
        /// Mean rate, outages included.
        mean: Rate,
        /// Standard deviation of the change of the rate within a second; 0.4 of the mean when
        /// absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        noise: Option<Rate>,
        /// Share of time without any opportunity, 0 to 0.5.
        #[serde(default = "outage_share")]
        outage_share: f64,
        /// Mean length of an outage.
        #[serde(default = "outage_length")]
        outage_length: Time,
    },
    /// Grants, as of a cable modem: at each interval, as many bytes as the rate sends in it may
    /// leave at once; what is not used is lost.
    Grants {
        /// Rate over many intervals.
        rate: Rate,
        /// Interval.
        every: Time,
    },
    /// A list of times and rates.
    Points {
        /// `[time, rate]`: the rate holds from that time on; the first time is 0.
        points: Vec<(Time, Rate)>,
        /// Period of repetition.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repeat: Option<Time>,
    },
}

/// A choice: the paper has no share.
fn outage_share() -> f64 {
    0.05
}

/// Winstein et al. 2013, section 3.1: outages end at a rate of 1 per second.
fn outage_length() -> Time {
    Time::ns(1_000_000_000)
}

/// Largest rate of a cellular link: between outages it is uniform from 0 on.
fn cellular_peak(mean: Rate, outage_share: f64) -> Rate {
    Rate::bits_per_second((2.0 * mean.bps() as f64 / (1.0 - outage_share)).round() as u64)
}

impl Waveform {
    /// The initial rate, which sizes buffers; of a trace, a log or a cellular link the mean.
    pub fn first(&self) -> Rate {
        match self {
            Self::Constant(rate) | Self::Shape(Shape::Constant { rate }) => *rate,
            Self::Shape(Shape::Square { high, .. }) => *high,
            Self::Shape(Shape::SawTooth { low, .. }) => *low,
            Self::Shape(Shape::Walk { start, .. }) => *start,
            Self::Shape(Shape::Uniform { high, .. }) => *high,
            Self::Shape(Shape::Trace { opportunities, .. }) => opportunities.mean(),
            Self::Shape(Shape::Log(spec)) => spec.log().mean(),
            Self::Shape(Shape::Cellular { mean, .. }) => *mean,
            Self::Shape(Shape::Grants { rate, .. }) => *rate,
            Self::Shape(Shape::Points { points, .. }) => {
                points.first().map_or(Rate::bits_per_second(1), |point| point.1)
            }
        }
    }

    /// The largest rate; of a trace the mean.
    pub fn largest(&self) -> Rate {
        match self {
            Self::Constant(rate) | Self::Shape(Shape::Constant { rate }) => *rate,
            Self::Shape(Shape::Square { high, low, .. } | Shape::SawTooth { high, low, .. }) => {
                *high.max(low)
            }
            Self::Shape(Shape::Walk { max, .. }) => *max,
            Self::Shape(Shape::Uniform { high, .. }) => *high,
            Self::Shape(Shape::Trace { opportunities, .. }) => opportunities.mean(),
            Self::Shape(Shape::Log(spec)) => spec.log().largest(),
            Self::Shape(Shape::Cellular { mean, outage_share, .. }) => {
                cellular_peak(*mean, *outage_share)
            }
            Self::Shape(Shape::Grants { rate, .. }) => *rate,
            Self::Shape(Shape::Points { points, .. }) => {
                points.iter().map(|point| point.1).max().unwrap_or(Rate::bits_per_second(1))
            }
        }
    }

    /// The smallest rate; of a trace, a cellular link or a log with outages 1 bit/s, since it has
    /// gaps.
    pub fn smallest(&self) -> Rate {
        match self {
            Self::Constant(rate) | Self::Shape(Shape::Constant { rate }) => *rate,
            Self::Shape(Shape::Square { high, low, .. } | Shape::SawTooth { high, low, .. }) => {
                *high.min(low)
            }
            Self::Shape(Shape::Walk { min, .. }) => *min,
            Self::Shape(Shape::Uniform { low, .. }) => *low,
            Self::Shape(Shape::Trace { .. } | Shape::Cellular { .. }) => Rate::bits_per_second(1),
            Self::Shape(Shape::Log(spec)) => spec.smallest(),
            Self::Shape(Shape::Grants { rate, .. }) => *rate,
            Self::Shape(Shape::Points { points, .. }) => {
                points.iter().map(|point| point.1).min().unwrap_or(Rate::bits_per_second(1))
            }
        }
    }

    /// Whether bytes leave at moments, not at a rate.
    pub fn has_opportunities(&self) -> bool {
        matches!(
            self,
            Self::Shape(Shape::Trace { .. } | Shape::Cellular { .. } | Shape::Grants { .. })
        )
    }

    /// The key and the length of the shortest time between changes; none if there is no bound on
    /// the number of changes to check.
    pub fn shortest_piece(&self) -> Option<(&'static str, Time)> {
        let Self::Shape(shape) = self else { return None };
        match shape {
            Shape::Constant { .. } | Shape::Points { repeat: None, .. } => None,
            Shape::Trace { opportunities, .. } => Some(("file", opportunities.mean_gap())),
            Shape::Log(spec) => spec.mean_piece().map(|piece| ("file", piece)),
            Shape::Cellular { mean, outage_share, .. } => {
                let peak_bps = cellular_peak(*mean, *outage_share).bps().max(1);
                Some(("mean", Time::ns(12_000_000_000_000 / peak_bps)))
            }
            Shape::Square { every, .. }
            | Shape::Grants { every, .. }
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

    /// Checks its parameters. `key`: the key that it stands at.
    pub(crate) fn check(&self, key: &str) -> Checked {
        let at = |name: &str| format!("{key}.{name}");
        let every_at_least = |every: Time| at_least(at("every"), every, Time::ns(1_000));
        let Self::Shape(shape) = self else { return Ok(()) };
        match shape {
            Shape::Constant { .. } => Ok(()),
            Shape::Trace { start, opportunities, .. } => {
                start.check(&at("start"), opportunities.length())
            }
            Shape::Log(spec) => spec.check(key),
            Shape::Cellular { outage_share, outage_length, .. } => {
                if !(0.0..=0.5).contains(outage_share) {
                    return invalid(at("outage_share"), outage_share, "a number from 0 to 0.5");
                }
                at_least(at("outage_length"), *outage_length, Time::ns(1_000_000))
            }
            Shape::Grants { every, .. } | Shape::Square { every, .. } => every_at_least(*every),
            Shape::SawTooth { low, high, period, step } => {
                low_first(at("low"), low, high)?;
                if let Some(step) = step.filter(|step| step > period) {
                    return invalid(at("step"), step, format!("at most period = {period}"));
                }
                at_least(at("period"), *period, Time::ns(100_000))?;
                step.map_or(Ok(()), |step| at_least(at("step"), step, Time::ns(1_000)))
            }
            Shape::Walk { start, every, min, max, .. } => {
                if !(min <= start && start <= max) {
                    return invalid(at("start"), start, format!("min = {min} to max = {max}"));
                }
                every_at_least(*every)
            }
            Shape::Uniform { low, high, every } => {
                low_first(at("low"), low, high)?;
                every_at_least(*every)
            }
            Shape::Points { points, repeat } => {
                let last = points.last().map(|point| point.0);
                if points.first().is_none_or(|point| point.0 != Time::default()) {
                    return conflict(at("points"), "the first time must be 0");
                }
                if points.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
                    return conflict(at("points"), "times must increase");
                }
                if repeat.is_some_and(|repeat| Some(repeat) <= last) {
                    return conflict(at("repeat"), "`repeat` must be later than the last point");
                }
                Ok(())
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
                f.write_str(
                    "a rate such as \"10Mbit\", or a table such as { kind = \"square\", \
                 high = \"10Mbit\", low = \"5Mbit\", every = \"5s\" }",
                )
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
