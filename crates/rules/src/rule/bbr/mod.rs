//! BBR: parts that versions 1 and 3 share. Both pace at a multiple of the measured bandwidth and
//! bound the packets in flight by a multiple of the bandwidth-delay product; neither uses ssthresh.

mod v1;
mod v3;

pub use v1::Bbr1;
pub(crate) use v1::FAMILY as BBR1;
pub use v3::Bbr3;
pub(crate) use v3::FAMILY as BBR3;

use crate::Ack;

/// Minimum cwnd, packets (BBRMinPipeCwnd).
const MIN_PIPE: f64 = 4.0;
/// Duration of ProbeRTT, seconds.
const PROBE_RTT_S: f64 = 0.2;
/// Window of the min_rtt filter, seconds.
const MIN_RTT_WINDOW_S: f64 = 10.0;

/// Windowed maximum over this period and the `N - 1` before it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct MaxFilter<const N: usize> {
    period: u64,
    largest: [f64; N],
    value: f64,
}

impl<const N: usize> MaxFilter<N> {
    const fn new() -> Self {
        Self { period: 0, largest: [0.0; N], value: 0.0 }
    }

    fn value(&self) -> f64 {
        self.value
    }

    /// Adds a value of `period`; periods never decrease.
    fn update(&mut self, period: u64, value: f64) {
        if period != self.period {
            for gone in (self.period + 1..=period).take(N) {
                self.largest[gone as usize % N] = 0.0;
            }
            self.period = period;
            self.value = self.largest.iter().copied().fold(0.0, f64::max);
        }
        let slot = &mut self.largest[period as usize % N];
        *slot = slot.max(value);
        self.value = self.value.max(value);
    }

    /// The largest of this period and the `periods - 1` before it, at most `N` in all.
    fn largest_of_last(&self, periods: u64) -> f64 {
        let first = (self.period + 1).saturating_sub(periods);
        (first..=self.period).map(|period| self.largest[period as usize % N]).fold(0.0, f64::max)
    }
}

/// Windowed minimum of the RTT over ten seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct MinRtt {
    value_s: f64,
    since_s: f64,
}

impl MinRtt {
    const fn new() -> Self {
        Self { value_s: f64::INFINITY, since_s: 0.0 }
    }

    /// Adds a sample; true when the old minimum had expired.
    fn update(&mut self, ack: &Ack) -> bool {
        let expired = self.value_s.is_finite() && ack.now_s > self.since_s + MIN_RTT_WINDOW_S;
        if ack.rtt_s > 0.0 && (ack.rtt_s <= self.value_s || expired) {
            (self.value_s, self.since_s) = (ack.rtt_s, ack.now_s);
        }
        expired
    }
}

/// Full-pipe estimator: the bandwidth grew by less than 25 % in each of three round trips.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct FullPipe {
    bandwidth: f64,
    rounds: u32,
    reached: bool,
}

impl FullPipe {
    /// Adds the bandwidth of a round trip that was not application-limited.
    fn update(&mut self, bandwidth: f64) {
        if self.reached || bandwidth <= 0.0 {
            return;
        }
        if bandwidth >= 1.25 * self.bandwidth {
            (self.bandwidth, self.rounds) = (bandwidth, 0);
        } else {
            self.rounds += 1;
            self.reached = self.rounds >= 3;
        }
    }
}

/// A pseudo-random number in [0, 1) hashed from the flow's own history: rules have no randomness,
/// and flows must not probe in step.
pub(super) fn pseudo_random(ack: &Ack) -> f64 {
    let mut x = ack.now_s.to_bits()
        ^ ack.delivered_packets.rotate_left(32)
        ^ ack.rtt_s.to_bits().rotate_left(17);
    // Finalizer of SplitMix64.
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_of_ten_periods() {
        let mut filter = MaxFilter::<10>::new();
        for (period, value, largest) in [
            (1, 5.0, 5.0),
            (2, 9.0, 9.0),
            (2, 3.0, 9.0),
            (6, 7.0, 9.0),
            (9, 6.0, 9.0),
            (11, 4.0, 9.0),
            (12, 4.0, 7.0),
            (16, 4.0, 6.0),
            (40, 3.0, 3.0),
        ] {
            filter.update(period, value);
            assert_eq!(filter.value(), largest, "period {period}");
        }
    }

    #[test]
    fn scattered_evenly_enough() {
        let mean: f64 = (0..1000)
            .map(|i| pseudo_random(&Ack { now_s: f64::from(i) * 0.01, ..Ack::default() }))
            .sum::<f64>()
            / 1000.0;
        assert!((mean - 0.5).abs() < 0.05, "{mean}");
    }
}
