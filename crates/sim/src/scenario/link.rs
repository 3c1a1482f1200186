//! Links: the two routers of a dumbbell, or any links between named nodes; what they do to packets beside queueing them.

use super::{QueueSpec, Waveform};
use cwndlab_units::{Bytes, Rate, RateLimit, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// Packets lost or marked on it beside the queue's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loss: Vec<LossSpec>,
    /// Variation of its delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<JitterSpec>,
    /// When it is down.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<OutageSpec>,
    /// Sets the priority of packets that enter it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marker: Option<MarkerSpec>,
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
    /// Its queue; when absent without limit, or as there if data goes back, too (`reverse`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back_queue: Option<QueueSpec>,
}

/// A link, one way unless `duplex`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// Its name; "from-to" when absent and the nodes are named.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Node it comes from; needed where flows name nodes instead of a path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Node it leads to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// There is a second one, alike, from `to` to `from`, named "to-from".
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub duplex: bool,
    /// Rate, constant or changing in time.
    pub rate: Waveform,
    /// Propagation delay.
    pub delay: Time,
    /// Queue.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Packets lost or marked on it beside the queue's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loss: Vec<LossSpec>,
    /// Variation of its delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<JitterSpec>,
    /// When it is down.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<OutageSpec>,
    /// Sets the priority of packets that enter it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marker: Option<MarkerSpec>,
}

/// Packets that a link loses or marks beside its queue. `flow` names a flow or a group: only its packets are concerned, and counted.
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
    /// Losses in bursts: a good and a bad state, changed per packet (Gilbert 1960, Elliott 1963).
    GilbertElliott {
        /// Probability to go from good to bad at a packet.
        to_bad: f64,
        /// Probability to go from bad to good at a packet.
        to_good: f64,
        /// Probability of a loss in the bad state.
        #[serde(default = "one")]
        bad_loss: f64,
        /// Probability of a loss in the good state.
        #[serde(default)]
        good_loss: f64,
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
    /// Exactly these are marked as if by a congested router, where the flow understands it (ns-2 ErrorModel/List with markecn_).
    Marks {
        /// Arrival numbers.
        packets: Vec<u64>,
        /// Count and mark packets of this flow (or group) only.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flow: Option<String>,
    },
}

impl LossSpec {
    /// The flow or group that it concerns.
    pub fn flow(&self) -> &Option<String> {
        match self {
            Self::Bernoulli { flow, .. }
            | Self::GilbertElliott { flow, .. }
            | Self::List { flow, .. }
            | Self::Marks { flow, .. } => flow,
        }
    }
}

fn one() -> f64 {
    1.0
}

/// What is added to a link's delay, drawn for each packet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum JitterSpec {
    /// Uniform.
    Uniform {
        /// Least.
        #[serde(default)]
        low: Time,
        /// Most.
        high: Time,
        /// Whether packets may overtake each other; else a late one holds up those behind it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        reorder: bool,
    },
    /// Normal, cut at zero.
    Normal {
        /// Mean.
        mean: Time,
        /// Standard deviation.
        deviation: Time,
        /// Whether packets may overtake each other.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        reorder: bool,
    },
    /// Exponential.
    Exponential {
        /// Mean.
        mean: Time,
        /// Whether packets may overtake each other.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        reorder: bool,
    },
}

impl JitterSpec {
    /// Whether packets may overtake each other.
    pub fn reorders(&self) -> bool {
        match *self {
            Self::Uniform { reorder, .. }
            | Self::Normal { reorder, .. }
            | Self::Exponential { reorder, .. } => reorder,
        }
    }
}

/// A time when a link is down.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutageSpec {
    /// From.
    pub from: Time,
    /// To.
    pub to: Time,
    /// What becomes of packets that arrive meanwhile; those that are there wait in either case.
    #[serde(default)]
    pub arrivals: OutagePolicy,
}

/// What becomes of packets that arrive at a link that is down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OutagePolicy {
    /// They join the queue.
    #[default]
    Wait,
    /// They are lost.
    Lost,
}

/// A token bucket that sorts packets: within the profile priority 0, else 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkerSpec {
    /// Rate of the profile.
    pub rate: Rate,
    /// Size of the bucket.
    pub burst: Bytes,
}
