//! Pacing: packets leave at intervals of 1/rate (as RFC 9002 section 7.7 describes for QUIC).

use crate::NEVER;
use crate::ticks::step_after_s;

/// Spreads the transmissions of a sender over time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacer {
    /// Earliest departure of the next packet, seconds.
    next_send_s: f64,
    /// When to send packets that pacing holds back, or [`NEVER`].
    deadline_s: f64,
    /// Step of the host's clock, seconds; 0: it is exact.
    pub(crate) clock_step_s: f64,
}

impl Default for Pacer {
    fn default() -> Self {
        Self { next_send_s: 0.0, deadline_s: NEVER, clock_step_s: 0.0 }
    }
}

impl Pacer {
    /// Whether a packet may leave now; if not, arms the timer.
    #[inline]
    pub(crate) fn allows(&mut self, now_s: f64) -> bool {
        let holds_back = self.next_send_s > now_s;
        if holds_back {
            self.deadline_s = self.noticed_s(self.next_send_s);
        }
        !holds_back
    }

    /// When the host notices that the timer is due: at the next step of its clock, after what
    /// arrives at that step.
    fn noticed_s(&self, due_s: f64) -> f64 {
        const AFTER_OTHERS: f64 = 1e-6;
        let step_s = self.clock_step_s;
        if step_s > 0.0 { step_after_s(due_s, step_s) + AFTER_OTHERS * step_s } else { due_s }
    }

    /// A packet was sent: the next one leaves 1/rate later.
    pub(crate) fn on_sent(&mut self, now_s: f64, rate_packets_s: f64) {
        self.next_send_s = now_s.max(self.next_send_s) + 1.0 / rate_packets_s;
    }

    /// Packets of `bytes` left as one, and the next departure follows at the rate, bytes/s; at once
    /// without a rate. Time that the last departure came late counts for half of the wait at most
    /// (Linux `tcp_update_skb_after_send`, in whole nanoseconds).
    pub(crate) fn on_burst(&mut self, now_s: f64, bytes: u64, rate: Option<u64>) {
        const NS: f64 = 1e9;
        let before_ns = (self.next_send_s * NS).round() as u64;
        let departed_ns = before_ns.max((now_s * NS).round() as u64);
        let wait_ns = rate.map_or(0, |rate| bytes * NS as u64 / rate.max(1));
        let credit_ns = (departed_ns - before_ns).min(wait_ns / 2);
        self.next_send_s = (departed_ns + wait_ns - credit_ns) as f64 / NS;
    }

    /// The next departure, seconds.
    pub(crate) fn next_departure_s(&self) -> f64 {
        self.next_send_s
    }

    /// When the timer expires, or [`NEVER`].
    #[inline]
    pub(crate) fn deadline_s(&self) -> f64 {
        self.deadline_s
    }

    pub(crate) fn stop_timer(&mut self) {
        self.deadline_s = NEVER;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 3,000 bytes at 1 MB/s are 3 ms. A burst that leaves 1 ms late shortens the next wait by as
    /// much, one that leaves 5 ms late by the half.
    #[test]
    fn late_departures_shorten_the_next_wait() {
        let mut pacer = Pacer::default();
        let next_s = |pacer: &mut Pacer, now_s: f64| {
            pacer.on_burst(now_s, 3000, Some(1_000_000));
            pacer.next_departure_s()
        };
        pacer.on_burst(1.0, 3000, None);
        assert_eq!(next_s(&mut pacer, 1.0), 1.003);
        assert_eq!(next_s(&mut pacer, 1.004), 1.006);
        assert_eq!(next_s(&mut pacer, 1.011), 1.0125);
        assert!(!pacer.allows(1.012) && pacer.allows(1.0125));
        assert_eq!(pacer.deadline_s(), 1.0125);
    }

    /// 306,123.657 us are 1,195,795.5 steps of 256 ns: the timer expires with the next, 306,123.776
    /// us.
    #[test]
    fn the_timer_expires_with_a_step_of_the_clock() {
        let mut pacer =
            Pacer { next_send_s: 0.306_123_657, clock_step_s: 256e-9, ..Pacer::default() };
        assert!(!pacer.allows(0.3));
        assert!((pacer.deadline_s() - 0.306_123_776).abs() < 1e-12);
    }
}
