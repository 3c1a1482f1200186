//! CUBIC (RFC 9438): cwnd follows a cubic function of the time since the last reduction.
//!
//! ```text
//! W_cubic(t) = C (t - K)^3 + W_max                                         (equation 1)
//! K          = cbrt((W_max - w at the epoch's start) / C)                  (equation 2)
//! target     = W_cubic(t + RTT), at least w, at most 1.5 w                 (section 4.2)
//! per ACK:       w <- w + packets (target - w) / w                         (sections 4.4, 4.5)
//! Reno-friendly: W_est <- W_est + alpha segments / w                       (equation 4)
//!                alpha = 3 (1 - beta) / (1 + beta), 1 once W_est reaches cwnd_prior
//!                w <- W_est where W_cubic(t) < W_est                       (section 4.3)
//! on congestion: W_max <- w, or w (1 + beta) / 2 where w < W_max           (section 4.7)
//!                w <- beta w                                               (section 4.6)
//! ```
//!
//! `w` and `W` in packets, `t` in seconds since the start of the congestion avoidance stage, without
//! the time in which cwnd did not limit the flow (sections 4.2, 5.8), `C` in packets/s^3; `packets`:
//! those by which growth counts an ACK. After slow start without a loss, and after a timeout, K is 0 and W_max is the
//! window (sections 4.8, 4.10). A reduction for loss keeps two packets, one for ECE keeps one
//! (section 4.6).
//!
//! Departures: slow start is the endpoint's; section 4.10 recommends HyStart++ (knob `slow_start`).
//! The reduction uses cwnd, which section 4.6 allows for flows that the application does not limit.
//! The endpoint undoes spurious congestion events (section 4.9, knob `undo`).

use crate::family::{choice, fraction, no_check, option, positive};
use crate::{Ack, Congestion, FamilyOf, Needs, SlowStart, WindowRule};

/// CUBIC.
#[derive(Clone, Debug, PartialEq)]
pub struct Cubic {
    /// Packets/s^3.
    c: f64,
    beta: f64,
    fast_convergence: bool,
    w_max: f64,
    /// cwnd before the last reduction, packets (cwnd_prior).
    prior_cwnd: f64,
    /// When this stage of congestion avoidance began, moved by the time in which cwnd did not limit
    /// the flow; `None` before its first ACK.
    epoch_start_s: Option<f64>,
    k_s: f64,
    w_est: f64,
    /// The stage follows a reduction: the curve starts below W_max.
    after_reduction: bool,
    now_s: f64,
}

impl Cubic {
    /// A flow that has seen no congestion; `c` in packets/s^3.
    pub fn new(c: f64, beta: f64, fast_convergence: bool) -> Self {
        Self {
            c,
            beta,
            fast_convergence,
            w_max: 0.0,
            prior_cwnd: 0.0,
            epoch_start_s: None,
            k_s: 0.0,
            w_est: 0.0,
            after_reduction: false,
            now_s: 0.0,
        }
    }

    fn begin(&mut self, cwnd: f64, now_s: f64) -> f64 {
        if self.after_reduction && self.w_max > cwnd {
            self.k_s = libm::cbrt((self.w_max - cwnd) / self.c);
        } else {
            (self.k_s, self.w_max) = (0.0, cwnd);
        }
        if !self.after_reduction {
            self.prior_cwnd = cwnd;
        }
        self.w_est = cwnd;
        self.epoch_start_s = Some(now_s);
        now_s
    }

    /// Sections 4.2 and 5.8: the time up to now is no part of t, and proves nothing about the path.
    fn skip_until(&mut self, now_s: f64) {
        if let Some(epoch_start_s) = &mut self.epoch_start_s {
            *epoch_start_s += now_s - self.now_s;
        }
        self.now_s = now_s;
    }

    fn w_cubic(&self, t: f64) -> f64 {
        let x = t - self.k_s;
        self.c * (x * x * x) + self.w_max
    }
}

