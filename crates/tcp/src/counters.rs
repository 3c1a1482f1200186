//! What a sender counts for metrics.

/// Sums since the start of the flow, for metrics. What comes once a round trip at most fits into 32 bits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Data packets sent, retransmissions included.
    pub sent: u64,
    /// Packets sent again.
    pub retransmitted: u64,
    /// Retransmission time-outs with data outstanding.
    pub timeouts: u32,
    /// Fast retransmits that cut the window.
    pub fast_retransmits: u32,
    /// Cuts in answer to an echoed mark.
    pub ecn_reductions: u32,
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

impl Counters {
    /// What was added since these sums were `begin`.
    pub fn since(&self, begin: &Self) -> Self {
        Self {
            sent: self.sent - begin.sent,
            retransmitted: self.retransmitted - begin.retransmitted,
            timeouts: self.timeouts - begin.timeouts,
            fast_retransmits: self.fast_retransmits - begin.fast_retransmits,
            ecn_reductions: self.ecn_reductions - begin.ecn_reductions,
            rtt_sum_s: self.rtt_sum_s - begin.rtt_sum_s,
            rtt_count: self.rtt_count - begin.rtt_count,
            rto_sum_s: self.rto_sum_s - begin.rto_sum_s,
            rto_count: self.rto_count - begin.rto_count,
            cwnd_area: self.cwnd_area - begin.cwnd_area,
        }
    }
}
