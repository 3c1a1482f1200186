//! ACK aggregation: packets acknowledged beyond what the bandwidth explains (Cardwell et al., BBR
//! in IETF 104; Linux `bbr_update_ack_aggregation`). cwnd has room for as many more.
//!
//! ```text
//! excess  = packets acknowledged since the epoch began - bandwidth (now - epoch)
//! epoch   begins anew with an ACK when the bandwidth explains all before it
//! extra   = maximum excess of 5 to 10 round trips, at most cwnd
//! ```

use super::units::BANDWIDTH_SHIFT;
use crate::RateSample;

/// Round trips after which the maximum of a slot is forgotten.
const SLOT_ROUNDS: u32 = 5;
/// Packets after which an epoch is too old to tell.
const LONGEST_EPOCH_PACKETS: u64 = 1 << 20;
/// Largest excess in which cwnd believes: 100 ms of the bandwidth.
const MOST_US: u64 = 100_000;

/// What was acknowledged in excess.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ExcessAcks {
    epoch_us: u64,
    epoch_acked: u64,
    /// Largest excess of the current slot of round trips, and of the one before.
    extra: [u64; 2],
    slot: usize,
    slot_rounds: u32,
}

impl ExcessAcks {
    /// Begins a new epoch.
    pub(super) fn begin(&mut self, now_us: u64) {
        (self.epoch_us, self.epoch_acked) = (now_us, 0);
    }

    pub(super) fn update(
        &mut self,
        sample: &RateSample,
        round_start: bool,
        bandwidth: u64,
        cwnd: u64,
    ) {
        if sample.newly_delivered == 0 || sample.rate.is_none() {
            return;
        }
        if round_start {
            self.slot_rounds += 1;
            if self.slot_rounds >= SLOT_ROUNDS {
                (self.slot_rounds, self.slot) = (0, 1 - self.slot);
                self.extra[self.slot] = 0;
            }
        }
        let epoch_us = sample.delivered_us.saturating_sub(self.epoch_us);
        let mut expected = (bandwidth * epoch_us) >> BANDWIDTH_SHIFT;
        let acked = self.epoch_acked + sample.newly_delivered;
        if self.epoch_acked <= expected || acked >= LONGEST_EPOCH_PACKETS {
            self.begin(sample.delivered_us);
            expected = 0;
        }
        self.epoch_acked += sample.newly_delivered;
        let excess = (self.epoch_acked - expected).min(cwnd);
        self.extra[self.slot] = self.extra[self.slot].max(excess);
    }

    /// Packets for which cwnd has room.
    pub(super) fn packets(&self, bandwidth: u64) -> u64 {
        self.extra[0].max(self.extra[1]).min((bandwidth * MOST_US) >> BANDWIDTH_SHIFT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rate;

    /// A packet per millisecond; ACKs of 20 packets in one go every 20 ms. The second comes when
    /// the first is used up, so that each has an excess of 20, which cwnd limits to 15.
    #[test]
    fn stretch_acks_count_in_full() {
        let bandwidth = (1 << BANDWIDTH_SHIFT) / 1000;
        let mut seen = ExcessAcks::default();
        let sample = |delivered_us, newly_delivered| RateSample {
            delivered_us,
            newly_delivered,
            rate: Some(Rate { prior_delivered: 0, delivered: 20, interval_us: 20_000 }),
            ..RateSample::default()
        };
        seen.update(&sample(20_000, 20), false, bandwidth, 15);
        assert_eq!(seen.packets(bandwidth), 15);
        seen.update(&sample(40_100, 20), false, bandwidth, 100);
        assert_eq!(seen.packets(bandwidth), 20);
        // 5 ms later: 30 acknowledged, 5 of them (in whole packets 4) explained.
        seen.update(&sample(45_100, 10), false, bandwidth, 100);
        assert_eq!(seen.packets(bandwidth), 26);
        // Five round trips begin a new slot, five more forget the old one.
        (0..10).for_each(|i| seen.update(&sample(200_000 + 2_000 * i, 1), true, bandwidth, 100));
        assert_eq!(seen.packets(bandwidth), 1);
    }
}
