//! Links of a scenario: the dumbbell topology, named links, and their impairments.

use crate::{BackRate, CircuitBreakerSpec, QueueSpec, TunnelSpec, Waveform};
use cwndlab_units::{Bytes, Rate, RateLimit, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Defines the tables of links from the keys that both have and their own. serde's `flatten` would
/// need no macro, but cannot refuse unknown keys.
macro_rules! define_links {
    (
        link { $($(#[$attribute:meta])* $key:ident: $Type:ty,)* }
        impairments { $($(#[$about:meta])* $impairment:ident: $Impairment:ty,)* }
        $(#[$about_dumbbell:meta])* Dumbbell { $($of_dumbbell:tt)* }
        $(#[$about_link:meta])* LinkSpec { $($of_link:tt)* }
    ) => {
        $(#[$about_dumbbell])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct Dumbbell {
            $($(#[$attribute])* pub $key: $Type,)*
            $(
                $(#[$about])*
                #[serde(default, skip_serializing_if = "is_default")]
                pub $impairment: $Impairment,
            )*
            $($of_dumbbell)*
        }

        $(#[$about_link])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct LinkSpec {
            $($of_link)*
            $($(#[$attribute])* pub $key: $Type,)*
            $(
                $(#[$about])*
                #[serde(default, skip_serializing_if = "is_default")]
                pub $impairment: $Impairment,
            )*
        }

        impl Dumbbell {
            /// The bottleneck as a link of this name.
            pub(crate) fn bottleneck(&self, name: &str) -> LinkSpec {
                let Self { $($key,)* $($impairment,)* .. } = self.clone();
                LinkSpec { $($impairment,)* ..LinkSpec::without_impairments(name, $($key),*) }
            }
        }

        impl LinkSpec {
            /// A link that does nothing to packets but queue, send and delay them.
            pub(crate) fn without_impairments(name: &str, $($key: $Type),*) -> Self {
                let (name, from, to, duplex) = (name.into(), None, None, false);
                Self { name, from, to, duplex, $($key,)* $($impairment: Default::default(),)* }
            }
        }
    };
}

define_links! {
    link {
        /// Rate of the link (of a dumbbell: the bottleneck), constant or varying.
        rate: Waveform,
        /// Its propagation delay, one way.
        delay: Time,
        /// Its queue.
        #[serde(default)]
        queue: QueueSpec,
    }
    impairments {
        /// Loss models.
        loss: Vec<LossSpec>,
        /// Packets that it drops or holds back, by number and transmission.
        drop: Vec<DropSpec>,
        /// Jitter of its delay.
        jitter: Option<JitterSpec>,
        /// Outages.
        outages: Vec<OutageSpec>,
        /// Token bucket that sets the priority of its packets.
        marker: Option<MarkerSpec>,
        /// What it does to the ECN field of packets, as they leave it.
        ecn_mangling: Option<EcnMangling>,
        /// Tunnel around it, whose outer headers its queue and its wire see.
        tunnel: Option<TunnelSpec>,
        /// Drops or marks packets beyond a token bucket, in front of the queue.
        policer: Option<PolicerSpec>,
        /// Stops all traffic of the link after persistent heavy loss.
        circuit_breaker: Option<CircuitBreakerSpec>,
        /// Sends packets only as fast as a token bucket allows; the others wait in the queue.
        shaper: Option<TokenBucketSpec>,
    }

    /// Dumbbell topology: two routers, the bottleneck between them, and access links of each flow.
    Dumbbell {
        /// Rate of the access link of each source.
        #[serde(default)]
        pub access_rate: RateLimit,
        /// Its delay, one way; `[low, high]` is drawn per flow.
        #[serde(default)]
        pub access_delay: Span,
        /// Rate of the access link of each sink.
        #[serde(default)]
        pub sink_rate: RateLimit,
        /// Its delay, one way.
        #[serde(default)]
        pub sink_delay: Span,
        /// Rate of the reverse link, which carries acknowledgements; the bottleneck's largest when
        /// absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub back_rate: Option<BackRate>,
        /// Its queue; when absent unlimited, or the bottleneck's if data uses it too (`reverse`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub back_queue: Option<QueueSpec>,
        /// Its loss models.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub back_loss: Vec<LossSpec>,
    }

    /// A link, one way unless `duplex`.
    LinkSpec {
        /// Its name; "from-to" when absent and nodes are named.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        pub name: String,
        /// Node where it starts; needed if flows name nodes instead of a path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub from: Option<String>,
        /// Node where it ends.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub to: Option<String>,
        /// Adds a reverse link with equal parameters from `to` to `from`, named "to-from".
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub duplex: bool,
    }
}

impl LinkSpec {
    /// Whether it holds listed packets back, so that others overtake them.
    pub fn holds_packets(&self) -> bool {
        self.drop.iter().any(|listed| listed.hold.is_some())
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A loss model of a link, beside its queue. With `flow` it applies to, and counts, only packets of
/// this flow or group, with `from` and `to` those of this time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossSpec {
    /// Independent losses of equal probability.
    Bernoulli {
        /// Probability, 0 <= p < 1.
        p: f64,
        /// Only this flow (or group of flows).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flow: Option<String>,
        /// Applies after transmission instead of before the queue.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        after_queue: bool,
        /// Applies from this time on.
        #[serde(default, skip_serializing_if = "is_default")]
        from: Time,
        /// Applies up to this time; to the end when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<Time>,
    },
    /// Losses in bursts: a two-state Markov chain, stepped per packet (Gilbert 1960, Elliott 1963).
    GilbertElliott {
        /// Transition probability from good to bad, per packet.
        to_bad: f64,
        /// Transition probability from bad to good, per packet.
        to_good: f64,
        /// Loss probability in the bad state.
        #[serde(default = "one")]
        bad_loss: f64,
        /// Loss probability in the good state.
        #[serde(default)]
        good_loss: f64,
        /// Only this flow (or group of flows).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flow: Option<String>,
        /// Applies after transmission instead of before the queue.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        after_queue: bool,
        /// Applies from this time on.
        #[serde(default, skip_serializing_if = "is_default")]
        from: Time,
        /// Applies up to this time; to the end when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<Time>,
    },
    /// Drops exactly these packets, by arrival number from 0 in front of the queue (ns-2
    /// ErrorModel/List).
    List {
        /// Arrival numbers.
        packets: Vec<u64>,
        /// Counts and drops packets of this flow (or group) only.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flow: Option<String>,
    },
    /// Marks exactly these packets (CE) if they are ECN-capable (ns-2 ErrorModel/List with
    /// markecn_).
    Marks {
        /// Arrival numbers.
        packets: Vec<u64>,
        /// Counts and marks packets of this flow (or group) only.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flow: Option<String>,
    },
}

impl LossSpec {
    /// When it applies: from a time on, and up to another one if there is one.
    pub fn interval(&self) -> (Time, Option<Time>) {
        match *self {
            Self::Bernoulli { from, to, .. } | Self::GilbertElliott { from, to, .. } => (from, to),
            Self::List { .. } | Self::Marks { .. } => (Time::default(), None),
        }
    }

    /// The flow or group that it applies to.
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

/// A transmission of a data packet that a link drops or holds back. Packets are numbered as in
/// traces; transmissions are counted as they arrive at the link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DropSpec {
    /// The flow, or each flow of this group.
    pub flow: String,
    /// Packet number: 0 is the SYN, 1 the first packet with data.
    pub packet: u64,
    /// Which of its transmissions, from 1.
    #[serde(default = "first")]
    pub transmission: u32,
    /// Instead of being dropped it arrives at the other end so much later, behind packets that
    /// overtake it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<Time>,
}

fn first() -> u32 {
    1
}

/// Jitter: an addition to the delay of a link, per packet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum JitterSpec {
    /// Uniform.
    Uniform {
        /// Least value.
        #[serde(default)]
        low: Time,
        /// Greatest value.
        high: Time,
        /// Allows reordering; if not, a late packet delays those behind it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        reorder: bool,
    },
    /// Normal, truncated at zero.
    Normal {
        /// Mean.
        mean: Time,
        /// Standard deviation.
        deviation: Time,
        /// Allows reordering.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        reorder: bool,
    },
    /// Exponential.
    Exponential {
        /// Mean.
        mean: Time,
        /// Allows reordering.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        reorder: bool,
    },
    /// A share of the packets is late.
    Bernoulli {
        /// Probability that a packet is late.
        p: f64,
        /// By how much.
        by: Time,
        /// Allows reordering.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        reorder: bool,
    },
    /// A busy Wi-Fi channel (draft-huitema-ccwg-c4-test).
    #[serde(rename = "wi-fi")]
    WiFi {
        /// Mean, which sets how often packets are repeated; up to 91 ms.
        mean: Time,
        /// `[time, mean]`: the mean holds from that time on.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        changes: Vec<(Time, Time)>,
        /// Allows reordering.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        reorder: bool,
    },
    /// An addition that changes at given times, as when a path changes.
    Steps {
        /// `[time, addition]`: the addition holds from that time on; none before the first time.
        points: Vec<(Time, Time)>,
        /// Allows reordering: packets of a shorter path overtake those on a longer one.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        reorder: bool,
    },
}

impl JitterSpec {
    /// Whether jitter may reorder packets.
    pub fn reorders(&self) -> bool {
        match *self {
            Self::Uniform { reorder, .. }
            | Self::Normal { reorder, .. }
            | Self::Exponential { reorder, .. }
            | Self::Bernoulli { reorder, .. }
            | Self::WiFi { reorder, .. }
            | Self::Steps { reorder, .. } => reorder,
        }
    }
}

/// An outage of a link.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutageSpec {
    /// Start.
    pub from: Time,
    /// End.
    pub to: Time,
    /// What happens to packets that arrive meanwhile; packets in the queue wait in either case.
    #[serde(default)]
    pub arrivals: OutagePolicy,
}

/// What happens to packets that arrive at a link during an outage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OutagePolicy {
    /// They wait in the queue.
    #[default]
    Wait,
    /// They are dropped.
    Lost,
}

/// Changes of the ECN field that no AQM makes (RFC 3168 section 18, RFC 9768 section 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnMangling {
    /// Every packet becomes Not-ECT.
    Bleach,
    /// CE becomes ECT(0).
    ClearCe,
    /// ECT becomes CE.
    MarkAll,
}

/// A token bucket marker: conforming packets get priority 0, others priority 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkerSpec {
    /// Token rate.
    pub rate: Rate,
    /// Bucket size.
    pub burst: Bytes,
}

/// A policer: packets conform to a token bucket, or exceed it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicerSpec {
    /// Token rate.
    pub rate: Rate,
    /// Bucket size.
    pub burst: Bytes,
    /// A second token bucket, for the peak rate, to which packets must conform, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak: Option<TokenBucketSpec>,
    /// What happens to packets that exceed it.
    #[serde(default)]
    pub excess: Excess,
}

/// What a policer does with packets that exceed its rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Excess {
    /// Drops them.
    #[default]
    Drop,
    /// Marks those that are ECN-capable (CE), drops the others.
    Mark,
}

/// A token bucket: of a shaper, or for the peak rate of a policer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenBucketSpec {
    /// Token rate.
    pub rate: Rate,
    /// Bucket size.
    pub burst: Bytes,
}
