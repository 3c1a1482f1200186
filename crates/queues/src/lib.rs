//! Queue disciplines and AQM.
//!
//! Time and randomness are arguments; a discipline knows neither links nor flows beyond the fields
//! of a packet. A discipline that decides at enqueue over a FIFO implements [`Admission`]: it
//! accepts, marks or drops an arriving packet given the backlog, and the link computes the
//! departure at once, which makes the engine fast. A discipline that decides at dequeue implements
//! [`QueueDisc`]: it holds the packets and needs an event per departure. [`Discipline`] and
//! [`ScheduledQueue`] are the closed sets of each kind.
//!
//! ```
//! use cwndlab_queues::{Admission, ArrivingPacket, Backlog, Decision, DropTail, Limit};
//! let mut queue = DropTail::new(Limit::Packets(2), true);
//! let packet = ArrivingPacket { now_s: 0.0, size_bytes: 1040, flow: 0, ecn: false, priority: 1 };
//! let mut random = || 0.5;
//! let backlog = |packets| Backlog {
//!     packets,
//!     bytes: 1040 * packets,
//!     in_service_bytes: 1040,
//!     ..Backlog::default()
//! };
//! assert_eq!(queue.admit(&packet, &backlog(1), &mut random), Decision::Accept);
//! assert_eq!(queue.admit(&packet, &backlog(2), &mut random), Decision::Drop);
//! ```

mod admission;
mod buffer_limit;
mod credits;
mod discipline;
mod early_detection;
mod fifo;
mod flow_hash;
mod flow_hosts;
mod flow_table;
mod longest_queue;
mod new_and_old;
mod queue_disc;
mod queue_list;

pub use admission::{Admission, ArrivingPacket, Backlog, Decision, DepartedPacket};
pub use buffer_limit::Limit;
pub use discipline::*;
pub use early_detection::{EXACT_IDLE_STEPS, Weight};
pub use flow_hosts::FlowHosts;
pub use queue_disc::{QueueDisc, QueueItem};
