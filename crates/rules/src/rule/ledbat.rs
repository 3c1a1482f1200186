//! LEDBAT (RFC 6817): keeps the queueing delay at a target and yields to other flows.
//!
//! ```text
//! per ACK:  off = (target - queueing delay) / target
//!           w <- w + gain off segments / w                       (section 2.4.2)
//!           w <- min(w, in flight before it + 1), at least 2
//! on loss:  w <- max(w / 2, 2), never more than w                (section 2.4.2)
//! ```
//!
//! `w` in packets, delays in seconds. Queueing delay: the minimum of the last 4 RTTs less the
//! minimum of the last 10 minutes, kept per minute (section 3.4.2: CURRENT_FILTER, BASE_HISTORY).
//! Target 0.1 s at most, gain 1 at most.
//!
//! Departures: RTTs stand for the RFC's one-way delays, which a sender alone does not see; so
//! queues on the return path count. There is no slow start (the RFC describes none): the window
//! grows from its first value by the rule.

use crate::base_delay::BaseDelay;
use crate::family::{no_check, parameter, with_default};
use crate::{Ack, Congestion, FamilyOf, SlowStart, WindowRule};

const MIN_CWND: f64 = 2.0;
const CURRENT: usize = 4;

/// LEDBAT.
#[derive(Clone, Debug, PartialEq)]
pub struct Ledbat {
    target_s: f64,
    gain: f64,
    base: BaseDelay,
    /// The last RTTs, seconds.
    current_s: [f64; CURRENT],
    next: usize,
}

impl Ledbat {
    /// `target_s`: target queueing delay, seconds; `gain`: packets per round trip with an empty
    /// queue.
    pub fn new(target_s: f64, gain: f64) -> Self {
        let current_s = [f64::INFINITY; CURRENT];
        Self { target_s, gain, base: BaseDelay::new(), current_s, next: 0 }
    }

    fn queueing_delay_s(&mut self, ack: &Ack) -> f64 {
        self.base.update(ack.now_s, ack.rtt_s);
        self.current_s[self.next] = ack.rtt_s;
        self.next = (self.next + 1) % CURRENT;
        self.current_s.iter().copied().fold(f64::INFINITY, f64::min) - self.base.value_s()
    }
}

impl WindowRule for Ledbat {
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        let off_target = (self.target_s - self.queueing_delay_s(ack)) / self.target_s;
        let change = self.gain * off_target * ack.segments() / cwnd;
        let grown = cwnd + if ack.growth_packets > 0 { change } else { change.min(0.0) };
        let allowed = (ack.in_flight_packets + ack.acked_packets) as f64 + 1.0;
        grown.min(allowed).max(MIN_CWND)
    }

    fn decrease(&mut self, cwnd: f64, _: Congestion) -> f64 {
        (cwnd / 2.0).max(MIN_CWND).min(cwnd)
    }

    fn slow_start(&mut self, cwnd: f64, ack: &Ack) -> SlowStart {
        SlowStart::Leave(self.increase(cwnd, ack))
    }

    fn state(&self, report: &mut dyn FnMut(&str, f64)) {
        let base_s = self.base.value_s();
        report("base_delay_s", if base_s.is_finite() { base_s } else { f64::NAN });
    }
}

pub(crate) const FAMILY: FamilyOf<Box<Ledbat>> = FamilyOf {
    name: "LEDBAT",
    summary: "keep the queueing delay at a target, below what others cause; halve on loss",
    source: "RFC 6817, section 2.4",
    example: "LEDBAT(0.1, 1)",
    deployed: false,
    parameters: &[
        with_default(
            parameter("target", "queueing delay to keep, seconds", "above 0, at most 0.1", |x| {
                x > 0.0 && x <= 0.1
            }),
            0.1,
        ),
        with_default(
            parameter(
                "gain",
                "packets added per round trip with an empty queue",
                "above 0, at most 1",
                |x| x > 0.0 && x <= 1.0,
            ),
            1.0,
        ),
    ],
    check: no_check,
    build: |p| Box::new(Ledbat::new(p[0], p[1])),
};

#[cfg(test)]
mod tests {
    use super::*;

    fn at(now_s: f64, rtt_s: f64) -> Ack {
        Ack { now_s, rtt_s, acked_packets: 1, in_flight_packets: 9, ..Ack::default() }
    }

    /// The fourth sample in a row of `rtt_s`, since the smallest of four counts.
    fn settled(rule: &mut Ledbat, now_s: f64, rtt_s: f64) -> f64 {
        (0..3).for_each(|_| _ = rule.increase(10.0, &at(now_s, rtt_s)));
        rule.increase(10.0, &at(now_s, rtt_s))
    }

    #[test]
    fn delay_steers_by_hand() {
        let mut rule = Ledbat::new(0.1, 1.0);
        assert!((settled(&mut rule, 0.0, 0.05) - 10.1).abs() < 1e-12); // empty: 1/10
        assert!((settled(&mut rule, 1.0, 0.125) - 10.025).abs() < 1e-12); // 75 ms: a quarter of it
        assert!((settled(&mut rule, 2.0, 0.15) - 10.0).abs() < 1e-12); // on target
        assert!((settled(&mut rule, 3.0, 0.35) - 9.8).abs() < 1e-12); // 300 ms: minus 2/10
        assert_eq!(rule.increase(2.0, &at(3.0, 9.0)), 2.0);
        assert_eq!(
            (rule.decrease(10.0, Congestion::FastRetransmit), rule.decrease(3.0, Congestion::Ecn)),
            (5.0, 2.0)
        );
    }

    #[test]
    fn old_base_delays_are_forgotten_after_ten_minutes() {
        let mut rule = Ledbat::new(0.1, 1.0);
        settled(&mut rule, 0.0, 0.05);
        assert!((settled(&mut rule, 599.0, 0.15) - 10.0).abs() < 1e-12);
        // In the eleventh minute 150 ms is the smallest that is known.
        assert!((settled(&mut rule, 601.0, 0.15) - 10.1).abs() < 1e-12);
    }

    #[test]
    fn stays_with_what_is_used() {
        let mut rule = Ledbat::new(0.1, 1.0);
        // 10 were in flight: 11 at most.
        assert_eq!(rule.increase(30.0, &at(0.0, 0.05)), 11.0);
        assert!(matches!(rule.slow_start(4.0, &at(0.0, 0.05)), SlowStart::Leave(w) if w == 4.25));
    }

    /// The filter holds ACKs, not packets: one ACK of eight packets with a long delay is one of four
    /// samples. Eight packets at 10 add 8/10, and at a quarter of the gain 2/10.
    #[test]
    fn an_ack_of_eight_packets_is_one_sample() {
        let mut rule = Ledbat::new(0.1, 1.0);
        settled(&mut rule, 0.0, 0.05);
        let eight =
            Ack { cwnd_limited: false, acked_packets: 8, growth_packets: 8, ..at(1.0, 0.125) };
        for _ in 0..3 {
            assert!((rule.increase(10.0, &eight) - 10.8).abs() < 1e-12);
        }
        assert!((rule.increase(10.0, &eight) - 10.2).abs() < 1e-12);
        // What cwnd does not limit does not grow, but a queue still shrinks it.
        let unused = |rtt_s: f64| Ack { growth_packets: 0, cwnd_limited: false, ..at(2.0, rtt_s) };
        assert_eq!(rule.increase(10.0, &unused(0.05)), 10.0);
        (0..4).for_each(|_| _ = rule.increase(10.0, &unused(0.35)));
        assert!((rule.increase(10.0, &unused(0.35)) - 9.8).abs() < 1e-12);
    }
}
