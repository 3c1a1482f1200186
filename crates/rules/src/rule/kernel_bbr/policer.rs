//! Long-term bandwidth: the rate of a token-bucket policer (Flach et al. 2016, section 5; Linux
//! `bbr_lt_bw_sampling`), in Linux's arithmetic.
//!
//! From the first loss on intervals of 4 to 16 round trips are sampled, each until a loss. If two
//! in turn lost 50/256 of what they delivered, at rates within an eighth or 4 kbit/s of each other,
//! the path is policed: the mean of both is the bandwidth for 48 round trips of ProbeBW.

use super::units::{BANDWIDTH_SHIFT, UNIT, bytes_per_second};
use crate::RateSample;

const LEAST_ROUNDS: u32 = 4;
const MOST_ROUNDS: u32 = 16;
const ROUNDS_IN_USE: u32 = 48;
/// Packets lost per 256 delivered.
const LOSSY_256: u64 = 50;
/// Rates differ by less than 1/8, or by 4 kbit/s.
const CLOSE_SHIFT: u32 = 3;
const CLOSE_BYTES_S: u64 = 500;

/// What an update found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    Nothing,
    /// The path is policed.
    Policed,
    /// The rate was in use long enough.
    Over,
}

/// Estimator of a policer's rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Policer {
    is_sampling: bool,
    is_used: bool,
    /// Round trips of the interval, or since the rate is used.
    rounds: u32,
    /// Rate of the interval before, or the policer's; 0 without one.
    bandwidth: u64,
    begun_ms: u64,
    begun_delivered: u64,
    begun_lost: u64,
}

impl Policer {
    /// The policer's rate, if there seems to be one.
    pub(super) fn bandwidth(&self) -> Option<u64> {
        self.is_used.then_some(self.bandwidth)
    }

    /// Forgets everything.
    pub(super) fn reset(&mut self, delivered_us: u64, delivered: u64, lost: u64) {
        *self = Self::default();
        self.begin_interval(delivered_us, delivered, lost);
    }

    fn begin_interval(&mut self, delivered_us: u64, delivered: u64, lost: u64) {
        self.begun_ms = delivered_us / 1000;
        (self.begun_delivered, self.begun_lost, self.rounds) = (delivered, lost, 0);
    }

    pub(super) fn update(
        &mut self,
        sample: &RateSample,
        round_start: bool,
        probes_bandwidth: bool,
    ) -> Finding {
        let &RateSample { delivered_us, delivered, lost, .. } = sample;
        if self.is_used {
            self.rounds += u32::from(probes_bandwidth && round_start);
            if self.rounds < ROUNDS_IN_USE || !probes_bandwidth || !round_start {
                return Finding::Nothing;
            }
            self.reset(delivered_us, delivered, lost);
            return Finding::Over;
        }
        let has_losses = sample.newly_lost > 0;
        if !self.is_sampling {
            if !has_losses {
                return Finding::Nothing;
            }
            self.begin_interval(delivered_us, delivered, lost);
            self.is_sampling = true;
        }
        self.rounds += u32::from(round_start && !sample.is_app_limited);
        if sample.is_app_limited || self.rounds > MOST_ROUNDS {
            self.reset(delivered_us, delivered, lost);
            return Finding::Nothing;
        }
        let delivered_here = delivered.saturating_sub(self.begun_delivered);
        let lost_here = lost.saturating_sub(self.begun_lost);
        let is_lossy = lost_here << 8 >= LOSSY_256 * delivered_here;
        let took_ms = (delivered_us / 1000).saturating_sub(self.begun_ms);
        let tells = delivered_here > 0 && is_lossy && took_ms > 0;
        if self.rounds < LEAST_ROUNDS || !has_losses || !tells {
            return Finding::Nothing;
        }
        self.end_interval((delivered_here << BANDWIDTH_SHIFT) / (1000 * took_ms), sample)
    }

    /// Compares the rate of an interval with that of the one before.
    fn end_interval(&mut self, bandwidth: u64, sample: &RateSample) -> Finding {
        let apart = bandwidth.abs_diff(self.bandwidth);
        let is_close = apart << CLOSE_SHIFT <= self.bandwidth
            || bytes_per_second(apart, UNIT, sample.packet_bytes) <= CLOSE_BYTES_S;
        if self.bandwidth > 0 && is_close {
            self.bandwidth = (bandwidth + self.bandwidth) / 2;
            (self.is_used, self.rounds) = (true, 0);
            return Finding::Policed;
        }
        self.bandwidth = bandwidth;
        self.begin_interval(sample.delivered_us, sample.delivered, sample.lost);
        Finding::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Intervals of four round trips of 100 ms: 100 packets each, of which 30 are lost. The second
    /// ends with a rate of 1 packet/ms, as the first: the path is policed for 48 round trips.
    #[test]
    fn two_lossy_intervals_at_one_rate_are_a_policer() {
        let mut policer = Policer::default();
        let mut findings = Vec::new();
        for round in 0..57 {
            let sample = RateSample {
                delivered_us: 100_000 * round,
                delivered: 100 * round,
                lost: 30 * round,
                newly_lost: 1,
                packet_bytes: 1448,
                ..RateSample::default()
            };
            let finding = policer.update(&sample, true, true);
            if finding != Finding::Nothing {
                findings.push((round, finding));
            }
            if finding == Finding::Policed {
                // 4 round trips, less what the division leaves.
                assert_eq!(policer.bandwidth(), Some((1 << BANDWIDTH_SHIFT) / 1000));
            }
        }
        assert_eq!(findings, [(7, Finding::Policed), (55, Finding::Over)]);
        assert_eq!(policer.bandwidth(), None);
    }
}
