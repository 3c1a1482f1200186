//! BBR version 1, long-term bandwidth: the rate of a token-bucket policer (Linux
//! `bbr_lt_bw_sampling`; Flach et al. 2016, section 5).
//!
//! From the first loss on intervals of at least four round trips are sampled, each until a loss.
//! If two in turn lost a fifth of what they delivered, at rates within an eighth of each other, the
//! path is policed: the mean of both is the bandwidth for 48 round trips of ProbeBW.
//!
//! Departure: Linux also takes rates within 4 kbit/s of each other for the same, a third of a
//! packet per second; a rule knows no bytes.

use crate::Ack;

/// Round trips of an interval (bbr_lt_intvl_min_rtts), and four times as many, after which sampling
/// starts anew.
const INTERVAL_ROUNDS: u32 = 4;
const LONGEST_INTERVAL_ROUNDS: u32 = 4 * INTERVAL_ROUNDS;
/// Packets lost per delivered packet (bbr_lt_loss_thresh).
const LOSS: f64 = 50.0 / 256.0;
/// Difference of two rates (bbr_lt_bw_ratio).
const DIFFERENCE: f64 = 1.0 / 8.0;
/// Round trips for which a rate is used (bbr_lt_bw_max_rtts).
const ROUNDS_IN_USE: u32 = 48;
/// The shortest interval, seconds: Linux counts milliseconds here.
const SHORTEST_S: f64 = 0.001;

/// Estimator of a policer's rate.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PolicedRate {
    /// When the interval began, while one is sampled.
    begun: Option<Begun>,
    /// Rate of the interval before or, where the path is policed, of the policer, packets/s; 0
    /// without one.
    packets_s: f64,
    is_policed: bool,
    /// Round trips of the interval, or since the rate is used.
    rounds: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Begun {
    now_s: f64,
    delivered: u64,
    lost: u64,
}

impl Begun {
    fn at(ack: &Ack) -> Self {
        Self { now_s: ack.now_s, delivered: ack.delivered_packets, lost: ack.lost_packets }
    }
}

impl PolicedRate {
    /// The policer's rate, packets/s, if there seems to be one.
    pub(super) fn packets_s(&self) -> Option<f64> {
        self.is_policed.then_some(self.packets_s)
    }

    /// Adds an ACK with which `lost` packets were found lost, in ProbeBW or not; true if a rate
    /// goes out of use.
    pub(super) fn update(&mut self, ack: &Ack, lost: u64, probes_bandwidth: bool) -> bool {
        if self.is_policed {
            self.rounds += u32::from(ack.round_start && probes_bandwidth);
            let over = self.rounds >= ROUNDS_IN_USE;
            if over {
                *self = Self::default();
            }
            return over;
        }
        // The first loss: the policer's tokens are spent.
        if self.begun.is_none() && lost > 0 {
            self.begun = Some(Begun::at(ack));
        }
        let Some(begun) = self.begun else { return false };
        self.rounds += u32::from(ack.round_start);
        if ack.app_limited || self.rounds > LONGEST_INTERVAL_ROUNDS {
            *self = Self::default();
        } else if lost > 0 && self.rounds >= INTERVAL_ROUNDS {
            self.end_interval(begun, ack);
        }
        false
    }

    /// Ends the interval with a loss, if enough was lost in it.
    fn end_interval(&mut self, begun: Begun, ack: &Ack) {
        let delivered = (ack.delivered_packets - begun.delivered) as f64;
        let lost = (ack.lost_packets - begun.lost) as f64;
        let seconds = ack.now_s - begun.now_s;
        if delivered == 0.0 || lost < LOSS * delivered || seconds < SHORTEST_S {
            return;
        }
        let (rate, before) = (delivered / seconds, self.packets_s);
        self.is_policed = (rate - before).abs() <= DIFFERENCE * before;
        self.packets_s = if self.is_policed { f64::midpoint(rate, before) } else { rate };
        (self.begun, self.rounds) = (Some(Begun::at(ack)), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Round trips of 100 ms, in each of which `delivered` packets arrive and `lost` do not.
    #[derive(Default)]
    struct Path {
        rate: PolicedRate,
        ack: Ack,
    }

    impl Path {
        fn round(&mut self, delivered: u64, lost: u64) -> bool {
            self.ack.round_start = true;
            self.ack.now_s += 0.1;
            self.ack.delivered_packets += delivered;
            self.ack.lost_packets += lost;
            self.rate.update(&self.ack, lost, true)
        }
    }

    /// 80 packets of 100 arrive: the first loss begins an interval, the third round trip after it
    /// ends it, and four more find 820 packets/s instead of 800.
    #[test]
    fn two_like_intervals_are_a_policer_for_48_round_trips() {
        let mut path = Path::default();
        path.round(100, 0);
        for _ in 0..7 {
            path.round(80, 20);
            assert_eq!(path.rate.packets_s(), None);
        }
        path.round(88, 20);
        assert!((path.rate.packets_s().unwrap() - 810.0).abs() < 1e-9);
        (0..47).for_each(|_| assert!(!path.round(80, 0)));
        assert!(path.round(80, 0));
        assert_eq!(path.rate, PolicedRate::default());
    }

    /// A tenth lost, an eighth and more between two rates, and a flow without data are no policer.
    #[test]
    fn what_is_no_policer() {
        let mut path = Path::default();
        (0..40).for_each(|_| assert!(!path.round(90, 9)));
        assert_eq!(path.rate.packets_s(), None);
        let mut path = Path::default();
        for delivered in [80, 100, 80, 100] {
            (0..4).for_each(|_| assert!(!path.round(delivered, 25)));
            assert_eq!(path.rate.packets_s(), None);
        }
        let mut path = Path { ack: Ack { app_limited: true, ..Ack::default() }, ..Path::default() };
        (0..40).for_each(|_| assert!(!path.round(80, 20)));
        assert_eq!(path.rate, PolicedRate::default());
    }
}
