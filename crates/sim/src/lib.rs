//! Packet-level discrete-event simulator: builds the network of a scenario and runs it.
//!
//! ```
//! use cwndlab_sim::{Simulation, scenario::Scenario};
//! let scenario = Scenario::from_toml(r#"
//!     duration = "10s"
//!     [dumbbell]
//!     rate = "1Mbit"
//!     delay = "20ms"
//!     [[flows]]
//!     rule = "AIMD(1, 0.5)"
//! "#).unwrap();
//! let result = Simulation::new(&scenario).run().unwrap();
//! assert!(result.links[0].utilization > 0.8);
//! ```

mod access_links;
mod arrivals;
mod build;
mod calendar_buckets;
mod calendar_queue;
mod cross_traffic;
mod datapath;
mod endpoints;
mod engine;
mod event_queues;
mod event_scheduler;
mod fused_stages;
mod histogram;
mod jitter;
mod link;
mod loss_model;
mod network_path;
mod outages;
mod packet;
mod piecewise_rate;
mod queue_service;
mod random_stream;
mod random_variable;
pub mod results;
mod ring_buffer;
mod ring_pool;
pub mod scenario;
mod sender_events;
mod sender_output;
mod serializer;
mod simulation;
mod simultaneous_events;
mod slab;
mod source_population;
mod timer_expiry;
mod timers;
mod token_bucket;
mod trace;
mod trace_driven;
mod trace_hash;
mod winner_tree;

pub use arrivals::Transfer;
pub use build::Options;
pub use cwndlab_tcp::Ecn;
pub use engine::Status;
pub use network_path::{ExternalFlow, ExternalPacket, Fate, NetworkPath, PacketOutcome};
pub use simulation::{EventSchedulerKind, Simulation, SimulationError, Traces};
pub use trace::{PacketEvent, PacketRow, RuleRow, RuleTrace, TraceRecorder, WindowRow};
