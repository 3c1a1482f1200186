//! TCP-Illinois (Liu, Basar and Srikant 2008, section 3): AIMD whose parameters depend on the
//! queueing delay.
//!
//! ```text
//! per round trip:  da = average RTT - base,  dm = maximum RTT - base
//!                  alpha = 10               if da <= d1 = 0.01 dm (5 round trips, if rising)
//!                          k1 / (k2 + da)   else, falling from 10 at d1 to 0.3 at dm
//!                  beta  = 1/8              if da <= d2 = 0.1 dm
//!                          linear in da     between
//!                          1/2              if da >= d3 = 0.8 dm
//!                  w <- w + alpha
//! on loss:         w <- (1 - beta) w
//! ```
//!
//! `w` in packets, delays in seconds. Below 15 packets, and after a timeout until the next round
//! trip, alpha = 1 and beta = 1/2. All constants are the paper's.

use crate::family::no_check;
use crate::{Ack, Congestion, FamilyOf, Needs, SlowStart, WindowRule};

const ALPHA_MAX: f64 = 10.0;
const ALPHA_MIN: f64 = 0.3;
const BETA_MIN: f64 = 0.125;
const BETA_MAX: f64 = 0.5;
/// Window below which the rule is AIMD(1, 0.5), packets.
const THRESHOLD: f64 = 15.0;
/// Round trips with an empty queue before alpha returns to its maximum.
const PATIENCE: u32 = 5;

/// TCP-Illinois.
#[derive(Clone, Debug, PartialEq)]
pub struct Illinois {
    alpha: f64,
    beta: f64,
    max_rtt_s: f64,
    sum_rtt_s: f64,
    samples: u32,
    empty_rounds: u32,
}

impl Default for Illinois {
    fn default() -> Self {
        Self {
            alpha: 1.0,
            beta: BETA_MAX,
            max_rtt_s: 0.0,
            sum_rtt_s: 0.0,
            samples: 0,
            empty_rounds: 0,
        }
    }
}

impl Illinois {
    fn measure(&mut self, ack: &Ack) {
        if ack.rtt_s > 0.0 {
            self.max_rtt_s = self.max_rtt_s.max(ack.rtt_s);
            self.sum_rtt_s += ack.rtt_s;
            self.samples += 1;
        }
        if ack.round_start && self.samples > 0 {
            let average_s = self.sum_rtt_s / f64::from(self.samples);
            (self.sum_rtt_s, self.samples) = (0.0, 0);
            self.adapt(
                (average_s - ack.min_rtt_s).max(0.0),
                (self.max_rtt_s - ack.min_rtt_s).max(0.0),
            );
        }
    }

    /// The window after a packet in congestion avoidance.
    fn grown(&self, cwnd: f64) -> f64 {
        cwnd + if cwnd < THRESHOLD { 1.0 } else { self.alpha } / cwnd
    }

    /// Adapts alpha and beta to the average and the maximum queueing delay.
    fn adapt(&mut self, da: f64, dm: f64) {
        let d1 = 0.01 * dm;
        if da <= d1 {
            self.empty_rounds += 1;
            if self.alpha >= ALPHA_MAX || self.empty_rounds >= PATIENCE {
                self.alpha = ALPHA_MAX;
            }
        } else {
            self.empty_rounds = 0;
            let scale = (dm - d1) / (ALPHA_MAX - ALPHA_MIN);
            self.alpha = scale * ALPHA_MIN * ALPHA_MAX / (scale * ALPHA_MIN - d1 + da);
        }
        let (d2, d3) = (0.1 * dm, 0.8 * dm);
        self.beta = if da <= d2 {
            BETA_MIN
        } else if da >= d3 {
            BETA_MAX
        } else {
            BETA_MIN + (BETA_MAX - BETA_MIN) * (da - d2) / (d3 - d2)
        };
    }
}

impl WindowRule for Illinois {
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        self.measure(ack);
        ack.per_packet(cwnd, |cwnd| self.grown(cwnd))
    }

    fn decrease(&mut self, cwnd: f64, congestion: Congestion) -> f64 {
        if congestion == Congestion::Timeout {
            let max_rtt_s = self.max_rtt_s;
            *self = Self { max_rtt_s, ..Self::default() };
        }
        cwnd * (1.0 - if cwnd < THRESHOLD { BETA_MAX } else { self.beta })
    }

    fn slow_start(&mut self, cwnd: f64, ack: &Ack) -> SlowStart {
        self.measure(ack);
        SlowStart::Grow(ack.slow_start(cwnd, |cwnd| self.grown(cwnd)))
    }

    fn needs(&self) -> Needs {
        Needs { rounds: true, ..Needs::default() }
    }

    fn state(&self, report: &mut dyn FnMut(&str, f64)) {
        report("alpha_packets", self.alpha);
        report("beta", self.beta);
        report("max_rtt_s", if self.max_rtt_s.is_finite() { self.max_rtt_s } else { f64::NAN });
    }
}

