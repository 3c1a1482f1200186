//! Traffic of a scenario: TCP flows and cross traffic.

use crate::distribution::{Distribution, Packets};
use crate::knobs::KnobOverrides;
use crate::per_flow::PerFlow;
use crate::reader::Reader;
use crate::video::Video;
use crate::waveform::Waveform;
use crate::web_page::Page;
use cwndlab_tcp::{Recovery, ShortPacket, TcpConfig};
use cwndlab_units::{Bytes, Rate, RateLimit, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Recovery schemes by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RecoveryName {
    /// Slow start after every loss (Tahoe).
    Tahoe,
    /// Fast recovery (Reno).
    Reno,
    /// Fast recovery with partial acknowledgements (NewReno, RFC 6582).
    NewReno,
    /// Recovery with selective acknowledgements (SACK).
    #[default]
    Sack,
    /// Recovery with forward acknowledgement (FACK).
    Fack,
}

impl From<RecoveryName> for Recovery {
    fn from(name: RecoveryName) -> Self {
        match name {
            RecoveryName::Tahoe => Self::Tahoe,
            RecoveryName::Reno => Self::Reno,
            RecoveryName::NewReno => Self::NewReno,
            RecoveryName::Sack => Self::Sack,
            RecoveryName::Fack => Self::Fack,
        }
    }
}

/// Defines a table of flows from its own keys and those that listed and arriving flows have; their
/// delays have the type `$Delay`. serde's `flatten` would need no macro, but cannot refuse unknown
/// keys.
macro_rules! flow_table {
    ($Delay:ty, $(#[$about:meta])* pub struct $Table:ident { $($own:tt)* }) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $Table {
            $($own)*
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
            /// Its delay; `[low, high]` is drawn per flow, in `[[flows]]` also `{ each = [...] }`.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub access_delay: Option<$Delay>,
            /// Rate of the sink's access link.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub sink_rate: Option<RateLimit>,
            /// Its delay; like `access_delay`.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub sink_delay: Option<$Delay>,
            /// Endpoint knobs; they override the scenario's.
            #[serde(default, skip_serializing_if = "KnobOverrides::is_empty")]
            pub tcp: KnobOverrides,
        }
    };
}
pub(crate) use flow_table;

flow_table! { PerFlow<Span>,
/// One or more equal TCP flows.
pub struct FlowSpec {
    /// Name; with a count above 1 the flows are `name-0`, `name-1`, ...
    #[serde(default = "flow_name")]
    pub name: String,
    /// Number of flows.
    #[serde(default = "one")]
    pub count: u64,
    /// Window rule, such as "AIMD(1, 0.5)".
    #[schemars(with = "String")]
    pub rule: RuleText,
    /// Loss recovery.
    #[serde(default)]
    pub recovery: RecoveryName,
    /// Transport stack of its endpoints, in place of the simulated TCP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// Start time; `[low, high]` is drawn per flow, `{ each = [...] }` has one for each.
    #[serde(default)]
    pub start: PerFlow<Span>,
    /// Time at which the application stops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Time>,
    /// Flows join in batches instead of all at `start`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub join: Option<Join>,
    /// Flows leave in batches, the last to join first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leave: Option<Leave>,
    /// Answers requests, one after the other on one connection, instead of sending without end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub responses: Option<Responses>,
    /// Sends media frames at an interval, one behind the other on one connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<Frames>,
    /// Loads web pages: the flows are the connections of one browser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<Page>,
    /// Plays adaptive video.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub video: Option<Video>,
    /// The application at the receiver reads slowly, or its buffer changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reader: Option<Reader>,
    /// Priority of its packets, 0 (highest) to 3.
    #[serde(default = "low_priority")]
    pub priority: u8,
    /// Data packets to transfer; unlimited when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<u64>,
    /// Or: bytes to transfer, in packets of `tcp.packet_size`; the last one is as short as need be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// Its subflows: the flow is a connection over several paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subflows: Vec<Subflow>,
    /// Which subflow sends, where several could.
    #[serde(default, skip_serializing_if = "Scheduler::is_default")]
    pub scheduler: Scheduler,
    /// Packets of the connection that its receiver holds behind one that is missing, at most;
    /// unlimited when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection_buffer: Option<u64>,
    /// Its number in `flows` as written, where subflows have become flows.
    #[serde(skip)]
    pub entry: Option<usize>,
    /// Where it stands in a connection, if it is a subflow.
    #[serde(skip)]
    pub place: Option<SubflowPlace>,
}
}

flow_table! { PerFlow<Span>,
/// A subflow of a connection. What it does not say is as the flow says.
pub struct Subflow {
    /// Name; its number when absent. Flow `download` with subflow `wifi` gives `download.wifi`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// When it joins the connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<PerFlow<Span>>,
    /// When it leaves: what it has not delivered is sent on the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Time>,
}
}

/// Which subflow of a connection sends, where several have window for less data than they could
/// send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// The one with the shortest smoothed RTT.
    #[default]
    MinRtt,
    /// One packet each in turn.
    RoundRobin,
    /// Each sends everything.
    Redundant,
}

impl Scheduler {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Its name in a scenario.
    pub fn name(self) -> &'static str {
        match self {
            Self::MinRtt => "min-rtt",
            Self::RoundRobin => "round-robin",
            Self::Redundant => "redundant",
        }
    }
}

/// Where a subflow stands in its connection.
#[derive(Clone, Debug, PartialEq)]
pub struct SubflowPlace {
    /// Name of the connection.
    pub connection: String,
    /// Its number in the connection.
    pub number: usize,
    /// When the application of the connection stops.
    pub stop: Option<Time>,
}

