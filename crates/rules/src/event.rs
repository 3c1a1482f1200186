//! What a rule is told: only what a simulator, a QUIC stack and a kernel can all supply.

/// An acknowledgement of new data.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ack {
    /// When it arrived, seconds.
    pub now_s: f64,
    /// Packets it newly acknowledged.
    pub acked_packets: u64,
    /// Round trip of the packet that triggered it, seconds.
    pub rtt_s: f64,
    /// Smallest round trip seen so far, seconds.
    pub min_rtt_s: f64,
    /// Packets sent and not yet acknowledged, after this acknowledgement.
    pub in_flight_packets: u64,
}

/// Why the window must shrink. A time-out is not among them: the endpoint sets the window to one packet itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// Loss found by duplicate acknowledgements.
    FastRetransmit,
    /// A mark echoed by the receiver (RFC 3168).
    Ecn,
    /// A retransmission time-out: only the slow-start threshold is taken from the rule's answer.
    Timeout,
}
