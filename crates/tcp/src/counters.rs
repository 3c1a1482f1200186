//! Counters of a sender, for metrics.

/// Sums since the start of the flow. Counters that grow at most once per round trip are 32 bits
/// wide.
///
/// ```
/// use cwndlab_tcp::Counters;
/// let begin = Counters { sent: 100, timeouts: 1, ..Counters::default() };
/// let end = Counters { sent: 160, ..begin };
/// let measured = end.since(&begin);
/// assert_eq!((measured.sent, measured.timeouts), (60, 0));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Data packets sent, retransmissions included.
    pub sent: u64,
    /// Retransmitted packets.
    pub retransmitted: u64,
    /// Cumulative acknowledgement number.
    pub acknowledged: i64,
    /// Retransmission timeouts with data outstanding.
    pub timeouts: u32,
    /// Fast retransmits that reduced cwnd.
    pub fast_retransmits: u32,
    /// Window reductions in response to ECE.
    pub ecn_reductions: u32,
    /// Reductions undone because nothing was lost.
    pub undone_reductions: u32,
    /// Sum of the round-trip times of packets that triggered an ACK, seconds.
    pub rtt_sum_s: f64,
    /// Number of terms in [`Self::rtt_sum_s`].
    pub rtt_count: u64,
    /// Sum of the RTO after each RTT sample, seconds.
    pub rto_sum_s: f64,
    /// Number of terms in [`Self::rto_sum_s`].
    pub rto_count: u64,
    /// Integral of cwnd over time, packet seconds.
    pub cwnd_area: f64,
}

impl Counters {
    /// The difference between these counters and an earlier snapshot.
    pub fn since(&self, begin: &Self) -> Self {
        Self {
            sent: self.sent - begin.sent,
            retransmitted: self.retransmitted - begin.retransmitted,
            acknowledged: self.acknowledged - begin.acknowledged,
            timeouts: self.timeouts - begin.timeouts,
            fast_retransmits: self.fast_retransmits - begin.fast_retransmits,
            ecn_reductions: self.ecn_reductions - begin.ecn_reductions,
            undone_reductions: self.undone_reductions - begin.undone_reductions,
            rtt_sum_s: self.rtt_sum_s - begin.rtt_sum_s,
            rtt_count: self.rtt_count - begin.rtt_count,
            rto_sum_s: self.rto_sum_s - begin.rto_sum_s,
            rto_count: self.rto_count - begin.rto_count,
            cwnd_area: self.cwnd_area - begin.cwnd_area,
        }
    }
}
