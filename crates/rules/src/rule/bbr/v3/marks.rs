//! BBR version 3, response to marks: what an ACK tells of a probe (`v3/ecn.rs` has the source).

use super::Bbr3;
use super::bounds::BETA;
use super::mode::Mode;
use crate::Ack;

impl Bbr3 {
    /// Updates what marks tell, and ends a probe that caused too many of them.
    pub(super) fn learn_from_marks(&mut self, cwnd: f64, ack: &Ack) {
        let Some(ecn) = &mut self.ecn else { return };
        ecn.observe(ack, self.min_rtt.0, self.round_start, !self.filled);
        if !ecn.is_too_high() || !self.bounds.is_probe_sample {
            return;
        }
        // At most once per probe, as for losses.
        (self.bounds.was_too_high, self.bounds.is_probe_sample) = (true, false);
        if !ack.app_limited {
            self.bounds.inflight_long =
                (ack.sent_in_flight_packets as f64).max(BETA * self.target(cwnd));
        }
        if self.mode == Mode::Up {
            self.enter_down(ack);
        }
    }

    /// Begins a round trip, or a phase that responds to marks, without those of before.
    pub(super) fn forget_marks(&mut self) {
        if let Some(ecn) = &mut self.ecn {
            ecn.forget_round();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::bbr::v3::{Bounds, WindowRule};

    fn close(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 1e-9, "{actual} instead of {expected}");
    }

    #[test]
    fn marks_of_long_paths_do_not_count() {
        let mut rule = Bbr3::with_ecn(0.005);
        rule.min_rtt.0 = 0.006;
        let ack = Ack { marked_packets: 5, ..Ack::default() };
        rule.on_mark(10.0, &ack);
        rule.learn_from_marks(10.0, &Ack::default());
        assert_eq!(rule.ecn.as_ref().unwrap().factor(), None);
        // 5 ms are short enough, and a longer minimum later changes nothing.
        rule.min_rtt.0 = 0.005;
        rule.learn_from_marks(10.0, &Ack::default());
        rule.min_rtt.0 = 0.02;
        rule.on_mark(10.0, &ack);
        close(rule.ecn.as_ref().unwrap().factor().unwrap(), 2.0 / 3.0);
    }

    #[test]
    fn marks_reduce_what_is_in_flight_and_losses_the_rate_too() {
        let end = |bounds: &mut Bounds, delivered_packets, factor| {
            let ack = Ack {
                delivered_packets,
                delivered_since_sent_packets: 80,
                delivery_rate_packets_s: 900.0,
                ..Ack::default()
            };
            bounds.end_round(&ack, false, false, 1000.0, 200.0, factor);
            bounds.advance(&ack);
        };
        // Alpha 0.6: a fifth of a cwnd of 200, then of 160.
        let mut bounds = Bounds::default();
        end(&mut bounds, 1000, Some(0.8));
        assert_eq!(bounds.bandwidth_short, f64::INFINITY);
        close(bounds.inflight_short, 160.0);
        end(&mut bounds, 2000, Some(0.8));
        close(bounds.inflight_short, 128.0);
        end(&mut bounds, 3000, None);
        close(bounds.inflight_short, 128.0);
        // With loss: the lower one of 0.7 x 128 = 89.6 and 0.8 x 128; and of 62.72, but at least the
        // 80 delivered, and 0.8 x 89.6 = 71.68.
        bounds.lose_in_round();
        end(&mut bounds, 4000, Some(0.8));
        close(bounds.inflight_short, 89.6);
        bounds.lose_in_round();
        end(&mut bounds, 5000, Some(0.8));
        close(bounds.inflight_short, 71.68);
    }

    /// In Up, with a bandwidth-delay product of 100 packets.
    fn probing_up() -> Bbr3 {
        let mut rule = Bbr3::with_ecn(0.0);
        rule.max_bandwidth.update(0, 1000.0);
        (rule.min_rtt.0, rule.mode, rule.filled) = (0.1, Mode::Up, true);
        rule.bounds.start_up(250.0);
        rule
    }

    /// An ACK of a packet sent when 100 packets ago, `in_flight` of them in flight.
    fn sampled(delivered_packets: u64, in_flight: u64) -> Ack {
        Ack {
            now_s: 100.0,
            acked_packets: 1,
            delivered_packets,
            delivered_since_sent_packets: 100,
            sent_in_flight_packets: in_flight,
            ..Ack::default()
        }
    }

    #[test]
    fn a_probe_goes_too_high_when_half_of_a_sample_is_marked() {
        let mut rule = probing_up();
        let marks = |rule: &mut Bbr3, marked_packets| {
            rule.on_mark(250.0, &Ack { marked_packets, ..Ack::default() });
        };
        rule.learn_from_marks(250.0, &sampled(1000, 150));
        // 50 of 100 are not more than half; the 51st is. 150 were in flight.
        marks(&mut rule, 50);
        rule.learn_from_marks(250.0, &sampled(1100, 150));
        assert_eq!((rule.mode, rule.bounds.inflight_long), (Mode::Up, f64::INFINITY));
        let mut app_limited = rule.clone();
        marks(&mut rule, 1);
        rule.learn_from_marks(250.0, &sampled(1100, 150));
        assert_eq!((rule.mode, rule.bounds.inflight_long), (Mode::Down, 150.0));
        assert!(rule.bounds.was_too_high);
        // An application-limited sample shows no bound.
        marks(&mut app_limited, 1);
        app_limited.learn_from_marks(250.0, &Ack { app_limited: true, ..sampled(1100, 150) });
        let bound = app_limited.bounds.inflight_long;
        assert_eq!((app_limited.mode, bound), (Mode::Down, f64::INFINITY));
        // Marks of before the packet was sent do not count: those 51 are 100 packets ago.
        let mut later = probing_up();
        marks(&mut later, 51);
        later.learn_from_marks(250.0, &sampled(1000, 150));
        later.bounds.is_probe_sample = true;
        later.mode = Mode::Up;
        later.learn_from_marks(250.0, &sampled(1100, 150));
        assert_eq!(later.mode, Mode::Up);
        // Never below 0.7 x 100.
        let mut low = probing_up();
        low.learn_from_marks(250.0, &sampled(1000, 150));
        marks(&mut low, 60);
        low.learn_from_marks(250.0, &sampled(1100, 20));
        close(low.bounds.inflight_long, 70.0);
    }

    #[test]
    fn without_ecn_marks_change_nothing() {
        let mut rule = Bbr3::default();
        let (before, ack) = (rule.clone(), Ack { marked_packets: 9, ..Ack::default() });
        rule.on_mark(10.0, &ack);
        rule.learn_from_marks(10.0, &ack);
        assert_eq!(rule, before);
        assert!(!rule.needs().l4s && !rule.needs().exact_marks);
        assert!(Bbr3::with_ecn(0.005).needs().l4s);
    }
}
