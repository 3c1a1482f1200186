//! Bimodal congestion avoidance (Attie, Lahanas and Tsaoussidis 2003): computes the fair share from
//! two congestion cycles.
//!
//! Between two congestion signals all flows grow alike, by `d` packets. If both signals come at the
//! same total and the first one made everybody give back the share `beta`, then `d` is `beta` times
//! the fair share (section 2.2). Figure 1 of the paper, in windows:
//!
//! ```text
//! no congestion, per round trip:  w <- w + alpha weight
//! congestion, fair share unknown:
//!     first cycle:   w <- (1 - beta) w;           begin <- w
//!     second cycle:  fair <- (w - begin) / beta;  w <- (1 - epsilon) fair;  fair share known
//! congestion, fair share known:
//!     w < point:     w <- (1 - beta) w;           unknown, first cycle      (flows joined)
//!     w > point:     fair <- w;                   w <- (1 - epsilon) w      (flows left)
//!     w = point:     w <- (1 - epsilon) fair
//! ```
//!
//! Windows in packets. `point` is the fair share (the pseudo-code: `compare=fair`) or (1 - epsilon)
//! times it (the prose of section 2.1: `compare=scaled`); within `band` times it counts as equal to
//! it (the paper: equal means equal). With `weight` as increment the same quotient is the
//! proportional share (section 2.2).
//!
//! How the steps map to a connection, where the paper is silent:
//! - a congestion signal is a fast retransmit or a reduction for ECE; a cycle runs from one
//!   reduction to the next;
//! - `begin` is the window at which congestion avoidance resumes after a reduction, so that floors
//!   and recovery do not affect `d`;
//! - a cycle without additive increase (a reduction in slow start) reduces by beta and counts as
//!   none: slow start ends at up to twice the total at which congestion comes otherwise, and
//!   section 2.2 computes the share from two signals at the same total;
//! - a timeout makes the fair share unknown, because flows do not grow alike in the slow start that
//!   follows; ssthresh is (1 - beta) w;
//! - slow start is the standard one;
//! - the prose has no step for equality with `compare=scaled`: as in the pseudo-code, but never
//!   above (1 - epsilon) w.
//!
//! The computed share may exceed the window: a flow below its share then grows on congestion, as
//! the paper intends.

use crate::family::{choice, fraction, no_check, option, parameter, positive, with_default};
use crate::{Ack, Congestion, FamilyOf, SlowStart, WindowRule};

/// The point that a window is compared with once the fair share is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// The fair share: Figure 1.
    Fair,
    /// (1 - epsilon) times it: section 2.1.
    Scaled,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    /// The fair share is unknown; whether a reduction by beta began this cycle.
    Unknown { second_cycle: bool },
    /// The fair share, packets.
    Known(f64),
}

/// The bimodal rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Bimodal {
    /// Packets added per round trip: alpha times the weight.
    pub increment: f64,
    /// Share of the window given up while the fair share is unknown.
    pub beta: f64,
    /// Share of the fair share given up once it is known.
    pub epsilon: f64,
    /// What a window is compared with on congestion.
    pub compare: Compare,
    /// How far off, as a share, still counts as equal.
    pub band: f64,
    mode: Mode,
    /// The window at the start of this cycle's additive increase; zero before it.
    begin: f64,
}

impl Bimodal {
    /// A flow that knows nothing yet.
    pub fn new(
        alpha: f64,
        beta: f64,
        epsilon: f64,
        weight: f64,
        compare: Compare,
        band: f64,
    ) -> Self {
        Self {
            increment: alpha * weight,
            beta,
            epsilon,
            compare,
            band,
            mode: Mode::Unknown { second_cycle: false },
            begin: 0.0,
        }
    }

    /// The fair share, packets, where it is known.
    pub fn fair_share(&self) -> Option<f64> {
        match self.mode {
            Mode::Known(fair) => Some(fair),
            Mode::Unknown { .. } => None,
        }
    }

    fn forget(&mut self, cwnd: f64, second_cycle: bool) -> f64 {
        self.mode = Mode::Unknown { second_cycle };
        cwnd * (1.0 - self.beta)
    }

    fn share_known(&mut self, cwnd: f64, fair: f64) -> f64 {
        let keep = 1.0 - self.epsilon;
        let point = match self.compare {
            Compare::Fair => fair,
            Compare::Scaled => fair * keep,
        };
        if (cwnd - point).abs() <= self.band * point {
            return match self.compare {
                Compare::Fair => fair * keep,
                Compare::Scaled => (fair * keep).min(cwnd * keep),
            };
        }
        if cwnd < point {
            return self.forget(cwnd, false);
        }
        self.mode = Mode::Known(cwnd);
        cwnd * keep
    }
}

