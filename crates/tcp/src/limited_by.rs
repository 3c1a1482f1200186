//! What limits a sender: judged after each event, because nothing changes between two of them.
//!
//! Linux asks less (`tcp_chrono_start` in `tcp_write_xmit`): whether data is outstanding or waits
//! (`busy_time`), and of that time, whether the receiver's window (`rwnd_limited`) or the send
//! buffer (`sndbuf_limited`) keeps data back.

use crate::limit::{Limit, Limitation, LimitedTimes};
use crate::tcb::CongestionState;
use crate::{NEVER, Sender};
use cwndlab_rules::AckFields;

impl Sender {
    /// From now on counts the time by what limits the flow. It has not started.
    pub fn count_limits(&mut self) {
        self.tcb.limitation = Some(Box::new(Limitation::NONE));
    }

    /// Time up to now by what limited the flow; none before [`Sender::count_limits`].
    pub fn limited_times_s(&self, now_s: f64) -> LimitedTimes {
        self.tcb.limitation.as_ref().map_or_else(Default::default, |limits| limits.times(now_s))
    }

    /// What limits the flow now; none before [`Sender::count_limits`], and before it has started.
    pub fn limit(&self) -> Option<Limit> {
        let is_counted = self.tcb.has_started();
        self.tcb.limitation.as_ref().filter(|_| is_counted).map(|known| known.by)
    }

    /// When the flow started, seconds, or [`NEVER`], as before [`Sender::count_limits`].
    pub fn started_s(&self) -> f64 {
        self.tcb.limitation.as_ref().map_or(NEVER, |limits| limits.started_s)
    }

    /// What limits the sender once `snd_nxt` is the next packet to send.
    #[inline]
    fn limit_before(&self, snd_nxt: i64, timeout_until: i64) -> Limit {
        let tcb = &self.tcb;
        if tcb.highest_ack < timeout_until {
            return Limit::Timeout;
        }
        if tcb.state == CongestionState::Recovery && tcb.highest_ack < tcb.recover {
            return Limit::Recovery;
        }
        if snd_nxt >= tcb.data_end {
            return Limit::Application;
        }
        let left_by_cwnd = self.recovery.left_by_cwnd(tcb, snd_nxt);
        let left_by_receiver = tcb.highest_ack + i64::from(tcb.rwnd) + 1 - snd_nxt;
        let is_held = tcb.pacer.as_ref().is_some_and(|pacer| pacer.deadline_s() < NEVER);
        if is_held && left_by_cwnd > 0 && left_by_receiver > 0 {
            Limit::Pacing
        } else if left_by_receiver <= left_by_cwnd {
            Limit::Receiver
        } else if tcb.cwnd < tcb.ssthresh {
            Limit::SlowStart
        } else {
            Limit::Cwnd
        }
    }

    /// Whether what limits the sender is what the last event noted: no event is missing.
    pub(crate) fn knows_limit(&self) -> bool {
        self.tcb.limitation.as_ref().is_none_or(|known| {
            let now = self.limit_before(self.tcb.snd_nxt, known.timeout_until);
            !self.tcb.has_started() || now == known.by
        })
    }

    /// Whether losses are being repaired.
    pub(crate) fn is_limited_by_repair(&self) -> bool {
        let is_repair = |limit: Limit| matches!(limit, Limit::Timeout | Limit::Recovery);
        self.tcb.limitation.as_ref().is_some_and(|known| is_repair(known.by))
    }

    /// Notes what limits the sender from now on.
    #[inline]
    pub(crate) fn note_limit(&mut self, now_s: f64) {
        let Some(known) = &self.tcb.limitation else { return };
        let by = self.limit_before(self.tcb.snd_nxt, known.timeout_until);
        if by != known.by {
            self.change_limit(now_s, by);
        }
    }

    fn change_limit(&mut self, now_s: f64, by: Limit) {
        self.tcb.limitation.iter_mut().for_each(|known| known.change(now_s, by));
    }

    /// The last packet that may be sent after a predicted ACK; notes what limits the sender then.
    #[inline(always)]
    pub(crate) fn predicted_send_limit(&mut self, now_s: f64) -> i64 {
        let tcb = &self.tcb;
        let (last, end) = (tcb.last_ack + tcb.congestion_window(), tcb.data_end - 1);
        if tcb.cwnd < self.steady_below && last < end {
            return last;
        }
        let last = tcb.send_limit();
        if let Some(known) = &tcb.limitation {
            let by = if last < end { Limit::Receiver } else { Limit::Application };
            let cwnd_limits = tcb.congestion_window() < i64::from(tcb.rwnd) && last < end;
            if known.by != by || cwnd_limits {
                self.note_limit_after(now_s, last);
            }
        }
        last
    }

    /// Notes what limits the sender once the packets up to `last` are sent.
    #[inline(never)]
    fn note_limit_after(&mut self, now_s: f64, last: i64) {
        let Some(known) = &self.tcb.limitation else { return };
        let by = self.limit_before(self.tcb.snd_nxt.max(last + 1), known.timeout_until);
        if by != known.by {
            self.change_limit(now_s, by);
            self.update_steady_window();
        }
    }

    /// Below which cwnd it stays cwnd that limits the sender, in slow start or after it as now,
    /// until an event that is no predicted ACK. No rule takes cwnd below ssthresh on an ACK; one
    /// that reads the RTT may lower ssthresh to leave slow start.
    pub(crate) fn update_steady_window(&mut self) {
        let tcb = &self.tcb;
        let rwnd = f64::from(tcb.rwnd);
        self.steady_below = match tcb.limitation.as_ref().map(|known| known.by) {
            Some(Limit::SlowStart) if tcb.needs.ack == AckFields::None => tcb.ssthresh.min(rwnd),
            None | Some(Limit::Cwnd) => rwnd,
            Some(_) => f64::NEG_INFINITY,
        };
    }
}
