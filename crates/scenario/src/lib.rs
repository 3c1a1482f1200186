//! Scenario: the definition of a simulation, as serde structs from which TOML, JSON, schema and
//! docs follow; its checks, and the network that it describes.
//!
//! ```
//! use cwndlab_scenario::Scenario;
//! let scenario = Scenario::from_toml(r#"
//!     duration = "10s"
//!     [dumbbell]
//!     rate = "1Mbit"
//!     delay = "20ms"
//!     [[flows]]
//!     rule = "AIMD(1, 0.5)"
//! "#).unwrap();
//! assert_eq!(scenario.flows[0].count, 1);
//! ```

mod arrivals;
mod back_rate;
mod check;
mod checked;
mod circuit_breaker;
mod connection_vectors;
mod distribution;
mod error;
mod file_text;
mod files;
mod graph;
mod home;
mod knobs;
mod link;
mod linux_settings;
mod other_files;
mod parse;
mod per_flow;
mod queue;
mod rate_log;
mod reader;
mod resolver;
mod router_profile;
mod routing;
mod scenario;
mod serde_messages;
mod share_spec;
mod subflows;
mod tables;
mod trace_spec;
mod trace_start;
mod traffic;
mod tunnel;
mod video;
mod waveform;
mod web_page;
mod word_or_time;

pub use arrivals::{ArrivalSpec, PacketSize, Phase, VectorFile};
pub use back_rate::BackRate;
pub use checked::CheckedScenario;
pub use circuit_breaker::CircuitBreakerSpec;
pub use connection_vectors::{ConnectionVector, ConnectionVectors};
pub use distribution::{Distribution, Law, Packets, Quantity};
pub use error::ScenarioError;
pub use file_text::text_of;
pub use files::{DeliveryOpportunities, EmpiricalCdf};
pub use graph::{NetworkGraph, OneWayLink};
pub use home::Home;
pub use knobs::KnobOverrides;
pub use link::{
    DropSpec, Dumbbell, EcnMangling, Excess, JitterSpec, LinkSpec, LossSpec, MarkerSpec,
    OutagePolicy, OutageSpec, PolicerSpec, TokenBucketSpec,
};
pub use linux_settings::{LinuxSettings, Sysctl};
pub use parse::schema;
pub use per_flow::PerFlow;
pub use queue::{FlowIsolation, Framing, QueueSpec};
pub use rate_log::{Column, Holds, LogEnd, LogFormat, LogSpec, RateLog, TimeUnit, ValueUnit};
pub use reader::{Reader, ReaderChange};
pub use resolver::Resolver;
pub use router_profile::RouterProfile;
pub use routing::{FlowPath, Routes};
pub use scenario::{Bdp, ProfileName, Scenario};
pub use share_spec::ShareSpec;
pub use trace_spec::{Sampling, TraceSpec};
pub use trace_start::TraceStart;
pub use traffic::{
    CrossSpec, FlowSpec, Frames, Join, Leave, MAX_SOURCES, RecoveryName, Responses, RuleText,
    Scheduler, Subflow, SubflowPlace, instance,
};
pub use tunnel::{TunnelEgress, TunnelIngress, TunnelSpec};
pub use video::Video;
pub use waveform::{Shape, Waveform};
pub use web_page::{Page, PageObject};
