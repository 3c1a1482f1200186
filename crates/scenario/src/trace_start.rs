//! Where in a trace a run starts: at a given time, or at one drawn from the seed.

use crate::check::conditions::{Checked, invalid};
use crate::word_or_time;
use cwndlab_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const MILLISECOND_NS: u64 = 1_000_000;
const RANDOM: &str = "random";
const EXAMPLE: &str = "a time such as \"10s\"";

/// Start of a run in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceStart {
    /// Drawn from the seed, uniformly over the trace.
    Random,
    /// At this time of the trace.
    At(Time),
}

impl Default for TraceStart {
    fn default() -> Self {
        Self::At(Time::default())
    }
}

impl TraceStart {
    /// Whether it is the beginning of the trace.
    pub fn is_beginning(&self) -> bool {
        *self == Self::default()
    }

    /// Checks that it is in a trace of this length.
    pub(crate) fn check(&self, key: &str, length: Time) -> Checked {
        let Self::At(time) = self else { return Ok(()) };
        let is_in_trace = *time < length || self.is_beginning();
        if is_in_trace && time.nanoseconds().is_multiple_of(MILLISECOND_NS) {
            return Ok(());
        }
        let expected = "\"random\", or whole milliseconds below the trace's length";
        invalid(key, time, format!("{expected}, {length}"))
    }
}

impl<'de> Deserialize<'de> for TraceStart {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let at = word_or_time::deserialize(deserializer, RANDOM, EXAMPLE)?;
        Ok(at.map_or(Self::Random, Self::At))
    }
}

impl Serialize for TraceStart {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let at = if let Self::At(time) = self { Some(*time) } else { None };
        word_or_time::serialize(at, RANDOM, serializer)
    }
}

impl JsonSchema for TraceStart {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TraceStart".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        word_or_time::schema(RANDOM, EXAMPLE)
    }
}
