//! DCTCP as the Linux kernel has it (`tcp_dctcp.c`): RFC 8257 in whole windows, with alpha in
//! units of 1/1024 and growth by Reno's counter. [`Dctcp`](crate::Dctcp) is the RFC's.
//!
//! ```text
//! once per window of data:  alpha <- alpha - alpha / 16 + 64 marked / delivered, at most 1024
//! mark, once per window:    w <- max(w - floor(w alpha / 2048), 2)
//! loss, timeout:            w <- max(floor(w / 2), 2)
//! ```
//!
//! Quotients are whole; an alpha below 16 falls to zero at once. Marked are packets that ACKs with
//! ECE deliver, cumulatively or selectively.

use super::kernel_reno::GrowthCounter;
use crate::family::no_check;
use crate::{Ack, Congestion, Delivery, FamilyOf, MarkResponse, Needs, RateSample, WindowRule};

/// alpha of 1.
const MOST_ALPHA: u64 = 1024;
/// g = 1/16.
const GAIN_SHIFT: u32 = 4;

/// DCTCP of Linux.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelDctcp {
    counter: GrowthCounter,
    alpha: u64,
    /// `snd_nxt` when this window of data began, and what was delivered then.
    window_end: i64,
    begun: Delivery,
    /// The endpoint reports deliveries itself.
    is_told: bool,
    /// Otherwise packets delivered and marked, summed up from ACKs.
    seen: Delivery,
}

impl Default for KernelDctcp {
    fn default() -> Self {
        Self {
            counter: GrowthCounter::default(),
            alpha: MOST_ALPHA,
            window_end: 0,
            begun: Delivery::default(),
            is_told: false,
            seen: Delivery::default(),
        }
    }
}

impl KernelDctcp {
    /// The smoothed fraction of marked packets.
    pub fn alpha(&self) -> f64 {
        self.alpha as f64 / MOST_ALPHA as f64
    }

    fn update(&mut self, delivery: &Delivery) {
        let delivered = delivery.delivered.saturating_sub(self.begun.delivered);
        let marked = delivery.delivered_ce.saturating_sub(self.begun.delivered_ce);
        let step = self.alpha >> GAIN_SHIFT;
        self.alpha -= if step > 0 { step } else { self.alpha };
        if marked > 0 {
            let share = marked * (MOST_ALPHA >> GAIN_SHIFT) / delivered.max(1);
            self.alpha = (self.alpha + share).min(MOST_ALPHA);
        }
        (self.window_end, self.begun) = (delivery.snd_nxt, *delivery);
    }

    /// Counts an ACK of an endpoint that does not report deliveries; repeated calls count once.
    fn count(&mut self, ack: &Ack) {
        if self.is_told {
            return;
        }
        let delivered = ack.delivered_packets.max(self.seen.delivered);
        let new = delivered - self.seen.delivered;
        self.seen.delivered = delivered;
        self.seen.delivered_ce += ack.marked_packets.min(new);
        if ack.round_start && delivered > self.begun.delivered {
            let seen = self.seen;
            self.update(&seen);
        }
    }
}

impl WindowRule for KernelDctcp {
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        self.count(ack);
        if ack.growth_packets == 0 {
            return cwnd;
        }
        self.counter.grow(cwnd, cwnd as u64, ack.growth_packets)
    }

    fn decrease(&mut self, cwnd: f64, congestion: Congestion) -> f64 {
        self.counter.reset();
        let window = cwnd as u64;
        let given_up = match congestion {
            Congestion::Ecn => (window * self.alpha) >> 11,
            Congestion::FastRetransmit | Congestion::Timeout => window - window / 2,
        };
        (window - given_up).max(2) as f64
    }

    fn on_mark(&mut self, _: f64, ack: &Ack) -> MarkResponse {
        self.count(ack);
        MarkResponse::Reduce
    }

    fn on_connected(&mut self, _: f64, sample: &RateSample) {
        self.is_told = true;
        self.begun.delivered = sample.delivered;
    }

    fn on_delivery(&mut self, delivery: &Delivery) {
        self.is_told = true;
        if delivery.snd_una >= self.window_end {
            self.update(delivery);
        }
    }

    fn needs(&self) -> Needs {
        Needs {
            exact_marks: true,
            rounds: true,
            cut_after_mark: true,
            samples: true,
            ..Needs::default()
        }
    }

    fn state(&self, report: &mut dyn FnMut(&str, f64)) {
        report("alpha", self.alpha());
    }
}

pub(crate) const FAMILY: FamilyOf<Box<KernelDctcp>> = FamilyOf {
    name: "dctcp",
    summary: "DCTCP in whole windows, alpha in units of 1/1024",
    source: "Linux, net/ipv4/tcp_dctcp.c",
    example: "kernel:dctcp",
    deployed: true,
    parameters: &[],
    check: no_check,
    build: |_| Box::default(),
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows of ten packets each; 1024 - 64 + 64 x 2/10 = 972; 972 - 60 = 912; 912 - 57 + 64.
    #[test]
    fn alpha_by_hand() {
        let mut rule = KernelDctcp::default();
        let mut delivery = Delivery::default();
        let mut window = |rule: &mut KernelDctcp, marked: u64| {
            delivery.delivered += 10;
            delivery.delivered_ce += marked;
            (delivery.snd_una, delivery.snd_nxt) = (delivery.snd_nxt, delivery.snd_nxt + 10);
            rule.on_delivery(&delivery);
            // In the middle of the window nothing changes.
            rule.on_delivery(&Delivery { snd_una: delivery.snd_una + 5, ..delivery });
            rule.alpha
        };
        assert_eq!(rule.decrease(10.0, Congestion::Ecn), 5.0);
        assert_eq!([2, 0, 10].map(|marked| window(&mut rule, marked)), [972, 912, 919]);
        // 100 x 919/2048 = 44.
        assert_eq!(rule.decrease(100.0, Congestion::Ecn), 56.0);
        assert_eq!(rule.decrease(100.0, Congestion::FastRetransmit), 50.0);
        assert_eq!(rule.decrease(2.0, Congestion::Timeout), 2.0);
        // Without marks it falls by a sixteenth at least one, and from 15 to zero.
        for _ in 0..80 {
            window(&mut rule, 0);
        }
        assert_eq!(rule.alpha, 0);
    }

    #[test]
    fn acks_alone_tell_the_marks_too() {
        let mut rule = KernelDctcp::default();
        let marked =
            Ack { delivered_packets: 15, marked: true, marked_packets: 5, ..Ack::default() };
        rule.on_mark(10.0, &marked);
        rule.increase(10.0, &Ack { marked_packets: 0, ..marked });
        rule.increase(10.0, &Ack { delivered_packets: 20, round_start: true, ..Ack::default() });
        // 5 of 20: 1024 - 64 + 64 x 5/20.
        assert_eq!(rule.alpha, 976);
    }
}