impl WindowRule for Cubic {
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        if !ack.cwnd_limited {
            self.skip_until(ack.now_s);
            return cwnd;
        }
        self.now_s = ack.now_s;
        if ack.growth_packets == 0 {
            return cwnd;
        }
        let epoch_start_s = self.epoch_start_s.unwrap_or_else(|| self.begin(cwnd, ack.now_s));
        let alpha = if self.w_est < self.prior_cwnd {
            3.0 * (1.0 - self.beta) / (1.0 + self.beta)
        } else {
            1.0
        };
        self.w_est += alpha * ack.segments() / cwnd;
        let t = ack.now_s - epoch_start_s;
        if self.w_cubic(t) < self.w_est {
            return self.w_est.max(cwnd);
        }
        let rtt_s = if ack.srtt_s > 0.0 { ack.srtt_s } else { ack.rtt_s };
        let target = self.w_cubic(t + rtt_s).clamp(cwnd, 1.5 * cwnd);
        cwnd + ack.growth_packets as f64 * (target - cwnd) / cwnd
    }

    fn decrease(&mut self, cwnd: f64, congestion: Congestion) -> f64 {
        let converge = self.fast_convergence && cwnd < self.w_max;
        self.w_max = if converge { cwnd * (1.0 + self.beta) / 2.0 } else { cwnd };
        self.prior_cwnd = cwnd;
        self.epoch_start_s = None;
        self.after_reduction = congestion != Congestion::Timeout;
        let least: f64 = if congestion == Congestion::Ecn { 1.0 } else { 2.0 };
        (cwnd * self.beta).max(least.min(cwnd))
    }

    fn slow_start(&mut self, cwnd: f64, ack: &Ack) -> SlowStart {
        self.now_s = ack.now_s;
        self.epoch_start_s = None;
        let (grown, left_over) = ack.slow_start_packets(cwnd);
        if left_over == 0 {
            return SlowStart::Grow(grown);
        }
        let ack = Ack { acked_packets: left_over, growth_packets: left_over, ..*ack };
        SlowStart::Grow(self.increase(grown, &ack))
    }

    fn restart_from_idle(&mut self, cwnd: f64, now_s: f64) -> f64 {
        self.skip_until(now_s);
        cwnd
    }

    fn needs(&self) -> Needs {
        Needs { hystart: true, ..Needs::default() }
    }

    fn state(&self, report: &mut dyn FnMut(&str, f64)) {
        report("w_max_packets", if self.w_max > 0.0 { self.w_max } else { f64::NAN });
        report("w_est_packets", self.epoch_start_s.map_or(f64::NAN, |_| self.w_est));
        report("k_s", self.epoch_start_s.map_or(f64::NAN, |_| self.k_s));
        report("epoch_start_s", self.epoch_start_s.unwrap_or(f64::NAN));
    }
}

pub(crate) const FAMILY: FamilyOf<Box<Cubic>> = FamilyOf {
    name: "CUBIC",
    summary: "grow along a cubic curve of time around the last loss's window, at least as AIMD \
        would; multiply by beta on loss",
    source: "RFC 9438",
    example: "CUBIC",
    deployed: true,
    parameters: &[
        option(positive("C", "steepness of the curve, packets/s^3"), 0.4),
        option(fraction("beta", "factor on loss"), 0.7),
        choice(
            "convergence",
            "whether a flow that lost earlier than before makes room (section 4.7)",
            "fast or plain",
            &["fast", "plain"],
        ),
    ],
    check: no_check,
    build: |p| Box::new(Cubic::new(p[0], p[1], p[2] == 0.0)),
};

#[cfg(test)]
mod tests {
    use super::*;

    fn at(now_s: f64, rtt_s: f64) -> Ack {
        Ack { now_s, rtt_s, acked_packets: 1, ..Ack::default() }
    }

    /// From 100 to 70; K = cbrt(30/0.4) = 4.217163 s. The first ACK finds W_cubic(0) =
    /// 70 below W_est = 70 + (0.9/1.7)/70. One second later W_cubic(2) = 100 - 0.4 x 2.217163^3 =
    /// 95.640366 is the target: 25.632802/70.007563 of a packet.
    #[test]
    fn the_curve_by_hand() {
        let mut rule = Cubic::new(0.4, 0.7, true);
        rule.increase(100.0, &at(9.0, 1.0));
        assert_eq!(rule.decrease(100.0, Congestion::FastRetransmit), 70.0);
        let first = rule.increase(70.0, &at(10.0, 1.0));
        assert!((first - 70.00756303).abs() < 1e-8, "{first}");
        let second = rule.increase(first, &at(11.0, 1.0));
        assert!((second - first - 0.366143).abs() < 1e-5, "{second}");
        // Ten seconds after the plateau the curve asks for 100 + 0.4 x 1000 = 500 and more: half
        // the window per round trip at most.
        assert!((rule.increase(80.0, &at(24.3, 1.0)) - 80.5).abs() < 1e-12);
    }

    #[test]
    fn cuts_by_hand() {
        let mut rule = Cubic::new(0.4, 0.7, true);
        assert_eq!(rule.decrease(100.0, Congestion::FastRetransmit), 70.0);
        // Fast convergence: lost at 80 < 100, so the plateau is 80 x 1.7/2 = 68, below the window
        // of 75: K = 0.
        assert_eq!(rule.decrease(80.0, Congestion::FastRetransmit), 56.0);
        assert!((rule.w_max - 68.0).abs() < 1e-12);
        assert_eq!(rule.decrease(2.0, Congestion::FastRetransmit), 2.0);
        assert_eq!(rule.decrease(1.2, Congestion::Ecn), 1.0);
    }

