//! Transfers: finite amounts of data, by arriving flows and by responses to requests.

use crate::random::variable::RandomVariable;

/// A completed transfer: an arriving flow, or a response.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// Number of its group.
    pub group: u32,
    /// Start time, seconds.
    pub start_s: f64,
    /// Data packets.
    pub packets: u64,
    /// Flow completion time (FCT): until the last acknowledgement, seconds.
    pub fct_s: f64,
    /// FCT over its minimum: the base round trip plus the transmission time on the bottleneck.
    pub slowdown: f64,
}

/// A transfer in progress.
#[derive(Clone, Debug)]
pub struct ActiveTransfer {
    /// Number of its group among the groups with transfers.
    pub group: u32,
    /// Start time, seconds.
    pub start_s: f64,
    /// Its data packets.
    pub packets: u64,
    /// Base round trip time, seconds.
    pub base_rtt_s: f64,
    /// Transmission time of a data packet on the bottleneck, seconds.
    pub bottleneck_tx_s: f64,
    /// Response size and think time, for a flow that answers requests.
    pub requests: Option<(RandomVariable, RandomVariable)>,
    /// Whether the application stopped during the transfer, which then never completes.
    pub is_truncated: bool,
}
