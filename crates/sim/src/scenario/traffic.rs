//! Who sends: TCP flows, and traffic that does not react.

use super::{Distribution, KnobOverrides, Packets, Waveform, one};
use cwndlab_tcp::Recovery;
use cwndlab_units::{Bytes, Rate, RateLimit, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Recovery schemes by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RecoveryName {
    /// Slow start after every loss.
    Tahoe,
    /// Fast recovery.
    Reno,
    /// Fast recovery that survives several losses in a window.
    NewReno,
    /// Selective acknowledgements.
    #[default]
    Sack,
}

impl From<RecoveryName> for Recovery {
    fn from(name: RecoveryName) -> Self {
        match name {
            RecoveryName::Tahoe => Self::Tahoe,
            RecoveryName::Reno => Self::Reno,
            RecoveryName::NewReno => Self::NewReno,
            RecoveryName::Sack => Self::Sack,
        }
    }
}

/// One or more TCP flows that are alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// Name; with a count above 1 the flows are `name-0`, `name-1`, ...
    #[serde(default = "flow_name")]
    pub name: String,
    /// How many.
    #[serde(default = "one")]
    pub count: u64,
    /// Window rule, such as "AIMD(1, 0.5)".
    #[schemars(with = "String")]
    pub rule: RuleText,
    /// Loss recovery.
    #[serde(default)]
    pub recovery: RecoveryName,
    /// When it starts; `[low, high]` is drawn per flow.
    #[serde(default)]
    pub start: Span,
    /// When its application stops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Time>,
    /// More of them join as time goes on: instead of all at `start`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub join: Option<Join>,
    /// Some leave as time goes on, the last to join first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leave: Option<Leave>,
    /// Answers requests, one after the other on one connection, instead of sending without end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub responses: Option<Responses>,
    /// Priority of its packets, 0 (first) to 3.
    #[serde(default = "low_priority")]
    pub priority: u8,
    /// Data packets to transfer; unlimited when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<u64>,
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
    /// Its delay.
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

impl FlowSpec {
    /// Whether `name` is this group, or one of its flows.
    pub fn matches(&self, name: &str) -> bool {
        let member = || name.strip_prefix(&self.name)?.strip_prefix('-')?.parse::<u64>().ok();
        name == self.name || (self.count > 1 && member().is_some_and(|i| i < self.count))
    }

    /// Name of its `i`-th flow.
    pub fn instance(&self, i: u64) -> String {
        instance(&self.name, i, self.count)
    }
}

/// Name of the `i`-th flow of a group of `count`.
pub fn instance(group: &str, i: u64, count: u64) -> String {
    if count == 1 { group.to_string() } else { format!("{group}-{i}") }
}

/// Flows that join in batches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Join {
    /// So many at `start`, and again
    pub batch: u64,
    /// after each of these times, until all of `count` are there.
    pub every: Time,
}

/// Flows that leave in batches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Leave {
    /// This share of those present (rounded to the nearest, at least one)
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// or so many
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<u64>,
    /// after each of these times, from 0 on, until none is left.
    pub every: Time,
}

/// Requests and responses on one connection, with time to think between.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Responses {
    /// Data packets of a response.
    pub size: Distribution<Packets>,
    /// From a whole response to the next request.
    pub think: Distribution<Time>,
}

/// Behind everything of priority 0.
pub(super) fn low_priority() -> u8 {
    1
}

fn flow_name() -> String {
    "tcp".into()
}

/// A rule kept with its text.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleText(pub cwndlab_rules::RuleSpec);

impl<'de> Deserialize<'de> for RuleText {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(serde::de::Error::custom)
    }
}

impl Serialize for RuleText {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// Traffic that does not react: constant bit rate, a rate that changes in time, or bursts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CrossSpec {
    /// Its name; with a count above 1 the sources are `name-0`, `name-1`, ...
    #[serde(default = "cross_name")]
    pub name: String,
    /// How many alike.
    #[serde(default = "one")]
    pub count: u64,
    /// Its rate; of bursts while one lasts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Waveform>,
    /// Or: what it leaves of the first link of its path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available: Option<Waveform>,
    /// With `available`, where queues share fairly: instead of one source of varying rate a varying number of sources of this rate,
    /// n (C - B)/B beside n other flows on a link of rate C that shall leave them B. It must be above the largest fair share. Sources that are on
    /// only where shares are small have less, four times their fair share: the rest would only be lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_rate: Option<Rate>,
    /// n above; the number of flows that cross the same link when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<u64>,
    /// Length of a burst, where it sends in bursts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<Distribution<Time>>,
    /// Time between bursts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off: Option<Distribution<Time>>,
    /// Bytes of a packet on the wire.
    #[serde(default = "thousand_bytes")]
    pub packet_size: Bytes,
    /// Priority of its packets, 0 (first) to 3.
    #[serde(default = "low_priority")]
    pub priority: u8,
    /// Links it crosses; the bottleneck when absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
    /// Node of the source: the path is the shortest to `to`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Node where it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// In a dumbbell: it takes the way of the acknowledgements.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reverse: bool,
    /// When it starts; `[low, high]` is drawn per source.
    #[serde(default)]
    pub start: Span,
    /// When it stops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Time>,
}

fn cross_name() -> String {
    "cross".into()
}

fn thousand_bytes() -> Bytes {
    Bytes(1000)
}
