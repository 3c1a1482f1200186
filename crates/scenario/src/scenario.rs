//! A scenario: a network, its traffic, and the measurements to take.

use crate::arrivals::ArrivalSpec;
use crate::home::Home;
use crate::knobs::KnobOverrides;
use crate::link::{Dumbbell, LinkSpec};
use crate::linux_settings::LinuxSettings;
use crate::router_profile::RouterProfile;
use crate::share_spec::ShareSpec;
use crate::trace_spec::TraceSpec;
use crate::traffic::{CrossSpec, FlowSpec};
use crate::web_page::is_zero_time;
use cwndlab_tcp::Profile;
use cwndlab_units::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A network, its traffic, and the measurements to take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// A name for tables and plots.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Duration of the simulation.
    pub duration: Time,
    /// Measurement window [from, to]; the whole run when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measure: Option<[Time; 2]>,
    /// Seed of every random stream.
    #[serde(default = "one")]
    pub seed: u64,
    /// Where it runs.
    #[serde(default, skip_serializing_if = "Home::is_simulator")]
    pub home: Home,
    /// Profile of the endpoints' knobs.
    #[serde(default)]
    pub profile: ProfileName,
    /// Defaults of routers: where keys of queues are absent, those of an ns-2 or of Linux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub router_profile: Option<RouterProfile>,
    /// Bin length for `rate_cov`, the coefficient of variation of a flow's rate.
    #[serde(default = "one_second")]
    pub rate_bin: Time,
    /// How starvation and convergence are measured, where `trace.shares` asks for them.
    #[serde(default, skip_serializing_if = "ShareSpec::is_default")]
    pub shares: ShareSpec,
    /// The bandwidth-delay product that "bdp" stands for in buffers; by default the first rate of
    /// the link and the mean round trip of the flows that cross it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bdp: Option<Bdp>,
    /// A dumbbell topology.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dumbbell: Option<Dumbbell>,
    /// Or any set of links, on which flows name their path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkSpec>,
    /// TCP flows.
    #[serde(default)]
    pub flows: Vec<FlowSpec>,
    /// Finite TCP flows of an arrival process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrivals: Vec<ArrivalSpec>,
    /// Cross traffic: open-loop sources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cross: Vec<CrossSpec>,
    /// Longest time that a sender needs to send a packet: each leaves late by a time drawn
    /// uniformly from 0 to this, and in order.
    #[serde(default, skip_serializing_if = "is_zero_time")]
    pub host_jitter: Time,
    /// Step of the hosts' clocks; zero: they are exact.
    #[serde(default, skip_serializing_if = "is_zero_time")]
    pub host_clock: Time,
    /// Endpoint knobs of all flows; they override the profile's.
    #[serde(default, skip_serializing_if = "KnobOverrides::is_empty")]
    pub tcp: KnobOverrides,
    /// Settings of the kernel, where one runs the scenario.
    #[serde(default, skip_serializing_if = "LinuxSettings::is_empty")]
    pub linux: LinuxSettings,
    /// Traces to record.
    #[serde(default, skip_serializing_if = "TraceSpec::is_empty")]
    pub trace: TraceSpec,
}

fn one() -> u64 {
    1
}

fn one_second() -> Time {
    Time::ns(1_000_000_000)
}

/// The bandwidth-delay product that "1bdp" stands for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bdp {
    /// Rate.
    pub rate: Rate,
    /// Round trip time.
    pub rtt: Time,
}

/// Endpoint profiles by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ProfileName {
    /// ns-2.35.
    #[serde(rename = "ns2-2.35")]
    Ns2_235,
    /// ns-2 of 2009.
    #[serde(rename = "ns2-2009")]
    Ns2_2009,
    /// ns-2 of 2002.
    #[serde(rename = "ns2-2002")]
    Ns2_2002,
    /// ns-2 of 2001.
    #[serde(rename = "ns2-2001")]
    Ns2_2001,
    /// ns-2 of the year 2000.
    #[serde(rename = "ns2-2000")]
    Ns2_2000,
    /// Current RFCs.
    #[serde(rename = "rfc")]
    Rfc,
    /// Current Linux.
    #[default]
    #[serde(rename = "linux")]
    Linux,
}

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Self {
        match name {
            ProfileName::Ns2_235 => Self::Ns2_235,
            ProfileName::Ns2_2009 => Self::Ns2_2009,
            ProfileName::Ns2_2002 => Self::Ns2_2002,
            ProfileName::Ns2_2001 => Self::Ns2_2001,
            ProfileName::Ns2_2000 => Self::Ns2_2000,
            ProfileName::Rfc => Self::Rfc,
            ProfileName::Linux => Self::Linux,
        }
    }
}
