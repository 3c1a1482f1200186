//! The packet-level simulator: a network from a scenario, run event by event, and its results.
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

mod arrivals;
mod build;
mod calendar;
mod course;
mod cross;
mod days;
mod depart;
mod draw;
mod engine;
mod expiry;
mod flow;
mod hash;
mod histogram;
mod jitter;
mod kept;
mod lanes;
mod leg;
mod link;
mod loss;
mod marker;
mod order;
mod outages;
mod packet;
mod passage;
mod pipe;
mod population;
mod random;
mod rate;
mod recorded;
pub mod results;
mod ring;
pub mod scenario;
mod scheduler;
mod senders;
mod simulation;
mod streams;
mod ties;
mod timers;
mod trace;
mod transit;
mod wire;

pub use arrivals::Transfer;
pub use build::Options;
pub use engine::Status;
pub use passage::{Fate, Outcome, Parcel, Passage, Plays};
pub use simulation::{Recording, SchedulerKind, Simulation, Stopped};
pub use trace::{EcnBits, PacketEvent, PacketRow, Recorder, WindowRow};
