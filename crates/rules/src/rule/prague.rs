//! Prague: DCTCP's response to marks, for the Internet: a scalable rule of L4S (RFC 9331).
//!
//! ```text
//! per virtual round trip:  F = packets marked / packets delivered,  alpha <- (1 - g) alpha + g F
//! ACK without a mark:      w <- w + s / w          s = min(1, (RTT / rtt)^2) once rounds have passed
//! without use of all of w: no increase
//! ACK with a mark:         w <- w (1 - alpha / 2)  at most once per virtual round trip
//! loss:                    w <- w / 2
//! pacing:                  w / RTT, twice that in slow start
//! ```
//!
//! `w` in packets; a virtual round trip is the longer one of the smoothed RTT and `rtt`; alpha starts
//! at 1 and stays there until the first mark, so that a first mark halves and ends slow start. So
//! flows with round trips below `rtt` share a link by rate, as if all had `rtt`. During the first
//! `rounds` virtual round trips after slow start they grow and reduce by their own RTT, so that short
//! flows are fast.
//!
//! Source: draft-briscoe-iccrg-prague-congestion-control-04, sections 2.3 to 2.4, and its
//! implementation for Linux (`tcp_prague.c` 0.6), which the default of `rounds` is from. The endpoint
//! sends ECT(1) and asks for AccECN. On a path without ECN only losses are left, and the rule is
//! Reno's (section 2.4.1).
//!
//! With `fallback` 1 it detects a bottleneck that marks as RFC 3168 says, and reduces there as CUBIC
//! does (section 2.4.5, `classic_ecn.rs`); Linux has this off by default.
//!
//! Departure: marks that arrive in recovery count in alpha only.

use crate::classic_ecn::ClassicEcn;
use crate::family::{fraction, no_check, not_negative, option, parameter};
use crate::{Ack, Congestion, FamilyOf, MarkResponse, Needs, SlowStart, WindowRule};

/// Smallest window, packets (draft, section 2.4.2).
const MIN_CWND: f64 = 2.0;

/// Prague.
#[derive(Clone, Debug, PartialEq)]
pub struct Prague {
    gain: f64,
    /// RTT whose rate flows with a shorter one have, seconds.
    rtt_s: f64,
    /// Virtual round trips after slow start from which `rtt_s` counts.
    rounds: f64,
    alpha: f64,
    /// Whether a mark was seen: alpha is a measurement.
    has_seen_mark: bool,
    /// `delivered` at the last ACK.
    delivered: u64,
    /// Packets delivered and marked since the last update of alpha.
    acked: u64,
    marked: u64,
    /// Whether a round trip has passed since then.
    round_passed: bool,
    updated_s: f64,
    /// Updates since slow start.
    updates: f64,
    /// Packets reported as marked that no ACK without a mark was counted for yet.
    not_growing: u64,
    /// Whether a mark waits for its reduction.
    mark_pending: bool,
    reduced_s: f64,
    pacing_rate_packets_s: Option<f64>,
    /// With `fallback`.
    classic_ecn: Option<ClassicEcn>,
}

impl Prague {
    /// A new flow; `gain` is the draft's g, `rtt_s` its virtual RTT; `fallback`: to CUBIC's response
    /// on a classic queue.
    pub fn new(gain: f64, rtt_s: f64, rounds: f64, fallback: bool) -> Self {
        Self {
            gain,
            rtt_s,
            rounds,
            alpha: 1.0,
            has_seen_mark: false,
            delivered: 0,
            acked: 0,
            marked: 0,
            round_passed: false,
            updated_s: 0.0,
            updates: 0.0,
            not_growing: 0,
            mark_pending: false,
            reduced_s: f64::NEG_INFINITY,
            pacing_rate_packets_s: None,
            classic_ecn: fallback.then(ClassicEcn::new),
        }
    }

    /// The smoothed fraction of marked packets.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Whether the flow behaves as if its RTT were at least `rtt_s`.
    fn is_rtt_independent(&self) -> bool {
        self.updates >= self.rounds
    }

