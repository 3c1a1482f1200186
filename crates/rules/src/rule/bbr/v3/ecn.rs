//! BBR version 3, response to marks, as of its authors' implementation for Linux (google/bbr,
//! branch v3, `tcp_bbr.c`: `bbr_update_ecn_alpha`, `bbr_ecn_lower_bounds`,
//! `bbr_is_inflight_too_high`, `bbr_check_ecn_too_high_in_startup`). The draft has none.
//!
//! Departures: no early probe after marks cease (`ecn_reprobe_gain`), no new path for a flow that is
//! marked for long (PLB); no fixed point.

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

    /// Updates what an ACK tells. `round_start`: a round trip begins with it.
    pub(super) fn observe(&mut self, ack: &Ack, min_rtt_s: f64, round_start: bool, startup: bool) {
        self.is_eligible |= min_rtt_s <= self.max_rtt_s;
        self.sample(ack);
        if round_start {
            self.end_round(ack.delivered_packets, startup);
        }
    }

    /// Begins a round trip, or a phase that responds to marks, without those of before.
    pub(super) fn forget_round(&mut self) {
        self.marked_in_round = false;
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
