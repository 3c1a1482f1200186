//! What results say beside sums, and how a run is made.

use cwndlab_tcp::Recovery;

/// What results say about a link beside its sums.
#[derive(Clone, Debug)]
pub struct LinkInfo {
    /// Name.
    pub name: String,
    /// Mean rate over the window, bits per second.
    pub rate_bps: f64,
    /// Propagation delay, seconds.
    pub delay_s: f64,
    /// Buffer, packets; none without limit or in bytes.
    pub limit_packets: Option<u64>,
    /// Mean rate of cross traffic offered to it over the window, bits per second, as far as it is known ahead.
    pub cross_bps: f64,
    /// What is to be left of it, where sources come and go for that, bits per second.
    pub asked_bps: Option<f64>,
    /// Numbers of the cross sources that cross it.
    pub cross: Vec<u32>,
    /// Groups of flows that arrive and cross it, by their number.
    pub arrivals: Vec<u32>,
    /// Its queue's name.
    pub queue: &'static str,
    /// What cross traffic leaves of it in each bin of the rate trace, bits per second.
    pub available_bps: Vec<f64>,
}

/// What results say about a flow beside its sums.
#[derive(Clone, Debug)]
pub struct FlowInfo {
    /// Name.
    pub name: String,
    /// Group.
    pub group: String,
    /// Rule.
    pub rule: String,
    /// Recovery.
    pub recovery: Recovery,
    /// Round trip of propagation delays, seconds.
    pub base_rtt_s: f64,
}

/// How a run is made.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Compute private stages as soon as their inputs are known. Off: an event for every stage, for tests.
    pub look_ahead: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { look_ahead: true }
    }
}
