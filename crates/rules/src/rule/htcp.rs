//! H-TCP (draft-leith-tcp-htcp-06, section 2; Leith and Shorten 2004): growth over the time since
//! the last loss.
//!
//! ```text
//! per round trip:  w <- w + alpha,   alpha = 2 (1 - beta) f(D)
//!                  f(D) = 1 for D <= 1 s,  1 + 10 (D - 1) + ((D - 1)/2)^2 beyond
//! on loss:         w <- beta w,      beta = RTT_min / RTT_max within [0.5, 0.8], but
//!                  0.5 where the flow's best rate differs by more than 20 % from the last epoch's
//! ```
//!
//! `w` and alpha in packets, D in seconds since the last congestion. RTT_min is the smallest round
//! trip so far, RTT_max the largest since the last congestion. The rate is the best delivery rate
//! of a round trip in the epoch. A timeout starts over with beta = 0.5.
//!
//! Departures: alpha is not scaled by the round trip (the draft has it as an option). D leaves out
//! the time in which cwnd did not limit the flow, which proves nothing about the path: the draft is
//! silent; RFC 9438 section 5.8 has the reason.

use crate::delivery_rate::DeliveryRateMeter;
use crate::family::no_check;
use crate::{Ack, Congestion, FamilyOf, Needs, SlowStart, WindowRule};

/// H-TCP.
#[derive(Clone, Debug, PartialEq)]
pub struct Htcp {
    beta: f64,
    now_s: f64,
    /// When congestion was last signalled, or the flow began.
    congested_s: Option<f64>,
    min_rtt_s: f64,
    max_rtt_s: f64,
    meter: DeliveryRateMeter,
    best_packets_s: f64,
    best_before_packets_s: f64,
}

impl Default for Htcp {
    fn default() -> Self {
        Self {
            beta: 0.5,
            now_s: 0.0,
            congested_s: None,
            min_rtt_s: 0.0,
            max_rtt_s: 0.0,
            meter: DeliveryRateMeter::default(),
            best_packets_s: 0.0,
            best_before_packets_s: 0.0,
        }
    }
}

impl Htcp {
    /// Moves the last congestion by what has passed without use of cwnd.
    fn skip_until(&mut self, now_s: f64) {
        if let Some(congested_s) = &mut self.congested_s {
            *congested_s += now_s - self.now_s;
        }
        self.now_s = now_s;
    }

    fn measure(&mut self, ack: &Ack) {
        if !ack.cwnd_limited {
            self.skip_until(ack.now_s);
        }
        self.now_s = ack.now_s;
        self.min_rtt_s = ack.min_rtt_s;
        self.max_rtt_s = self.max_rtt_s.max(ack.rtt_s);
        if let Some(rate) = self.meter.rate_packets_s(ack) {
            self.best_packets_s = self.best_packets_s.max(rate);
        }
    }

    fn adapt_beta(&mut self) {
        let (best, before) = (self.best_packets_s, self.best_before_packets_s);
        let steady = before > 0.0 && (best - before).abs() <= 0.2 * before;
        self.beta = if steady && self.max_rtt_s > 0.0 {
            (self.min_rtt_s / self.max_rtt_s).clamp(0.5, 0.8)
        } else {
            0.5
        };
    }
}

