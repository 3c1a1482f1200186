//! Binomial rules (Bansal and Balakrishnan 2001; Chandrayana et al. 2002, equation 1).
//!
//! ```text
//! without loss, per round trip:  w <- w + alpha / w^k
//! on loss:                       w <- w - beta w^l
//! ```
//!
//! `w` in packets. Compatible with TCP where k + l = 1: AIMD is k = 0, l = 1; SQRT is k = l = 1/2;
//! IIAD is k = 1, l = 0. Each ACK adds alpha / w^(k + 1). The paper leaves alpha and
//! beta open; (1, 0.5) are the defaults, and its text says of IIAD that it subtracts one packet:
//! IIAD(1, 1).
//!
//! ns-2 computes `w += alpha / (w * pow(w, k))` and `w - (1 - dec) * pow(w, l)` with dec = 1 - beta
//! (`windowOption_ 6`). The powers 0, 1/2 and 1 are exact here; others differ from the C library's
//! in the last bit at most.

use crate::family::{no_check, parameter, positive, with_default};
use crate::{Ack, AckFields, Arithmetic, Congestion, FamilyOf, Needs, Parameter, WindowRule};
use std::sync::Arc;

/// `w <- w + alpha / w^k` per round trip, `w <- w - beta w^l` on loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Binomial {
    /// Exponent of the increase.
    pub k: f64,
    /// Exponent of the decrease.
    pub l: f64,
    /// Scale of the increase.
    pub alpha: f64,
    /// Scale of the decrease.
    pub beta: f64,
    /// Order of the arithmetic.
    pub arithmetic: Arithmetic,
}

/// `x^exponent`, without a call for the exponents that people use.
#[inline]
fn power(x: f64, exponent: f64) -> f64 {
    if exponent == 0.0 {
        1.0
    } else if exponent == 1.0 {
        x
    } else if exponent == 0.5 {
        x.sqrt()
    } else {
        libm::pow(x, exponent)
    }
}

impl WindowRule for Binomial {
    #[inline]
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        // One order for both: nothing speaks for another one.
        ack.per_packet(cwnd, |cwnd| cwnd + self.alpha / (cwnd * power(cwnd, self.k)))
    }

    fn decrease(&mut self, cwnd: f64, _: Congestion) -> f64 {
        let beta = match self.arithmetic {
            Arithmetic::Plain => self.beta,
            // decrease_num_ is what a user of ns-2 writes.
            Arithmetic::Ns2 => 1.0 - (1.0 - self.beta),
        };
        cwnd - beta * power(cwnd, self.l)
    }

    fn needs(&self) -> Needs {
        let factor_is_half = 1.0 - self.beta == 0.5;
        Needs { ack: AckFields::None, factor_is_half, ..Needs::default() }
    }
}

const ALPHA: Parameter = with_default(
    positive("alpha", "scale of the increase: packets per round trip at a window of 1"),
    1.0,
);
const BETA: Parameter = with_default(
    positive("beta", "scale of the decrease: packets subtracted at a window of 1"),
    0.5,
);

pub(crate) const FAMILY: FamilyOf<Arc<Binomial>> = FamilyOf {
    name: "Binomial",
    summary: "add alpha/w^k per round trip, subtract beta w^l on loss",
    source: "Bansal and Balakrishnan 2001; Chandrayana et al. 2002, equation 1",
    example: "Binomial(0.5, 0.5, 1, 0.5)",
    deployed: false,
    parameters: &[
        parameter("k", "exponent of the increase", "from 0 to 10", |x| (0.0..=10.0).contains(&x)),
        parameter("l", "exponent of the decrease", "from 0 to 1", |x| (0.0..=1.0).contains(&x)),
        ALPHA,
        BETA,
    ],
    check: |p| {
        (p[1] == 1.0 && p[3] >= 1.0)
            .then_some("beta must be below 1 if l is 1: a decrease would leave a window of 0")
    },
    build: |p| {
        Arc::new(Binomial { k: p[0], l: p[1], alpha: p[2], beta: p[3], arithmetic: p.arithmetic })
    },
};