impl FlowSpec {
    /// A flow of this rule, of which the scenario says nothing else.
    pub fn new(rule: RuleText) -> Self {
        let written = serde_json::json!({ "rule": "NewReno" });
        Self { rule, ..serde_json::from_value(written).expect("a flow needs only a rule") }
    }

    /// The keys that make a flow carry transfers without end, and whether each is given.
    pub fn repeated(&self) -> [(&'static str, bool); 4] {
        [
            ("responses", self.responses.is_some()),
            ("frames", self.frames.is_some()),
            ("page", self.page.is_some()),
            ("video", self.video.is_some()),
        ]
    }

    /// Whether its flows carry transfers without end.
    pub fn has_transfers(&self) -> bool {
        self.repeated().iter().any(|(_, is_given)| *is_given)
    }

    /// The keys that may have one value for each flow, and how many values each has then.
    pub fn per_flow(&self) -> [(&'static str, Option<usize>); 4] {
        let delay = |delay: &Option<PerFlow<Span>>| delay.as_ref().and_then(PerFlow::count);
        [
            ("start", self.start.count()),
            ("access_delay", delay(&self.access_delay)),
            ("sink_delay", delay(&self.sink_delay)),
            ("tcp.timer_phase", self.tcp.timer_phase.as_ref().and_then(PerFlow::count)),
        ]
    }

    /// Packets to transfer, and the last one if it is short; none without end.
    pub fn segments(&self, config: &TcpConfig) -> (Option<u64>, Option<ShortPacket>) {
        let Some(bytes) = self.bytes else { return (self.packets, None) };
        let (packets, short) = config.segments_of(bytes.0);
        (Some(packets), short)
    }

    /// Bytes to transfer; none without end.
    pub fn transfer_bytes(&self, config: &TcpConfig) -> Option<u64> {
        let packets = self.packets.map(|packets| packets * u64::from(config.segment.packet_size));
        self.bytes.map(|bytes| bytes.0).or(packets)
    }

    /// Whether `name` is this group or one of its flows.
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
    /// Number of flows that join at `start` and after each interval.
    pub batch: u64,
    /// Interval; flows join until all of `count` are present.
    pub every: Time,
}

/// Flows that leave in batches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Leave {
    /// Share of the flows present that leave after each interval (rounded, at least one).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Or: number of flows that leave after each interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<u64>,
    /// Interval, counted from time 0; flows leave until none is left.
    pub every: Time,
}

/// Requests and responses on one connection, separated by think times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Responses {
    /// Data packets of a response.
    pub size: Distribution<Packets>,
    /// Think time: from a completed response to the next request.
    pub think: Distribution<Time>,
}

/// Media frames on one connection: a frame waits for those before it, and the next one does not
/// wait for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Frames {
    /// Data packets of a frame. Without it the rule, NADA, sets the rate of the encoder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Distribution<Packets>>,
    /// Interval between frames: "33.333ms" for 30 frames per second.
    pub every: Time,
    /// A frame that has not arrived so long after its start is late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Time>,
}

fn one() -> u64 {
    1
}

/// The default priority, below priority 0.
pub(crate) fn low_priority() -> u8 {
    1
}

fn flow_name() -> String {
    "tcp".into()
}

/// A window rule with its text.
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

/// Cross traffic: an open-loop source of constant or varying rate, or with on-off bursts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CrossSpec {
    /// Its name; with a count above 1 the sources are `name-0`, `name-1`, ...
    #[serde(default = "cross_name")]
    pub name: String,
    /// Number of sources.
    #[serde(default = "one")]
    pub count: u64,
    /// Rate; of on-off sources the rate within a burst.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Waveform>,
    /// Or: the rate that it leaves available on the first link of its path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available: Option<Waveform>,
    /// With `available`, on links that are shared fairly: a varying population of sources of this
    /// rate instead of one source of varying rate. Beside n flows on a link of rate C, leaving them
    /// B takes n (C - B)/B sources. The rate must exceed the largest fair share. Sources that run
    /// only while shares are small are limited to four times their fair share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_rate: Option<Rate>,
    /// Number of flows n beside the population; that of the flows which cross the same link when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<u64>,
    /// Length of a burst of an on-off source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<Distribution<Time>>,
    /// Time between bursts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off: Option<Distribution<Time>>,
    /// Packet size on the wire.
    #[serde(default = "thousand_bytes")]
    pub packet_size: Bytes,
    /// Priority of its packets, 0 (highest) to 3.
    #[serde(default = "low_priority")]
    pub priority: u8,
    /// Links it crosses; the bottleneck when absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
    /// Node of the source: the path to `to` is the shortest one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Node of the sink.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// In a dumbbell: takes the direction of the acknowledgements.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reverse: bool,
    /// Rate of the access link of each source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_rate: Option<RateLimit>,
    /// Its delay; `[low, high]` is drawn per source, `{ each = [...] }` has one for each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_delay: Option<PerFlow<Span>>,
    /// Start time; like `access_delay`, drawn or one for each source.
    #[serde(default)]
    pub start: PerFlow<Span>,
    /// The first packet leaves at `start`, as ns-2's CBR sends it, instead of when it would be
    /// complete at the source's rate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub first_at_start: bool,
    /// Stop time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Time>,
}

/// Largest number of sources of cross traffic: each takes memory, and each packet an event.
pub const MAX_SOURCES: f64 = 1e6;

fn cross_name() -> String {
    "cross".into()
}

fn thousand_bytes() -> Bytes {
    Bytes(1000)
}
