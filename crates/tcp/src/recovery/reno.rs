//! Reno and NewReno: fast retransmit and fast recovery with window inflation (RFC 5681 section 3.2,
//! RFC 6582; ns-2 `tcp-reno.cc`, `tcp-newreno.cc`).

use super::dupack::DupackAction;
use crate::cwnd::Reduction;
use crate::tcb::{CongestionState, Tcb};
use crate::{AckSegment, Output, TcpConfig};
use cwndlab_rules::Congestion;

/// Fast recovery of Reno or NewReno.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FastRecovery {
    newreno: bool,
    /// NewReno: a partial ACK arrived in this recovery.
    partial_ack_seen: bool,
}

impl FastRecovery {
    pub(crate) const RENO: Self = Self { newreno: false, partial_ack_seen: false };
    pub(crate) const NEWRENO: Self = Self { newreno: true, partial_ack_seen: false };

    pub(crate) fn on_ack(
        &mut self,
        tcb: &mut Tcb,
        now_s: f64,
        ack: AckSegment,
        config: &TcpConfig,
        out: &mut impl Output,
    ) {
        if ack.ack > tcb.last_ack {
            if self.newreno && ack.ack < tcb.recover && tcb.state == CongestionState::Recovery {
                self.partial_ack(tcb, now_s, ack, config, out);
            } else {
                self.full_ack(tcb, now_s, ack, config);
            }
        } else if ack.ack == tcb.last_ack {
            tcb.dupacks += 1;
            if tcb.dupacks == config.recovery.dupack_threshold {
                self.fast_retransmit(tcb, now_s, config, out);
                if !config.newreno.exit_fast_retransmit {
                    tcb.window_inflation = i64::from(config.recovery.dupack_threshold);
                }
            } else if tcb.dupacks > config.recovery.dupack_threshold
                && (!config.newreno.exit_fast_retransmit || tcb.state == CongestionState::Recovery)
            {
                tcb.window_inflation += 1;
            } else if tcb.dupacks < config.recovery.dupack_threshold {
                tcb.limited_transmit(now_s, config, out);
            }
        }
        if ack.ack < tcb.last_ack {
            return;
        }
        if tcb.dupacks == 0 {
            tcb.send_pending_data(now_s, config, config.limits.max_burst, out);
        } else if tcb.dupacks >= config.recovery.dupack_threshold {
            tcb.send_pending_data(
                now_s,
                config,
                if self.newreno { config.newreno.recovery_burst } else { config.limits.max_burst },
                out,
            );
        }
    }

    /// An ACK that ends recovery, or any new ACK outside recovery.
    fn full_ack(&mut self, tcb: &mut Tcb, now_s: f64, ack: AckSegment, config: &TcpConfig) {
        if tcb.state == CongestionState::Recovery && (!self.newreno || tcb.window_inflation > 0) {
            tcb.enter(CongestionState::Open);
        }
        if self.newreno && tcb.window_inflation > 0 && config.newreno.exit_recovery_fix {
            // RFC 6582 section 3.2 step 3, option 1: no burst when little is outstanding.
            tcb.cwnd = tcb.ssthresh.min((tcb.highest_sent - ack.ack + 1) as f64);
        }
        tcb.window_inflation = 0;
        self.partial_ack_seen = false;
        tcb.new_ack_and_grow(now_s, ack, config);
    }

    fn fast_retransmit(
        &self,
        tcb: &mut Tcb,
        now_s: f64,
        config: &TcpConfig,
        out: &mut impl Output,
    ) {
        if tcb.is_repaired() {
            // A late duplicate ACK: nothing is outstanding.
            return;
        }
        let reno_repeats = !self.newreno && tcb.state == CongestionState::Recovery;
        let less_careful = self.newreno
            && config.newreno.less_careful
            && config.newreno.bug_fix
            && tcb.highest_ack == tcb.recover;
        match DupackAction::of(tcb, config) {
            response if response == DupackAction::Reduce || reno_repeats || less_careful => {
                tcb.enter_fast_retransmit();
                tcb.reduce_cwnd(Reduction::ToTarget(Congestion::FastRetransmit), config);
            }
            DupackAction::Retransmit => tcb.enter_recovery_without_reduction(config),
            _ => return,
        }
        tcb.restart_timer_after_reduction(now_s);
        tcb.transmit(now_s, tcb.last_ack + 1, config, out);
        tcb.window_inflation = i64::from(config.recovery.dupack_threshold);
    }

    /// A partial ACK: new data, but not up to the recovery point (RFC 6582 section 3.2 step 3).
    fn partial_ack(
        &mut self,
        tcb: &mut Tcb,
        now_s: f64,
        ack: AckSegment,
        config: &TcpConfig,
        out: &mut impl Output,
    ) {
        if !config.newreno.partial_window_deflation {
            tcb.window_inflation = 0;
        }
        if !config.newreno.impatient || !self.partial_ack_seen {
            self.partial_ack_seen = true;
            tcb.restart_timer(now_s, ack.ack);
        }
        if config.newreno.partial_window_deflation {
            let acked = ack.ack - tcb.last_ack;
            if tcb.window_inflation > acked {
                tcb.window_inflation -= acked - 1;
            } else {
                tcb.cwnd -= (acked - tcb.window_inflation) as f64;
                // A value above zero means that recovery continues.
                tcb.window_inflation = 1;
            }
            tcb.cwnd = tcb.cwnd.max(1.0);
        }
        tcb.last_ack = ack.ack;
        tcb.highest_ack = ack.ack;
        tcb.snd_nxt = tcb.snd_nxt.max(ack.ack + 1);
        if tcb.timer.take_timed(ack.ack).is_some() {
            tcb.rtt.reset_backoff(config);
        }
        tcb.transmit(now_s, tcb.last_ack + 1, config, out);
    }
}
