//! CUBIC as the Linux kernel has it (`tcp_cubic.c`): RFC 9438 in whole windows, milliseconds and
//! 1/1024 of a second. [`Cubic`](crate::Cubic) is the RFC's.
//!
//! ```text
//! t          = time since the epoch + minimum RTT, units of 1/1024 s
//! K          = cbrt(2^40 / 410 (W_last_max - w))                units of 1/1024 s
//! target     = origin +- 410 |t - K|^3 / 2^40
//! count      = w / (target - w); 100 w where w has reached the target; at most 20 before a loss
//! Reno:        W_est grows by a packet every 15 w / 8 packets; count at most w / (W_est - w)
//! per ACK:     w <- w + 1 for each `count` packets, at least 2
//! on congestion: W_last_max <- w, or w 1741/2048 where w < W_last_max; w <- max(w 717/1024, 2)
//! ```
//!
//! The curve is evaluated once per millisecond, and at most every 1/32 s while the window stays
//! (`bictcp_update`). What RFC 9438 does otherwise: it has reals, a target one RTT ahead of now
//! instead of one minimum RTT, alpha 0.53 with exact W_est, and no limit on growth before a loss.

use super::kernel_reno::GrowthCounter;
use crate::family::no_check;
use crate::{Ack, Congestion, FamilyOf, Needs, SlowStart, WindowRule};

/// beta = 717/1024 on congestion.
const BETA: u64 = 717;
const SCALE: u64 = 1024;
/// C = 0.4 as 410/1024 of a packet/s^3, in units of 1/1024 s: shifts by 10 + 3 x 10 bits.
const CUBE_RATE: u64 = 410;
const CUBE_SHIFT: u32 = 40;
/// 8 (1 + beta) / (3 (1 - beta)), whole: packets per packet of W_est are 15/8 of a window.
const RENO_SCALE: u64 = 15;
/// Growth before the first loss: at least a packet per 20.
const FIRST_COUNT: u64 = 20;
/// Ticks of the clock per second.
const HZ: f64 = 1000.0;
/// 1/32 s: as long as this the growth is kept while the window stays.
const KEEP_TICKS: i64 = 31;

/// State of the curve; names as in `struct bictcp`.
#[derive(Clone, Debug, Default, PartialEq)]
struct Curve {
    /// Packets per packet of growth.
    cnt: u64,
    last_max_cwnd: u64,
    last_cwnd: u64,
    /// Tick of the last evaluation.
    last_time: i64,
    bic_origin_point: u64,
    bic_k: u64,
    /// Tick at which the epoch began; none after a reduction.
    epoch_start: Option<i64>,
    ack_cnt: u64,
    tcp_cwnd: u64,
    /// Minimum RTT, microseconds; 0 before the first sample.
    delay_min_us: u64,
}

/// CUBIC of Linux.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelCubic {
    curve: Curve,
    counter: GrowthCounter,
    now_s: f64,
}

/// The tick of the clock at a time.
fn tick(now_s: f64) -> i64 {
    (now_s * HZ + 1e-6).floor() as i64
}

/// The cube root of `value` as Linux has it: one Newton step in whole numbers from the root of the
/// leading octal digits, with 341/1024 for 1/3.
///
/// The factor makes the result smaller by 1/1024, and a step from (1 + e) times the root makes it
/// larger by e^2. So the start lies e above the root, where both cancel on average over the values
/// that share their leading digits `i`: those whose root is up to r = 1/(6 i + 3) off, with
/// e^2 + r^2/3 = 1/1024.
fn cube_root(value: u64) -> u64 {
    let octal_digits = (63 - value.max(1).leading_zeros()) / 3;
    if octal_digits < 2 {
        return libm::cbrt(value as f64).round() as u64;
    }
    let shift = octal_digits - 1;
    let middle = (value >> (3 * shift)) as f64 + 0.5;
    let spread = 1.0 / (6.0 * middle);
    let above = 1.0 + (1.0 / 1024.0 - spread * spread / 3.0).sqrt();
    let start = (((64.0 * libm::cbrt(middle) * above).round() as u64) << shift) >> 6;
    ((2 * start + value / (start * (start - 1))) * 341) >> 10
}

impl Curve {
    /// Evaluates the curve for an ACK of `packets` at a window of `cwnd`.
    fn update(&mut self, cwnd: u64, packets: u64, now: i64) {
        self.ack_cnt += packets;
        if self.last_cwnd == cwnd && now - self.last_time <= KEEP_TICKS {
            return;
        }
        // At most once per tick, unless a reduction began a new epoch.
        if self.epoch_start.is_none() || now != self.last_time {
            (self.last_cwnd, self.last_time) = (cwnd, now);
            self.cnt = self.count(cwnd, packets, now);
        }
        // The Reno-friendly region.
        let per_packet = cwnd * RENO_SCALE / 8;
        while per_packet > 0 && self.ack_cnt > per_packet {
            self.ack_cnt -= per_packet;
            self.tcp_cwnd += 1;
        }
        if self.tcp_cwnd > cwnd {
            self.cnt = self.cnt.min(cwnd / (self.tcp_cwnd - cwnd));
        }
        self.cnt = self.cnt.max(2);
    }

