//! Receivers that misbehave (Savage, Cardwell, Wetherall and Anderson 1999, "TCP Congestion Control
//! with a Misbehaving Receiver"): ACK division and optimistic ACKs.
//!
//! ACK division (their section 2.2): n ACKs for what one would acknowledge, each of an equal part of
//! it. Numbers here count packets, so an ACK can say that it acknowledges a part of the next packet
//! as well, but not how much. ACKs without new data are not divided.
//!
//! Optimistic ACKs (section 2.4): each new packet is acknowledged together with some that have not
//! arrived. Such a receiver hides its losses: it acknowledges the highest packet that arrived,
//! whatever is missing, and sends no SACK blocks. ACKs of what was never sent are dropped by the
//! sender (RFC 9293 section 3.10.7.4). So a packet that was sent again is acknowledged without a
//! lead, which then grows with what arrives, as the sender's window does in slow start.

use crate::{AckSegment, TcpConfig};

/// What a misbehaving receiver has acknowledged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Misbehavior {
    /// Highest packet acknowledged, and the same before the last ACK.
    acked: i64,
    acked_before: i64,
    /// Packet beyond which the lead grows.
    lead_from: i64,
    /// ACKs beyond the first for the same packets.
    pub(crate) extra_acks: u64,
}

impl TcpConfig {
    /// Whether the receiver misbehaves.
    pub fn misbehaves(&self) -> bool {
        self.receiver.ack_division > 1 || self.receiver.optimistic_acks > 0
    }
}

impl Misbehavior {
    /// Changes an honest ACK. `highest_received`: the highest packet that arrived; `is_ahead`:
    /// whether it arrived just now.
    pub(crate) fn on_ack(
        &mut self,
        ack: &mut AckSegment,
        highest_received: i64,
        is_ahead: bool,
        config: &TcpConfig,
    ) {
        if config.receiver.optimistic_acks > 0 {
            if !is_ahead {
                self.lead_from = highest_received;
            }
            let lead =
                i64::from(config.receiver.optimistic_acks).min(highest_received - self.lead_from);
            ack.ack = highest_received + lead;
        }
        self.acked_before = self.acked;
        self.acked = self.acked.max(ack.ack);
        if self.acked > self.acked_before {
            self.extra_acks += u64::from(config.receiver.ack_division) - 1;
        }
    }

    /// The ACKs before the last one that acknowledge parts of the same data: the highest packet
    /// acknowledged as a whole, and whether a part of the next one is, too.
    pub(crate) fn acks_of_parts(
        &self,
        config: &TcpConfig,
    ) -> impl Iterator<Item = (i64, bool)> + use<> {
        let (first, packets) = (self.acked_before, self.acked - self.acked_before);
        let acks = if packets > 0 { i64::from(config.receiver.ack_division) } else { 1 };
        (1..acks).map(move |i| (first + packets * i / acks, packets * i % acks != 0))
    }
}
