//! Multi-rate AIMD (Psaras, Dianati and Tafazolli 2009): AIMD of the window and of its increase
//! factor.
//!
//! ```text
//! per ACK:       a <- a + a' / w, then w <- w + a / w    (equation 1)
//! on loss:       a <- a - b a,  w <- w - b w             (equation 2, section 3.1)
//! on ECE:        a' <- a'_ecn, the window stays          (section 3.1)
//! on a timeout:  a <- reset                              (section 3.1)
//! ```
//!
//! `w` in packets, `a` in packets per round trip, `a'` in packets per round trip per round trip,
//! `b` a share. Over n round trips from a: w grows by a + a' + ... by equation 1, one a' later than
//! the sum that equation 3 prints.
//!
//! Where the paper is silent or says two things:
//! - `reset`: section 3.1 calls 0.5 the initial value, after it has set the initial value to 1, as
//!   section 4.4 does. 1 is the default.
//! - The paper does not say when a' returns: here after `calm` whole round trips without ECE (1 by
//!   default, the shortest reading of "no ECN signals to the sender" in section 4.4).
//! - In slow start only the window grows; marks lower a' there, too.
//! - On a timeout ssthresh is w - b w.

use crate::family::{fraction, no_check, not_negative, option, parameter, positive, with_default};
use crate::{Ack, Congestion, FamilyOf, MarkResponse, Needs, SlowStart, WindowRule};

/// The multi-rate rule.
#[derive(Clone, Debug, PartialEq)]
pub struct MrAimd {
    a: f64,
    /// a', packets per round trip per round trip.
    pub acceleration: f64,
    /// a' after a mark.
    pub acceleration_marked: f64,
    /// Share of window and increase factor given up on loss.
    pub b: f64,
    /// Increase factor after a timeout, packets per round trip.
    pub reset: f64,
    /// Round trips without a mark after which a' returns.
    pub calm: u32,
    /// Starts of round trips to see without a mark before a' returns; 0: it has.
    rounds_until_return: u32,
}

impl MrAimd {
    /// A flow with increase factor `a0`; see the file's head for the rest.
    pub fn new(
        a0: f64,
        acceleration: f64,
        acceleration_marked: f64,
        b: f64,
        reset: f64,
        calm: u32,
    ) -> Self {
        Self { a: a0, acceleration, acceleration_marked, b, reset, calm, rounds_until_return: 0 }
    }

    /// The increase factor now, packets per round trip.
    pub fn increase_factor(&self) -> f64 {
        self.a
    }

    /// The window after a packet in congestion avoidance.
    fn step(&mut self, cwnd: f64) -> f64 {
        let acceleration = if self.rounds_until_return == 0 {
            self.acceleration
        } else {
            self.acceleration_marked
        };
        self.a += acceleration / cwnd;
        cwnd + self.a / cwnd
    }

    fn count_round(&mut self, ack: &Ack) {
        if ack.round_start && !ack.marked {
            self.rounds_until_return = self.rounds_until_return.saturating_sub(1);
        }
    }
}

impl WindowRule for MrAimd {
    #[inline]
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        self.count_round(ack);
        ack.per_packet(cwnd, |cwnd| self.step(cwnd))
    }

    fn decrease(&mut self, cwnd: f64, congestion: Congestion) -> f64 {
        self.a =
            if congestion == Congestion::Timeout { self.reset } else { self.a - self.b * self.a };
        cwnd - self.b * cwnd
    }

    #[inline]
    fn slow_start(&mut self, cwnd: f64, ack: &Ack) -> SlowStart {
        self.count_round(ack);
        SlowStart::Grow(ack.slow_start(cwnd, |cwnd| self.step(cwnd)))
    }

    fn on_mark(&mut self, _: f64, _: &Ack) -> MarkResponse {
        // The round trip under way has a mark now: its end does not count.
        self.rounds_until_return = self.calm + 1;
        MarkResponse::Consumed
    }

    fn needs(&self) -> Needs {
        Needs { rounds: true, ..Needs::default() }
    }

    fn state(&self, report: &mut dyn FnMut(&str, f64)) {
        report("increase_packets", self.a);
    }
}

