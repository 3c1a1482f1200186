//! What is simulated: one definition for TOML, JSON, Python and the docs.

mod check;
mod knobs;
mod parse;
mod waveform;

pub use knobs::KnobOverrides;
pub use parse::{ScenarioError, schema};
pub use waveform::{Shape, Waveform};

use cwndlab_tcp::{Profile, Recovery};
use cwndlab_units::{Buffer, Bytes, Rate, RateLimit, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A network, the traffic on it, and what is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// A name for tables and plots.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Simulated time.
    pub duration: Time,
    /// Measuring window [from, to]; the whole run when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measure: Option<[Time; 2]>,
    /// Seed of every random stream.
    #[serde(default = "one")]
    pub seed: u64,
    /// Where the endpoints' defaults come from.
    #[serde(default)]
    pub profile: ProfileName,
    /// Bins of the rate whose coefficient of variation is `rate_cov`.
    #[serde(default = "one_second")]
    pub rate_bin: Time,
    /// What "bdp" means in buffers; by default a link's own first rate and the mean round trip of the flows that cross it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bdp: Option<Bdp>,
    /// The usual network: two routers and the link between them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dumbbell: Option<Dumbbell>,
    /// Or any set of links, on which flows name their path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkSpec>,
    /// TCP flows.
    #[serde(default)]
    pub flows: Vec<FlowSpec>,
    /// Traffic that does not react.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cross: Vec<CrossSpec>,
    /// Endpoint knobs of all flows, over the profile's.
    #[serde(default, skip_serializing_if = "KnobOverrides::is_empty")]
    pub tcp: KnobOverrides,
    /// What is recorded beside the metrics.
    #[serde(default, skip_serializing_if = "TraceSpec::is_empty")]
    pub trace: TraceSpec,
}

fn one() -> u64 {
    1
}

fn one_second() -> Time {
    Time::ns(1_000_000_000)
}

/// The product that "1bdp" stands for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bdp {
    /// Rate.
    pub rate: Rate,
    /// Round trip.
    pub rtt: Time,
}

/// Endpoint profiles by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ProfileName {
    /// ns-2 as installed today.
    #[serde(rename = "ns2-2.35")]
    Ns2_235,
    /// ns-2 of the papers' years.
    #[serde(rename = "ns2-2000")]
    Ns2_2000,
    /// Today's RFCs.
    #[default]
    #[serde(rename = "rfc")]
    Rfc,
}

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Self {
        match name {
            ProfileName::Ns2_235 => Self::Ns2_235,
            ProfileName::Ns2_2000 => Self::Ns2_2000,
            ProfileName::Rfc => Self::Rfc,
        }
    }
}

/// Two routers, the bottleneck between them, and each flow's own links to them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dumbbell {
    /// Rate of the bottleneck, constant or changing in time.
    pub rate: Waveform,
    /// Its propagation delay, one way.
    pub delay: Time,
    /// Its queue.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Packets lost on it beside the queue's drops.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loss: Vec<LossSpec>,
    /// Rate of each source's own link.
    #[serde(default)]
    pub access_rate: RateLimit,
    /// Its delay, one way; `[low, high]` is drawn per flow.
    #[serde(default)]
    pub access_delay: Span,
    /// Rate of each sink's own link.
    #[serde(default)]
    pub sink_rate: RateLimit,
    /// Its delay, one way.
    #[serde(default)]
    pub sink_delay: Span,
    /// Rate of the link that carries the acknowledgements back; the bottleneck's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back_rate: Option<RateLimit>,
    /// Its queue; without limit when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back_queue: Option<QueueSpec>,
}

/// A named link, one way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// Its name.
    pub name: String,
    /// Rate, constant or changing in time.
    pub rate: Waveform,
    /// Propagation delay.
    pub delay: Time,
    /// Queue.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Packets lost on it beside the queue's drops.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loss: Vec<LossSpec>,
}

/// A queue discipline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", deny_unknown_fields)]
pub enum QueueSpec {
    /// Loses what arrives at a full buffer.
    #[serde(rename = "drop-tail")]
    DropTail {
        /// Size of the buffer.
        #[serde(default = "one_bdp")]
        limit: Buffer,
        /// Whether the packet in service takes room in it, as in ns-2.
        #[serde(default = "yes")]
        count_in_service: bool,
    },
}

impl Default for QueueSpec {
    fn default() -> Self {
        Self::DropTail { limit: one_bdp(), count_in_service: true }
    }
}

impl QueueSpec {
    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::DropTail { .. } => "drop-tail",
        }
    }
}

fn one_bdp() -> Buffer {
    Buffer::Bdp(1.0)
}

fn yes() -> bool {
    true
}

/// Packets that a link loses beside its queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossSpec {
    /// Every packet with the same probability.
    Bernoulli {
        /// Probability, 0 <= p < 1.
        p: f64,
        /// Only this flow (or group of flows).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flow: Option<String>,
        /// Lost after transmission instead of before the queue.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        after_queue: bool,
    },
    /// Exactly these, counted from 0 as they arrive at the link, before the queue (ns-2 ErrorModel/List).
    List {
        /// Arrival numbers.
        packets: Vec<u64>,
        /// Count and lose packets of this flow (or group) only.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flow: Option<String>,
    },
}

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

/// What is recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceSpec {
    /// Windows, at this interval or "all" (at every acknowledgement and time-out).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwnd: Option<Sampling>,
    /// Queue lengths, at this interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Time>,
    /// Goodput in bins of this length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Time>,
    /// Every packet sent, received, acknowledged and dropped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub packets: bool,
}

impl TraceSpec {
    /// Whether nothing is recorded.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// At an interval, or at every event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sampling {
    /// At every event.
    All,
    /// At an interval.
    Every(Time),
}

impl<'de> Deserialize<'de> for Sampling {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::{Error, IntoDeserializer, Unexpected};
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Text(String),
            Number(f64),
        }
        match Form::deserialize(deserializer).map_err(|_| D::Error::custom("write \"all\" or an interval such as \"10ms\""))? {
            Form::Text(text) if text == "all" => Ok(Self::All),
            Form::Text(text) => text.parse().map(Self::Every).map_err(|e: String| D::Error::custom(format!("{e}, or \"all\""))),
            Form::Number(value) => Time::deserialize(value.into_deserializer())
                .map(Self::Every)
                .map_err(|_: serde::de::value::Error| D::Error::invalid_value(Unexpected::Float(value), &"\"all\" or a time")),
        }
    }
}

impl Serialize for Sampling {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::All => serializer.serialize_str("all"),
            Self::Every(time) => time.serialize(serializer),
        }
    }
}

impl JsonSchema for Sampling {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Sampling".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "description": "\"all\", or an interval such as \"10ms\"", "anyOf": [{ "type": "string" }, { "type": "number" }] })
    }
}
