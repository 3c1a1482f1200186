//! Arriving flows of a scenario: finite TCP flows of an arrival process (`[[arrivals]]`).

use crate::traffic::{flow_table, low_priority};
use crate::{
    ConnectionVectors, Distribution, FlowSpec, KnobOverrides, Packets, PerFlow, RecoveryName,
    RuleText,
};
use cwndlab_units::{Bytes, RateLimit, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

flow_table! { Span,
/// Finite TCP flows of a Poisson arrival process, with a size drawn for each.
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
    #[serde(default = "low_priority")]
    pub priority: u8,
}
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
    /// File name, relative to the scenario file, in the original or the alternate
    /// format of Tmix.
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
    pub(crate) fn largest_packets(&self) -> KnobOverrides {
        let largest = self.packet_sizes.iter().map(|packets| packets.size.0 as u32).max();
        KnobOverrides { packet_size: largest.or(self.tcp.packet_size), ..self.tcp.clone() }
    }

    /// One of its flows as an entry of `[[flows]]`, but for its path.
    pub fn as_flow(&self) -> FlowSpec {
        FlowSpec {
            name: self.name.clone(),
            recovery: self.recovery,
            start: PerFlow::All(self.start.into()),
            priority: self.priority,
            packets: Some(1),
            access_rate: self.access_rate,
            access_delay: self.access_delay.map(PerFlow::All),
            sink_rate: self.sink_rate,
            sink_delay: self.sink_delay.map(PerFlow::All),
            tcp: self.largest_packets(),
            ..FlowSpec::new(self.rule.clone())
        }
    }
}

fn arrivals_name() -> String {
    "arrivals".into()
}
