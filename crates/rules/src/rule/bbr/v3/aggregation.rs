//! BBR version 3, ACK aggregation: packets acknowledged beyond what the rate explains
//! (draft-ietf-ccwg-bbr-06, section "BBR.extra_acked").

use crate::Ack;
use crate::rule::bbr::MaxFilter;

/// Round trips of the filter (BBR.ExtraAckedFilterLen); one until the pipe was full.
const ROUNDS: u64 = 10;

/// Estimator of ACK aggregation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Aggregation {
    /// When the current interval began, seconds, and packets delivered since.
    since_s: f64,
    delivered: f64,
    filter: MaxFilter<{ ROUNDS as usize }>,
    /// Packets that cwnd allows on top of the bandwidth-delay products.
    pub(super) extra: f64,
}

impl Default for Aggregation {
    fn default() -> Self {
        Self { since_s: 0.0, delivered: 0.0, filter: MaxFilter::new(), extra: 0.0 }
    }
}

impl Aggregation {
    /// Begins a new interval: at the start, and after an idle period.
    pub(super) fn restart(&mut self, now_s: f64) {
        self.since_s = now_s;
    }

    /// Adds an ACK of round trip `round` at `bandwidth`, packets/s.
    pub(super) fn update(
        &mut self,
        ack: &Ack,
        bandwidth: f64,
        cwnd: f64,
        round: u64,
        filled: bool,
    ) {
        let mut expected = bandwidth * (ack.now_s - self.since_s);
        if self.delivered <= expected {
            (self.since_s, self.delivered, expected) = (ack.now_s, 0.0, 0.0);
        }
        self.delivered += ack.acked_packets as f64;
        self.filter.update(round, (self.delivered - expected).min(cwnd));
        self.extra = self.filter.largest_of_last(if filled { ROUNDS } else { 1 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every 100 ms 100 packets are acknowledged at once, at 1000 packets/s and 100 ms.
    fn burst(aggregation: &mut Aggregation, now_s: f64, packets: u64, round: u64, filled: bool) {
        let ack = Ack { now_s, acked_packets: packets, ..Ack::default() };
        aggregation.update(&ack, 1000.0, 150.0, round, filled);
    }

    #[test]
    fn what_arrives_at_once_is_extra() {
        let mut aggregation = Aggregation::default();
        aggregation.restart(0.0);
        // Nothing was delivered before: the interval begins with the ACK.
        burst(&mut aggregation, 0.1, 60, 1, true);
        assert_eq!(aggregation.extra, 60.0);
        // 40 ms later 40 were expected: 60 + 30 - 40.
        burst(&mut aggregation, 0.14, 30, 1, true);
        assert_eq!(aggregation.extra, 60.0);
        burst(&mut aggregation, 0.15, 30, 2, true);
        // 60 + 30 + 30 - 50.
        assert!((aggregation.extra - 70.0).abs() < 1e-9, "{}", aggregation.extra);
        // Fewer than expected: a new interval. cwnd is the limit.
        burst(&mut aggregation, 0.5, 200, 2, true);
        assert_eq!(aggregation.extra, 150.0);
    }

    #[test]
    fn ten_round_trips_are_remembered_and_one_in_startup() {
        for (filled, round, largest) in [(true, 11, 50.0), (true, 12, 1.0), (false, 3, 1.0)] {
            let mut aggregation = Aggregation::default();
            burst(&mut aggregation, 1.0, 50, 2, filled);
            burst(&mut aggregation, 2.0, 1, round, filled);
            assert_eq!(aggregation.extra, largest, "{filled}, {round}");
        }
    }
}
