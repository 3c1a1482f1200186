//! TCP Hybla (Caini and Firrincieli 2004, section 3): a flow with a long round trip sends as fast,
//! at any time, as one with the round trip RTT0.
//!
//! ```text
//! rho = max(RTT / RTT0, 1)
//! slow start:            per ACK  w <- w + 2^rho - 1       per round trip  w <- 2^rho w
//! congestion avoidance:  per ACK  w <- w + rho^2 / w       per round trip  w <- w + rho^2
//! on loss:                        w <- w / 2
//! ```
//!
//! `w` in packets, RTT and RTT0 in seconds; RTT0 = 25 ms is the paper's. RTT is the smallest so
//! far: were it the current one, a queue would make the flows that fill it grow faster. Linux
//! likewise computes rho anew only where the smoothed RTT is smaller than before. Up to RTT0 the
//! rule is Reno.
//!
//! Departures: in the paper the first window and the first ssthresh are rho times those of the flow
//! with RTT0. Here both are the endpoint's, as Linux's ssthresh is: where ssthresh is unlimited, so
//! is rho times as much, and a scenario that limits it states it for this path. 2^rho counts rho up
//! to 16, as in Linux, so that a window stays a number. Pacing and the estimate of the bandwidth,
//! with which the paper combines the rule, are not part of it.

use crate::family::{no_check, parameter, with_default};
use crate::{Ack, AckFields, Congestion, FamilyOf, Needs, SlowStart, WindowRule};

/// Largest rho in 2^rho (Linux `hybla_cong_avoid`).
const MAX_EXPONENT: f64 = 16.0;

/// TCP Hybla.
#[derive(Clone, Debug, PartialEq)]
pub struct Hybla {
    rtt0_s: f64,
    /// The smallest round trip so far, seconds; infinite before the first.
    min_rtt_s: f64,
    /// That round trip in units of rtt0, at least 1.
    rho: f64,
    /// 2^rho - 1: packets added per packet acknowledged in slow start.
    slow_start_packets: f64,
}

impl Hybla {
    /// `rtt0_s`: round trip of the flow that others are to equal, seconds.
    ///
    /// ```
    /// use cwndlab_rules::{Ack, Hybla, WindowRule};
    /// let mut rule = Hybla::new(0.025);
    /// // 100 ms: rho is 4, and a window of 10 packets grows by 16/10.
    /// assert_eq!(rule.increase(10.0, &Ack { rtt_s: 0.1, ..Ack::EMPTY }), 11.6);
    /// ```
    pub fn new(rtt0_s: f64) -> Self {
        Self { rtt0_s, min_rtt_s: f64::INFINITY, rho: 1.0, slow_start_packets: 1.0 }
    }

    fn measure(&mut self, ack: &Ack) {
        if ack.rtt_s > 0.0 && ack.rtt_s < self.min_rtt_s {
            self.min_rtt_s = ack.rtt_s;
            self.rho = (ack.rtt_s / self.rtt0_s).max(1.0);
            self.slow_start_packets = libm::exp2(self.rho.min(MAX_EXPONENT)) - 1.0;
        }
    }

    /// The window after a packet in congestion avoidance.
    fn grown(&self, cwnd: f64) -> f64 {
        cwnd + self.rho * self.rho / cwnd
    }

    /// The window after a packet in slow start: ssthresh at most, or a part of a packet beyond
    /// where standard slow start goes there.
    fn started(&self, cwnd: f64, ssthresh: f64) -> f64 {
        (cwnd + self.slow_start_packets).min(ssthresh.max(cwnd + 1.0))
    }
}

impl WindowRule for Hybla {
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        self.measure(ack);
        ack.per_packet(cwnd, |cwnd| self.grown(cwnd))
    }

    fn decrease(&mut self, cwnd: f64, _: Congestion) -> f64 {
        cwnd / 2.0
    }

    fn slow_start(&mut self, cwnd: f64, ack: &Ack) -> SlowStart {
        self.measure(ack);
        let ssthresh = ack.ssthresh_packets;
        SlowStart::Grow(ack.per_packet(cwnd, |cwnd| {
            if cwnd < ssthresh { self.started(cwnd, ssthresh) } else { self.grown(cwnd) }
        }))
    }

    fn needs(&self) -> Needs {
        Needs { ack: AckFields::Rtt, factor_is_half: true, ..Needs::default() }
    }

    fn state(&self, report: &mut dyn FnMut(&str, f64)) {
        let is_known = self.min_rtt_s.is_finite();
        report("rho", if is_known { self.rho } else { f64::NAN });
        report("min_rtt_s", if is_known { self.min_rtt_s } else { f64::NAN });
    }
}