    /// Length of a virtual round trip, seconds.
    fn virtual_rtt_s(&self, ack: &Ack) -> f64 {
        if self.is_rtt_independent() { ack.srtt_s.max(self.rtt_s) } else { ack.srtt_s }
    }

    /// Counts packets delivered since the last call; repeated calls for one ACK count once.
    fn count(&mut self, ack: &Ack, in_slow_start: bool) {
        let new = ack.delivered_packets.saturating_sub(self.delivered);
        self.delivered += new;
        self.acked += new;
        self.marked += ack.marked_packets;
        self.not_growing += ack.marked_packets;
        self.has_seen_mark |= ack.marked_packets > 0;
        self.mark_pending |= ack.marked_packets > 0;
        self.round_passed |= ack.round_start;
        if let Some(classic_ecn) = &mut self.classic_ecn
            && new > 0
            && ack.rtt_s > 0.0
        {
            classic_ecn.measure(ack.rtt_s);
        }
        let is_due = self.round_passed && ack.now_s - self.updated_s >= self.virtual_rtt_s(ack);
        if !is_due || self.acked == 0 {
            return;
        }
        if self.has_seen_mark {
            if let Some(classic_ecn) = &mut self.classic_ecn {
                classic_ecn.update(ack.min_rtt_s);
            }
            let share = self.marked.min(self.acked) as f64 / self.acked as f64;
            self.alpha = (1.0 - self.gain) * self.alpha + self.gain * share;
        }
        (self.acked, self.marked, self.round_passed) = (0, 0, false);
        self.updated_s = ack.now_s;
        self.updates += f64::from(u8::from(!in_slow_start));
    }

    /// Reduces for a mark that waits, at most once per virtual round trip.
    fn reduced(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        if !self.mark_pending || ack.now_s - self.reduced_s < self.virtual_rtt_s(ack) {
            return cwnd;
        }
        self.mark_pending = false;
        self.reduced_s = ack.now_s;
        let reduced = (cwnd * (1.0 - self.response_alpha() / 2.0)).max(MIN_CWND);
        if let Some(classic_ecn) = &mut self.classic_ecn {
            classic_ecn.reduced(reduced);
        }
        reduced
    }

    /// Alpha of the response to marks: more than the measured one on a classic queue.
    fn response_alpha(&self) -> f64 {
        self.classic_ecn.as_ref().map_or(0.0, ClassicEcn::least_alpha).max(self.alpha)
    }

    /// Packets of this ACK that were not marked.
    fn unmarked(&mut self, ack: &Ack) -> f64 {
        let marked = self.not_growing.min(ack.acked_packets);
        self.not_growing -= marked;
        (ack.acked_packets - marked) as f64
    }

    fn pace(&mut self, cwnd: f64, times: f64, ack: &Ack) {
        self.pacing_rate_packets_s = (ack.srtt_s > 0.0).then(|| times * cwnd / ack.srtt_s);
    }
}

