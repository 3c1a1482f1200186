//! Traces that a scenario asks for.

use crate::word_or_time;
use cwndlab_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Traces to record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceSpec {
    /// Congestion windows, at this interval or "all" (at every acknowledgement and timeout).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwnd: Option<Sampling>,
    /// Phase and state of the rules, at this interval and at each change of phase, or "all".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<Sampling>,
    /// Queue lengths, at this interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Time>,
    /// Goodput in bins of this length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Time>,
    /// Every packet sent, received, acknowledged and dropped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub packets: bool,
    /// Percentiles of each flow's RTT, as columns of the flows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rtt: bool,
    /// Starvation and convergence of each flow, as columns of the flows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shares: bool,
    /// An account of each flow: what it did in each of its phases, for `explain`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub account: bool,
    /// What each group of flows does alone, as columns of the groups: a run more for each group.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub solo: bool,
}

impl TraceSpec {
    /// Whether no trace is recorded.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Sampling at an interval, or at every event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sampling {
    /// At every event.
    All,
    /// At an interval.
    Every(Time),
}

const ALL: &str = "all";
const EXAMPLE: &str = "an interval such as \"10ms\"";

impl<'de> Deserialize<'de> for Sampling {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let every = word_or_time::deserialize(deserializer, ALL, EXAMPLE)?;
        Ok(every.map_or(Self::All, Self::Every))
    }
}

impl Serialize for Sampling {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let every = if let Self::Every(time) = self { Some(*time) } else { None };
        word_or_time::serialize(every, ALL, serializer)
    }
}

impl JsonSchema for Sampling {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Sampling".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        word_or_time::schema(ALL, EXAMPLE)
    }
}
