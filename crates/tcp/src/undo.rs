//! Undo of a reduction that proves spurious: nothing was lost, packets were reordered or delayed.
//!
//! Three observations tell. An ACK that echoes a time before the first retransmission was triggered
//! by an original packet (Eifel detection, RFC 3522). Without timestamps, two ACKs of new data after
//! a timeout while nothing but one packet was retransmitted (F-RTO, RFC 5682 section 2.1). DSACKs
//! for all retransmitted packets (RFC 3708). The response restores cwnd, ssthresh and the rule's
//! state of before the reduction (RFC 4015 section 3.2, as Linux's `tcp_undo_cwnd_reduction`, which
//! keeps a window that has grown larger since).

use crate::{AckSegment, NEVER, TcpConfig};
use cwndlab_rules::Rule;

/// What an ACK tells of the last reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing yet.
    Open,
    /// No packet was lost.
    Spurious,
    /// F-RTO: new data is to be sent instead of retransmissions.
    SendNewData,
    /// F-RTO: the packet after the retransmitted one is lost as well.
    AnotherLoss,
}

/// Step of F-RTO (RFC 5682 section 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frto {
    /// No timeout, or the algorithm is over.
    Off,
    /// The first ACK after the timeout is awaited.
    FirstAck,
    /// New data was sent; the second ACK is awaited.
    SecondAck,
}

/// What a reduction changes.
#[derive(Clone, Debug)]
pub(crate) struct Before {
    pub(crate) cwnd: f64,
    pub(crate) ssthresh: f64,
    pub(crate) rule: Rule,
}

/// State before a reduction for a loss, and what is known of its cause.
#[derive(Clone, Debug)]
pub(crate) struct Undo {
    before: Before,
    /// SND.UNA and the highest packet sent when the reduction was made.
    first: i64,
    end: i64,
    /// When the first packet was retransmitted since, seconds, or [`NEVER`].
    retransmitted_s: f64,
    /// Retransmissions that no DSACK reported.
    unreported: i64,
    /// An ACK of new data arrived since the first retransmission: Eifel detection is over.
    is_acknowledged: bool,
    frto: Frto,
}

impl Undo {
    /// A reduction is made with packets from `first` to `end` outstanding, some of which an earlier
    /// repair may have retransmitted: their ACKs echo a time before the first retransmission of this
    /// one (Linux keeps `retrans_stamp`). `frto`: a timeout, of which F-RTO may tell.
    pub(crate) fn new(
        before: Before,
        first: i64,
        end: i64,
        retransmitted: Retransmissions,
        frto: bool,
    ) -> Self {
        Self {
            before,
            first,
            end,
            retransmitted_s: retransmitted.first_s,
            unreported: retransmitted.count,
            is_acknowledged: false,
            frto: if frto { Frto::FirstAck } else { Frto::Off },
        }
    }

    /// Whether the reduction's window is not acknowledged yet.
    pub(crate) fn is_repairing(&self, highest_ack: i64) -> bool {
        highest_ack < self.end
    }

    /// What the reduction changed.
    pub(crate) fn into_before(self) -> Before {
        self.before
    }

    pub(crate) fn note_retransmission(&mut self, now_s: f64) {
        self.retransmitted_s = self.retransmitted_s.min(now_s);
        self.unreported += 1;
    }

    /// What `ack` tells. `advances`: it acknowledges new data; `may_send_new`: there is new data to
    /// send; `dsack`: packets that it reports as received twice.
    pub(crate) fn judge(
        &mut self,
        ack: AckSegment,
        advances: bool,
        may_send_new: bool,
        dsack: Option<(i64, i64)>,
        config: &TcpConfig,
    ) -> Verdict {
        if self.retransmitted_s == NEVER {
            return Verdict::Open;
        }
        let (left, right) = dsack.unwrap_or_default();
        let reported = right.min(self.end + 1) - left.max(self.first);
        self.unreported -= reported.max(0);
        if reported > 0 && self.unreported <= 0 {
            return Verdict::Spurious;
        }
        if advances && !std::mem::replace(&mut self.is_acknowledged, true) {
            let is_early = config.rto.timestamps && ack.echo_s < self.retransmitted_s;
            if is_early {
                return Verdict::Spurious;
            }
        }
        let (frto, verdict) = match self.frto {
            Frto::FirstAck if advances && ack.ack < self.end && may_send_new => {
                (Frto::SecondAck, Verdict::SendNewData)
            }
            Frto::SecondAck if advances => (Frto::Off, Verdict::Spurious),
            Frto::SecondAck => (Frto::Off, Verdict::AnotherLoss),
            Frto::FirstAck | Frto::Off => (Frto::Off, Verdict::Open),
        };
        self.frto = frto;
        verdict
    }

    /// Whether no further ACK can tell anything: only DSACKs could.
    pub(crate) fn is_over(&self, config: &TcpConfig) -> bool {
        !config.recovery.dsack && self.is_acknowledged
    }
}

/// Retransmissions that may be unacknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Retransmissions {
    /// Time of the first, seconds, or [`NEVER`].
    first_s: f64,
    count: i64,
    /// Highest packet retransmitted.
    highest: i64,
}

impl Default for Retransmissions {
    fn default() -> Self {
        Self { first_s: NEVER, count: 0, highest: -1 }
    }
}

impl Retransmissions {
    /// These, or none if all are acknowledged.
    pub(crate) fn unacknowledged(self, highest_ack: i64) -> Self {
        if highest_ack < self.highest { self } else { Self::default() }
    }

    /// Notes a retransmission of packet `number`.
    pub(crate) fn note(&mut self, now_s: f64, number: i64, highest_ack: i64) {
        let earlier = self.unacknowledged(highest_ack);
        *self = Self {
            first_s: earlier.first_s.min(now_s),
            count: earlier.count + 1,
            highest: earlier.highest.max(number),
        };
    }
}