impl WindowRule for Bimodal {
    #[inline]
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        if self.begin == 0.0 {
            self.begin = cwnd;
        }
        ack.per_packet(cwnd, |cwnd| cwnd + self.increment / cwnd)
    }

    fn decrease(&mut self, cwnd: f64, congestion: Congestion) -> f64 {
        let begin = std::mem::take(&mut self.begin);
        let grew = begin > 0.0 && cwnd > begin;
        match self.mode {
            _ if congestion == Congestion::Timeout => self.forget(cwnd, false),
            Mode::Unknown { second_cycle: true } if grew => {
                let fair = (cwnd - begin) / self.beta;
                self.mode = Mode::Known(fair);
                fair * (1.0 - self.epsilon)
            }
            Mode::Unknown { .. } => self.forget(cwnd, grew),
            Mode::Known(fair) => self.share_known(cwnd, fair),
        }
    }

    #[inline]
    fn slow_start(&mut self, cwnd: f64, ack: &Ack) -> SlowStart {
        // Slow start is not additive increase: the cycle begins where it ends.
        self.begin = 0.0;
        SlowStart::Grow(ack.slow_start(cwnd, |cwnd| {
            if self.begin == 0.0 {
                self.begin = cwnd;
            }
            cwnd + self.increment / cwnd
        }))
    }

    fn state(&self, report: &mut dyn FnMut(&str, f64)) {
        report("fair_share_packets", self.fair_share().unwrap_or(f64::NAN));
    }
}

