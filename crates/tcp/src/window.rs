//! What becomes of the window: growth on acknowledgements, and cuts (ns-2 `opencwnd`, `slowdown`). The rule decides; this applies.

use crate::{AckSegment, Knobs, Sender};
use cwndlab_rules::{Ack, Congestion, SlowStart, WindowRule};

/// What the last change of the window was (ns-2 `last_cwnd_action_`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LastCut {
    None,
    FastRetransmit,
    Exited,
    Ecn,
    Timeout,
}

/// What a cut does to the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Window and threshold to what the rule asks for.
    ToTarget(Congestion),
    /// Window to one packet, threshold to what the rule asks for.
    ToOne(Congestion),
}

/// What a rule is told that looks at the window alone.
static NOTHING: Ack = Ack::NOTHING;

impl Sender {
    /// Slow start, or the rule's increase: once per acknowledgement, whatever it acknowledges.
    #[inline(always)]
    pub(crate) fn grow(&mut self, now_s: f64, ack: AckSegment, acked: u64, knobs: &Knobs) {
        // A rule that measures the network decides by itself what an unused window means.
        let measures = self.told.as_ref().is_some_and(|told| told.needs.delivery_rate);
        if knobs.grow_when_limited && !measures && self.next <= self.previous_highest_ack + self.window() {
            return;
        }
        if knobs.grow_by_packets {
            self.grow_by_packets(now_s, ack, acked, knobs);
        } else if self.told.is_some() {
            self.grow_told(now_s, ack, acked, knobs);
        } else if self.by_formula {
            self.grow_by_formula(now_s - ack.sent_s, knobs);
        } else {
            self.grow_by_window();
        }
        if knobs.cap_window {
            self.cwnd = self.cwnd.min(knobs.window);
        }
    }

    /// By a rule that looks at the window alone.
    #[inline(always)]
    pub(crate) fn grow_by_window(&mut self) {
        self.cwnd = if self.cwnd < self.ssthresh { self.cwnd + 1.0 } else { self.rule.increase(self.cwnd, &NOTHING) };
    }

    /// As if every packet had been acknowledged by itself (RFC 3465 in slow start, and in congestion avoidance the same): with delayed
    /// acknowledgements the window grows as fast as without.
    #[inline(never)]
    fn grow_by_packets(&mut self, now_s: f64, ack: AckSegment, acked: u64, knobs: &Knobs) {
        if self.told.as_ref().is_some_and(|told| told.needs.recovery) {
            // It counts what was delivered itself.
            return self.grow_told(now_s, ack, acked, knobs);
        }
        for _ in 0..acked {
            if self.told.is_some() {
                self.grow_told(now_s, ack, 1, knobs);
                // The round trip began once.
                self.told.iter_mut().for_each(|told| told.end_round_start());
            } else if self.by_formula {
                self.grow_by_formula(now_s - ack.sent_s, knobs);
            } else {
                self.grow_by_window();
            }
        }
    }

    /// By a formula, which looks at the round trip too.
    #[inline(never)]
    pub(crate) fn grow_by_formula(&mut self, rtt_s: f64, knobs: &Knobs) {
        let event = Ack { rtt_s, srtt_s: self.rtt.srtt_s(knobs), ..Ack::NOTHING };
        self.ask(&event, knobs);
    }

    /// What a rule that looks at more than the window makes of it.
    #[inline]
    pub(crate) fn ask(&mut self, event: &Ack, knobs: &Knobs) {
        if self.cwnd < self.ssthresh {
            match self.rule.slow_start(self.cwnd, event) {
                SlowStart::Grow(cwnd) => self.cwnd = cwnd,
                SlowStart::Leave(cwnd) => (self.cwnd, self.ssthresh) = (cwnd, cwnd),
            }
        } else {
            self.cwnd = self.rule.increase(self.cwnd, event);
        }
        self.cwnd = self.cwnd.max(knobs.cwnd_floor);
        self.look_for_fault();
    }

    /// TcpAgent::slowdown: the rule's target, or half, and what becomes of window and threshold.
    pub(crate) fn cut(&mut self, cut: Cut, knobs: &Knobs) {
        let (Cut::ToTarget(congestion) | Cut::ToOne(congestion)) = cut;
        let (half, target) = if knobs.precise_reduction {
            let window = (self.cwnd + self.dupwnd as f64).min(knobs.window);
            (window / 2.0, self.rule.decrease(window, congestion))
        } else {
            let window = self.window();
            ((window / 2) as f64, self.rule.decrease(window as f64, congestion).trunc())
        };
        let slow_start = self.cwnd < self.ssthresh;
        let halve =
            (knobs.halve_first_cut && self.first_cut) || (slow_start && (knobs.halve_in_slow_start || self.rule.halves_in_slow_start()));
        let halve_ssthresh = halve || (knobs.halve_after_timeout && congestion == Congestion::Timeout);
        let ssthresh = if halve_ssthresh { half } else { target };
        // RFC 5681 equation 4 and ns-2 agree on two packets.
        self.ssthresh = if knobs.integer_ssthresh { ssthresh.trunc() } else { ssthresh }.max(2.0);
        // RFC 3168 section 6.1.2: an echo at a window of one packet stops sending until the timer expires. So does a window below one.
        let stops = congestion == Congestion::Ecn && self.cwnd <= 1.0;
        let floor = if stops { knobs.cwnd_floor.min(0.0) } else { knobs.cwnd_floor };
        self.cwnd = match cut {
            Cut::ToOne(_) => 1.0,
            Cut::ToTarget(_) if halve || (knobs.halve_if_half && self.rule.halves_in_ns2()) => half,
            Cut::ToTarget(_) => target,
        }
        .max(floor);
        self.first_cut = false;
        self.ecn.cwr_due = true;
        self.look_for_fault();
    }

    /// Window to one packet, threshold as it is.
    pub(crate) fn window_to_one(&mut self) {
        self.cwnd = 1.0;
        self.first_cut = false;
        self.ecn.cwr_due = true;
    }
}
