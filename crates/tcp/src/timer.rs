//! The retransmission timer: when it is armed, and what its expiry does (ns-2 `TcpAgent::timeout`, RFC 6298 section 5).

use crate::recovery::rack::Pending;
use crate::window::{Cut, LastCut};
use crate::{AckSegment, Knobs, NEVER, Output, Recovery, Sender, recovery};
use cwndlab_rules::Congestion;

impl Sender {
    /// The retransmission timer expired.
    pub fn on_timeout(&mut self, now_s: f64, knobs: &Knobs, out: &mut impl Output) {
        self.settle(now_s);
        self.deadline_s = NEVER;
        if self.is_finished() {
            // A late duplicate acknowledgement armed it again.
            return;
        }
        if self.rack.is_some() && recovery::rack::on_timer(self, now_s, knobs, out) {
            return;
        }
        self.expire(now_s, knobs);
        self.send_much(now_s, knobs, knobs.max_burst, out);
    }

    /// Whether the timer, when it expires, only looks for losses: no time-out.
    pub fn is_probing(&self) -> bool {
        self.rack.as_ref().is_some_and(|rack| rack.pending != Pending::Retransmission) && self.highest_ack < self.highest_sent
    }

    /// What an expiry at `now_s` does before anything is sent.
    pub(crate) fn expire(&mut self, now_s: f64, knobs: &Knobs) {
        if self.rack.is_some() {
            return recovery::rack::expire(self, now_s, knobs);
        }
        if self.recovery != Recovery::Tahoe {
            self.dupwnd = 0;
            self.dupacks = 0;
        }
        if self.recovery == Recovery::Sack {
            recovery::sack::on_timeout(self, knobs);
        }
        self.cwnd = self.cwnd.max(1.0);
        if self.highest_ack == self.highest_sent {
            // Nothing outstanding: the window had fallen below one packet, or there was no data.
            if knobs.slow_start_restart {
                self.window_to_one();
                self.recover = self.highest_sent;
            }
        } else {
            if self.highest_ack == -1 && knobs.restart_after_syn_loss {
                self.lost_first = true;
            }
            self.counters.timeouts += 1;
            let ssthresh = self.ssthresh;
            let again = knobs.hold_ssthresh && self.timed_out_after == self.highest_ack;
            let hold = again || self.reduced_by_echo(knobs);
            self.cut(Cut::ToOne(Congestion::Timeout), knobs);
            if hold {
                self.ssthresh = ssthresh;
            }
            self.recover = self.highest_sent;
            self.timed_out_after = self.highest_ack;
            self.rtt.back_off(knobs);
        }
        self.last_cut = LastCut::Timeout;
        self.arm_timer(now_s);
        self.go_back();
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

    /// Arms the timer afresh and stops timing a packet: it may be retransmitted (Karn).
    pub(crate) fn restart_after_cut(&mut self, now_s: f64) {
        self.arm_timer(now_s);
        self.rtt_active = false;
    }

    /// Next to send is the first packet not acknowledged.
    pub(crate) fn go_back(&mut self) {
        self.next = self.highest_ack + 1;
        self.rtt_active = false;
    }

    /// A timed packet was acknowledged: the back-off ends, unless echoes go on at a window of one packet (ns-2 `newack`).
    #[inline]
    pub(crate) fn end_backoff(&mut self, ack: AckSegment, knobs: &Knobs) {
        if self.ecn.at_one_packet && ack.ece && self.ecn.agreed {
            return;
        }
        self.ecn.at_one_packet = false;
        self.rtt.reset_backoff(knobs);
    }

    /// A partial acknowledgement covered the packet being timed.
    pub(crate) fn end_backoff_if_timed(&mut self, ack: i64, knobs: &Knobs) {
        if self.rtt_active && ack >= self.rtt_number {
            self.rtt_active = false;
            self.rtt.reset_backoff(knobs);
        }
    }

    pub(crate) fn arm_timer(&mut self, now_s: f64) {
        self.deadline_s = now_s + self.rtt.timeout_s();
        self.armed_at_s = now_s;
    }

    /// TcpAgent::newtimer.
    pub(crate) fn restart_timer(&mut self, now_s: f64, ack: i64) {
        if self.next > ack || ack < self.highest_sent || self.cwnd < 1.0 {
            self.arm_timer(now_s);
        } else {
            self.deadline_s = NEVER;
        }
    }
}
