//! What rules measure from one round trip to the next.

use crate::Ack;

/// Delivered packets and time since the last round trip began.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct DeliveryMeter {
    /// When the round trip under way began, seconds, and what was delivered by then.
    begun: Option<(f64, u64)>,
}

impl DeliveryMeter {
    /// The delivery rate of the round trip that ends with this acknowledgement, packets/s, if one does.
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
