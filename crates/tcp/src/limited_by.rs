//! What limits a sender: judged after each event, because nothing changes between two of them.
//!
//! Linux asks less (`tcp_chrono_start` in `tcp_write_xmit`): whether data is outstanding or waits
//! (`busy_time`), and of that time, whether the receiver's window (`rwnd_limited`) or the send buffer
//! (`sndbuf_limited`) keeps data back.

use crate::limit::Limit;
use crate::tcb::CongestionState;
use crate::{NEVER, Sender};

/// Windows within which what limits a sender stays the same on predicted ACKs, packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SteadyWindows {
    pub(crate) from: f64,
    pub(crate) below: f64,
}

impl SteadyWindows {
    pub(crate) const ALL: Self = Self { from: f64::NEG_INFINITY, below: f64::INFINITY };
}

impl Sender {
    /// What limits the sender now.
    pub(crate) fn limit(&self) -> Limit {
        self.limit_before(self.tcb.snd_nxt)
    }

    /// What limits the sender once `snd_nxt` is the next packet to send.
    #[inline]
    pub(crate) fn limit_before(&self, snd_nxt: i64) -> Limit {
        let tcb = &self.tcb;
        if tcb.highest_ack < tcb.limitation.timeout_until {
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
        !self.tcb.has_started() || self.limit() == self.tcb.limitation.by
    }

    /// Notes what limits the sender from now on.
    #[inline]
    pub(crate) fn note_limit(&mut self, now_s: f64) {
        let by = self.limit();
        if by != self.tcb.limitation.by {
            self.tcb.change_limit(now_s, by);
        }
    }

    /// Whether a predicted ACK changes what limits the sender; `last`: the last packet that may be
    /// sent now.
    #[inline(always)]
    pub(crate) fn changes_limit(&self, last: i64) -> bool {
        let tcb = &self.tcb;
        let is_steady = self.steady.from <= tcb.cwnd && tcb.cwnd < self.steady.below;
        let is_last = last >= tcb.data_end - 1;
        !is_steady || (is_last && tcb.limitation.by != Limit::Application)
    }

    /// Notes what limits the sender once the packets up to `last` are sent.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_limit_after(&mut self, now_s: f64, last: i64) {
        let by = self.limit_before(self.tcb.snd_nxt.max(last + 1));
        self.tcb.change_limit(now_s, by);
        self.update_steady_windows();
    }

    /// On predicted ACKs cwnd reaches ssthresh or the receiver's window, or a rule takes it below
    /// the receiver's window. No rule takes it below ssthresh on an ACK.
    pub(crate) fn update_steady_windows(&mut self) {
        let rwnd = f64::from(self.tcb.rwnd);
        self.steady = match self.tcb.limitation.by {
            Limit::SlowStart => {
                SteadyWindows { below: self.tcb.ssthresh.min(rwnd), ..SteadyWindows::ALL }
            }
            Limit::Cwnd => SteadyWindows { below: rwnd, ..SteadyWindows::ALL },
            Limit::Receiver => SteadyWindows { from: rwnd, ..SteadyWindows::ALL },
            _ => SteadyWindows::ALL,
        };
    }
}