pub(crate) const FAMILY: FamilyOf<Box<MrAimd>> = FamilyOf {
    name: "MRAIMD",
    summary: "add a per round trip, a itself grows by a' per round trip; on loss window and a give \
        up b; a mark only lowers a'",
    source: "Psaras, Dianati and Tafazolli 2009, section 3",
    example: "MRAIMD(1, 0.5, 0.005, 0.5)",
    deployed: false,
    parameters: &[
        with_default(positive("a0", "first increase factor, packets per round trip"), 1.0),
        with_default(
            not_negative(
                "a'",
                "growth of the increase factor, packets per round trip per round trip",
            ),
            0.5,
        ),
        with_default(not_negative("a'_ecn", "the same after a mark"), 0.005),
        with_default(fraction("b", "share of window and increase factor given up on loss"), 0.5),
        option(positive("reset", "increase factor after a timeout, packets per round trip"), 1.0),
        option(
            parameter(
                "calm",
                "round trips without a mark after which a' returns",
                "a whole number from 1 to 1e6",
                |x| (1.0..=1e6).contains(&x) && x.fract() == 0.0,
            ),
            1.0,
        ),
    ],
    check: no_check,
    build: |p| Box::new(MrAimd::new(p[0], p[1], p[2], p[3], p[4], p[5] as u32)),
};

#[cfg(test)]
mod tests {
    use super::*;

    fn rule() -> MrAimd {
        MrAimd::new(1.0, 0.5, 0.005, 0.5, 1.0, 1)
    }

    /// Round trips until 20 packets have become 40 (the paper's Figure 7): one ACK for
    /// each whole packet of the window.
    fn rounds_to_double(rule: &mut impl WindowRule) -> u32 {
        let (mut cwnd, mut rounds) = (20.0f64, 0);
        while cwnd < 40.0 {
            for _ in 0..cwnd as u64 {
                cwnd = rule.increase(cwnd, &Ack::default());
            }
            rounds += 1;
        }
        rounds
    }

    /// Equation 1 once a round trip: a = 1.5, 2, ..., 4.5 and w = 21.5, 23.5, 26, 29, 32.5, 36.5,
    /// 41: seven round trips. Spread over ACKs, a round trip adds the mean of a: 1.25,
    /// 1.75, ..., and 8 are needed. The paper reads 6 off its plot, and 20 for AIMD: 20 x 1 packet
    /// (21 here, since 1/w a little above w per ACK is a little less).
    #[test]
    fn doubles_in_eight_round_trips_where_aimd_needs_twenty() {
        assert_eq!(rounds_to_double(&mut rule()), 8);
        let mut aimd = MrAimd::new(1.0, 0.0, 0.0, 0.5, 1.0, 1);
        assert!((20..=21).contains(&rounds_to_double(&mut aimd)));
    }

    #[test]
    fn an_acknowledgement_and_a_loss_by_hand() {
        let mut rule = rule();
        // a = 1 + 0.5/10 = 1.05, w = 10 + 0.105.
        assert!((rule.increase(10.0, &Ack::default()) - 10.105).abs() < 1e-12);
        assert!((rule.decrease(10.0, Congestion::FastRetransmit) - 5.0).abs() < 1e-12);
        assert!((rule.increase_factor() - 0.525).abs() < 1e-12);
        assert_eq!(rule.decrease(8.0, Congestion::Timeout), 4.0);
        assert_eq!(rule.increase_factor(), 1.0);
    }

    #[test]
    fn a_mark_slows_until_a_whole_round_trip_without_one() {
        let mut rule = rule();
        let (plain, start) = (Ack::default(), Ack { round_start: true, ..Ack::default() });
        assert_eq!(rule.on_mark(10.0, &Ack { marked: true, ..plain }), MarkResponse::Consumed);
        let mut gain = |ack: &Ack| {
            let before = rule.increase_factor();
            rule.increase(10.0, ack);
            rule.increase_factor() - before
        };
        // 0.005/10 while the mark counts, 0.5/10 otherwise. The first start ends the round trip of
        // the mark.
        assert!((gain(&plain) - 0.0005).abs() < 1e-12);
        assert!((gain(&start) - 0.0005).abs() < 1e-12);
        assert!((gain(&plain) - 0.0005).abs() < 1e-12);
        assert!((gain(&start) - 0.05).abs() < 1e-12);
    }
}
