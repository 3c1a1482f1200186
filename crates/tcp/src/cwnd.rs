//! Congestion window: growth on ACKs and reductions on congestion (ns-2 `opencwnd`, `slowdown`).
//! The rule computes the new window; the sender applies it.

use crate::rate_sample::Flight;
use crate::slow_start::Decision;
use crate::tcb::Tcb;
use crate::{AckSegment, Knobs};
use cwndlab_rules::{Ack, AckFields, Congestion, SlowStart, WindowRule};

/// How a reduction sets cwnd and ssthresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    /// cwnd and ssthresh become the window that the rule returns.
    ToTarget(Congestion),
    /// cwnd becomes one packet; ssthresh becomes the window that the rule returns.
    ToOnePacket(Congestion),
}

/// Context for rules that read cwnd alone.
static NO_CONTEXT: Ack = Ack::EMPTY;

/// Growth that an ACK permits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    /// Packets by which growth counts the ACK.
    pub(crate) packets: u64,
    /// cwnd limits the flow.
    pub(crate) is_limited: bool,
}

impl Growth {
    /// None: in recovery, where the rule sets cwnd, and for marks.
    pub(crate) const NONE: Self = Self { packets: 0, is_limited: true };
}

impl Tcb {
    /// Grows cwnd by slow start or by the rule's increase, in one step per ACK, however many packets
    /// it acknowledges.
    #[inline(always)]
    pub(crate) fn grow<const STEADY: bool>(
        &mut self,
        now_s: f64,
        ack: AckSegment,
        acked: u64,
        flight: Flight,
        knobs: &Knobs,
    ) {
        let mut decision = Decision::STANDARD;
        if !STEADY && self.slow_start.is_some() {
            decision = self.slow_start_decision(now_s, now_s - ack.sent_s, knobs);
        }
        let is_limited = !knobs.grow_when_limited || self.is_cwnd_limited();
        let (before, share, most_packets) = match decision {
            Decision::Grow { share, most_packets } => (self.cwnd, share, most_packets),
            Decision::Leave => (self.cwnd, 1.0, u64::MAX),
        };
        let by_packets = !STEADY && knobs.grow_by_packets;
        let growth = Growth {
            is_limited,
            packets: match by_packets {
                // A rule that needs delivery rates decides itself what a window that is not full
                // means.
                _ if !is_limited && !self.needs.delivery_rate => 0,
                true => acked.min(most_packets),
                false => 1,
            },
        };
        match self.needs.ack {
            AckFields::None if growth.packets == 0 => return,
            AckFields::None if by_packets => self.grow_by_rtt(now_s - ack.sent_s, growth, knobs),
            AckFields::Rtt => self.grow_by_rtt(now_s - ack.sent_s, growth, knobs),
            AckFields::All if !STEADY => {
                self.grow_by_ack_context(now_s, ack, acked, growth, flight, knobs);
            }
            _ => self.grow_by_cwnd(),
        }
        if !is_limited && !self.needs.delivery_rate {
            self.cwnd = self.cwnd.min(before);
        }
        if !STEADY && share < 1.0 {
            self.cwnd = before + share * (self.cwnd - before);
        }
        if knobs.cap_window {
            self.cwnd = self.cwnd.min(knobs.window);
        }
    }

    /// Whether cwnd limits the flow, judged when an ACK of new data has arrived, by what was out
    /// before it.
    #[inline(always)]
    fn is_cwnd_limited(&mut self) -> bool {
        if self.snd_nxt > self.previous_highest_ack + self.congestion_window() {
            self.validation.note_full(self.snd_nxt);
            return true;
        }
        self.is_limited_when_not_full()
    }

    #[inline(never)]
    fn is_limited_when_not_full(&mut self) -> bool {
        let first = self.previous_highest_ack + 1;
        self.validation.is_limited(first, self.snd_nxt, self.cwnd, self.cwnd < self.ssthresh)
    }

    /// Growth by a rule that reads cwnd alone.
    #[inline(always)]
    fn grow_by_cwnd(&mut self) {
        if self.cwnd < self.ssthresh {
            self.cwnd += 1.0;
        } else {
            self.cwnd = self.rule.increase(self.cwnd, &NO_CONTEXT);
            self.stay_in_avoidance();
        }
    }

    /// Growth by a rule that reads cwnd and RTT.
    #[inline(never)]
    fn grow_by_rtt(&mut self, rtt_s: f64, growth: Growth, knobs: &Knobs) {
        let ack_context = Ack {
            growth_packets: growth.packets,
            ssthresh_packets: self.ssthresh,
            rtt_s,
            srtt_s: self.rtt.srtt_s(knobs),
            ..Ack::EMPTY
        };
        self.apply_rule(&ack_context, knobs);
    }

    /// Asks the rule for the next window, in slow start or in congestion avoidance.
    #[inline]
    pub(crate) fn apply_rule(&mut self, ack_context: &Ack, knobs: &Knobs) {
        let in_slow_start = self.cwnd < self.ssthresh;
        if in_slow_start {
            match self.rule.slow_start(self.cwnd, ack_context) {
                SlowStart::Grow(cwnd) => self.cwnd = cwnd,
                SlowStart::Leave(cwnd) => (self.cwnd, self.ssthresh) = (cwnd, cwnd),
            }
        } else {
            self.cwnd = self.rule.increase(self.cwnd, ack_context);
        }
        self.cwnd = self.cwnd.max(knobs.cwnd_floor);
        if !in_slow_start {
            self.stay_in_avoidance();
        }
        self.check_fault();
    }

    /// A rule that shrinks the window on an ACK does not return to slow start by it: Vegas, LEDBAT,
    /// Prague, formulas (as in Linux, tcp_vegas.c).
    #[inline(always)]
    fn stay_in_avoidance(&mut self) {
        // A branch that is hardly ever taken; `f64::min` takes eight instructions.
        if self.cwnd < self.ssthresh {
            self.ssthresh = self.cwnd;
        }
    }

    /// Reduces cwnd and ssthresh (ns-2 `TcpAgent::slowdown`): to the window that the rule returns,
    /// to half, or to one packet.
    pub(crate) fn reduce_cwnd(&mut self, reduction: Reduction, knobs: &Knobs) {
        let (Reduction::ToTarget(congestion) | Reduction::ToOnePacket(congestion)) = reduction;
        self.prepare_undo(congestion, knobs);
        self.end_slow_start(congestion);
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
