//! Vegas (Brakmo and Peterson 1995, section 3): keeps a few packets queued, estimated from the RTT.
//!
//! ```text
//! once per round trip:  diff = w (rtt - base) / rtt       packets queued: (expected - actual) base
//!                       w <- w + 1 if diff < alpha,  w - 1 if diff > beta,  else w
//! in slow start:        w doubles every other round trip; ends at 7/8 w once diff > gamma
//! on loss:              w <- b w
//! ```
//!
//! `w`, alpha, beta, gamma in packets; `base` is the minimum RTT so far, `rtt` the minimum of the
//! last round trip (the paper averages; delayed ACKs do not bias the minimum, as in Linux). The
//! window stays at or above two packets.
//!
//! Departures: no early retransmission (the endpoint's recovery scheme decides that), and a loss
//! halves as in RFC 5681 (`b`). The paper compares (1, 3) and (2, 4); the latter is the default.

use crate::family::{fraction, option, positive, with_default};
use crate::{Ack, Congestion, FamilyOf, Needs, SlowStart, WindowRule};

/// Vegas.
#[derive(Clone, Debug, PartialEq)]
pub struct Vegas {
    alpha: f64,
    beta: f64,
    gamma: f64,
    b: f64,
    /// The smallest round trip since this round trip began, seconds; infinite before the first.
    rtt_s: f64,
    /// Slow start: whether the window doubles in this round trip.
    doubling: bool,
}

impl Vegas {
    /// Fewer than `alpha` packets queued: grow; more than `beta`: shrink; more than `gamma`: leave
    /// slow start; `b`: factor on loss.
    pub fn new(alpha: f64, beta: f64, gamma: f64, b: f64) -> Self {
        Self { alpha, beta, gamma, b, rtt_s: f64::INFINITY, doubling: true }
    }

    /// Packets queued during the round trip that ends with this ACK, if one does and
    /// was measured.
    fn queued_packets(&mut self, cwnd: f64, ack: &Ack) -> Option<f64> {
        if ack.rtt_s > 0.0 {
            self.rtt_s = self.rtt_s.min(ack.rtt_s);
        }
        if !ack.round_start {
            return None;
        }
        let rtt_s = std::mem::replace(&mut self.rtt_s, f64::INFINITY);
        rtt_s.is_finite().then(|| cwnd * (rtt_s - ack.min_rtt_s) / rtt_s)
    }
}

impl WindowRule for Vegas {
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        match self.queued_packets(cwnd, ack) {
            Some(queued) if queued < self.alpha && ack.growth_packets > 0 => cwnd + 1.0,
            Some(queued) if queued > self.beta => (cwnd - 1.0).max(2.0),
            _ => cwnd,
        }
    }

    fn decrease(&mut self, cwnd: f64, _: Congestion) -> f64 {
        self.rtt_s = f64::INFINITY;
        self.b * cwnd
    }

    fn slow_start(&mut self, cwnd: f64, ack: &Ack) -> SlowStart {
        let queued = self.queued_packets(cwnd, ack);
        if queued.is_some_and(|queued| queued > self.gamma) {
            self.doubling = true;
            return SlowStart::Leave((cwnd * 0.875).max(2.0));
        }
        self.doubling ^= ack.round_start;
        // Congestion avoidance decides once per round trip: what is left over at ssthresh adds
        // nothing.
        SlowStart::Grow(if self.doubling { ack.slow_start_packets(cwnd).0 } else { cwnd })
    }

    fn needs(&self) -> Needs {
        Needs { rounds: true, ..Needs::default() }
    }

    fn state(&self, report: &mut dyn FnMut(&str, f64)) {
        report("round_min_rtt_s", if self.rtt_s.is_finite() { self.rtt_s } else { f64::NAN });
    }
}