impl WindowRule for Htcp {
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        self.measure(ack);
        let beyond_s = ack.now_s - *self.congested_s.get_or_insert(ack.now_s) - 1.0;
        let gain =
            if beyond_s <= 0.0 { 1.0 } else { 1.0 + 10.0 * beyond_s + beyond_s * beyond_s / 4.0 };
        ack.per_packet(cwnd, |cwnd| cwnd + 2.0 * (1.0 - self.beta) * gain / cwnd)
    }

    fn decrease(&mut self, cwnd: f64, congestion: Congestion) -> f64 {
        if congestion == Congestion::Timeout {
            self.beta = 0.5;
            self.best_packets_s = 0.0;
        } else {
            self.adapt_beta();
        }
        self.congested_s = Some(self.now_s);
        self.best_before_packets_s = std::mem::take(&mut self.best_packets_s);
        self.max_rtt_s = 0.0;
        self.beta * cwnd
    }

    fn slow_start(&mut self, cwnd: f64, ack: &Ack) -> SlowStart {
        let (grown, left_over) = ack.slow_start_packets(cwnd);
        if left_over > 0 {
            return SlowStart::Grow(
                self.increase(grown, &Ack { growth_packets: left_over, ..*ack }),
            );
        }
        self.measure(ack);
        SlowStart::Grow(grown)
    }

    fn restart_from_idle(&mut self, cwnd: f64, now_s: f64) -> f64 {
        self.skip_until(now_s);
        self.meter = DeliveryRateMeter::default();
        cwnd
    }

    fn needs(&self) -> Needs {
        Needs { rounds: true, ..Needs::default() }
    }

    fn state(&self, report: &mut dyn FnMut(&str, f64)) {
        report("beta", self.beta);
        report("min_rtt_s", if self.min_rtt_s.is_finite() { self.min_rtt_s } else { f64::NAN });
        report("max_rtt_s", if self.max_rtt_s.is_finite() { self.max_rtt_s } else { f64::NAN });
    }
}

pub(crate) const FAMILY: FamilyOf<Box<Htcp>> = FamilyOf {
    name: "HTCP",
    summary: "H-TCP: growth that quickens with the time since the last loss; the cut leaves an \
        empty queue",
    source: "Leith and Shorten 2004; draft-leith-tcp-htcp-06, section 2",
    example: "HTCP",
    deployed: false,
    parameters: &[],
    check: no_check,
    build: |_| Box::default(),
};

#[cfg(test)]
mod tests {
    use super::*;

    fn at(now_s: f64) -> Ack {
        Ack { now_s, rtt_s: 0.15, min_rtt_s: 0.1, ..Ack::default() }
    }

    #[test]
    fn growth_by_hand() {
        let mut rule = Htcp::default();
        // beta 0.5: alpha is f(D). One packet a round trip up to 1 s; at 3 s 1 + 20 + 1 = 22.
        assert_eq!(rule.increase(10.0, &at(5.0)), 10.1);
        assert_eq!(rule.increase(10.0, &at(6.0)), 10.1);
        assert!((rule.increase(10.0, &at(8.0)) - 12.2).abs() < 1e-12);
        assert_eq!(rule.decrease(10.0, Congestion::FastRetransmit), 5.0);
        assert_eq!(rule.increase(10.0, &at(8.5)), 10.1);
    }

    #[test]
    fn backs_off_by_the_round_trips_where_the_rate_is_steady() {
        let mut rule = Htcp::default();
        let mut delivered_packets = 0;
        let mut epoch = |begin_s: f64, packets: u64| {
            for round in 0..3 {
                delivered_packets += packets;
                rule.increase(
                    50.0,
                    &Ack {
                        delivered_packets,
                        round_start: true,
                        ..at(begin_s + 0.1 * f64::from(round))
                    },
                );
            }
            rule.decrease(100.0, Congestion::FastRetransmit)
        };
        assert_eq!(epoch(0.0, 50), 50.0); // nothing to compare with
        assert!((epoch(1.0, 52) - 66.666_666_666_666_67).abs() < 1e-9); // 0.1/0.15
        assert_eq!(epoch(2.0, 90), 50.0); // 73 % faster
    }

    /// At 3 s since the last loss alpha is 22. Two seconds with ACKs of a flow that cwnd does not
    /// limit, and 20 s of silence, do not count; two packets at once add 2.2 and 22/12.2.
    #[test]
    fn time_without_use_of_cwnd_does_not_quicken_growth() {
        let mut rule = Htcp::default();
        assert_eq!(rule.increase(10.0, &at(5.0)), 10.1);
        let unused = Ack { cwnd_limited: false, growth_packets: 0, ..at(7.0) };
        assert_eq!(rule.increase(10.0, &unused), 10.0);
        assert_eq!(rule.restart_from_idle(10.0, 27.0), 10.0);
        let two = Ack { growth_packets: 2, ..at(30.0) };
        assert!((rule.increase(10.0, &two) - (12.2 + 22.0 / 12.2)).abs() < 1e-9);
    }
}
