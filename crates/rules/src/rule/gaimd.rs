//! General AIMD (Yang and Lam 2000): additive increase alpha, multiplicative decrease beta.
//!
//! ```text
//! without loss, per round trip:  w <- w + alpha     (section 2.1)
//! on loss:                       w <- beta w        (section 2.1)
//! on loss in slow start:         w <- w / 2         (section 4.2)
//! ```
//!
//! `w` and `alpha` are packets, `beta` is a factor. With `alpha = 4 (1 - beta^2) / 3` a flow is as
//! fast as AIMD(1, 1/2) where timeouts matter (section 1): (0.31, 0.875).
//!
//! The paper speaks of "the first loss during slow start": here every reduction in slow start
//! halves, and so does ssthresh after a timeout there. Only the endpoint knows whether it is in
//! slow start. (ns-2 also halves at the connection's first reduction and after every timeout;
//! endpoint profiles do that, not the rule.)

use crate::family::{fraction, no_check, positive, with_default};
use crate::{Ack, AckFields, Congestion, FamilyOf, Needs, WindowRule};
use std::sync::Arc;

/// `w <- w + alpha` per round trip, `w <- beta w` on loss, half on loss in slow start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gaimd {
    /// Packets added per round trip.
    pub alpha: f64,
    /// Factor on loss.
    pub beta: f64,
}

impl WindowRule for Gaimd {
    #[inline]
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        ack.per_packet(cwnd, |cwnd| cwnd + self.alpha / cwnd)
    }

    fn decrease(&mut self, cwnd: f64, _: Congestion) -> f64 {
        self.beta * cwnd
    }

    fn needs(&self) -> Needs {
        Needs {
            ack: AckFields::None,
            halves_in_slow_start: true,
            factor_is_half: self.beta == 0.5,
            ..Needs::default()
        }
    }
}

pub(crate) const FAMILY: FamilyOf<Arc<Gaimd>> = FamilyOf {
    name: "GAIMD",
    summary: "add alpha per round trip, multiply by beta on loss, halve on loss in slow start",
    source: "Yang and Lam 2000, sections 2.1 and 4.2",
    example: "GAIMD(0.31, 0.875)",
    deployed: false,
    parameters: &[
        with_default(positive("alpha", "packets added per round trip"), 0.31),
        with_default(fraction("beta", "factor on loss"), 0.875),
    ],
    check: no_check,
    build: |p| Arc::new(Gaimd { alpha: p[0], beta: p[1] }),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_to_seven_eighths_and_asks_for_half_in_slow_start() {
        let (mut rule, ack) = (Gaimd { alpha: 0.31, beta: 0.875 }, Ack::default());
        assert_eq!(rule.increase(8.0, &ack), 8.03875); // 0.31/8 = 0.03875
        assert_eq!(rule.decrease(16.0, Congestion::FastRetransmit), 14.0);
        assert_eq!(rule.decrease(16.0, Congestion::Timeout), 14.0);
        assert!(rule.needs().halves_in_slow_start);
    }
}
