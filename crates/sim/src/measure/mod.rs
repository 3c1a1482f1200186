//! What a run measures and records.

pub mod account;
pub mod goodput_bins;
pub mod histogram;
pub mod shares;
pub mod trace;
pub mod trace_hash;
pub mod window;
