//! A one-way link: impairments, a queue, a serializer and a propagation delay.
//!
//! Departures of a FIFO queue are known at arrival, so a packet is processed once here: the backlog
//! is the list of pending departures. If a departure and an arrival coincide, the one that was
//! scheduled first precedes: the arrival counts from the start of its transmission on the link in
//! front, the departure from the start of its own. This is the insertion order of ns-2. It decides
//! drops in slow start, where packets arrive in pairs, the first of each exactly when a packet
//! departs.

mod admission;
mod arrival;
mod backlog;
mod impairments;
mod metrics;
mod samples;
mod scheduled_queue;
mod service;
mod state;

pub use impairments::Impairments;
pub use metrics::{LinkCounts, LinkMetrics, QueueSampler};
pub use scheduled_queue::ScheduledQueue;
pub use state::{Link, LinkConfig};
