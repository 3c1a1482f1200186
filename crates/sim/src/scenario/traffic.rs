//! Who sends: TCP flows, and traffic that does not react.

use super::{KnobOverrides, Waveform, one};
use cwndlab_tcp::Recovery;
use cwndlab_units::{Bytes, RateLimit, Span, Time};
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
    /// Data packets to transfer; unlimited when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<u64>,
    /// Links from source to sink, where links are named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
    /// Links from sink to source; when absent, a pure delay as long as the path's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub back: Vec<String>,
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

/// Constant-bit-rate traffic whose rate may change in time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CrossSpec {
    /// Its name.
    #[serde(default = "cross_name")]
    pub name: String,
    /// Its rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Waveform>,
    /// Or: what it leaves of the first link of its path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available: Option<Waveform>,
    /// Bytes of a packet on the wire.
    #[serde(default = "thousand_bytes")]
    pub packet_size: Bytes,
    /// Links it crosses; the bottleneck when absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
    /// When it starts.
    #[serde(default)]
    pub start: Time,
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