pub(crate) const FAMILY: FamilyOf<Box<Vegas>> = FamilyOf {
    name: "Vegas",
    summary: "keep between alpha and beta packets queued, judged by the round trip's excess over \
        the smallest",
    source: "Brakmo and Peterson 1995, section 3",
    example: "Vegas(2, 4)",
    deployed: false,
    parameters: &[
        with_default(positive("alpha", "packets queued below which the window grows"), 2.0),
        with_default(positive("beta", "packets queued above which it shrinks"), 4.0),
        option(positive("gamma", "packets queued above which slow start ends"), 1.0),
        option(fraction("b", "factor on loss"), 0.5),
    ],
    check: |p| {
        (p[0] > p[1]).then_some("it would grow and shrink at once: alpha must not be above beta")
    },
    build: |p| Box::new(Vegas::new(p[0], p[1], p[2], p[3])),
};

#[cfg(test)]
mod tests {
    use super::*;

    fn round(rtt_s: f64) -> Ack {
        Ack { rtt_s, min_rtt_s: 0.1, round_start: true, ..Ack::default() }
    }

    /// 20 packets over 100 ms. At 110 ms 20 x 10/110 = 1.8 are queued, at 125 ms 20 x 25/125 = 4,
    /// at 130 ms 20 x 30/130 = 4.6.
    #[test]
    fn thresholds_by_hand() {
        let mut rule = Vegas::new(2.0, 4.0, 1.0, 0.5);
        assert_eq!(rule.increase(20.0, &round(0.11)), 21.0);
        assert_eq!(rule.increase(20.0, &round(0.125)), 20.0);
        assert_eq!(rule.increase(20.0, &round(0.13)), 19.0);
        // 2 x 1.9/2 = 1.9 queued is too much for beta = 1, but two packets stay.
        assert_eq!(Vegas::new(0.5, 1.0, 1.0, 0.5).increase(2.0, &round(2.0)), 2.0);
        // Within a round trip nothing happens, and the smallest counts.
        assert_eq!(rule.increase(20.0, &Ack { round_start: false, ..round(0.11) }), 20.0);
        assert_eq!(rule.increase(20.0, &round(0.5)), 21.0);
        assert_eq!(rule.decrease(20.0, Congestion::FastRetransmit), 10.0);
    }

    #[test]
    fn slow_start_doubles_every_other_round_trip_and_ends_early() {
        let mut rule = Vegas::new(2.0, 4.0, 1.0, 0.5);
        let within = Ack { round_start: false, ..round(0.1) };
        assert_eq!(rule.slow_start(4.0, &within), SlowStart::Grow(5.0));
        assert_eq!(rule.slow_start(8.0, &round(0.1)), SlowStart::Grow(8.0));
        assert_eq!(rule.slow_start(8.0, &within), SlowStart::Grow(8.0));
        assert_eq!(rule.slow_start(8.0, &round(0.1)), SlowStart::Grow(9.0));
        // 16 x 20/120 = 2.7 packets queued: to 14.
        assert_eq!(rule.slow_start(16.0, &round(0.12)), SlowStart::Leave(14.0));
    }

    /// The decision is one per round trip, however many packets its ACK covers. Slow start doubles by
    /// packets: an ACK of eight at 8 gives 16, and of 20 at 90 gives 100 = ssthresh.
    #[test]
    fn an_ack_of_many_packets_is_one_decision() {
        let mut rule = Vegas::new(2.0, 4.0, 1.0, 0.5);
        let eight = Ack { acked_packets: 8, growth_packets: 8, ..round(0.11) };
        assert_eq!(rule.increase(20.0, &eight), 21.0);
        let within = Ack { round_start: false, ssthresh_packets: 100.0, ..eight };
        assert_eq!(rule.slow_start(8.0, &within), SlowStart::Grow(16.0));
        assert_eq!(
            rule.slow_start(90.0, &Ack { growth_packets: 20, ..within }),
            SlowStart::Grow(100.0)
        );
        // A window that is not used does not grow, and still shrinks.
        let unused = Ack { growth_packets: 0, cwnd_limited: false, ..round(0.11) };
        assert_eq!(rule.increase(20.0, &unused), 20.0);
        assert_eq!(rule.increase(20.0, &Ack { rtt_s: 0.13, ..unused }), 19.0);
    }
}
