//! Westwood+ (Grieco and Mascolo 2004): RFC 5681 that reduces to the measured bandwidth-delay
//! product.
//!
//! ```text
//! per round trip:  b = packets delivered / time,   bwe <- 7/8 bwe + 1/8 b
//! on loss:         w <- min(w, max(2, bwe RTT_min))
//! on a timeout:    ssthresh <- max(2, bwe RTT_min)
//! ```
//!
//! `w` in packets, `bwe` in packets/s, RTT_min in seconds, the smallest so far. The weight 7/8 is
//! that of the authors' Linux code. Before the first estimate a loss halves. Departures: a sample
//! spans one round trip, however short (Linux: 50 ms at least), and is filtered once (Linux filters
//! what it has filtered again).

use crate::delivery_rate::DeliveryRateMeter;
use crate::family::no_check;
use crate::{Ack, Congestion, FamilyOf, Needs, SlowStart, WindowRule};

/// Westwood+.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Westwood {
    meter: DeliveryRateMeter,
    bandwidth_packets_s: Option<f64>,
    min_rtt_s: f64,
}

impl Westwood {
    /// The bandwidth estimate, packets/s.
    pub fn bandwidth_packets_s(&self) -> Option<f64> {
        self.bandwidth_packets_s
    }

    fn measure(&mut self, ack: &Ack) {
        self.min_rtt_s = ack.min_rtt_s;
        if let Some(sample) = self.meter.rate_packets_s(ack) {
            let smoothed =
                self.bandwidth_packets_s.map_or(sample, |before| 0.875 * before + 0.125 * sample);
            self.bandwidth_packets_s = Some(smoothed);
        }
    }
}

impl WindowRule for Westwood {
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        self.measure(ack);
        ack.per_packet(cwnd, |cwnd| cwnd + 1.0 / cwnd)
    }

    fn decrease(&mut self, cwnd: f64, congestion: Congestion) -> f64 {
        let Some(bandwidth) = self.bandwidth_packets_s else { return cwnd / 2.0 };
        let pipe = (bandwidth * self.min_rtt_s).max(2.0);
        if congestion == Congestion::Timeout { pipe } else { pipe.min(cwnd) }
    }

    fn slow_start(&mut self, cwnd: f64, ack: &Ack) -> SlowStart {
        self.measure(ack);
        SlowStart::Grow(ack.slow_start(cwnd, |cwnd| cwnd + 1.0 / cwnd))
    }

    /// An idle period is no round trip: the next sample begins after it.
    fn restart_from_idle(&mut self, cwnd: f64, _: f64) -> f64 {
        self.meter = DeliveryRateMeter::default();
        cwnd
    }

    fn needs(&self) -> Needs {
        Needs { rounds: true, ..Needs::default() }
    }

    fn state(&self, report: &mut dyn FnMut(&str, f64)) {
        report("bandwidth_packets_s", self.bandwidth_packets_s.unwrap_or(f64::NAN));
        report("min_rtt_s", if self.min_rtt_s.is_finite() { self.min_rtt_s } else { f64::NAN });
    }
}

pub(crate) const FAMILY: FamilyOf<Box<Westwood>> = FamilyOf {
    name: "Westwood",
    summary: "Westwood+: add 1 per round trip; on loss to the measured bandwidth times the \
        smallest round trip",
    source: "Grieco and Mascolo 2004, section 2",
    example: "Westwood",
    deployed: false,
    parameters: &[],
    check: no_check,
    build: |_| Box::default(),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bandwidth_by_hand() {
        let mut rule = Westwood::default();
        assert_eq!(rule.decrease(20.0, Congestion::FastRetransmit), 10.0);
        let mut round = |now_s: f64, delivered_packets: u64| {
            let ack = Ack {
                now_s,
                delivered_packets,
                min_rtt_s: 0.1,
                round_start: true,
                ..Ack::default()
            };
            rule.increase(20.0, &ack);
            rule.bandwidth_packets_s()
        };
        assert_eq!(round(1.0, 100), None);
        assert_eq!(round(1.25, 120), Some(80.0)); // 20 packets in 250 ms
        assert_eq!(round(1.5, 160), Some(90.0)); // 7/8 x 80 + 1/8 x 160
        // 90/s x 100 ms = 9 packets.
        assert_eq!(rule.decrease(20.0, Congestion::FastRetransmit), 9.0);
        assert_eq!(rule.decrease(5.0, Congestion::Ecn), 5.0);
        assert_eq!(rule.decrease(5.0, Congestion::Timeout), 9.0);
    }

    /// A round trip of 250 ms with ACKs of ten packets each: 20 packets are 80/s, in two ACKs or in
    /// twenty. Ten seconds of silence are no round trip: the estimate stays, and the next sample is
    /// that of the round trip after it.
    #[test]
    fn silence_is_no_round_trip() {
        let mut rule = Westwood::default();
        let ack = |now_s: f64, delivered_packets: u64, round_start: bool| Ack {
            now_s,
            delivered_packets,
            acked_packets: 10,
            growth_packets: 10,
            min_rtt_s: 0.1,
            round_start,
            ..Ack::default()
        };
        rule.increase(20.0, &ack(1.0, 100, true));
        rule.increase(20.0, &ack(1.1, 110, false));
        rule.increase(20.0, &ack(1.25, 120, true));
        assert_eq!(rule.bandwidth_packets_s(), Some(80.0));
        assert_eq!(rule.restart_from_idle(20.0, 11.25), 20.0);
        rule.increase(20.0, &ack(11.5, 130, true));
        assert_eq!(rule.bandwidth_packets_s(), Some(80.0));
        rule.increase(20.0, &ack(11.75, 170, true));
        assert_eq!(rule.bandwidth_packets_s(), Some(90.0));
    }
}
