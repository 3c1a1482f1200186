//! What is simulated: one definition for TOML, JSON, Python and the docs.

mod check;
mod knobs;
mod parse;
mod record;
mod traffic;
mod waveform;

pub use knobs::KnobOverrides;
pub use parse::{ScenarioError, schema};
pub use record::{Sampling, TraceSpec};
pub use traffic::{CrossSpec, FlowSpec, RecoveryName, RuleText};
pub use waveform::{Shape, Waveform};

use cwndlab_tcp::Profile;
use cwndlab_units::{Buffer, Rate, RateLimit, Span, Time};
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
