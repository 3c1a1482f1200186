//! Retransmission timer: arming and expiry (ns-2 `TcpAgent::timeout`, RFC 6298 section 5).

use crate::cwnd::{CwndAction, Reduction};
use crate::recovery::rack_tlp::PendingTimer;
use crate::{AckSegment, Knobs, NEVER, Output, Recovery, Sender, recovery};
use cwndlab_rules::Congestion;

impl Sender {
    /// Handles expiry of the retransmission timer.
    pub fn on_timeout(&mut self, now_s: f64, knobs: &Knobs, out: &mut impl Output) {
        self.accumulate_cwnd_area(now_s);
        self.deadline_s = NEVER;
        if self.is_finished() {
            // A late duplicate ACK armed the timer again.
            return;
        }
        if self.rack.is_some() && recovery::rack_tlp::on_timer(self, now_s, knobs, out) {
            return;
        }
        self.handle_rto(now_s, knobs);
        self.send_pending_data(now_s, knobs, knobs.max_burst, out);
    }

    /// Whether the armed timer is RACK's reordering timer or TLP's probe timeout, not the RTO.
    pub fn timer_is_rack_or_tlp(&self) -> bool {
        self.rack.as_ref().is_some_and(|rack| rack.pending_timer != PendingTimer::Rto)
            && self.highest_ack < self.highest_sent
    }

    /// Handles a retransmission timeout at `now_s`, up to sending.
    pub(crate) fn handle_rto(&mut self, now_s: f64, knobs: &Knobs) {
        if self.rack.is_some() {
            return recovery::rack_tlp::handle_rto(self, now_s, knobs);
        }
        if self.recovery != Recovery::Tahoe {
            self.dupwnd = 0;
            self.dupacks = 0;
        }
        if self.recovery == Recovery::Sack {
            recovery::sack::on_rto(self, knobs);
        }
        self.cwnd = self.cwnd.max(1.0);
        if self.highest_ack == self.highest_sent {
            // Nothing is outstanding: cwnd is below one packet, or there was no data.
            if knobs.slow_start_restart {
                self.cwnd_to_one_packet();
                self.recover = self.highest_sent;
            }
        } else {
            if self.highest_ack == -1 && knobs.restart_after_syn_loss {
                self.first_packet_lost = true;
            }
            self.counters.timeouts += 1;
            let ssthresh = self.ssthresh;
            let again = knobs.hold_ssthresh && self.timeout_highest_ack == self.highest_ack;
            let hold = again || self.reduced_by_ece(knobs);
            self.reduce_cwnd(Reduction::ToOnePacket(Congestion::Timeout), knobs);
            if hold {
                self.ssthresh = ssthresh;
            }
            self.recover = self.highest_sent;
            self.timeout_highest_ack = self.highest_ack;
            self.rtt.back_off(knobs);
        }
        self.last_cwnd_action = CwndAction::Timeout;
        self.arm_timer(now_s);
        self.go_back_n();
    }

    /// When the retransmission timer expires, or [`NEVER`].
    #[inline]
    pub fn deadline_s(&self) -> f64 {
        self.deadline_s
    }

    /// When the retransmission timer was armed last, seconds.
    pub fn armed_at_s(&self) -> f64 {
        self.armed_at_s
    }

    /// Restarts the timer and stops timing a packet, which may be retransmitted (Karn's algorithm).
    pub(crate) fn restart_timer_after_reduction(&mut self, now_s: f64) {
        self.arm_timer(now_s);
        self.rtt_active = false;
    }

    /// Go-back-N: SND.NXT returns to SND.UNA.
    pub(crate) fn go_back_n(&mut self) {
        self.snd_nxt = self.highest_ack + 1;
        self.rtt_active = false;
    }

    /// A timed packet was acknowledged: ends the backoff, unless ECE continues at a window of one
    /// packet (ns-2 `newack`).
    #[inline]
    pub(crate) fn end_backoff(&mut self, ack: AckSegment, knobs: &Knobs) {
        if self.ecn.ece_at_one_packet && ack.ece && self.ecn.negotiated {
            return;
        }
        self.ecn.ece_at_one_packet = false;
        self.rtt.reset_backoff(knobs);
    }

    /// Ends the backoff if a partial ACK covers the timed packet.
    pub(crate) fn end_backoff_if_timed(&mut self, ack: i64, knobs: &Knobs) {
        if self.rtt_active && ack >= self.rtt_seq {
            self.rtt_active = false;
            self.rtt.reset_backoff(knobs);
        }
    }

    pub(crate) fn arm_timer(&mut self, now_s: f64) {
        self.deadline_s = now_s + self.rtt.rto_s();
        self.armed_at_s = now_s;
    }

    /// ns-2 `TcpAgent::newtimer`.
    pub(crate) fn restart_timer(&mut self, now_s: f64, ack: i64) {
        if self.snd_nxt > ack || ack < self.highest_sent || self.cwnd < 1.0 {
            self.arm_timer(now_s);
        } else {
            self.deadline_s = NEVER;
        }
    }
}
