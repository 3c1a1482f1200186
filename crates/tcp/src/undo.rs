//! Undo of a reduction that proves spurious: nothing was lost, packets were reordered or delayed.
//!
//! Three observations tell. An ACK that echoes a time before the first retransmission was triggered
//! by an original packet (Eifel detection, RFC 3522). Without timestamps, two ACKs of new data after
//! a timeout while nothing but one packet was retransmitted (F-RTO, RFC 5682 section 2.1). DSACKs
//! for all retransmitted packets (RFC 3708). The response restores cwnd, ssthresh and the rule's
//! state of before the reduction (RFC 4015 section 3.2, as Linux's `tcp_undo_cwnd_reduction`, which
//! keeps a window that has grown larger since).

use crate::tcb::{CongestionState, Frto, Retransmissions, Tcb, Undo};
use crate::{AckSegment, Knobs, NEVER};
use cwndlab_rules::{Congestion, WindowRule};

/// What an ACK tells of the last reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing yet.
    Open,
    /// No packet was lost.
    Spurious,
    /// F-RTO: new data is to be sent instead of retransmissions.
    SendNewData,
}

impl Tcb {
    /// Keeps what a reduction is about to change. A reduction while an earlier one is being
    /// repaired keeps the earlier state.
    pub(crate) fn prepare_undo(&mut self, congestion: Congestion, knobs: &Knobs) {
        if !knobs.undo || congestion == Congestion::Ecn {
            return;
        }
        let earlier = self.undo.take().filter(|undo| self.highest_ack < undo.end);
        let (cwnd, ssthresh, rule) = match earlier.map(|undo| *undo) {
            Some(Undo { cwnd, ssthresh, rule, .. }) => (cwnd, ssthresh, rule),
            None => (self.cwnd, self.ssthresh, self.rule.clone()),
        };
        // Packets that an earlier repair retransmitted may be unacknowledged still: their ACKs echo
        // a time before the first retransmission of this one (Linux keeps `retrans_stamp`).
        let unacknowledged = self
            .retransmissions
            .as_deref()
            .copied()
            .filter(|earlier| self.highest_ack < earlier.highest)
            .unwrap_or(Retransmissions { first_s: NEVER, count: 0, highest: -1 });
        // A path with timestamps or SACK-based recovery by time has better means than F-RTO.
        let frto = congestion == Congestion::Timeout
            && !knobs.timestamps
            && !knobs.rack
            && !self.needs.recovery
            && self.timeout_highest_ack != self.highest_ack;
        self.undo = Some(Box::new(Undo {
            cwnd,
            ssthresh,
            rule,
            first: self.highest_ack + 1,
            end: self.highest_sent,
            retransmitted_s: unacknowledged.first_s,
            unreported: unacknowledged.count,
            is_acknowledged: false,
            frto: if frto { Frto::FirstAck } else { Frto::Off },
        }));
    }

    /// Notes a retransmission of packet `number`.
    pub(crate) fn note_retransmission(&mut self, now_s: f64, number: i64) {
        let earlier =
            self.retransmissions.as_deref().filter(|earlier| self.highest_ack < earlier.highest);
        let last = Retransmissions {
            first_s: earlier.map_or(now_s, |earlier| earlier.first_s),
            count: earlier.map_or(1, |earlier| earlier.count + 1),
            highest: earlier.map_or(number, |earlier| earlier.highest.max(number)),
        };
        match &mut self.retransmissions {
            Some(retransmissions) => **retransmissions = last,
            None => self.retransmissions = Some(Box::new(last)),
        }
        if let Some(undo) = &mut self.undo {
            undo.retransmitted_s = undo.retransmitted_s.min(now_s);
            undo.unreported += 1;
        }
    }

    /// What `ack` tells of the last reduction. `dsack`: packets that it reports as received twice.
    pub(crate) fn judge_reduction(
        &mut self,
        ack: AckSegment,
        dsack: Option<(i64, i64)>,
        knobs: &Knobs,
    ) -> Verdict {
        let advances = ack.ack > self.highest_ack;
        let may_send_new = self.last_new_packet(ack.ack).is_some();
        let Some(undo) = &mut self.undo else { return Verdict::Open };
        if undo.retransmitted_s == NEVER {
            return Verdict::Open;
        }
        let (left, right) = dsack.unwrap_or_default();
        let reported = right.min(undo.end + 1) - left.max(undo.first);
        undo.unreported -= reported.max(0);
        if reported > 0 && undo.unreported <= 0 {
            return Verdict::Spurious;
        }
        if advances && !std::mem::replace(&mut undo.is_acknowledged, true) {
            let is_early = knobs.timestamps && ack.echo_s < undo.retransmitted_s;
            if is_early {
                return Verdict::Spurious;
            }
        }
        let verdict = match undo.frto {
            Frto::FirstAck if advances && ack.ack < undo.end && may_send_new => {
                undo.frto = Frto::SecondAck;
                return Verdict::SendNewData;
            }
            Frto::SecondAck if advances => Verdict::Spurious,
            Frto::SecondAck => {
                // A duplicate ACK: the packet after the retransmitted one is lost as well.
                self.cwnd = self.cwnd.min(3.0);
                self.go_back_n();
                Verdict::Open
            }
            _ => Verdict::Open,
        };
        if let Some(undo) = &mut self.undo {
            undo.frto = Frto::Off;
        }
        // Only DSACKs can tell more.
        if verdict == Verdict::Open
            && !knobs.dsack
            && self.undo.as_ref().is_some_and(|undo| undo.is_acknowledged)
        {
            self.undo = None;
        }
        verdict
    }

    /// The last of the up to two new packets that F-RTO sends after `ack` (RFC 5682 section 2.1
    /// step 2b), if any.
    pub(crate) fn last_new_packet(&self, ack: i64) -> Option<i64> {
        let allowed = (self.data_end - 1).min(ack + i64::from(self.rwnd));
        (allowed > self.highest_sent).then_some(allowed.min(self.highest_sent + 2))
    }

    /// Whether `ack` acknowledges a part of what recovery repairs (a partial ACK, RFC 6582).
    pub(crate) fn repairs_a_part(&self, ack: i64) -> bool {
        self.state == CongestionState::Recovery && ack > self.highest_ack && ack < self.recover
    }

    /// Restores what the last reduction changed.
    pub(crate) fn undo_reduction(&mut self) {
        let Some(undo) = self.undo.take() else { return };
        let Undo { cwnd, ssthresh, rule, .. } = *undo;
        self.cancel_cwnd_reduction();
        // A model-based rule sets cwnd itself.
        if !self.needs.recovery {
            self.cwnd = self.cwnd.max(cwnd);
            self.ssthresh = self.ssthresh.max(ssthresh);
        }
        self.rule.undo(rule);
        self.enter(CongestionState::Open);
        (self.dupwnd, self.dupacks) = (0, 0);
        // Duplicate ACKs for packets sent before now can show another loss.
        self.recover = self.recover.min(self.highest_ack);
        self.last_ack = self.last_ack.max(self.highest_ack);
        self.snd_nxt = self.highest_sent + 1;
        self.ecn.cwr_pending = false;
        self.counters.undone_reductions += 1;
    }
}
