//! DCTCP (RFC 8257): reduces cwnd in proportion to the fraction of marked packets.
//!
//! ```text
//! once per window of data:  M = packets marked / packets acknowledged
//!                           alpha <- (1 - g) alpha + g M                (section 3.3, steps 1-6)
//! mark, once per window:    w <- w (1 - alpha / 2)                      (section 3.3, steps 7-9)
//! loss:                     w <- w / 2                                  (sections 3.4, 3.5)
//! ```
//!
//! `w` in packets; alpha starts at 1 (section 3.3), g = 1/16 (section 4.2). Growth and slow start
//! are those of RFC 5681. A window of data is a round trip here. The endpoint echoes each packet's
//! mark exactly (section 3.2) and reduces once per window.
//!
//! Fractions are of delivered packets, so that ACKs in recovery are counted; the RFC counts bytes.

use crate::family::{fraction, no_check, option};
use crate::{Ack, Congestion, FamilyOf, MarkResponse, Needs, SlowStart, WindowRule};

/// DCTCP.
#[derive(Clone, Debug, PartialEq)]
pub struct Dctcp {
    gain: f64,
    alpha: f64,
    /// `delivered` at the last ACK.
    delivered: u64,
    /// Packets acknowledged in this window of data.
    acked: u64,
    marked: u64,
}

impl Dctcp {
    /// A new flow; `gain` is the RFC's g.
    pub fn new(gain: f64) -> Self {
        Self { gain, alpha: 1.0, delivered: 0, acked: 0, marked: 0 }
    }

    /// The smoothed fraction of marked packets.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Counts packets delivered since the last call; repeated calls for one ACK count once.
    fn count(&mut self, ack: &Ack) {
        let new = ack.delivered_packets.saturating_sub(self.delivered);
        self.delivered += new;
        self.acked += new;
        self.marked += ack.marked_packets;
        if ack.round_start && self.acked > 0 {
            let share = self.marked.min(self.acked) as f64 / self.acked as f64;
            self.alpha = (1.0 - self.gain) * self.alpha + self.gain * share;
            (self.acked, self.marked) = (0, 0);
        }
    }
}

impl WindowRule for Dctcp {
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        self.count(ack);
        ack.per_packet(cwnd, |cwnd| cwnd + 1.0 / cwnd)
    }

    fn decrease(&mut self, cwnd: f64, congestion: Congestion) -> f64 {
        match congestion {
            Congestion::Ecn => cwnd * (1.0 - self.alpha / 2.0),
            Congestion::FastRetransmit | Congestion::Timeout => cwnd / 2.0,
        }
    }

    fn slow_start(&mut self, cwnd: f64, ack: &Ack) -> SlowStart {
        self.count(ack);
        SlowStart::Grow(ack.slow_start(cwnd, |cwnd| cwnd + 1.0 / cwnd))
    }

    fn on_mark(&mut self, _: f64, ack: &Ack) -> MarkResponse {
        self.count(ack);
        MarkResponse::Reduce
    }

    fn needs(&self) -> Needs {
        // A loss is handled as by any TCP (RFC 8257 section 3.5).
        Needs { exact_marks: true, rounds: true, cut_after_mark: true, ..Needs::default() }
    }

    fn state(&self, report: &mut dyn FnMut(&str, f64)) {
        report("alpha", self.alpha);
    }
}

pub(crate) const FAMILY: FamilyOf<Box<Dctcp>> = FamilyOf {
    name: "DCTCP",
    summary: "add 1 per round trip; on marks give up half of the smoothed share of marked packets; \
        halve on loss",
    source: "RFC 8257",
    example: "DCTCP",
    deployed: true,
    parameters: &[option(fraction("g", "weight of a window's share of marks in alpha"), 0.0625)],
    check: no_check,
    build: |p| Box::new(Dctcp::new(p[0])),
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows of ten packets, the first `marked` of each marked.
    fn window(rule: &mut Dctcp, marked: u64) {
        for packet in 0..10 {
            let delivered_packets = rule.delivered + 1;
            let ack = Ack {
                acked_packets: 1,
                delivered_packets,
                marked: packet < marked,
                marked_packets: u64::from(packet < marked),
                round_start: packet == 9,
                ..Ack::default()
            };
            if ack.marked {
                assert_eq!(rule.on_mark(10.0, &ack), MarkResponse::Reduce);
            } else {
                rule.increase(10.0, &ack);
            }
        }
    }

    #[test]
    fn alpha_by_hand() {
        let mut rule = Dctcp::new(1.0 / 16.0);
        // A first mark halves, since alpha starts at 1.
        assert_eq!(rule.decrease(10.0, Congestion::Ecn), 5.0);
        window(&mut rule, 2); // 15/16 + 0.2/16 = 0.95
        assert!((rule.alpha() - 0.95).abs() < 1e-12);
        window(&mut rule, 0); // 0.95 x 15/16 = 0.890625
        assert!((rule.alpha() - 0.890625).abs() < 1e-12);
        window(&mut rule, 10); // 0.890625 x 15/16 + 1/16 = 0.8974609375
        assert!((rule.alpha() - 0.8974609375).abs() < 1e-12);
        assert!((rule.decrease(100.0, Congestion::Ecn) - 55.126953125).abs() < 1e-9);
        assert_eq!(rule.decrease(100.0, Congestion::FastRetransmit), 50.0);
    }

    #[test]
    fn a_steady_share_of_marks_becomes_alpha() {
        let mut rule = Dctcp::new(1.0 / 16.0);
        (0..300).for_each(|_| window(&mut rule, 2));
        assert!((rule.alpha() - 0.2).abs() < 1e-7);
    }

    #[test]
    fn one_acknowledgement_counts_once_and_those_not_shown_count_too() {
        let mut rule = Dctcp::new(0.5);
        let marked =
            Ack { delivered_packets: 15, marked: true, marked_packets: 5, ..Ack::default() };
        rule.on_mark(10.0, &marked);
        rule.increase(10.0, &Ack { marked_packets: 0, ..marked });
        rule.increase(10.0, &Ack { delivered_packets: 20, round_start: true, ..Ack::default() });
        // 5 of 20: 0.5 + 0.5 x 0.25.
        assert!((rule.alpha() - 0.625).abs() < 1e-12);
    }
}