impl WindowRule for Prague {
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        self.count(ack, false);
        let scale = match ack.srtt_s / self.rtt_s {
            ratio if ratio < 1.0 && self.is_rtt_independent() => ratio * ratio,
            _ => 1.0,
        };
        let unmarked = self.unmarked(ack);
        let grown = if ack.cwnd_limited { cwnd + unmarked * scale / cwnd } else { cwnd };
        let cwnd = self.reduced(grown, ack);
        self.pace(cwnd, 1.0, ack);
        cwnd
    }

    fn decrease(&mut self, cwnd: f64, congestion: Congestion) -> f64 {
        match congestion {
            Congestion::Ecn => cwnd * (1.0 - self.response_alpha() / 2.0),
            Congestion::FastRetransmit | Congestion::Timeout => {
                self.mark_pending = false;
                cwnd / 2.0
            }
        }
    }

    fn slow_start(&mut self, cwnd: f64, ack: &Ack) -> SlowStart {
        self.count(ack, true);
        if self.mark_pending {
            let reduced = self.reduced(cwnd, ack);
            self.pace(reduced, 1.0, ack);
            return SlowStart::Leave(reduced);
        }
        let (grown, left_over) =
            if ack.cwnd_limited { ack.slow_start_packets(cwnd) } else { (cwnd, 0) };
        let grown = grown + left_over as f64 / grown;
        self.pace(grown, 2.0, ack);
        SlowStart::Grow(grown)
    }

    fn on_mark(&mut self, _: f64, ack: &Ack) -> MarkResponse {
        self.count(ack, false);
        MarkResponse::Consumed
    }

    fn pacing_rate_packets_s(&self) -> Option<f64> {
        self.pacing_rate_packets_s
    }

    fn needs(&self) -> Needs {
        Needs {
            exact_marks: true,
            l4s: true,
            rounds: true,
            pacing: true,
            delivery_rate: true,
            cut_after_mark: true,
            ..Needs::default()
        }
    }

    fn state(&self, report: &mut dyn FnMut(&str, f64)) {
        report("alpha", self.alpha);
        if let Some(classic_ecn) = &self.classic_ecn {
            report("classic_ecn", classic_ecn.score());
        }
    }
}

pub(crate) const FAMILY: FamilyOf<Box<Prague>> = FamilyOf {
    name: "Prague",
    summary: "L4S: add 1 per round trip of at least 25 ms; on marks give up half of the smoothed \
        share of marked packets; halve on loss",
    source: "draft-briscoe-iccrg-prague-congestion-control-04, section 2.4",
    example: "Prague",
    deployed: true,
    parameters: &[
        option(fraction("g", "weight of a round trip's share of marks in alpha"), 0.0625),
        option(
            parameter(
                "rtt",
                "shortest round trip whose rate a flow has, seconds",
                "above 0, at most 1",
                |x| x > 0.0 && x <= 1.0,
            ),
            0.025,
        ),
        option(not_negative("rounds", "round trips after slow start until `rtt` counts"), 500.0),
        option(
            parameter(
                "fallback",
                "whether the response to marks of a classic queue (RFC 3168) is CUBIC's",
                "0 or 1",
                |x| x == 0.0 || x == 1.0,
            ),
            0.0,
        ),
    ],
    check: no_check,
    build: |p| Box::new(Prague::new(p[0], p[1], p[2], p[3] == 1.0)),
};

#[cfg(test)]
mod tests {
    use super::*;

    /// A flow that acknowledges a packet at a time, ten per round trip.
    struct Flow {
        rule: Prague,
        cwnd: f64,
        packets: u64,
        rtt_s: f64,
    }

    impl Flow {
        fn new(rule: Prague, rtt_s: f64) -> Self {
            Self { rule, cwnd: 100.0, packets: 0, rtt_s }
        }

        /// The next ACK.
        fn ack(&mut self, marked: bool) {
            self.packets += 1;
            let ack = Ack {
                now_s: self.packets as f64 * self.rtt_s / 10.0,
                acked_packets: 1,
                delivered_packets: self.packets,
                srtt_s: self.rtt_s,
                marked,
                marked_packets: u64::from(marked),
                round_start: self.packets.is_multiple_of(10),
                ..Ack::default()
            };
            let mut seen = ack;
            if marked {
                assert_eq!(self.rule.on_mark(self.cwnd, &ack), MarkResponse::Consumed);
                seen.marked_packets = 0;
            }
            self.cwnd = self.rule.increase(self.cwnd, &seen);
        }

        fn round(&mut self, marked: u64) {
            (0..10).for_each(|packet| self.ack(packet < marked));
        }
    }

