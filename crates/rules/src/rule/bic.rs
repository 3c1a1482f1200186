//! BIC (Xu, Harfoush and Rhee 2004, section 4): binary search for the window of the last loss.
//!
//! ```text
//! below `low` packets:  AIMD(1, 0.5)
//! below W_max:          per round trip  w <- w + (W_max - w)/2, at most Smax, at least Smin
//! beyond W_max:         per round trip  w <- w + 1, 2, 4, ... up to Smax        (max probing)
//! on loss:              W_max <- w, or w (2 - b)/2 where w < W_max         (fast convergence)
//!                       w <- (1 - b) w
//! ```
//!
//! `w`, W_max, Smax and Smin in packets; Smax = 32, Smin = 0.01, b = 0.125, low = 14 are the
//! paper's. The midpoint moves with every ACK, as in the paper's pseudo-code. After a timeout
//! ssthresh follows the rule for losses.
//!
//! Departure: no packet acknowledged adds more than one, as in Linux (tcp_bic.c: `cnt` is at least
//! 1). Windows from `low` to Smax would else grow faster than in slow start.

use crate::family::{fraction, not_negative, option, positive};
use crate::{Ack, Congestion, FamilyOf, WindowRule};

/// BIC.
#[derive(Clone, Debug, PartialEq)]
pub struct Bic {
    smax: f64,
    smin: f64,
    b: f64,
    low: f64,
    /// Infinite before the first loss: then Smax is the step.
    w_max: f64,
    /// Step of the probing beyond W_max, packets per round trip; 0: not there yet.
    probe: f64,
    /// Window at which the step doubles.
    probe_target: f64,
}

impl Bic {
    /// Largest and smallest step per round trip, share given up on loss, window below which it is
    /// AIMD(1, 0.5).
    pub fn new(smax: f64, smin: f64, b: f64, low: f64) -> Self {
        Self { smax, smin, b, low, w_max: f64::INFINITY, probe: 0.0, probe_target: 0.0 }
    }

    fn step(&mut self, cwnd: f64) -> f64 {
        if cwnd < self.w_max {
            return ((self.w_max - cwnd) / 2.0).min(self.smax).max(self.smin);
        }
        if self.probe == 0.0 {
            (self.probe, self.probe_target) = (1.0, cwnd + 1.0);
        } else if cwnd >= self.probe_target {
            self.probe = (2.0 * self.probe).min(self.smax);
            self.probe_target = cwnd + self.probe;
        }
        self.probe
    }
}

impl WindowRule for Bic {
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        ack.per_packet(cwnd, |cwnd| {
            let step = if cwnd < self.low { 1.0 } else { self.step(cwnd) };
            cwnd + (step / cwnd).min(1.0)
        })
    }

    fn decrease(&mut self, cwnd: f64, _: Congestion) -> f64 {
        self.probe = 0.0;
        if cwnd < self.low {
            self.w_max = cwnd;
            return cwnd / 2.0;
        }
        let known = self.w_max.is_finite();
        self.w_max = if known && cwnd < self.w_max { cwnd * (2.0 - self.b) / 2.0 } else { cwnd };
        (1.0 - self.b) * cwnd
    }

    fn state(&self, report: &mut dyn FnMut(&str, f64)) {
        report("w_max_packets", if self.w_max.is_finite() { self.w_max } else { f64::NAN });
    }
}

pub(crate) const FAMILY: FamilyOf<Box<Bic>> = FamilyOf {
    name: "BIC",
    summary: "binary search for the window of the last loss, then probing beyond it; give up the \
        share b on loss",
    source: "Xu, Harfoush and Rhee 2004, section 4",
    example: "BIC",
    deployed: false,
    parameters: &[
        option(positive("Smax", "largest step, packets per round trip"), 32.0),
        option(positive("Smin", "smallest step, packets per round trip"), 0.01),
        option(fraction("b", "share of the window given up on loss"), 0.125),
        option(not_negative("low", "window below which it is AIMD(1, 0.5), packets"), 14.0),
    ],
    check: |p| (p[1] > p[0]).then_some("Smin must not be above Smax"),
    build: |p| Box::new(Bic::new(p[0], p[1], p[2], p[3])),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_by_hand() {
        let (mut rule, ack, loss) =
            (Bic::new(32.0, 0.01, 0.125, 14.0), Ack::default(), Congestion::FastRetransmit);
        assert_eq!(rule.decrease(200.0, loss), 175.0);
        // 12.5 is half of the 25 to go: 12.5/175 per ACK.
        assert!((rule.increase(175.0, &ack) - 175.0 - 12.5 / 175.0).abs() < 1e-12);
        // Far below, at most 32; close to it, at least 0.01.
        assert!((rule.increase(100.0, &ack) - 100.32).abs() < 1e-12);
        assert!((rule.increase(199.999, &ack) - 199.999 - 0.01 / 199.999).abs() < 1e-12);
        // Beyond: one packet per round trip, then two.
        assert!((rule.increase(200.0, &ack) - 200.005).abs() < 1e-12);
        assert!((rule.increase(201.0, &ack) - 201.0 - 2.0 / 201.0).abs() < 1e-12);
        // Lost at 160 < 200: the search goes to 160 x 1.875/2 = 150.
        assert_eq!(rule.decrease(160.0, loss), 140.0);
        assert!((rule.increase(140.0, &ack) - 140.0 - 5.0 / 140.0).abs() < 1e-12);
        assert_eq!((rule.increase(10.0, &ack), rule.decrease(10.0, loss)), (10.1, 5.0));
    }

    /// 32 packets in a round trip of 16 would be two for each acknowledged: slow start adds one.
    #[test]
    fn never_faster_than_slow_start() {
        let mut rule = Bic::new(32.0, 0.01, 0.125, 14.0);
        assert_eq!(rule.increase(16.0, &Ack::default()), 17.0);
        assert_eq!(rule.increase(64.0, &Ack::default()), 64.5);
    }
}
