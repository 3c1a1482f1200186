//! The linear family of Chiu and Jain (1989) as studied by Akella et al. (2002, section 2):
//!
//! ```text
//! without loss, per round trip:  w <- ai + bi w
//! on loss:                       w <- ad + bd w
//! ```
//!
//! AIMD(a, b) is (a, 1, 0, b), AIAD(a, d) is (a, 1, -d, 1), MIMD(m, b) is (0, m, 0, b), MIAD(m, d) is (0, m, -d, 1).
//! Spread over the acknowledgements of one window, each adds (ai + (bi - 1) w)/w: a window of them adds ai and
//! multiplies by bi, because the terms (bi - 1) are equal and there are w of them.

use crate::{Ack, Congestion, WindowRule};

/// In which order a rule's arithmetic is done. It matters only where a window lands exactly on a whole packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    /// As the equations read.
    #[default]
    Plain,
    /// As ns-2 does it, so that runs can be compared packet by packet.
    Ns2,
}

/// `w <- ai + bi w` per round trip, `w <- ad + bd w` on loss.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// Packets added per round trip.
    pub ai: f64,
    /// Factor per round trip.
    pub bi: f64,
    /// Packets added on loss (negative: subtracted).
    pub ad: f64,
    /// Factor on loss.
    pub bd: f64,
    /// Order of the arithmetic.
    pub arithmetic: Arithmetic,
}

impl Linear {
    /// ns-2 has purely multiplicative increase only as `windowOption_ 6` with k = -1 (TcpAgent::opencwnd).
    fn is_ns2_binomial(&self) -> bool {
        self.arithmetic == Arithmetic::Ns2 && self.ai == 0.0
    }
}

impl WindowRule for Linear {
    #[inline]
    fn increase(&mut self, cwnd: f64, _: &Ack) -> f64 {
        if self.is_ns2_binomial() {
            return cwnd + (self.bi - 1.0) / (cwnd * (1.0 / cwnd));
        }
        cwnd + (self.ai / cwnd + (self.bi - 1.0))
    }

    #[inline]
    fn decrease(&mut self, cwnd: f64, _: Congestion) -> f64 {
        if self.is_ns2_binomial() && self.ad == 0.0 {
            return cwnd - (1.0 - self.bd) * cwnd;
        }
        self.ad + self.bd * cwnd
    }

    fn halves_in_ns2(&self) -> bool {
        // decrease_num_ is b for a factor, and 1 - d for a subtraction (windowOption_ 6 with l = 0).
        if self.ad == 0.0 { self.bd == 0.5 } else { self.bd == 1.0 && 1.0 + self.ad == 0.5 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One window's worth of acknowledgements.
    fn round_trip(rule: &mut Linear, cwnd: f64) -> f64 {
        (0..cwnd as u64).fold(cwnd, |w, _| rule.increase(w, &Ack::default()))
    }

    fn rule(ai: f64, bi: f64, ad: f64, bd: f64) -> Linear {
        Linear { ai, bi, ad, bd, arithmetic: Arithmetic::Plain }
    }

    #[test]
    fn a_round_trip_multiplies_by_exactly_bi() {
        // 40 acknowledgements x 0.125 = 5 packets, 40 x 1.125 = 45.
        assert!((round_trip(&mut rule(0.0, 1.125, 0.0, 0.8), 40.0) - 45.0).abs() < 1e-12);
    }

    #[test]
    fn a_round_trip_adds_about_ai() {
        // From 100 packets: 1/100 + 1/100.01 + ..., a little under one packet.
        let grown = round_trip(&mut rule(1.0, 1.0, 0.0, 0.5), 100.0) - 100.0;
        assert!((0.995..1.0).contains(&grown), "{grown}");
    }

    #[test]
    fn decreases_by_hand() {
        let loss = Congestion::FastRetransmit;
        assert_eq!(rule(1.0, 1.0, 0.0, 0.8).decrease(20.0, loss), 16.0);
        assert_eq!(rule(1.0, 1.0, -3.0, 1.0).decrease(20.0, loss), 17.0);
        assert_eq!(rule(1.0, 1.0, -1.0, 0.9).decrease(20.0, loss), 17.0);
    }

    #[test]
    fn ns2_order_stays_within_rounding_of_the_plain_one() {
        for (ai, bi, ad, bd) in [(0.0, 1.125, 0.0, 0.8), (0.0, 1.1, -3.0, 1.0), (1.0, 1.0, 0.0, 0.8)] {
            let mut plain = rule(ai, bi, ad, bd);
            let mut ns2 = Linear { arithmetic: Arithmetic::Ns2, ..plain.clone() };
            for w in [1.0, 2.5, 17.3, 1000.1] {
                assert!((plain.increase(w, &Ack::default()) - ns2.increase(w, &Ack::default())).abs() < 1e-12 * w);
                assert!((plain.decrease(w, Congestion::Ecn) - ns2.decrease(w, Congestion::Ecn)).abs() < 1e-12 * w);
            }
        }
    }
}
