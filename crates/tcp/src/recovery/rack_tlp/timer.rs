//! The single timer of RACK-TLP (RFC 8985 section 8): reordering timer, probe timeout or RTO.

use super::{LossProbe, PendingTimer, RackTlp, Transmitted, new_data};
use crate::tcb::{CongestionState, Tcb};
use crate::{Knobs, NEVER, Output};

/// Linux `TCP_TIMEOUT_MIN`: two ticks of a millisecond, seconds.
const TIMEOUT_MIN_S: f64 = 0.002;
/// Shortest timer, seconds: a tick.
const TICK_S: f64 = 0.001;

impl RackTlp {
    /// Sets the timer (Linux `tcp_set_xmit_timer`, RFC 8985 section 8) for reordering, a probe or
    /// the RTO.
    pub(super) fn set_xmit_timer(
        &mut self,
        tcb: &mut Tcb,
        now_s: f64,
        advanced: bool,
        sent: Transmitted,
        reordering_timeout_s: f64,
        knobs: &Knobs,
    ) {
        if tcb.is_repaired() {
            return;
        }
        let may_send_probe = knobs.tlp
            && (tcb.state == CongestionState::Cwr
                || (tcb.state == CongestionState::Open && !self.rack.has_sacked()));
        let was_probe = self.pending_timer == PendingTimer::LossProbe;
        let rto_s = tcb.rtt.rto_s();
        if tcb.outstanding() == 0 {
            // cwnd is below one packet: only the timer can open it.
            return if tcb.cwnd < 1.0 {
                self.arm(tcb, now_s, PendingTimer::Rto, rto_s)
            } else {
                tcb.timer.deadline_s = NEVER
            };
        }
        if reordering_timeout_s > 0.0 {
            let timeout_s = reordering_timeout_s + TIMEOUT_MIN_S;
            self.arm(tcb, now_s, PendingTimer::Reordering, timeout_s);
        } else if sent.head_retransmitted {
            self.arm(tcb, now_s, PendingTimer::Rto, rto_s);
        } else if advanced || sent.new_data {
            // Without an ACK of the packet at SND.UNA, its RTO runs since its transmission.
            let timeout_s = if sent.new_data { self.remaining_rto_s(tcb, now_s) } else { rto_s };
            match pto_s(tcb, knobs) {
                Some(pto_s) if may_send_probe => {
                    self.arm(tcb, now_s, PendingTimer::LossProbe, pto_s.min(timeout_s))
                }
                _ if advanced => self.arm(tcb, now_s, PendingTimer::Rto, rto_s),
                _ if was_probe => self.arm(tcb, now_s, PendingTimer::Rto, timeout_s),
                _ => {}
            }
        }
    }

    fn arm(&mut self, tcb: &mut Tcb, now_s: f64, pending_timer: PendingTimer, seconds: f64) {
        tcb.timer.deadline_s = now_s + seconds;
        tcb.timer.armed_at_s = now_s;
        self.pending_timer = pending_timer;
    }

    /// Remaining RTO of the packet at SND.UNA, seconds.
    fn remaining_rto_s(&self, tcb: &Tcb, now_s: f64) -> f64 {
        let head_s = self.rack.head_xmit_s().unwrap_or(now_s);
        (head_s + tcb.rtt.rto_s() - now_s).max(TICK_S)
    }

    /// Whether the timer is armed for something else than the RTO.
    pub(crate) fn timer_is_rack_or_tlp(&self) -> bool {
        self.pending_timer != PendingTimer::Rto
    }