pub(crate) const IIAD: FamilyOf<Arc<Binomial>> = FamilyOf {
    name: "IIAD",
    summary: "inverse increase, additive decrease: add alpha/w per round trip, subtract beta on \
        loss",
    source: "Bansal and Balakrishnan 2001; Chandrayana et al. 2002, section 2; IIAD = Binomial(1, \
        0)",
    example: "IIAD(1, 0.5)",
    deployed: false,
    parameters: &[ALPHA, BETA],
    check: no_check,
    build: |p| {
        Arc::new(Binomial { k: 1.0, l: 0.0, alpha: p[0], beta: p[1], arithmetic: p.arithmetic })
    },
};

pub(crate) const SQRT: FamilyOf<Arc<Binomial>> = FamilyOf {
    name: "SQRT",
    summary: "add alpha/sqrt(w) per round trip, subtract beta sqrt(w) on loss",
    source: "Bansal and Balakrishnan 2001; Chandrayana et al. 2002, section 2; SQRT = \
        Binomial(0.5, 0.5)",
    example: "SQRT(1, 0.5)",
    deployed: false,
    parameters: &[ALPHA, BETA],
    check: no_check,
    build: |p| {
        Arc::new(Binomial { k: 0.5, l: 0.5, alpha: p[0], beta: p[1], arithmetic: p.arithmetic })
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(k: f64, l: f64, alpha: f64, beta: f64) -> Binomial {
        Binomial { k, l, alpha, beta, arithmetic: Arithmetic::Plain }
    }

    #[test]
    fn at_sixteen_packets_by_hand() {
        let (ack, loss) = (Ack::default(), Congestion::FastRetransmit);
        // SQRT: per round trip 1/4 packet, over 16 ACKs 1/64 each; a loss costs half of
        // 4.
        assert_eq!(rule(0.5, 0.5, 1.0, 0.5).increase(16.0, &ack), 16.015625);
        assert_eq!(rule(0.5, 0.5, 1.0, 0.5).decrease(16.0, loss), 14.0);
        // IIAD: 1/16 per round trip, 1/256 per ACK; a loss costs beta packets.
        assert_eq!(rule(1.0, 0.0, 1.0, 1.0).increase(16.0, &ack), 16.00390625);
        assert_eq!(rule(1.0, 0.0, 1.0, 1.0).decrease(16.0, loss), 15.0);
        // k = 0.25, l = 0.75: 16^0.25 = 2, 16^0.75 = 8.
        assert_eq!(rule(0.25, 0.75, 1.0, 0.5).increase(16.0, &ack), 16.03125);
        assert_eq!(rule(0.25, 0.75, 1.0, 0.5).decrease(16.0, loss), 12.0);
        // k = 0, l = 1 is AIMD.
        assert_eq!(rule(0.0, 1.0, 1.0, 0.5).increase(16.0, &ack), 16.0625);
        assert_eq!(rule(0.0, 1.0, 1.0, 0.5).decrease(16.0, loss), 8.0);
    }

    #[test]
    fn ns2_halves_where_decrease_num_is_a_half() {
        assert!(rule(1.0, 0.0, 1.0, 0.5).needs().factor_is_half);
        assert!(!rule(1.0, 0.0, 1.0, 0.500001).needs().factor_is_half);
        let ns2 = Binomial { arithmetic: Arithmetic::Ns2, ..rule(0.0, 1.0, 1.0, 0.1) };
        // 1 - (1 - 0.1) is not 0.1 in binary: 0.09999999999999998, and that is what ns-2 takes off.
        assert_eq!(ns2.clone().decrease(1.0, Congestion::Ecn), 0.9);
        assert_eq!((1.0 - (1.0 - 0.1f64)), 0.09999999999999998);
    }
}
