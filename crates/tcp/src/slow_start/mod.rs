//! Slow start: schemes that leave it before packets are lost.
//!
//! The rule grows cwnd in slow start (`slow_start` of [`cwndlab_rules::WindowRule`]), mostly by one
//! packet per packet acknowledged. A scheme watches the RTT and decides what share of that growth
//! applies, and when slow start ends. So each scheme goes with each rule, except with model-based
//! rules, which set cwnd themselves.
//!
//! Another scheme is a file in this folder, a variant of [`SlowStartScheme`] and of [`SlowStart`].

mod decision;
mod growth;
mod hystart;
mod hystart_plus_plus;
mod limited;
mod scheme;
mod state;

pub(crate) use decision::Decision;
pub use scheme::SlowStartScheme;
pub(crate) use state::SlowStart;
