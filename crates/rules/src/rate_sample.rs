//! What Linux's endpoint measures with an ACK, in its own units: whole microseconds, counts of
//! packets. Rules that are models of the kernel's compute with it.

/// How far losses are being repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Repair {
    /// Nothing is.
    #[default]
    None,
    /// Losses found by SACK or RACK.
    Recovery,
    /// Losses after a retransmission timeout.
    Loss,
}

/// Packets delivered and the packets around them. Numbers count from the first packet of the flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// The first packet that is not acknowledged.
    pub snd_una: i64,
    /// The next packet to send.
    pub snd_nxt: i64,
    /// Packets delivered so far, cumulatively or selectively.
    pub delivered: u64,
    /// Those of them that ACKs with ECE delivered.
    pub delivered_ce: u64,
}

/// Delivery rate over the flight of the packet that was acknowledged last
/// (draft-cheng-iccrg-delivery-rate-estimation).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Packets delivered when it was sent.
    pub prior_delivered: u64,
    /// Packets delivered since.
    pub delivered: u64,
    /// The longer one of the intervals of sending and of acknowledging, microseconds.
    pub interval_us: u64,
}

/// A rate sample (draft-cheng-iccrg-delivery-rate-estimation) with the endpoint's state after the
/// ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSample {
    /// When the ACK arrived, microseconds.
    pub now_us: u64,
    /// The last tick of the clock before it, milliseconds.
    pub now_ms: u64,
    /// Packets delivered so far.
    pub delivered: u64,
    /// Packets that this ACK delivered.
    pub newly_delivered: u64,
    /// When an ACK delivered packets last, microseconds.
    pub delivered_us: u64,
    /// Packets marked lost so far.
    pub lost: u64,
    /// Packets that this ACK marked lost.
    pub newly_lost: u64,
    /// Packets in flight before the ACK.
    pub prior_in_flight: u64,
    /// Packets in flight after it.
    pub in_flight: u64,
    /// None without timing, or where the interval is below the minimum RTT.
    pub rate: Option<Rate>,
    /// The ACK acknowledged a packet of which the sampler knows when it was sent.
    pub is_timed: bool,
    /// The packet acknowledged last left while the sender was application-limited.
    pub is_app_limited: bool,
    /// RTT of the packet acknowledged last, microseconds.
    pub rtt_us: Option<u64>,
    /// Smoothed RTT, microseconds; 0 before the first sample.
    pub srtt_us: u64,
    /// Minimum RTT, microseconds.
    pub min_rtt_us: Option<u64>,
    /// How far the next departure lies ahead, by pacing, microseconds.
    pub departure_us: u64,
    /// Payload of a packet, bytes.
    pub packet_bytes: u64,
    /// What is being repaired after the ACK.
    pub repair: Repair,
}

/// The response to a rate sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Control {
    /// cwnd, packets.
    pub cwnd: f64,
    /// ssthresh, packets, where it changes.
    pub ssthresh: Option<f64>,
    /// The rule itself limits the flow now: samples of packets sent meanwhile are
    /// application-limited.
    pub limits_flow: bool,
}

/// A pacing rate as Linux has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacingRate {
    /// Payload, bytes/s.
    pub bytes_s: u64,
    /// Packets that leave as one, at least.
    pub least_burst: u64,
}