    /// Average window under one loss every 1/p packets: RFC 9438 section 5.1, Tables 1 and 2. In
    /// their derivation every loss comes at W_max, of which the average is (3 + beta)/4 on the
    /// curve, and (1 + beta)/2 in the Reno-friendly region. So from a cut at that W_max, 1/p
    /// packets lead back to it with the published average between.
    #[test]
    fn average_windows_of_the_rfc() {
        const CURVE: f64 = 0.925;
        const RENO: f64 = 0.85;
        for (c, rtt_s, p, published, of_peak) in [
            (0.4, 0.1, 1e-4, 187.0, CURVE),
            (0.4, 0.1, 1e-5, 1054.0, CURVE),
            (0.4, 0.1, 1e-6, 5926.0, CURVE),
            (0.04, 0.1, 1e-5, 593.0, CURVE),
            (4.0, 0.1, 1e-4, 333.0, CURVE),
            (4.0, 0.01, 1e-6, 1874.0, CURVE),
            (0.4, 0.1, 1e-2, 12.0, RENO),
            (0.4, 0.01, 1e-4, 120.0, RENO),
            (0.4, 0.01, 1e-5, 379.0, RENO),
        ] {
            let peak = published / of_peak;
            let mut rule = Cubic::new(c, 0.7, true);
            let (mut cwnd, mut now_s) = (rule.decrease(peak, Congestion::FastRetransmit), 0.0);
            let packets = (1.0 / p) as u64;
            for _ in 0..packets {
                now_s += rtt_s / cwnd;
                cwnd = rule.increase(cwnd, &at(now_s, rtt_s));
            }
            let average = packets as f64 / (now_s / rtt_s);
            assert!(
                (average / published - 1.0).abs() < 0.03,
                "C {c}, RTT {rtt_s}, p {p}: average {average}, not {published}"
            );
            assert!(
                (cwnd / peak - 1.0).abs() < 0.03,
                "C {c}, RTT {rtt_s}, p {p}: {cwnd}, not back at {peak}"
            );
        }
    }

    /// From the ACK at 10 s on in the example above: W_cubic one second later asks for
    /// 25.632802/70.007563 = 0.366143 of a packet, whatever time lay between in which cwnd did not
    /// limit the flow: 7 s with an ACK every now and then, and 20 s of silence (sections 4.2, 5.8).
    #[test]
    fn time_without_use_of_cwnd_is_no_part_of_the_curve() {
        let mut rule = Cubic::new(0.4, 0.7, true);
        rule.increase(100.0, &at(9.0, 1.0));
        rule.decrease(100.0, Congestion::FastRetransmit);
        let first = rule.increase(70.0, &at(10.0, 1.0));
        for now_s in [12.0, 17.0] {
            let limited = Ack { cwnd_limited: false, growth_packets: 0, ..at(now_s, 1.0) };
            assert_eq!(rule.increase(first, &limited), first);
        }
        assert_eq!(rule.restart_from_idle(first, 37.0), first);
        let second = rule.increase(first, &at(38.0, 1.0));
        assert!((second - first - 0.366143).abs() < 1e-5, "{second}");
    }

    /// An ACK of eight packets in the same place grows by eight times that: the target is that of the
    /// ACK. Where growth counts ACKs it grows by one.
    #[test]
    fn an_ack_of_eight_packets_by_hand() {
        for (growth_packets, growth) in [(8, 8.0 * 0.366143), (1, 0.366143)] {
            let mut rule = Cubic::new(0.4, 0.7, true);
            rule.increase(100.0, &at(9.0, 1.0));
            rule.decrease(100.0, Congestion::FastRetransmit);
            let first = rule.increase(70.0, &at(10.0, 1.0));
            let ack = Ack { acked_packets: 8, growth_packets, ..at(11.0, 1.0) };
            let second = rule.increase(first, &ack);
            assert!((second - first - growth).abs() < 1e-4, "{growth_packets}: {second}");
        }
        // Slow start from 6 to ssthresh = 8 takes two of three packets. The third begins the curve,
        // on which W_cubic(0) = 8 is below W_est = 8 + 1/8.
        let mut rule = Cubic::new(0.4, 0.7, true);
        let ack =
            Ack { acked_packets: 3, growth_packets: 3, ssthresh_packets: 8.0, ..at(1.0, 0.1) };
        assert_eq!(rule.slow_start(6.0, &ack), SlowStart::Grow(8.125));
    }
}
