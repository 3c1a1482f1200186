//! Rates that change with time, and the transmission times that follow.

pub mod cellular;
pub mod opportunities;
pub mod outages;
pub mod piecewise;
pub mod token_bucket;
pub mod trace_driven;
pub mod transmitter;
