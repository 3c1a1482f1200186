//! Finite TCP flows that arrive one after the other.

use super::{Distribution, KnobOverrides, Packets, RecoveryName, RuleText};
use cwndlab_units::{RateLimit, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Finite TCP flows that arrive one after the other (a Poisson process), with a size drawn for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArrivalSpec {
    /// Its name.
    #[serde(default = "arrivals_name")]
    pub name: String,
    /// Window rule.
    #[schemars(with = "String")]
    pub rule: RuleText,
    /// Loss recovery.
    #[serde(default)]
    pub recovery: RecoveryName,
    /// Mean time between arrivals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Time>,
    /// Or: one mean after the other, from the top again at the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// Arrivals at regular times instead of a Poisson process.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub regular: bool,
    /// Data packets of a flow.
    pub size: Distribution<Packets>,
    /// First arrival not before.
    #[serde(default)]
    pub start: Time,
    /// No arrivals from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Time>,
    /// Priority of its packets, 0 (first) to 3.
    #[serde(default = "super::traffic::low_priority")]
    pub priority: u8,
    /// Links from source to sink, where links are named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
    /// Links from sink to source; when absent, a pure delay as long as the path's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub back: Vec<String>,
    /// Node of the source: the path is the shortest to `to`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Node of the sink.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// In a dumbbell: data takes the way of the acknowledgements, and the other way round.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reverse: bool,
    /// Rate of the source's own link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_rate: Option<RateLimit>,
    /// Its delay; `[low, high]` is drawn per flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_delay: Option<Span>,
    /// Rate of the sink's own link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sink_rate: Option<RateLimit>,
    /// Its delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sink_delay: Option<Span>,
    /// Endpoint knobs, over the scenario's.
    #[serde(default, skip_serializing_if = "KnobOverrides::is_empty")]
    pub tcp: KnobOverrides,
}

/// A time with its own mean gap.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// How long.
    pub length: Time,
    /// Mean time between arrivals meanwhile.
    pub gap: Time,
}

fn arrivals_name() -> String {
    "arrivals".into()
}
