//! Congestion window: growth on ACKs and reductions on congestion (ns-2 `opencwnd`, `slowdown`).
//! The rule computes the new window; the sender applies it.

use crate::{AckSegment, Knobs, Sender};
use cwndlab_rules::{Ack, Congestion, SlowStart, WindowRule};

/// The last change of the window (ns-2 `last_cwnd_action_`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CwndAction {
    None,
    FastRetransmit,
    ExitedRecovery,
    Ecn,
    Timeout,
}

/// How a reduction sets cwnd and ssthresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    /// cwnd and ssthresh become the window that the rule returns.
    ToTarget(Congestion),
    /// cwnd becomes one packet; ssthresh becomes the window that the rule returns.
    ToOnePacket(Congestion),
}

/// Context for rules that need cwnd alone.
static NO_CONTEXT: Ack = Ack::EMPTY;

impl Sender {
    /// Grows cwnd by slow start or by the rule's increase: once per ACK, however many packets it
    /// acknowledges.
    #[inline(always)]
    pub(crate) fn grow(&mut self, now_s: f64, ack: AckSegment, acked: u64, knobs: &Knobs) {
        // A rule that needs delivery rates decides itself what an application-limited window means.
        let measures =
            self.rate_sampler.as_ref().is_some_and(|sampler| sampler.needs.delivery_rate);
        if knobs.grow_when_limited
            && !measures
            && self.snd_nxt <= self.previous_highest_ack + self.send_window()
        {
            return;
        }
        if knobs.grow_by_packets {
            self.grow_by_packets(now_s, ack, acked, knobs);
        } else if self.rate_sampler.is_some() {
            self.grow_by_ack_context(now_s, ack, acked, knobs);
        } else if self.rule_is_formula {
            self.grow_by_formula(now_s - ack.sent_s, knobs);
        } else {
            self.grow_by_cwnd();
        }
        if knobs.cap_window {
            self.cwnd = self.cwnd.min(knobs.window);
        }
    }

    /// Growth by a rule that needs cwnd alone.
    #[inline(always)]
    pub(crate) fn grow_by_cwnd(&mut self) {
        self.cwnd = if self.cwnd < self.ssthresh {
            self.cwnd + 1.0
        } else {
            self.rule.increase(self.cwnd, &NO_CONTEXT)
        };
    }

    /// Appropriate byte counting (RFC 3465), in congestion avoidance as well: grows cwnd as if each
    /// packet had been acknowledged by an ACK of its own, so that delayed ACKs do not slow growth.
    #[inline(never)]
    fn grow_by_packets(&mut self, now_s: f64, ack: AckSegment, acked: u64, knobs: &Knobs) {
        if self.rate_sampler.as_ref().is_some_and(|sampler| sampler.needs.recovery) {
            // The rule counts delivered packets itself.
            return self.grow_by_ack_context(now_s, ack, acked, knobs);
        }
        for _ in 0..acked {
            if self.rate_sampler.is_some() {
                self.grow_by_ack_context(now_s, ack, 1, knobs);
                // Only the first of the packets starts the round trip.
                self.rate_sampler.iter_mut().for_each(|sampler| sampler.clear_round_start());
            } else if self.rule_is_formula {
                self.grow_by_formula(now_s - ack.sent_s, knobs);
            } else {
                self.grow_by_cwnd();
            }
        }
    }

    /// Growth by a formula, which reads cwnd and the smoothed RTT.
    #[inline(never)]
    pub(crate) fn grow_by_formula(&mut self, rtt_s: f64, knobs: &Knobs) {
        let ack_context = Ack { rtt_s, srtt_s: self.rtt.srtt_s(knobs), ..Ack::EMPTY };
        self.apply_rule(&ack_context, knobs);
    }

    /// Asks the rule for the next window, in slow start or in congestion avoidance.
    #[inline]
    pub(crate) fn apply_rule(&mut self, ack_context: &Ack, knobs: &Knobs) {
        if self.cwnd < self.ssthresh {
            match self.rule.slow_start(self.cwnd, ack_context) {
                SlowStart::Grow(cwnd) => self.cwnd = cwnd,
                SlowStart::Leave(cwnd) => (self.cwnd, self.ssthresh) = (cwnd, cwnd),
            }
        } else {
            self.cwnd = self.rule.increase(self.cwnd, ack_context);
        }
        self.cwnd = self.cwnd.max(knobs.cwnd_floor);
        self.check_fault();
    }

    /// Reduces cwnd and ssthresh (ns-2 `TcpAgent::slowdown`): to the window that the rule returns,
    /// to half, or to one packet.
    pub(crate) fn reduce_cwnd(&mut self, reduction: Reduction, knobs: &Knobs) {
        let (Reduction::ToTarget(congestion) | Reduction::ToOnePacket(congestion)) = reduction;
        let (half, target) = if knobs.precise_reduction {
            let window = (self.cwnd + self.dupwnd as f64).min(knobs.window);
            (window / 2.0, self.rule.decrease(window, congestion))
        } else {
            let window = self.send_window();
            ((window / 2) as f64, self.rule.decrease(window as f64, congestion).trunc())
        };
        let slow_start = self.cwnd < self.ssthresh;
        let halve = (knobs.halve_first_cut && self.first_reduction)
            || (slow_start && (knobs.halve_in_slow_start || self.rule.halves_in_slow_start()));
        let halve_ssthresh =
            halve || (knobs.halve_after_timeout && congestion == Congestion::Timeout);
        let ssthresh = if halve_ssthresh { half } else { target };
        // RFC 5681 equation 4 and ns-2 agree on a minimum of two packets.
        self.ssthresh = if knobs.integer_ssthresh { ssthresh.trunc() } else { ssthresh }.max(2.0);
        // RFC 3168 section 6.1.2: ECE at a window of one packet stops sending until the timer
        // expires. A window below one packet does the same.
        let stops = congestion == Congestion::Ecn && self.cwnd <= 1.0;
        let floor = if stops { knobs.cwnd_floor.min(0.0) } else { knobs.cwnd_floor };
        self.cwnd = match reduction {
            Reduction::ToOnePacket(_) => 1.0,
            Reduction::ToTarget(_)
                if halve || (knobs.halve_if_half && self.rule.halves_in_ns2()) =>
            {
                half
            }
            Reduction::ToTarget(_) => target,
        }
        .max(floor);
        self.first_reduction = false;
        self.ecn.cwr_pending = true;
        self.check_fault();
    }

    /// Sets cwnd to one packet and leaves ssthresh.
    pub(crate) fn cwnd_to_one_packet(&mut self) {
        self.cwnd = 1.0;
        self.first_reduction = false;
        self.ecn.cwr_pending = true;
    }
}