pub(crate) const FAMILY: FamilyOf<Box<Bimodal>> = FamilyOf {
    name: "Bimodal",
    summary: "add alpha per round trip; cut by beta until the fair share is computed from two \
        cycles, then to (1 - epsilon) of it",
    source: "Attie, Lahanas and Tsaoussidis 2003, section 2, Figure 1",
    example: "Bimodal(1, 0.5, 0.125)",
    deployed: false,
    parameters: &[
        with_default(positive("alpha", "packets added per round trip"), 1.0),
        with_default(
            fraction("beta", "share of the window given up while the fair share is unknown"),
            0.5,
        ),
        with_default(
            fraction("epsilon", "share of the fair share given up once it is known"),
            0.125,
        ),
        option(positive("weight", "factor on alpha: shares become proportional to it"), 1.0),
        choice(
            "compare",
            "what a window is compared with on congestion",
            "fair (the fair share) or scaled (1 - epsilon of it)",
            &["fair", "scaled"],
        ),
        option(
            parameter(
                "band",
                "how far off, as a share, still counts as equal",
                "from 0 to below 1",
                |x| (0.0..1.0).contains(&x),
            ),
            0.0,
        ),
    ],
    check: no_check,
    build: |p| {
        let compare = if p[4] == 0.0 { Compare::Fair } else { Compare::Scaled };
        Box::new(Bimodal::new(p[0], p[1], p[2], p[3], compare, p[5]))
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    const LOSS: Congestion = Congestion::FastRetransmit;

    fn rule(compare: Compare, band: f64) -> Bimodal {
        Bimodal::new(1.0, 0.5, 0.25, 1.0, compare, band)
    }

    /// Congestion avoidance goes on at `from` and has reached `to` when congestion comes.
    fn cycle(rule: &mut Bimodal, from: f64, to: f64) -> f64 {
        rule.increase(from, &Ack::default());
        rule.decrease(to, LOSS)
    }

    /// Two flows, B = 100: congestion at (80, 20). Both halve, to 40 and 10, and both grow by 25
    /// until 65 + 35 = 100. So d/beta = 50 is what each computes, and 100/2 is what it is (section
    /// 2.2): both go on at 0.75 x 50 = 37.5.
    #[test]
    fn two_flows_find_their_fair_share_in_two_cycles() {
        let (mut large, mut small) = (rule(Compare::Fair, 0.0), rule(Compare::Fair, 0.0));
        assert_eq!((cycle(&mut large, 70.0, 80.0), cycle(&mut small, 10.0, 20.0)), (40.0, 10.0));
        assert_eq!((cycle(&mut large, 40.0, 65.0), cycle(&mut small, 10.0, 35.0)), (37.5, 37.5));
        assert_eq!((large.fair_share(), small.fair_share()), (Some(50.0), Some(50.0)));
    }

    /// The same with weights 3 and 1, congestion at (60, 40): 30 and 20, then +37.5 and +12.5.
    /// Shares 75 and 25, which is 3 : 1.
    #[test]
    fn weights_give_proportional_shares() {
        let mut heavy = Bimodal::new(1.0, 0.5, 0.25, 3.0, Compare::Fair, 0.0);
        let mut light = rule(Compare::Fair, 0.0);
        assert_eq!((cycle(&mut heavy, 45.0, 60.0), cycle(&mut light, 35.0, 40.0)), (30.0, 20.0));
        assert_eq!((cycle(&mut heavy, 30.0, 67.5), cycle(&mut light, 20.0, 32.5)), (56.25, 18.75));
        assert_eq!((heavy.fair_share(), light.fair_share()), (Some(75.0), Some(25.0)));
        // A round trip adds 3 packets at 30: a tenth per ACK.
        assert_eq!(heavy.increase(30.0, &Ack::default()), 30.1);
    }

    fn knowing_50(compare: Compare, band: f64) -> Bimodal {
        let mut rule = rule(compare, band);
        cycle(&mut rule, 70.0, 80.0);
        cycle(&mut rule, 40.0, 65.0);
        rule
    }

    #[test]
    fn the_pseudo_code_compares_with_the_fair_share() {
        // Equal: (1 - epsilon) of the share again.
        assert_eq!(cycle(&mut knowing_50(Compare::Fair, 0.0), 37.5, 50.0), 37.5);
        // Later: the share is what was reached, 60; three quarters of it.
        let mut later = knowing_50(Compare::Fair, 0.0);
        assert_eq!((cycle(&mut later, 37.5, 60.0), later.fair_share()), (45.0, Some(60.0)));
        // Earlier: by beta, and two more cycles. The first cuts 40 to 20, the second computes (30 -
        // 20)/0.5 = 20.
        let mut earlier = knowing_50(Compare::Fair, 0.0);
        assert_eq!((cycle(&mut earlier, 37.5, 49.0), earlier.fair_share()), (24.5, None));
        assert_eq!(cycle(&mut earlier, 24.5, 40.0), 20.0);
        assert_eq!((cycle(&mut earlier, 20.0, 30.0), earlier.fair_share()), (15.0, Some(20.0)));
    }

    #[test]
    fn the_prose_compares_with_the_scaled_share_and_a_band_forgives() {
        // 45 lies above 37.5, so the share is 45 now, where the pseudo-code would have started
        // over.
        let mut scaled = knowing_50(Compare::Scaled, 0.0);
        assert_eq!((cycle(&mut scaled, 37.5, 45.0), scaled.fair_share()), (33.75, Some(45.0)));
        // Equality is at 37.5: reducing to 37.5 would be no reduction.
        assert_eq!(cycle(&mut knowing_50(Compare::Scaled, 0.0), 30.0, 37.5), 28.125);
        // Within 5 % of 50: as though equal, and the share stays.
        let mut banded = knowing_50(Compare::Fair, 0.05);
        assert_eq!((cycle(&mut banded, 37.5, 48.0), banded.fair_share()), (37.5, Some(50.0)));
    }

    #[test]
    fn slow_start_and_timeouts_reveal_no_share() {
        let mut rule = knowing_50(Compare::Fair, 0.0);
        assert_eq!(rule.decrease(50.0, Congestion::Timeout), 25.0);
        assert_eq!(rule.fair_share(), None);
        assert_eq!(rule.slow_start(1.0, &Ack::default()), SlowStart::Grow(2.0));
        // First cycle: from slow start's end at 25 to 30. Then a cut in slow start, with nothing
        // grown: by beta, and no cycle. A cycle of 4 to 10 is the first again, one of 5 to 10 the
        // second: 5/0.5 = 10.
        assert_eq!(cycle(&mut rule, 25.0, 30.0), 15.0);
        rule.slow_start(4.0, &Ack::default());
        assert_eq!((rule.decrease(8.0, LOSS), rule.fair_share()), (4.0, None));
        assert_eq!((cycle(&mut rule, 4.0, 10.0), rule.fair_share()), (5.0, None));
        assert_eq!((cycle(&mut rule, 5.0, 10.0), rule.fair_share()), (7.5, Some(10.0)));
    }

    /// A path that holds 100 packets, alone. Slow start loses at 198: 99, close to the total, and
    /// one more round trip of growth loses again. That is the first cycle; the second computes the
    /// whole path, (100 - 50)/0.5 = 100, and not (100 - 99)/0.5 = 2.
    #[test]
    fn slow_start_beyond_the_total_is_no_cycle() {
        let mut rule = rule(Compare::Fair, 0.0);
        rule.slow_start(197.0, &Ack::default());
        assert_eq!(rule.decrease(198.0, LOSS), 99.0);
        assert_eq!((cycle(&mut rule, 99.0, 100.0), rule.fair_share()), (50.0, None));
        assert_eq!((cycle(&mut rule, 50.0, 100.0), rule.fair_share()), (75.0, Some(100.0)));
    }
}
