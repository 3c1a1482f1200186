//! Rate samples as Linux takes them (`tcp_rate_skb_sent`, `tcp_rate_skb_delivered`,
//! `tcp_rate_gen`): per packet, in whole microseconds. Rules with
//! [`Needs::samples`](cwndlab_rules::Needs::samples) have one; for others
//! [`RateSampler`](crate::rate_sampler::RateSampler) measures.

use crate::ticks::whole_us;
use cwndlab_rules::Rate;
use std::collections::VecDeque;

/// A packet's transmission, and what was known then.
#[derive(Clone, Copy, Debug)]
struct Transmission {
    sent_us: u64,
    delivered: u64,
    delivered_us: u64,
    /// Transmission time of the packet delivered last.
    first_sent_us: u64,
    is_app_limited: bool,
}

/// The sample of the ACK that is being processed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timed {
    prior_delivered: u64,
    prior_us: u64,
    number: i64,
    send_interval_us: u64,
    pub(crate) is_app_limited: bool,
}

/// What another sender measures with an ACK: its clock is read a little later than packets come and
/// go, so that times differ by some microseconds, of which windows may depend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// Delivery rate of the last sample (Linux `tcpi_delivery_rate`), bytes/s; 0: not known.
    pub rate_bytes_s: u64,
    /// Minimum RTT (Linux `tcpi_min_rtt`), microseconds; 0: not known.
    pub min_rtt_us: u64,
}

/// By how much its times may differ and still be the same, microseconds.
const APART_US: u64 = 4;

impl Measured {
    /// RTTs as it measures them, if one is its minimum. Seconds.
    pub(crate) fn of_rtts(self, rtts_s: (f64, f64)) -> (f64, f64) {
        let is_it = self.min_rtt_us > 0 && whole_us(rtts_s.1).abs_diff(self.min_rtt_us) <= APART_US;
        let min_rtt_s = self.min_rtt_us as f64 / 1e6;
        match is_it {
            true if rtts_s.0 == rtts_s.1 => (min_rtt_s, min_rtt_s),
            true => (rtts_s.0, min_rtt_s),
            false => rtts_s,
        }
    }

    /// A rate with the interval that it measures.
    fn of_rate(self, rate: Rate, packet_bytes: u64) -> Rate {
        let is_its = |interval_us: &u64| {
            let bytes = rate.delivered * packet_bytes * 1_000_000;
            bytes / (*interval_us).max(1) == self.rate_bytes_s
        };
        let apart = (0..=APART_US).flat_map(|apart_us| {
            [rate.interval_us + apart_us, rate.interval_us.saturating_sub(apart_us)]
        });
        let interval_us = apart.into_iter().find(is_its).unwrap_or(rate.interval_us);
        Rate { interval_us, ..rate }
    }
}

/// Measures delivery rates.
#[derive(Clone, Debug, Default)]
pub(crate) struct RateMeter {
    /// Packets from `first` on.
    packets: VecDeque<Transmission>,
    first: i64,
    pub(crate) delivered: u64,
    pub(crate) delivered_ce: u64,
    pub(crate) delivered_us: u64,
    first_sent_us: u64,
    /// `delivered` beyond which the flow is no longer application-limited; 0 where it is not.
    app_limited: u64,
    timed: Option<Timed>,
    /// What another sender measures with this ACK.
    pub(crate) measured: Measured,
}

impl RateMeter {
    /// Packet `number` is sent. `is_first`: none is outstanding.
    pub(crate) fn on_sent(&mut self, now_s: f64, number: i64, is_first: bool) {
        let sent_us = whole_us(now_s);
        if is_first {
            (self.first_sent_us, self.delivered_us) = (sent_us, sent_us);
            self.packets.clear();
            self.first = number;
        }
        let sent = Transmission {
            sent_us,
            delivered: self.delivered,
            delivered_us: self.delivered_us,
            first_sent_us: self.first_sent_us,
            is_app_limited: self.app_limited > 0,
        };
        match self.packets.get_mut((number - self.first) as usize) {
            Some(packet) => *packet = sent,
            None => self.packets.push_back(sent),
        }
    }

    /// Packet `number` was delivered for the first time: the sample is that of the packet that was
    /// sent last.
    pub(crate) fn on_delivered(&mut self, number: i64) {
        let Some(packet) = self.packets.get((number - self.first) as usize) else { return };
        let is_later = self.timed.is_none_or(|timed| {
            let last_us = self.first_sent_us;
            timed.prior_delivered == 0
                || packet.sent_us > last_us
                || (packet.sent_us == last_us && number > timed.number)
        });
        if !is_later {
            return;
        }
        self.first_sent_us = packet.sent_us;
        self.timed = Some(Timed {
            prior_delivered: packet.delivered,
            prior_us: packet.delivered_us,
            number,
            send_interval_us: packet.sent_us.saturating_sub(packet.first_sent_us),
            is_app_limited: packet.is_app_limited,
        });
    }

