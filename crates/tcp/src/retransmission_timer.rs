//! Retransmission timer: arming, expiry and the packet being timed (ns-2 `TcpAgent::timeout`,
//! RFC 6298 section 5).

use crate::cwnd::Reduction;
use crate::tcb::{CongestionState, Tcb};
use crate::{AckSegment, Knobs, NEVER};
use cwndlab_rules::Congestion;

impl Tcb {
    /// Handles a retransmission timeout at `now_s`, up to sending.
    pub(crate) fn handle_rto(&mut self, now_s: f64, knobs: &Knobs) {
        self.cwnd = self.cwnd.max(1.0);
        if self.outstanding() == 0 {
            // Nothing is outstanding: cwnd is below one packet, or there was no data.
            if knobs.slow_start_restart {
                self.cwnd_to_one_packet();
                self.recover = self.highest_sent;
            }
        } else {
            let again = knobs.hold_ssthresh && self.timeout_highest_ack == self.highest_ack;
            let hold_ssthresh = again || self.reduced_by_ece(knobs);
            self.reduce_for_timeout(hold_ssthresh, knobs);
        }
        self.enter(CongestionState::Loss);
        self.arm_timer(now_s);
        self.go_back_n();
    }

    /// Reduces cwnd for a timeout with data outstanding, and backs off the timer.
    pub(crate) fn reduce_for_timeout(&mut self, hold_ssthresh: bool, knobs: &Knobs) {
        if self.highest_ack == -1 && knobs.restart_after_syn_loss {
            self.first_packet_lost = true;
        }
        self.counters.timeouts += 1;
        let ssthresh = self.ssthresh;
        self.reduce_cwnd(Reduction::ToOnePacket(Congestion::Timeout), knobs);
        if hold_ssthresh {
            self.ssthresh = ssthresh;
        }
        self.recover = self.highest_sent;
        self.timeout_highest_ack = self.highest_ack;
        let backs_off = self.highest_ack >= 0 || self.counters.timeouts > knobs.linear_syn_timeouts;
        if backs_off {
            self.rtt.back_off(knobs);
        }
    }

    /// Takes an RTT sample from an ACK of new data: by its timestamp, or if it covers the timed
    /// packet.
    #[inline(always)]
    pub(crate) fn update_rtt(&mut self, now_s: f64, ack: AckSegment, knobs: &Knobs) {
        if knobs.timestamps {
            self.sample_rtt(now_s, ack.echo_s, knobs);
            if knobs.timestamps_reset_backoff {
                self.end_backoff(knobs);
            }
        }
        if self.timer.rtt_active && ack.ack >= self.timer.rtt_seq {
            self.end_backoff(knobs);
            self.timer.rtt_active = false;
            if !knobs.timestamps {
                self.sample_rtt(now_s, self.timer.rtt_sent_s, knobs);
            }
        }
    }

    /// Times packet `number`, sent for the first time, unless another packet is being timed (Karn's
    /// algorithm).
    #[inline]
    pub(crate) fn time_packet(&mut self, now_s: f64, number: i64) {
        if !self.timer.rtt_active {
            self.timer.rtt_active = true;
            if number > self.timer.rtt_seq {
                (self.timer.rtt_seq, self.timer.rtt_sent_s) = (number, now_s);
            }
        }
    }

    fn sample_rtt(&mut self, now_s: f64, sent_s: f64, knobs: &Knobs) {
        self.rtt.sample(now_s, sent_s, knobs);
        self.counters.rto_sum_s += self.rtt.rto_s();
        self.counters.rto_count += 1;
    }

    /// Restarts the timer and stops timing a packet, which may be retransmitted (Karn's algorithm).
    pub(crate) fn restart_timer_after_reduction(&mut self, now_s: f64) {
        self.arm_timer(now_s);
        self.timer.rtt_active = false;
    }

    /// Go-back-N: SND.NXT returns to SND.UNA.
    pub(crate) fn go_back_n(&mut self) {
        self.snd_nxt = self.highest_ack + 1;
        self.timer.rtt_active = false;
    }

    /// A timed packet was acknowledged: ends the backoff, unless ECE continues at a window of one
    /// packet (ns-2 `newack`).
    #[inline]
    pub(crate) fn end_backoff(&mut self, knobs: &Knobs) {
        if self.ecn.ece_at_one_packet && self.ecn.is_marked && self.ecn.negotiated {
            return;
        }
        self.ecn.ece_at_one_packet = false;
        self.rtt.reset_backoff(knobs);
    }

    /// Ends the backoff if a partial ACK covers the timed packet.
    pub(crate) fn end_backoff_if_timed(&mut self, ack: i64, knobs: &Knobs) {
        if self.timer.rtt_active && ack >= self.timer.rtt_seq {
            self.timer.rtt_active = false;
            self.rtt.reset_backoff(knobs);
        }
    }

    pub(crate) fn arm_timer(&mut self, now_s: f64) {
        self.timer.deadline_s = now_s + self.rtt.rto_s();
        self.timer.armed_at_s = now_s;
    }

    /// ns-2 `TcpAgent::newtimer`.
    pub(crate) fn restart_timer(&mut self, now_s: f64, ack: i64) {
        if self.snd_nxt > ack || ack < self.highest_sent || self.cwnd < 1.0 {
            self.arm_timer(now_s);
        } else {
            self.timer.deadline_s = NEVER;
        }
    }
}