    fn count(&mut self, cwnd: u64, packets: u64, now: i64) -> u64 {
        let epoch_start = *self.epoch_start.get_or_insert_with(|| {
            (self.ack_cnt, self.tcp_cwnd) = (packets, cwnd);
            if self.last_max_cwnd <= cwnd {
                (self.bic_k, self.bic_origin_point) = (0, cwnd);
            } else {
                let above = self.last_max_cwnd - cwnd;
                self.bic_k = cube_root((1 << CUBE_SHIFT) / CUBE_RATE * above);
                self.bic_origin_point = self.last_max_cwnd;
            }
            now
        });
        let ticks = now - epoch_start + (self.delay_min_us as i64 + 999) / 1000;
        let t = (ticks.max(0) as u64) * SCALE / HZ as u64;
        let distance = t.abs_diff(self.bic_k);
        let delta = ((u128::from(CUBE_RATE) * u128::from(distance).pow(3)) >> CUBE_SHIFT) as u64;
        let target = if t < self.bic_k {
            self.bic_origin_point.saturating_sub(delta)
        } else {
            self.bic_origin_point + delta
        };
        let count = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if self.last_max_cwnd == 0 { count.min(FIRST_COUNT) } else { count }
    }
}

impl KernelCubic {
    fn note(&mut self, ack: &Ack) {
        self.now_s = ack.now_s;
        // Right after a reduction delays are those of the queue that it empties.
        let is_late =
            self.curve.epoch_start.is_none_or(|start| tick(ack.now_s) - start >= HZ as i64);
        if ack.rtt_s > 0.0 && is_late {
            let delay_us = (ack.rtt_s * 1e6).round().max(1.0) as u64;
            let known_us = self.curve.delay_min_us;
            if known_us == 0 || delay_us < known_us {
                self.curve.delay_min_us = delay_us;
            }
        }
    }

    fn avoid_congestion(&mut self, cwnd: f64, packets: u64) -> f64 {
        self.curve.update(cwnd as u64, packets, tick(self.now_s));
        self.counter.grow(cwnd, self.curve.cnt, packets)
    }
}

impl WindowRule for KernelCubic {
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        self.note(ack);
        if ack.growth_packets == 0 {
            return cwnd;
        }
        self.avoid_congestion(cwnd, ack.growth_packets)
    }

    fn decrease(&mut self, cwnd: f64, congestion: Congestion) -> f64 {
        let window = cwnd as u64;
        let curve = &mut self.curve;
        curve.epoch_start = None;
        let converges = window < curve.last_max_cwnd;
        curve.last_max_cwnd =
            if converges { window * (SCALE + BETA) / (2 * SCALE) } else { window };
        if congestion == Congestion::Timeout {
            *curve = Curve::default();
        }
        self.counter.reset();
        ((window * BETA / SCALE).max(2)) as f64
    }

    fn slow_start(&mut self, cwnd: f64, ack: &Ack) -> SlowStart {
        self.note(ack);
        let (grown, left_over) = ack.slow_start_packets(cwnd);
        if left_over == 0 {
            return SlowStart::Grow(grown);
        }
        SlowStart::Grow(self.avoid_congestion(grown, left_over))
    }

    fn restart_from_idle(&mut self, cwnd: f64, now_s: f64) -> f64 {
        // Time without data is no part of the epoch.
        if let Some(start) = &mut self.curve.epoch_start {
            let now = tick(now_s);
            *start = (*start + now - tick(self.now_s)).min(now);
        }
        self.now_s = now_s;
        cwnd
    }

    fn needs(&self) -> Needs {
        Needs { hystart: true, ..Needs::default() }
    }

    fn state(&self, report: &mut dyn FnMut(&str, f64)) {
        let curve = &self.curve;
        report("last_max_cwnd_packets", curve.last_max_cwnd as f64);
        report("tcp_cwnd_packets", curve.tcp_cwnd as f64);
        report("k_s", curve.bic_k as f64 / SCALE as f64);
        report("cnt_packets", curve.cnt as f64);
    }
}

pub(crate) const FAMILY: FamilyOf<Box<KernelCubic>> = FamilyOf {
    name: "cubic",
    summary: "CUBIC in whole windows and ticks of a clock",
    source: "Linux, net/ipv4/tcp_cubic.c",
    example: "kernel:cubic",
    deployed: true,
    parameters: &[],
    check: no_check,
    build: |_| Box::default(),
};

#[cfg(test)]
mod tests {
    use super::*;

    /// From 100 to 70: K = cbrt(30 x 1024/410) = 4.2157 s, 4316 of 1/1024 s; the Newton step gives
    /// 4318. At K the target is 100. Before, at t = 2.1 s, it is 100 - 0.4 x 2.116^3 = 96.2, in
    /// whole packets 97.
    #[test]
    fn the_curve_by_hand() {
        let mut rule = KernelCubic::default();
        assert_eq!(rule.decrease(100.0, Congestion::FastRetransmit), 70.0);
        let ack = |now_s| Ack { now_s, growth_packets: 1, ..Ack::EMPTY };
        rule.increase(70.0, &ack(10.0));
        assert_eq!(rule.curve.bic_k, 4318);
        // 70 / (97 - 70) = 2 packets per packet of growth, the least.
        rule.increase(70.0, &ack(12.1));
        assert_eq!(rule.curve.cnt, 2);
        rule.increase(96.0, &ack(12.2));
        assert_eq!(rule.curve.cnt, 96);
    }

    #[test]
    fn cuts_by_hand() {
        let mut rule = KernelCubic::default();
        assert_eq!(rule.decrease(100.0, Congestion::FastRetransmit), 70.0);
        // 80 < 100: 80 x 1741/2048 = 68.
        assert_eq!(rule.decrease(80.0, Congestion::Ecn), 56.0);
        assert_eq!(rule.curve.last_max_cwnd, 68);
        assert_eq!(rule.decrease(2.0, Congestion::FastRetransmit), 2.0);
        rule.decrease(50.0, Congestion::Timeout);
        assert_eq!(rule.curve.last_max_cwnd, 0);
    }
}
