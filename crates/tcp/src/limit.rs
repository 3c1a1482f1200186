//! What limits a flow, and since when.

/// What limits a flow at an instant: the first that holds.
///
/// ```
/// use cwndlab_tcp::Limit;
/// assert_eq!(Limit::ALL[Limit::Receiver as usize], Limit::Receiver);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The RTO has expired, and its recovery point is not acknowledged.
    Timeout,
    /// Losses found by duplicate ACKs, SACK or RACK are being repaired.
    Recovery,
    /// The application has nothing to send.
    Application,
    /// The receiver's window is full, and allows no more than cwnd does.
    Receiver,
    /// Both windows allow a packet, and pacing holds it back.
    Pacing,
    /// cwnd, in slow start.
    SlowStart,
    /// cwnd, after slow start.
    Cwnd,
}

impl Limit {
    /// All, the first that holds first.
    pub const ALL: [Self; 7] = [
        Self::Timeout,
        Self::Recovery,
        Self::Application,
        Self::Receiver,
        Self::Pacing,
        Self::SlowStart,
        Self::Cwnd,
    ];
}

/// What limits a sender now. Its time is counted when that changes, not at each ACK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limitation {
    pub(crate) by: Limit,
    /// Seconds.
    pub(crate) since_s: f64,
    /// Recovery point of the last timeout: packets up to this one were sent before.
    pub(crate) timeout_until: i64,
}
