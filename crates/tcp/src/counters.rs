//! What a sender counts for metrics.

/// Sums since the start of the flow, for metrics.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Data packets sent, retransmissions included.
    pub sent: u64,
    /// Packets sent again.
    pub retransmitted: u64,
    /// Retransmission time-outs with data outstanding.
    pub timeouts: u64,
    /// Fast retransmits that cut the window.
    pub fast_retransmits: u64,
    /// Cuts in answer to an echoed mark.
    pub ecn_reductions: u64,
    /// Sum of round trips of packets that triggered an acknowledgement, seconds.
    pub rtt_sum_s: f64,
    /// How many.
    pub rtt_count: u64,
    /// Sum of the time-out after each RTT sample, seconds.
    pub rto_sum_s: f64,
    /// How many.
    pub rto_count: u64,
    /// Integral of the window over time, packet seconds.
    pub cwnd_area: f64,
}
