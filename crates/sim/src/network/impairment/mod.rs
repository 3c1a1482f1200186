//! Impairments of a link apart from its queue: losses and marks, listed packets, jitter, a token
//! bucket marker, a policer, a circuit breaker, a tunnel.

pub mod circuit_breaker;
pub mod jitter;
pub mod listed_packets;
pub mod loss_model;
pub mod marker;
pub mod policer;
pub mod tunnel;
