//! Linear rules, AIMD among them (Chiu and Jain 1989; Akella et al. 2002, section 2).
//!
//! ```text
//! without loss, per round trip:  w <- ai + bi w
//! on loss:                       w <- ad + bd w
//! ```
//!
//! AIMD(a, b) is (a, 1, 0, b), AIAD(a, d) is (a, 1, -d, 1), MIMD(m, b) is (0, m, 0, b), MIAD(m, d)
//! is (0, m, -d, 1). Spread over the ACKs of one window, each adds (ai + (bi - 1) w)/w:
//! a window of them adds ai and multiplies by bi, because the terms (bi - 1) are equal and there
//! are w of them.

use crate::family::{MAX_PARAMETER, fraction, no_check, parameter, positive, with_default};
use crate::{
    Ack, AckFields, Arithmetic, Congestion, FamilyOf, Needs, Parameter, ParameterValues, WindowRule,
};
use std::sync::Arc;

/// `w <- ai + bi w` per round trip, `w <- ad + bd w` on loss.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    /// ns-2 has purely multiplicative increase only as `windowOption_ 6` with k = -1
    /// (TcpAgent::opencwnd).
    fn is_ns2_binomial(&self) -> bool {
        self.arithmetic == Arithmetic::Ns2 && self.ai == 0.0
    }
}

impl WindowRule for Linear {
    #[inline]
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        if self.is_ns2_binomial() {
            return ack.per_packet(cwnd, |cwnd| cwnd + (self.bi - 1.0) / (cwnd * (1.0 / cwnd)));
        }
        ack.per_packet(cwnd, |cwnd| cwnd + (self.ai / cwnd + (self.bi - 1.0)))
    }

    fn decrease(&mut self, cwnd: f64, _: Congestion) -> f64 {
        if self.is_ns2_binomial() && self.ad == 0.0 {
            return cwnd - (1.0 - self.bd) * cwnd;
        }
        self.ad + self.bd * cwnd
    }

    fn needs(&self) -> Needs {
        // ns-2's decrease_num_ is b for a factor, and 1 - d for a subtraction (windowOption_ 6 with l
        // = 0).
        let factor_is_half =
            if self.ad == 0.0 { self.bd == 0.5 } else { self.bd == 1.0 && 1.0 + self.ad == 0.5 };
        Needs { ack: AckFields::None, factor_is_half, ..Needs::default() }
    }
}

const ADD: Parameter = positive("a", "packets added per round trip");
const TIMES: Parameter = parameter("m", "factor per round trip", "above 1, at most 1e6", |x| {
    x > 1.0 && x <= MAX_PARAMETER
});
const FACTOR: Parameter = fraction("b", "factor on loss");
const SUBTRACT: Parameter = positive("d", "packets subtracted on loss");

fn linear(ai: f64, bi: f64, ad: f64, bd: f64, values: &ParameterValues) -> Arc<Linear> {
    Arc::new(Linear { ai, bi, ad, bd, arithmetic: values.arithmetic })
}

pub(crate) const AIMD: FamilyOf<Arc<Linear>> = FamilyOf {
    name: "AIMD",
    summary: "add a per round trip, multiply by b on loss",
    source: "Chiu and Jain 1989; Akella et al. 2002, section 2; AIMD(1, 0.5) is RFC 5681",
    example: "AIMD(1, 0.5)",
    deployed: false,
    parameters: &[with_default(ADD, 1.0), with_default(FACTOR, 0.5)],
    check: no_check,
    build: |p| linear(p[0], 1.0, 0.0, p[1], p),
};

pub(crate) const AIAD: FamilyOf<Arc<Linear>> = FamilyOf {
    name: "AIAD",
    summary: "add a per round trip, subtract d on loss",
    source: "Chiu and Jain 1989; Akella et al. 2002, section 2",
    example: "AIAD(1, 3)",
    deployed: false,
    parameters: &[ADD, SUBTRACT],
    check: no_check,
    build: |p| linear(p[0], 1.0, -p[1], 1.0, p),
};

pub(crate) const MIMD: FamilyOf<Arc<Linear>> = FamilyOf {
    name: "MIMD",
    summary: "multiply by m per round trip, multiply by b on loss",
    source: "Chiu and Jain 1989; Akella et al. 2002, section 2",
    example: "MIMD(1.125, 0.8)",
    deployed: false,
    parameters: &[TIMES, FACTOR],
    check: no_check,
    build: |p| linear(0.0, p[0], 0.0, p[1], p),
};

