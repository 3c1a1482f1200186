//! Packet-level discrete-event simulator: builds the network of a scenario and runs it.
//!
//! ```
//! use cwndlab_scenario::Scenario;
//! use cwndlab_sim::Simulation;
//! let scenario = Scenario::from_toml(r#"
//!     duration = "10s"
//!     [dumbbell]
//!     rate = "10Mbit"
//!     delay = "20ms"
//!     [[flows]]
//!     rule = "AIMD(1, 0.5)"
//! "#).unwrap();
//! let result = Simulation::new(&scenario).run().unwrap();
//! assert!(result.links[0].utilization > 0.8);
//! ```

mod build;
mod collections;
mod driven_sender;
mod echoed_times;
mod endpoint;
mod engine;
mod event;
mod external_flow;
mod id;
mod measure;
mod network;
mod network_path;
mod packet;
mod random;
mod rate;
mod replay;
pub mod results;
mod simulation;
mod stacks;

pub use build::{
    ArrivingFlow, DrawnArrivals, DrawnFlow, DrawnLink, DrawnNetwork, DrawnSource, Options,
};
pub use cwndlab_tcp::Ecn;
pub use driven_sender::{DrivenAck, DrivenSender, SentPacket};
pub use endpoint::external::{ExternalPacket, Fate, PacketOutcome};
pub use endpoint::transfer::Transfer;
pub use engine::state::Status;
pub use external_flow::ExternalFlow;
pub use measure::trace::{
    LossRow, PacketEvent, PacketRow, RuleRow, RuleTrace, TraceRecorder, WindowRow,
};
pub use measure::trace_hash::TraceHash;
pub use network::link::QueueSampler;
pub use network_path::NetworkPath;
pub use rate::opportunities::opportunities_ms;
pub use replay::{RecordedAck, ReplayEvent, replay};
pub use simulation::{Simulation, SimulationError};
pub use stacks::check_stacks;
