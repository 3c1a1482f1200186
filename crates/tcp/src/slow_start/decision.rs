//! What a slow-start scheme learns from an ACK, and what it decides.

/// An ACK of new data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlowStartAck {
    pub(crate) now_s: f64,
    pub(crate) rtt_s: f64,
    /// Highest packet acknowledged, and the next packet to send.
    pub(crate) highest_ack: i64,
    pub(crate) snd_nxt: i64,
    pub(crate) cwnd: f64,
    pub(crate) is_paced: bool,
    /// Time by which bursts delay ACKs, seconds.
    pub(crate) ack_delay_s: f64,
}

/// What a scheme decides on an ACK.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Decision {
    /// Grow by this share of the rule's growth, for at most so many packets.
    Grow { share: f64, most_packets: u64 },
    /// Leave slow start: ssthresh becomes cwnd.
    Leave,
    /// Standard slow start from now on.
    Over,
}

impl Decision {
    pub(crate) const STANDARD: Self = Self::Grow { share: 1.0, most_packets: u64::MAX };
}