pub(crate) const MIAD: FamilyOf<Arc<Linear>> = FamilyOf {
    name: "MIAD",
    summary: "multiply by m per round trip, subtract d on loss",
    source: "Chiu and Jain 1989; Akella et al. 2002, section 2",
    example: "MIAD(1.125, 3)",
    deployed: false,
    parameters: &[TIMES, SUBTRACT],
    check: no_check,
    build: |p| linear(0.0, p[0], -p[1], 1.0, p),
};

pub(crate) const AIMAD: FamilyOf<Arc<Linear>> = FamilyOf {
    name: "AIMAD",
    summary: "add a per round trip, multiply by b and subtract d on loss",
    source: "Akella et al. 2002, section 5; AIMAD = Linear(1, 1, -1, 0.9)",
    example: "AIMAD(1, 1, 0.9)",
    deployed: false,
    parameters: &[with_default(ADD, 1.0), with_default(SUBTRACT, 1.0), with_default(FACTOR, 0.9)],
    check: no_check,
    build: |p| linear(p[0], 1.0, -p[1], p[2], p),
};

pub(crate) const MAIMD: FamilyOf<Arc<Linear>> = FamilyOf {
    name: "MAIMD",
    summary: "add a and multiply by m per round trip, multiply by b on loss",
    source: "Akella et al. 2002, section 5; MAIMD = Linear(1, 1.1, 0, 0.8)",
    example: "MAIMD(1, 1.1, 0.8)",
    deployed: false,
    parameters: &[with_default(ADD, 1.0), with_default(TIMES, 1.1), with_default(FACTOR, 0.8)],
    check: no_check,
    build: |p| linear(p[0], p[1], 0.0, p[2], p),
};

pub(crate) const LINEAR: FamilyOf<Arc<Linear>> = FamilyOf {
    name: "Linear",
    summary: "w <- ai + bi w per round trip, w <- ad + bd w on loss",
    source: "Chiu and Jain 1989; Akella et al. 2002, section 2",
    example: "Linear(1, 1, -1, 0.9)",
    deployed: false,
    parameters: &[
        parameter("ai", "packets added per round trip", "from 0 to 1e6", |x| {
            (0.0..=MAX_PARAMETER).contains(&x)
        }),
        parameter("bi", "factor per round trip", "from 1 to 1e6", |x| {
            (1.0..=MAX_PARAMETER).contains(&x)
        }),
        parameter("ad", "packets added on loss (negative: subtracted)", "from -1e6 to 0", |x| {
            (-MAX_PARAMETER..=0.0).contains(&x)
        }),
        parameter("bd", "factor on loss", "above 0, at most 1", |x| x > 0.0 && x <= 1.0),
    ],
    check: |p| match p.numbers {
        [0.0, 1.0, ..] => Some("it never grows: ai above 0 or bi above 1"),
        [_, _, 0.0, 1.0] => Some("it never shrinks: ad below 0 or bd below 1"),
        _ => None,
    },
    build: |p| linear(p[0], p[1], p[2], p[3], p),
};

pub(crate) const NEWRENO: FamilyOf<Arc<Linear>> = FamilyOf {
    name: "NewReno",
    summary: "the standard: add 1 per round trip, halve on loss; AIMD(1, 0.5) by its usual name",
    source: "RFC 5681, RFC 6582",
    example: "NewReno",
    deployed: false,
    parameters: &[],
    check: no_check,
    build: |p| linear(1.0, 1.0, 0.0, 0.5, p),
};

#[cfg(test)]
mod tests {
    use super::*;

    /// One window's worth of ACKs.
    fn round_trip(rule: &mut Linear, cwnd: f64) -> f64 {
        (0..cwnd as u64).fold(cwnd, |w, _| rule.increase(w, &Ack::default()))
    }

    fn rule(ai: f64, bi: f64, ad: f64, bd: f64) -> Linear {
        Linear { ai, bi, ad, bd, arithmetic: Arithmetic::Plain }
    }

    #[test]
    fn a_round_trip_multiplies_by_exactly_bi() {
        // 40 ACKs x 0.125 = 5 packets, 40 x 1.125 = 45.
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
        for (ai, bi, ad, bd) in
            [(0.0, 1.125, 0.0, 0.8), (0.0, 1.1, -3.0, 1.0), (1.0, 1.0, 0.0, 0.8)]
        {
            let mut plain = rule(ai, bi, ad, bd);
            let mut ns2 = Linear { arithmetic: Arithmetic::Ns2, ..plain };
            for w in [1.0, 2.5, 17.3, 1000.1] {
                assert!(
                    (plain.increase(w, &Ack::default()) - ns2.increase(w, &Ack::default())).abs()
                        < 1e-12 * w
                );
                assert!(
                    (plain.decrease(w, Congestion::Ecn) - ns2.decrease(w, Congestion::Ecn)).abs()
                        < 1e-12 * w
                );
            }
        }
    }
}