pub(crate) const FAMILY: FamilyOf<Box<Hybla>> = FamilyOf {
    name: "Hybla",
    summary: "grow as fast as a Reno flow with the round trip rtt0, however long the round trip; \
        halve on loss",
    source: "Caini and Firrincieli 2004, section 3",
    example: "Hybla(0.025)",
    deployed: false,
    parameters: &[with_default(
        parameter(
            "rtt0",
            "round trip up to which it is Reno, and whose growth longer ones get, seconds",
            "from 0.001 to 10",
            |x| (0.001..=10.0).contains(&x),
        ),
        0.025,
    )],
    check: no_check,
    build: |p| Box::new(Hybla::new(p[0])),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arithmetic, RuleSpec};

    fn after(rtt_s: f64) -> Ack {
        Ack { rtt_s, ..Ack::EMPTY }
    }

    fn started(rule: &mut impl WindowRule, cwnd: f64, ack: &Ack) -> f64 {
        match rule.slow_start(cwnd, ack) {
            SlowStart::Grow(cwnd) => cwnd,
            SlowStart::Leave(cwnd) => panic!("left slow start at {cwnd}"),
        }
    }

    /// 100 ms are four round trips of 25 ms: 2^4 - 1 = 15 in slow start, 4^2 = 16 over the window
    /// in congestion avoidance. 62.5 ms are 2.5: 2^2.5 = 5.656854, 2.5^2 = 6.25. 5 ms count as one.
    #[test]
    fn by_hand() {
        for (rtt_s, slow_start, avoidance) in
            [(0.1, 25.0, 11.6), (0.0625, 14.656_854_249, 10.625), (0.005, 11.0, 10.1)]
        {
            let mut rule = Hybla::new(0.025);
            assert!((started(&mut rule, 10.0, &after(rtt_s)) - slow_start).abs() < 1e-9);
            assert!((rule.increase(10.0, &after(rtt_s)) - avoidance).abs() < 1e-12);
            assert_eq!(rule.decrease(10.0, Congestion::FastRetransmit), 5.0);
        }
        // RTT0 = 50 ms: 100 ms are two.
        assert_eq!(Hybla::new(0.05).increase(10.0, &after(0.1)), 10.4);
    }

    /// Three packets at 10 and an ssthresh of 20: 20, not 25; then 20 + 16/20 = 20.8, and 20.8 +
    /// 16/20.8. Standard slow start ends a part of a packet beyond an ssthresh of 10.5.
    #[test]
    fn slow_start_ends_at_ssthresh() {
        let three = Ack { growth_packets: 3, ssthresh_packets: 20.0, ..after(0.1) };
        let grown = started(&mut Hybla::new(0.025), 10.0, &three);
        assert!((grown - 21.569_230_769_230_77).abs() < 1e-9);
        let part = Ack { ssthresh_packets: 10.5, ..after(0.1) };
        assert_eq!(started(&mut Hybla::new(0.025), 10.0, &part), 11.0);
        let unused = Ack { growth_packets: 0, ..after(0.1) };
        assert_eq!(started(&mut Hybla::new(0.025), 10.0, &unused), 10.0);
    }

    /// A queue of 100 ms leaves rho at 4. A route of 50 ms makes it 2, also by an ACK for which the
    /// window does not grow.
    #[test]
    fn a_queue_does_not_quicken_growth() {
        let mut rule = Hybla::new(0.025);
        rule.increase(10.0, &after(0.1));
        assert_eq!(rule.increase(10.0, &after(0.2)), 11.6);
        let unused = Ack { growth_packets: 0, ..after(0.05) };
        assert_eq!(rule.increase(10.0, &unused), 10.0);
        assert_eq!(rule.increase(10.0, &after(0.2)), 10.4);
    }

    /// The rate, window over round trip, is that of Reno at RTT0 at any time. From rho packets and
    /// one packet, 0.2 s of slow start: 2 round trips of 100 ms, 4 x 16^2 = 1024 packets; 8 of 25
    /// ms, 2^8 = 256; both 10240 packets/s. From there 5 s of congestion avoidance: 50 round trips
    /// of 16 packets, 200 of one; 1824 and 456 packets, 18240 packets/s. A round trip of single
    /// ACKs adds less than all of it at its first window would, by half a step in the window.
    #[test]
    fn sends_as_fast_as_reno_with_the_reference_round_trip() {
        let round = |rule: &mut Hybla, cwnd: f64, ack: &Ack| {
            let slow = cwnd < ack.ssthresh_packets;
            (0..cwnd as u64).fold(cwnd, |cwnd, _| {
                if slow { started(rule, cwnd, ack) } else { rule.increase(cwnd, ack) }
            })
        };
        for (rtt_s, first, rounds, packets, later) in
            [(0.1, 4.0, 2, 1024.0, 50), (0.025, 1.0, 8, 256.0, 200)]
        {
            let mut rule = Hybla::new(0.025);
            let ack = Ack { ssthresh_packets: packets, ..after(rtt_s) };
            let started = (0..rounds).fold(first, |cwnd, _| round(&mut rule, cwnd, &ack));
            assert_eq!(started, packets);
            let grown = (0..later).fold(started, |cwnd, _| round(&mut rule, cwnd, &ack));
            let expected = 18_240.0 * rtt_s;
            assert!(grown <= expected && grown > expected * 0.99, "{grown} at {rtt_s} s");
        }
    }

    /// Up to RTT0 it is NewReno to the last bit.
    #[test]
    fn short_round_trips_are_renos() {
        let mut reno = "NewReno".parse::<RuleSpec>().unwrap().build(Arithmetic::Plain);
        let mut rule = Hybla::new(0.025);
        for (rtt_s, packets) in [(0.025, 1), (0.001, 2), (0.02, 3), (0.3, 1), (0.01, 0)] {
            let ack = Ack { growth_packets: packets, ssthresh_packets: 12.5, ..after(rtt_s) };
            for cwnd in [2.0, 11.0, 12.25, 12.5, 33.7] {
                let windows = [
                    started(&mut reno, cwnd, &ack) - started(&mut rule, cwnd, &ack),
                    reno.increase(cwnd, &ack) - rule.increase(cwnd, &ack),
                    reno.decrease(cwnd, Congestion::Ecn) - rule.decrease(cwnd, Congestion::Ecn),
                ];
                assert_eq!(windows, [0.0; 3], "{cwnd} packets, {rtt_s} s");
            }
        }
    }

    /// 1 s is 40 round trips: 2^16 - 1 in slow start, 40^2 in congestion avoidance.
    #[test]
    fn slow_start_counts_sixteen_round_trips_at_most() {
        let mut rule = Hybla::new(0.025);
        assert_eq!(started(&mut rule, 10.0, &after(1.0)), 65_545.0);
        assert_eq!(rule.increase(100.0, &after(1.0)), 116.0);
    }
}
