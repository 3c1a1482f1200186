//! Scalable TCP (Kelly 2003, section 3): multiplicative increase and decrease at large windows.
//!
//! ```text
//! up to `low` packets:  AIMD(1, 0.5)                (section 3.2: the legacy window)
//! above:                per ACK  w <- w + a,   on loss  w <- w - b w
//! ```
//!
//! `w` in packets; a = 0.01 and b = 0.125, low = 16 are the paper's. A round trip multiplies by
//! about 1 + a, whatever the window.

use crate::family::{fraction, no_check, not_negative, option, positive, with_default};
use crate::{Ack, AckFields, Congestion, FamilyOf, Needs, WindowRule};
use std::sync::Arc;

/// Scalable TCP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalable {
    /// Packets added per ACK.
    pub a: f64,
    /// Share given up on loss.
    pub b: f64,
    /// Window up to which it is AIMD(1, 0.5), packets.
    pub low: f64,
}

impl WindowRule for Scalable {
    #[inline]
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        ack.per_packet(cwnd, |cwnd| cwnd + if cwnd <= self.low { 1.0 / cwnd } else { self.a })
    }

    fn decrease(&mut self, cwnd: f64, _: Congestion) -> f64 {
        if cwnd <= self.low { cwnd / 2.0 } else { cwnd - self.b * cwnd }
    }

    fn needs(&self) -> Needs {
        Needs { ack: AckFields::None, ..Needs::default() }
    }
}

pub(crate) const FAMILY: FamilyOf<Arc<Scalable>> = FamilyOf {
    name: "Scalable",
    summary: "add a per acknowledgement, give up the share b on loss; AIMD at small windows",
    source: "Kelly 2003, section 3",
    example: "Scalable(0.01, 0.125)",
    deployed: false,
    parameters: &[
        with_default(positive("a", "packets added per acknowledgement"), 0.01),
        with_default(fraction("b", "share of the window given up on loss"), 0.125),
        option(not_negative("low", "window up to which it is AIMD(1, 0.5), packets"), 16.0),
    ],
    check: no_check,
    build: |p| Arc::new(Scalable { a: p[0], b: p[1], low: p[2] }),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let (mut rule, ack, loss) =
            (Scalable { a: 0.01, b: 0.125, low: 16.0 }, Ack::default(), Congestion::FastRetransmit);
        assert_eq!((rule.increase(16.0, &ack), rule.decrease(16.0, loss)), (16.0625, 8.0));
        assert_eq!((rule.increase(80.0, &ack), rule.decrease(80.0, loss)), (80.01, 70.0));
    }

    /// Recovery takes the same number of round trips at any window: log(0.875)/log(1.01) = 13.4
    /// round trips (section 3.1).
    #[test]
    fn recovers_in_the_same_time_at_any_window() {
        for peak in [400.0, 40_000.0] {
            let mut rule = Scalable { a: 0.01, b: 0.125, low: 16.0 };
            let (mut cwnd, mut rounds) = (rule.decrease(peak, Congestion::FastRetransmit), 0.0);
            while cwnd < peak {
                let window = cwnd;
                for _ in 0..window as u64 {
                    cwnd = rule.increase(cwnd, &Ack::default());
                }
                rounds += 1.0;
            }
            assert_eq!(rounds, 14.0);
        }
    }
}