    fn close(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 1e-9 * expected, "{actual} instead of {expected}");
    }

    #[test]
    fn without_marks_it_grows_as_reno_and_alpha_stays_1() {
        let mut flow = Flow::new(Prague::new(0.0625, 0.025, 500.0, false), 0.1);
        flow.round(0);
        let mut reno = 100.0;
        (0..10).for_each(|_| reno += 1.0 / reno);
        close(flow.cwnd, reno);
        assert_eq!(flow.rule.alpha(), 1.0);
        assert_eq!(flow.rule.decrease(10.0, Congestion::FastRetransmit), 5.0);
        close(flow.rule.pacing_rate_packets_s().unwrap(), flow.cwnd / 0.1);
    }

    #[test]
    fn a_first_mark_halves_and_no_second_in_the_round_trip() {
        let mut flow = Flow::new(Prague::new(0.0625, 0.025, 500.0, false), 0.1);
        flow.ack(true);
        // A marked packet does not grow the window; alpha is 1.
        close(flow.cwnd, 50.0);
        flow.ack(true);
        close(flow.cwnd, 50.0);
        flow.ack(false);
        close(flow.cwnd, 50.02);
    }

    #[test]
    fn alpha_by_hand() {
        let mut flow = Flow::new(Prague::new(0.0625, 0.025, 500.0, false), 0.1);
        flow.round(2);
        close(flow.rule.alpha(), 15.0 / 16.0 + 0.2 / 16.0);
        flow.round(0);
        close(flow.rule.alpha(), (15.0 / 16.0 + 0.2 / 16.0) * 15.0 / 16.0);
    }

    #[test]
    fn a_short_round_trip_counts_as_25_ms() {
        // At 5 ms, a fifth of 25 ms, a round trip adds a 25th: the same packets a second per second.
        let mut flow = Flow::new(Prague::new(0.0625, 0.025, 0.0, false), 0.005);
        flow.ack(false);
        close(flow.cwnd, 100.0 + 0.04 / 100.0);
        // Alpha is updated after 25 ms, five round trips, with the marks of all of them.
        let mut flow = Flow::new(Prague::new(0.0625, 0.025, 0.0, false), 0.005);
        (0..4).for_each(|_| flow.round(5));
        assert_eq!(flow.rule.alpha(), 1.0);
        flow.round(5);
        close(flow.rule.alpha(), 15.0 / 16.0 + 0.5 / 16.0);
        // And the marks of 25 ms reduce once.
        let mut flow = Flow::new(Prague::new(0.0625, 0.025, 0.0, false), 0.005);
        let mut reductions = 0;
        for packet in 0..50 {
            let before = flow.cwnd;
            flow.ack(packet % 2 == 0);
            reductions += u32::from(flow.cwnd < 0.9 * before);
        }
        assert_eq!(reductions, 1);
    }

    /// `tcp_prague.c` asks `tcp_is_cwnd_limited`: a window that the application or the receiver's
    /// window leaves unused does not grow, in slow start or after it.
    #[test]
    fn an_unused_window_does_not_grow() {
        let mut rule = Prague::new(0.0625, 0.025, 500.0, false);
        let ack = Ack { acked_packets: 1, delivered_packets: 1, srtt_s: 0.1, ..Ack::default() };
        let unused = Ack { cwnd_limited: false, ..ack };
        assert_eq!(rule.slow_start(10.0, &unused), SlowStart::Grow(10.0));
        assert_eq!(rule.increase(10.0, &unused), 10.0);
        assert_eq!(rule.increase(10.0, &Ack { delivered_packets: 2, ..ack }), 10.1);
    }

    #[test]
    fn a_mark_ends_slow_start() {
        let mut rule = Prague::new(0.0625, 0.025, 500.0, false);
        let ack = Ack { acked_packets: 1, delivered_packets: 1, srtt_s: 0.1, ..Ack::default() };
        assert_eq!(rule.slow_start(10.0, &ack), SlowStart::Grow(11.0));
        close(rule.pacing_rate_packets_s().unwrap(), 2.0 * 11.0 / 0.1);
        let marked = Ack { delivered_packets: 2, marked: true, marked_packets: 1, ..ack };
        rule.on_mark(11.0, &marked);
        let seen = Ack { marked_packets: 0, ..marked };
        assert_eq!(rule.slow_start(11.0, &seen), SlowStart::Leave(5.5));
    }
}