    /// All packets below `snd_una` are acknowledged.
    pub(crate) fn advance(&mut self, snd_una: i64) {
        let gone = (snd_una - self.first).clamp(0, self.packets.len() as i64);
        self.packets.drain(..gone as usize);
        self.first += gone;
    }

    /// Counts what an ACK delivered.
    pub(crate) fn count(&mut self, delivered: u64, is_marked: bool) {
        self.delivered += delivered;
        self.delivered_ce += if is_marked { delivered } else { 0 };
    }

    /// Takes the sample of an ACK that delivered so many packets: of which packet, and the rate.
    pub(crate) fn take(
        &mut self,
        now_s: f64,
        delivered: u64,
        min_rtt_us: Option<u64>,
        packet_bytes: u64,
    ) -> (Option<Timed>, Option<Rate>) {
        let now_us = whole_us(now_s);
        if self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        if delivered > 0 {
            self.delivered_us = now_us;
        }
        let timed = self.timed.take();
        let rate = timed.map(|timed| {
            let ack_us = now_us.saturating_sub(timed.prior_us);
            let rate = Rate {
                prior_delivered: timed.prior_delivered,
                delivered: self.delivered - timed.prior_delivered,
                interval_us: timed.send_interval_us.max(ack_us),
            };
            let rate = self.measured.of_rate(rate, packet_bytes);
            if delivered > 0 && ack_us > timed.send_interval_us + APART_US {
                // Then the interval is that of ACKs, and tells when this one came.
                self.delivered_us = timed.prior_us + rate.interval_us;
            }
            rate
        });
        // Shorter than any round trip: a spurious retransmission was acknowledged by its original.
        let least_us = min_rtt_us.unwrap_or(u64::MAX).max(1);
        (timed, rate.filter(|rate| rate.interval_us >= least_us))
    }

    /// Whether packets sent now are application-limited.
    pub(crate) fn is_app_limited(&self) -> bool {
        self.app_limited > 0
    }

    /// The flow is limited by something else than cwnd, with so many packets in flight.
    pub(crate) fn note_app_limited(&mut self, in_flight: u64) {
        self.app_limited = (self.delivered + in_flight).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four packets at 0 ms; ACKs of two each at 10 and 14 ms release a packet each. The ACK of the
    /// first of them, at 20 ms, shows three packets delivered since 10 ms: two and itself.
    #[test]
    fn the_rate_is_that_of_the_last_packet_sent() {
        let mut meter = RateMeter::default();
        let ack = |meter: &mut RateMeter, now_s: f64, numbers: std::ops::Range<i64>| {
            numbers.clone().for_each(|number| meter.on_delivered(number));
            meter.advance(numbers.end);
            let delivered = (numbers.end - numbers.start) as u64;
            meter.count(delivered, false);
            meter.take(now_s, delivered, Some(9_000), 1448).1
        };
        (0..4).for_each(|number| meter.on_sent(0.0, number, number == 0));
        let first = Rate { prior_delivered: 0, delivered: 2, interval_us: 10_000 };
        assert_eq!(ack(&mut meter, 0.010, 0..2), Some(first));
        meter.on_sent(0.010, 4, false);
        let second = Rate { prior_delivered: 0, delivered: 4, interval_us: 14_000 };
        assert_eq!(ack(&mut meter, 0.014, 2..4), Some(second));
        meter.on_sent(0.014, 5, false);
        let third = Rate { prior_delivered: 2, delivered: 3, interval_us: 10_000 };
        assert_eq!(ack(&mut meter, 0.020, 4..5), Some(third));
        // Packet 5 left 14 ms after packet 3, which was the last to be delivered then: as long is
        // its interval of sending. With a minimum RTT of 15 ms that is none.
        meter.on_delivered(5);
        meter.count(1, false);
        assert_eq!(meter.take(0.021, 1, Some(15_000), 1448).1, None);
    }

    /// Application-limited until what was in flight is delivered.
    #[test]
    fn the_application_limits_what_was_sent_meanwhile() {
        let mut meter = RateMeter::default();
        meter.note_app_limited(1);
        (0..2).for_each(|number| meter.on_sent(0.0, number, number == 0));
        meter.on_delivered(0);
        meter.count(1, true);
        assert!(meter.take(0.01, 1, None, 1448).0.is_some_and(|timed| timed.is_app_limited));
        assert!(meter.is_app_limited());
        meter.on_delivered(1);
        meter.count(1, false);
        meter.take(0.01, 1, None, 1448);
        assert!(!meter.is_app_limited());
        assert_eq!((meter.delivered, meter.delivered_ce), (2, 1));
    }
}
