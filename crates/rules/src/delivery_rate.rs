//! Delivery rate per round trip, for rules that need one sample per round trip.

use crate::Ack;

/// Delivered packets and time since the current round trip began.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct DeliveryRateMeter {
    /// Start of the current round trip, seconds, and `delivered` then.
    begun: Option<(f64, u64)>,
}

impl DeliveryRateMeter {
    /// Delivery rate of the round trip that ends with this ACK, packets/s, if one ends.
    pub(crate) fn rate_packets_s(&mut self, ack: &Ack) -> Option<f64> {
        if !ack.round_start {
            return None;
        }
        let before = self.begun.replace((ack.now_s, ack.delivered_packets));
        let (begun_s, delivered) = before?;
        let took_s = ack.now_s - begun_s;
        (took_s > 0.0).then(|| ack.delivered_packets.saturating_sub(delivered) as f64 / took_s)
    }
}
