//! What a sender keeps of window reductions, to spread them over a round trip (PRR) and to undo
//! them.

use cwndlab_rules::Rule;

/// PRR: state of the current or the last window reduction; names as in RFC 9937.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prr {
    pub(crate) is_active: bool,
    /// Packets delivered since the reduction began, cumulatively or selectively acknowledged.
    pub(crate) prr_delivered: i64,
    /// Packets sent since the reduction began.
    pub(crate) prr_out: i64,
    /// Window when the reduction began, packets. RFC 9937 section 6.1 uses packets in flight and
    /// Linux uses cwnd; they differ only for an application-limited flow.
    pub(crate) recover_fs: i64,
}

/// State before a reduction for a loss, and what is known of its cause.
#[derive(Clone, Debug)]
pub(crate) struct Undo {
    pub(crate) cwnd: f64,
    pub(crate) ssthresh: f64,
    pub(crate) rule: Rule,
    /// SND.UNA and the highest packet sent when the reduction was made.
    pub(crate) first: i64,
    pub(crate) end: i64,
    /// When the first packet was retransmitted since, seconds, or [`NEVER`](crate::NEVER).
    pub(crate) retransmitted_s: f64,
    /// Retransmissions that no DSACK reported.
    pub(crate) unreported: i64,
    /// An ACK of new data arrived since the first retransmission: Eifel detection is over.
    pub(crate) is_acknowledged: bool,
    pub(crate) frto: Frto,
}

/// Retransmissions that may be unacknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Retransmissions {
    /// Time of the first, seconds.
    pub(crate) first_s: f64,
    pub(crate) count: i64,
    /// Highest packet retransmitted.
    pub(crate) highest: i64,
}

/// Step of F-RTO (RFC 5682 section 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frto {
    /// No timeout, or the algorithm is over.
    Off,
    /// The first ACK after the timeout is awaited.
    FirstAck,
    /// New data was sent; the second ACK is awaited.
    SecondAck,
}
