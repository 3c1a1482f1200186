//! BBR version 3, response to marks, as of its authors' implementation for Linux (google/bbr,
//! branch v3, `tcp_bbr.c`: `bbr_update_ecn_alpha`, `bbr_ecn_lower_bounds`,
//! `bbr_is_inflight_too_high`, `bbr_check_ecn_too_high_in_startup`). The draft has none.
//!
//! Departures: no early probe after marks cease (`ecn_reprobe_gain`), no new path for a flow that is
//! marked for long (PLB); no fixed point.

use super::Bbr3;
use super::bounds::BETA;
use super::mode::Mode;
use crate::Ack;
use std::collections::VecDeque;

/// Weight of a round trip in alpha (ecn_alpha_gain), and share of alpha that inflight_short is
/// reduced by (ecn_factor).
const GAIN: f64 = 1.0 / 16.0;
const FACTOR: f64 = 1.0 / 3.0;
/// Share of packets marked that a probe may cause (ecn_thresh), and round trips of Startup above it
/// that show a full pipe (full_ecn_cnt).
const THRESHOLD: f64 = 0.5;
const STARTUP_ROUNDS: u32 = 2;

/// Marks of a flow that responds to them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ecn {
    /// Minimum RTT up to which marks count, seconds; 0: any.
    max_rtt_s: f64,
    is_eligible: bool,
    alpha: f64,
    /// Packets marked so far; marks of this round trip.
    marked: u64,
    marked_in_round: bool,
    /// Packets delivered and marked at the last update of alpha.
    updated: (u64, u64),
    /// The same after each ACK that samples still refer to.
    history: VecDeque<(u64, u64)>,
    /// More than half of the packets of the last sample were marked.
    is_too_high: bool,
    /// Round trips of Startup in a row with that share.
    startup_rounds: u32,
}

impl Ecn {
    pub(super) fn new(max_rtt_s: f64) -> Self {
        Self {
            max_rtt_s,
            is_eligible: max_rtt_s == 0.0,
            alpha: 1.0,
            marked: 0,
            marked_in_round: false,
            updated: (0, 0),
            history: VecDeque::new(),
            is_too_high: false,
            startup_rounds: 0,
        }
    }

    pub(super) fn alpha(&self) -> f64 {
        self.alpha
    }

    pub(super) fn is_too_high(&self) -> bool {
        self.is_too_high
    }

    /// Whether marks show that Startup has filled the pipe.
    pub(super) fn fills_pipe(&self) -> bool {
        self.startup_rounds >= STARTUP_ROUNDS
    }

    /// What marks of this round trip leave of inflight_short.
    pub(super) fn factor(&self) -> Option<f64> {
        self.marked_in_round.then_some(1.0 - FACTOR * self.alpha)
    }

    /// Adds packets reported as marked.
    pub(super) fn add(&mut self, packets: u64) {
        self.marked += packets;
        self.marked_in_round |= packets > 0 && self.is_eligible;
    }

    /// Computes the share of packets marked since the acknowledged packet was sent.
    fn sample(&mut self, ack: &Ack) {
        self.add(ack.marked_packets);
        let delivered = ack.delivered_packets;
        self.history.push_back((delivered, self.marked));
        let sent_at = delivered.saturating_sub(ack.delivered_since_sent_packets);
        while self.history.get(1).is_some_and(|next| next.0 <= sent_at) {
            self.history.pop_front();
        }
        let before =
            self.history.front().filter(|first| first.0 <= sent_at).map_or(0, |first| first.1);
        let marked = (self.marked - before) as f64;
        self.is_too_high =
            self.is_eligible && marked > THRESHOLD * ack.delivered_since_sent_packets as f64;
    }

    /// Updates alpha at the end of a round trip.
    fn end_round(&mut self, delivered: u64, in_startup: bool) {
        let (new, marked) = (delivered - self.updated.0, self.marked - self.updated.1);
        if !self.is_eligible || new == 0 {
            return;
        }
        let share = (marked as f64 / new as f64).min(1.0);
        self.alpha = (1.0 - GAIN) * self.alpha + GAIN * share;
        self.updated = (delivered, self.marked);
        let is_high = in_startup && share >= THRESHOLD;
        self.startup_rounds = if is_high { self.startup_rounds + 1 } else { 0 };
    }
}

