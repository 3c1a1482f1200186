//! What the subflows of a connection tell each other: the state that a coupled rule reads (RFC 6356
//! section 3).

/// A subflow of a connection, as coupled rules see it: one that sends and has measured its RTT.
///
/// ```
/// use cwndlab_rules::Sibling;
/// let near = Sibling { cwnd: 10.0, srtt_s: 0.1, ..Sibling::default() };
/// let far = Sibling { cwnd: 10.0, srtt_s: 0.2, ..Sibling::default() };
/// assert_eq!(Sibling::total_rate_packets_s(&[near, far]), 150.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sibling {
    /// Congestion window, packets.
    pub cwnd: f64,
    /// Smoothed RTT, seconds, above 0.
    pub srtt_s: f64,
    /// Packets acknowledged between the last two reductions, or since the last one, whichever are
    /// more: about one loss in so many (draft-khalili-mptcp-congestion-control-05 section 3).
    pub loss_interval_packets: f64,
}

impl Sibling {
    /// cwnd per RTT, packets/s.
    pub fn rate_packets_s(&self) -> f64 {
        self.cwnd / self.srtt_s
    }

    /// The sum of cwnd per RTT, packets/s.
    pub fn total_rate_packets_s(siblings: &[Self]) -> f64 {
        siblings.iter().map(Self::rate_packets_s).sum()
    }

    /// 1 / (rtt sum_k w_k / rtt_k)^2 for a subflow of this RTT, per packet squared: what OLIA and
    /// BALIA multiply its window by.
    pub(crate) fn share(siblings: &[Self], own: usize) -> f64 {
        let windows = siblings[own].srtt_s * Self::total_rate_packets_s(siblings);
        1.0 / (windows * windows)
    }

    /// The largest value of any.
    pub(crate) fn largest(siblings: &[Self], of: impl Fn(&Self) -> f64) -> f64 {
        siblings.iter().map(of).fold(0.0, f64::max)
    }
}
