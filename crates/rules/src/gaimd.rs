//! General AIMD of Yang and Lam (2000):
//!
//! ```text
//! without loss, per round trip:  w <- w + alpha     (section 2.1)
//! on loss:                       w <- beta w        (section 2.1)
//! on loss in slow start:         w <- w / 2         (section 4.2)
//! ```
//!
//! `w` and `alpha` are packets, `beta` is a factor. With `alpha = 4 (1 - beta^2) / 3` a flow is as fast as AIMD(1, 1/2) where
//! time-outs matter (section 1): (0.31, 0.875).
//!
//! The paper speaks of "the first loss during slow start": here every cut halves that comes before congestion avoidance has begun
//! or begun again. A time-out's threshold follows the same rule. (ns-2 also halves the connection's first cut and
//! after every time-out; endpoint profiles do that, not the rule.)

use crate::registry::{fine, fraction, or, positive};
use crate::{Ack, Congestion, Family, Rule, SlowStart, WindowRule};

/// `w <- w + alpha` per round trip, `w <- beta w` on loss, half on loss in slow start.
#[derive(Clone, Debug, PartialEq)]
pub struct Gaimd {
    /// Packets added per round trip.
    pub alpha: f64,
    /// Factor on loss.
    pub beta: f64,
    slow_start: bool,
}

impl Gaimd {
    /// A flow that has not left slow start.
    pub fn new(alpha: f64, beta: f64) -> Self {
        Self { alpha, beta, slow_start: true }
    }
}

impl WindowRule for Gaimd {
    #[inline]
    fn increase(&mut self, cwnd: f64, _: &Ack) -> f64 {
        self.slow_start = false;
        cwnd + self.alpha / cwnd
    }

    #[inline]
    fn decrease(&mut self, cwnd: f64, _: Congestion) -> f64 {
        if self.slow_start { cwnd / 2.0 } else { self.beta * cwnd }
    }

    #[inline]
    fn slow_start(&mut self, cwnd: f64, _: &Ack) -> SlowStart {
        self.slow_start = true;
        SlowStart::Grow(cwnd + 1.0)
    }

    fn halves_in_ns2(&self) -> bool {
        self.beta == 0.5
    }
}

pub(crate) const FAMILY: Family = Family {
    name: "GAIMD",
    summary: "add alpha per round trip, multiply by beta on loss, halve on loss in slow start",
    source: "Yang and Lam 2000, sections 2.1 and 4.2",
    example: "GAIMD(0.31, 0.875)",
    parameters: &[or(positive("alpha", "packets added per round trip"), 0.31), or(fraction("beta", "factor on loss"), 0.875)],
    check: fine,
    build: |p| Rule::Gaimd(Gaimd::new(p[0], p[1])),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_to_seven_eighths_but_halves_in_slow_start() {
        let (mut rule, ack) = (Gaimd::new(0.31, 0.875), Ack::default());
        assert_eq!(rule.slow_start(15.0, &ack), SlowStart::Grow(16.0));
        assert_eq!(rule.decrease(16.0, Congestion::FastRetransmit), 8.0);
        assert_eq!(rule.increase(8.0, &ack), 8.03875); // 0.31/8 = 0.03875
        assert_eq!(rule.decrease(16.0, Congestion::FastRetransmit), 14.0);
        assert_eq!(rule.decrease(16.0, Congestion::Timeout), 14.0);
        rule.slow_start(1.0, &ack);
        assert_eq!(rule.decrease(2.0, Congestion::Ecn), 1.0);
    }
}
