//! How starvation and convergence of flows are measured.

use cwndlab_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How starvation and convergence are measured, where `trace.shares` asks for them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ShareSpec {
    /// Bins over which goodputs are averaged.
    pub bin: Time,
    /// A flow starves in a bin in which it gets less than this part of its fair share.
    pub starved_below: f64,
    /// A flow has converged when its goodput is within this part of its fair share ...
    pub band: f64,
    /// ... for so long.
    pub hold: Time,
}

impl Default for ShareSpec {
    fn default() -> Self {
        let (bin, hold) = (Time::ns(1_000_000_000), Time::ns(5_000_000_000));
        Self { bin, starved_below: 0.1, band: 0.25, hold }
    }
}

impl ShareSpec {
    /// Whether it says what an absent table says.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