pub(crate) const FAMILY: FamilyOf<Box<Illinois>> = FamilyOf {
    name: "Illinois",
    summary: "AIMD whose growth falls and whose cut deepens with the queueing delay",
    source: "Liu, Basar and Srikant 2008, section 3",
    example: "Illinois",
    deployed: false,
    parameters: &[],
    check: no_check,
    build: |_| Box::default(),
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Base 100 ms, largest 200 ms: dm = 100 ms, d1 = 1 ms, d2 = 10 ms, d3 = 80 ms.
    fn after(average_s: f64) -> Illinois {
        let mut rule = Illinois { max_rtt_s: 0.2, ..Illinois::default() };
        rule.increase(
            20.0,
            &Ack { rtt_s: average_s, min_rtt_s: 0.1, round_start: true, ..Ack::default() },
        );
        rule
    }

    #[test]
    fn delay_sets_growth_and_cut() {
        let loss = Congestion::FastRetransmit;
        // da = dm: alpha 0.3, beta 1/2.
        let mut full = after(0.2);
        assert!((full.increase(20.0, &Ack::default()) - 20.015).abs() < 1e-9);
        assert_eq!(full.decrease(20.0, loss), 10.0);
        // da = 45 ms, half-way from d2 to d3: beta = (1/8 + 1/2)/2 = 0.3125. alpha: k1 = 99 x 3/9.7
        // = 30.618557 ms, k2 = 3.061856 - 1 = 2.061856 ms, 30.618557/47.061856 = 0.650602.
        let mut half = after(0.145);
        assert!((half.decrease(20.0, loss) - 13.75).abs() < 1e-9);
        assert!((half.increase(20.0, &Ack::default()) - 20.0 - 0.650602 / 20.0).abs() < 1e-7);
        // da = 5 ms < d2.
        assert!((after(0.105).decrease(20.0, loss) - 17.5).abs() < 1e-9);
        // Small windows: AIMD(1, 0.5).
        assert_eq!((half.increase(10.0, &Ack::default()), half.decrease(10.0, loss)), (10.1, 5.0));
    }

    #[test]
    fn an_empty_queue_must_last_five_round_trips() {
        let mut rule = after(0.2);
        let empty = Ack { rtt_s: 0.1, min_rtt_s: 0.1, round_start: true, ..Ack::default() };
        for _ in 0..4 {
            assert!(rule.increase(20.0, &empty) < 20.1);
        }
        assert_eq!(rule.increase(20.0, &empty), 20.5);
        rule.decrease(20.0, Congestion::Timeout);
        assert_eq!(rule.increase(20.0, &Ack::default()), 20.05);
    }

    /// A round trip of two ACKs, of eight packets at 110 ms and of one at 150 ms: the average is that
    /// of ACKs (Linux `tcp_illinois_acked`), 130 ms, not that of packets, 114 ms. da = 30 ms is 20/70
    /// of the way from d2 to d3: beta = 1/8 + 3/8 x 2/7. Growth counts packets: 2 x alpha.
    #[test]
    fn the_average_is_that_of_acks() {
        let mut rule = Illinois { max_rtt_s: 0.2, ..Illinois::default() };
        let ack = Ack { rtt_s: 0.11, min_rtt_s: 0.1, ..Ack::default() };
        rule.increase(20.0, &Ack { acked_packets: 8, growth_packets: 8, ..ack });
        rule.increase(20.0, &Ack { rtt_s: 0.15, round_start: true, ..ack });
        let expected = 20.0 * (1.0 - (0.125 + 0.375 * 2.0 / 7.0));
        assert!((rule.decrease(20.0, Congestion::FastRetransmit) - expected).abs() < 1e-9);
        // Below 15 packets alpha is 1: 10, 10.1, 10.1 + 1/10.1.
        let two = Ack { growth_packets: 2, ..Ack::default() };
        assert!((rule.increase(10.0, &two) - 10.199_009_900_990_1).abs() < 1e-9);
    }
}