    /// Handles expiry of the timer.
    pub(crate) fn on_timer(
        &mut self,
        tcb: &mut Tcb,
        now_s: f64,
        knobs: &Knobs,
        out: &mut impl Output,
    ) {
        match self.pending_timer {
            PendingTimer::LossProbe if tcb.outstanding() > 0 => {
                self.send_loss_probe(tcb, now_s, knobs, out);
                self.arm(tcb, now_s, PendingTimer::Rto, tcb.rtt.rto_s());
            }
            PendingTimer::Reordering if tcb.outstanding() > 0 => {
                let timeout_s = self.remaining_rto_s(tcb, now_s);
                self.arm(tcb, now_s, PendingTimer::Rto, timeout_s);
                let lost_before = self.rack.lost_total;
                let detected = self.detect_losses(tcb, now_s, knobs);
                if self.rack.lost_total > lost_before {
                    // Linux's `tcp_rack_reo_timeout` counts one delivered packet, so that PRR
                    // releases one.
                    tcb.update_prr(self.rack.in_flight(), 1, false);
                }
                let sent = self.send(tcb, now_s, knobs, out);
                let timeout_s = detected.reordering_timeout_s;
                self.set_xmit_timer(tcb, now_s, false, sent, timeout_s, knobs);
            }
            _ => {
                self.on_rto(tcb, now_s, knobs);
                self.send_pending_data(tcb, now_s, knobs, out);
            }
        }
    }

    /// Sends a tail loss probe whatever the window (RFC 8985 section 7.3): new data, else the
    /// highest packet again. At most one probe is outstanding.
    fn send_loss_probe(&mut self, tcb: &mut Tcb, now_s: f64, knobs: &Knobs, out: &mut impl Output) {
        if self.loss_probe.is_some() {
            return;
        }
        let is_retransmission = match new_data(tcb) {
            Some(number) => {
                self.transmit(tcb, now_s, number, knobs, out);
                tcb.snd_nxt = number + 1;
                false
            }
            None if self.rack.is_sacked(tcb.highest_sent) => return,
            None => {
                self.transmit(tcb, now_s, tcb.highest_sent, knobs, out);
                true
            }
        };
        self.loss_probe = Some(LossProbe { end_seq: tcb.highest_sent, is_retransmission });
    }

    /// Handles a retransmission timeout (Linux `tcp_enter_loss`): reduces ssthresh, once per
    /// window, and marks packets lost.
    pub(crate) fn on_rto(&mut self, tcb: &mut Tcb, now_s: f64, knobs: &Knobs) {
        tcb.cwnd = tcb.cwnd.max(1.0);
        if tcb.outstanding() == 0 {
            // Nothing is outstanding: cwnd is below one packet, or there was no data.
            if knobs.slow_start_restart {
                tcb.cwnd_to_one_packet();
            }
        } else {
            let hold_ssthresh = match tcb.state {
                CongestionState::Open => false,
                CongestionState::Cwr | CongestionState::Recovery => tcb.highest_ack < tcb.recover,
                CongestionState::Loss => {
                    knobs.hold_ssthresh && tcb.timeout_highest_ack == tcb.highest_ack
                }
            };
            tcb.cancel_cwnd_reduction();
            tcb.reduce_for_timeout(hold_ssthresh, knobs);
            tcb.enter(CongestionState::Loss);
            tcb.timer.rtt_active = false;
            self.loss_probe = None;
            self.rack.on_timeout(now_s);
            tcb.cwnd = (self.rack.in_flight() + 1) as f64;
        }
        self.arm(tcb, now_s, PendingTimer::Rto, tcb.rtt.rto_s());
    }
}

/// Probe timeout (PTO, RFC 8985 section 7.2), seconds: 2 srtt, plus the largest delay of an ACK if
/// one packet is outstanding, for which Linux uses `min_rto`. None before the first RTT sample.
fn pto_s(tcb: &Tcb, knobs: &Knobs) -> Option<f64> {
    let srtt_s = tcb.rtt.srtt_s(knobs);
    let more_s = if tcb.outstanding() == 1 { knobs.min_rto.seconds() } else { TIMEOUT_MIN_S };
    (srtt_s > 0.0).then_some(2.0 * srtt_s + more_s)
}
