//! What limits a flow, and since when.

use crate::NEVER;

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

    /// Name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Recovery => "recovery",
            Self::Application => "application",
            Self::Receiver => "receiver",
            Self::Pacing => "pacing",
            Self::SlowStart => "slow_start",
            Self::Cwnd => "cwnd",
        }
    }
}

/// Time by limit, in the order of [`Limit::ALL`], seconds.
pub type LimitedTimes = [f64; Limit::ALL.len()];

/// What limits a sender now, and what did before. Time is counted when that changes, not at each
/// ACK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limitation {
    pub(crate) by: Limit,
    /// When the flow started, seconds, or [`NEVER`].
    pub(crate) started_s: f64,
    /// Seconds, or [`NEVER`].
    since_s: f64,
    /// Recovery point of the last timeout: packets up to this one were sent before.
    pub(crate) timeout_until: i64,
    before_s: LimitedTimes,
}

impl Limitation {
    /// Of a sender that has not started.
    pub(crate) const NONE: Self = Self {
        by: Limit::SlowStart,
        started_s: NEVER,
        since_s: NEVER,
        timeout_until: i64::MIN,
        before_s: [0.0; Limit::ALL.len()],
    };

    /// The sender starts.
    pub(crate) fn start(&mut self, now_s: f64) {
        (self.started_s, self.since_s) = (now_s, now_s);
    }

    /// Something else limits the sender from now on.
    pub(crate) fn change(&mut self, now_s: f64, by: Limit) {
        self.before_s = self.times(now_s);
        (self.by, self.since_s) = (by, now_s);
    }

    /// Time by limit up to now.
    pub(crate) fn times(&self, now_s: f64) -> LimitedTimes {
        let mut times_s = self.before_s;
        times_s[self.by as usize] += (now_s - self.since_s).max(0.0);
        times_s
    }
}
