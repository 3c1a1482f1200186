//! Arriving flows of a scenario: finite TCP flows of an arrival process (`[[arrivals]]`).

use crate::{ConnectionVectors, Distribution, KnobOverrides, Packets, RecoveryName, RuleText};
use cwndlab_units::{Bytes, RateLimit, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Finite TCP flows of a Poisson arrival process, with a size drawn for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArrivalSpec {
    /// Name of the group.
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
    /// Or: a sequence of mean times, repeated from the start at its end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// Equidistant arrivals instead of a Poisson process.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub regular: bool,
    /// Data packets per flow, or of each of its responses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Distribution<Packets>>,
    /// Responses per flow, one after the other on its connection; 1 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchanges: Option<Distribution<Packets>>,
    /// Think time between them: from a completed response to the next request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<Distribution<Time>>,
    /// Or: recorded connections, which say when flows arrive and what they send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vectors: Option<VectorFile>,
    /// Payload sizes of data packets, of which each flow draws one; `tcp.packet_size` when absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packet_sizes: Vec<PacketSize>,
    /// Earliest time of the first arrival.
    #[serde(default)]
    pub start: Time,
    /// End of the arrival process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Time>,
    /// Priority of its packets, 0 (highest) to 3.
    #[serde(default = "crate::traffic::low_priority")]
    pub priority: u8,
    /// Links from source to sink, if links are named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
    /// Links from sink to source; when absent, a pure delay as long as the path's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub back: Vec<String>,
    /// Node of the source: the path to `to` is the shortest one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Node of the sink.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// In a dumbbell: swaps the directions of data and acknowledgements.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reverse: bool,
    /// Rate of the source's access link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_rate: Option<RateLimit>,
    /// Its delay; `[low, high]` is drawn per flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_delay: Option<Span>,
    /// Rate of the sink's access link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sink_rate: Option<RateLimit>,
    /// Its delay; `[low, high]` is drawn per flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sink_delay: Option<Span>,
    /// Endpoint knobs; they override the scenario's.
    #[serde(default, skip_serializing_if = "KnobOverrides::is_empty")]
    pub tcp: KnobOverrides,
}

/// A phase of an arrival process with its own mean gap.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Length of the phase.
    pub length: Time,
    /// Mean time between arrivals.
    pub gap: Time,
}

/// Connection vectors of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VectorFile {
    /// File name, relative to the scenario file, in the original format of Tmix.
    pub file: String,
    /// The parsed file.
    #[serde(skip)]
    #[schemars(skip)]
    pub vectors: ConnectionVectors,
}

/// A payload size of data packets, and the share of flows that have it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PacketSize {
    /// Payload of a data packet.
    pub size: Bytes,
    /// Share of flows; those of all sizes add up to 1.
    pub share: f64,
}

impl ArrivalSpec {
    /// Its knobs; if packet sizes are drawn, with the largest of them.
    pub fn largest_packets(&self) -> KnobOverrides {
        let largest = self.packet_sizes.iter().map(|packets| packets.size.0 as u32).max();
        KnobOverrides { packet_size: largest.or(self.tcp.packet_size), ..self.tcp.clone() }
    }
}

fn arrivals_name() -> String {
    "arrivals".into()
}