impl Bbr3 {
    /// Updates what marks tell, and ends a probe that caused too many of them.
    pub(super) fn learn_from_marks(&mut self, cwnd: f64, ack: &Ack) {
        let Some(ecn) = &mut self.ecn else { return };
        ecn.is_eligible |= self.min_rtt.0 <= ecn.max_rtt_s;
        ecn.sample(ack);
        if self.round_start {
            ecn.end_round(ack.delivered_packets, !self.filled);
        }
        if !ecn.is_too_high || !self.bounds.is_probe_sample {
            return;
        }
        // At most once per probe, as for losses.
        (self.bounds.was_too_high, self.bounds.is_probe_sample) = (true, false);
        if !ack.app_limited {
            self.bounds.inflight_long =
                (ack.sent_in_flight_packets as f64).max(BETA * self.target(cwnd));
        }
        if self.mode == Mode::Up {
            self.enter_down(ack);
        }
    }

    /// Begins a round trip, or a phase that responds to marks, without those of before.
    pub(super) fn forget_marks(&mut self) {
        if let Some(ecn) = &mut self.ecn {
            ecn.marked_in_round = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bbr::v3::{Bounds, WindowRule};

    fn close(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 1e-9, "{actual} instead of {expected}");
    }

    #[test]
    fn alpha_by_hand() {
        let mut ecn = Ecn::new(0.0);
        // 15/16 + 1/16 x 0, then 15/16 of it + 1/16 x 40/100.
        ecn.end_round(100, false);
        close(ecn.alpha, 0.9375);
        ecn.add(40);
        ecn.end_round(200, false);
        close(ecn.alpha, 0.903_906_25);
        // 1/3 of alpha is given up, once there was a mark.
        close(ecn.factor().unwrap(), 0.698_697_916_666_7);
        assert_eq!(Ecn::new(0.0).factor(), None);
    }

    #[test]
    fn marks_of_long_paths_do_not_count() {
        let mut rule = Bbr3::with_ecn(0.005);
        rule.min_rtt.0 = 0.006;
        let ack = Ack { marked_packets: 5, ..Ack::default() };
        rule.on_mark(10.0, &ack);
        rule.learn_from_marks(10.0, &Ack::default());
        assert_eq!(rule.ecn.as_ref().unwrap().factor(), None);
        // 5 ms are short enough, and a longer minimum later changes nothing.
        rule.min_rtt.0 = 0.005;
        rule.learn_from_marks(10.0, &Ack::default());
        rule.min_rtt.0 = 0.02;
        rule.on_mark(10.0, &ack);
        close(rule.ecn.as_ref().unwrap().factor().unwrap(), 2.0 / 3.0);
    }

    #[test]
    fn marks_reduce_what_is_in_flight_and_losses_the_rate_too() {
        let end = |bounds: &mut Bounds, delivered_packets, factor| {
            let ack = Ack {
                delivered_packets,
                delivered_since_sent_packets: 80,
                delivery_rate_packets_s: 900.0,
                ..Ack::default()
            };
            bounds.end_round(&ack, false, false, 1000.0, 200.0, factor);
            bounds.advance(&ack);
        };
        // Alpha 0.6: a fifth of a cwnd of 200, then of 160.
        let mut bounds = Bounds::default();
        end(&mut bounds, 1000, Some(0.8));
        assert_eq!(bounds.bandwidth_short, f64::INFINITY);
        close(bounds.inflight_short, 160.0);
        end(&mut bounds, 2000, Some(0.8));
        close(bounds.inflight_short, 128.0);
        end(&mut bounds, 3000, None);
        close(bounds.inflight_short, 128.0);
        // With loss: the lower one of 0.7 x 128 = 89.6 and 0.8 x 128; and of 62.72, but at least the
        // 80 delivered, and 0.8 x 89.6 = 71.68.
        bounds.lose_in_round();
        end(&mut bounds, 4000, Some(0.8));
        close(bounds.inflight_short, 89.6);
        bounds.lose_in_round();
        end(&mut bounds, 5000, Some(0.8));
        close(bounds.inflight_short, 71.68);
    }

    /// In Up, with a bandwidth-delay product of 100 packets.
    fn probing_up() -> Bbr3 {
        let mut rule = Bbr3::with_ecn(0.0);
        rule.max_bandwidth.update(0, 1000.0);
        (rule.min_rtt.0, rule.mode, rule.filled) = (0.1, Mode::Up, true);
        rule.bounds.start_up(250.0);
        rule
    }

    /// An ACK of a packet sent when 100 packets ago, `in_flight` of them in flight.
    fn sampled(delivered_packets: u64, in_flight: u64) -> Ack {
        Ack {
            now_s: 100.0,
            acked_packets: 1,
            delivered_packets,
            delivered_since_sent_packets: 100,
            sent_in_flight_packets: in_flight,
            ..Ack::default()
        }
    }

    #[test]
    fn a_probe_goes_too_high_when_half_of_a_sample_is_marked() {
        let mut rule = probing_up();
        let marks = |rule: &mut Bbr3, marked_packets| {
            rule.on_mark(250.0, &Ack { marked_packets, ..Ack::default() });
        };
        rule.learn_from_marks(250.0, &sampled(1000, 150));
        // 50 of 100 are not more than half; the 51st is. 150 were in flight.
        marks(&mut rule, 50);
        rule.learn_from_marks(250.0, &sampled(1100, 150));
        assert_eq!((rule.mode, rule.bounds.inflight_long), (Mode::Up, f64::INFINITY));
        let mut app_limited = rule.clone();
        marks(&mut rule, 1);
        rule.learn_from_marks(250.0, &sampled(1100, 150));
        assert_eq!((rule.mode, rule.bounds.inflight_long), (Mode::Down, 150.0));
        assert!(rule.bounds.was_too_high);
        // An application-limited sample shows no bound.
        marks(&mut app_limited, 1);
        app_limited.learn_from_marks(250.0, &Ack { app_limited: true, ..sampled(1100, 150) });
        let bound = app_limited.bounds.inflight_long;
        assert_eq!((app_limited.mode, bound), (Mode::Down, f64::INFINITY));
        // Marks of before the packet was sent do not count: those 51 are 100 packets ago.
        let mut later = probing_up();
        marks(&mut later, 51);
        later.learn_from_marks(250.0, &sampled(1000, 150));
        later.bounds.is_probe_sample = true;
        later.mode = Mode::Up;
        later.learn_from_marks(250.0, &sampled(1100, 150));
        assert_eq!(later.mode, Mode::Up);
        // Never below 0.7 x 100.
        let mut low = probing_up();
        low.learn_from_marks(250.0, &sampled(1000, 150));
        marks(&mut low, 60);
        low.learn_from_marks(250.0, &sampled(1100, 20));
        close(low.bounds.inflight_long, 70.0);
    }

    #[test]
    fn two_round_trips_of_startup_with_half_marked_fill_the_pipe() {
        let mut ecn = Ecn::new(0.0);
        let mut round = |delivered: u64, marked: u64, in_startup: bool| {
            ecn.add(marked);
            ecn.end_round(delivered, in_startup);
            ecn.fills_pipe()
        };
        assert!(!round(10, 5, true));
        assert!(!round(20, 4, true));
        assert!(!round(30, 5, true));
        assert!(round(40, 5, true));
        assert!(!round(50, 10, false));
    }

    #[test]
    fn without_ecn_marks_change_nothing() {
        let mut rule = Bbr3::default();
        let (before, ack) = (rule.clone(), Ack { marked_packets: 9, ..Ack::default() });
        rule.on_mark(10.0, &ack);
        rule.learn_from_marks(10.0, &ack);
        assert_eq!(rule, before);
        assert!(!rule.needs().l4s && !rule.needs().exact_marks);
        assert!(Bbr3::with_ecn(0.005).needs().l4s);
    }
}
