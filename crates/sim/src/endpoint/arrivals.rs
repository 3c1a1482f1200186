//! Arriving flows: finite TCP flows of an arrival process, and request-response transfers on
//! persistent connections.
//!
//! An arriving flow reuses the slot of a completed one, once none of its packets is left in the
//! network: memory grows with the number of concurrent flows, not with all that ever arrived.

use crate::endpoint::connections::Connections;
use crate::endpoint::tcp::ReceiverEndpoint;
use crate::id::FlowId;
use crate::packet::Flags;
use crate::random::stream::RandomStream;
use cwndlab_rules::Rule;
use cwndlab_tcp::{Counters, Recovery, TcpConfig};
use std::collections::VecDeque;

/// Rate, and least and greatest delay (seconds) of an access link whose delay is drawn.
pub type AccessLinkRange = (Option<u64>, f64, f64);

/// What all flows of a group have in common.
#[derive(Clone, Debug)]
pub struct FlowTemplate {
    /// Its route.
    pub route: u32,
    /// Its access links in order; those of one number have the same delay.
    pub access_links: Vec<(usize, AccessLinkRange)>,
    /// Sizes of its data packets, of which it draws one.
    pub packet_sizes: Vec<DrawnPacketSize>,
    /// Rule, in its initial state.
    pub rule: Rule,
    /// Loss recovery.
    pub recovery: Recovery,
    /// Header bits of its packets.
    pub flags: Flags,
    /// Offset of its timers within a tick, seconds.
    pub timer_phase_s: f64,
    /// Round trip propagation delay without the drawn delays, seconds.
    pub base_rtt_s: f64,
}

/// A size of data packets that an arriving flow may draw.
#[derive(Clone, Copy, Debug)]
pub struct DrawnPacketSize {
    /// Index of the settings with it.
    pub config: u32,
    /// Transmission time of a data packet on the bottleneck, seconds.
    pub bottleneck_tx_s: f64,
    /// Share of flows with this size or one before it in the list.
    pub cumulative_share: f64,
}

impl FlowTemplate {
    /// The packet size at a uniform `u`, which is called if there are several.
    pub fn packet_size(&self, u: impl FnOnce() -> f64) -> DrawnPacketSize {
        let [sizes @ .., last] = self.packet_sizes.as_slice() else {
            unreachable!("a flow has at least one packet size")
        };
        if sizes.is_empty() {
            return *last;
        }
        let u = u();
        *sizes.iter().find(|size| u < size.cumulative_share).unwrap_or(last)
    }
}

/// A group of arriving flows.
#[derive(Clone, Debug)]
pub struct ArrivalGroup {
    /// What they have in common.
    pub template: FlowTemplate,
    /// When they arrive, and what they transmit.
    pub connections: Connections,
    /// Payload of the packets in which sizes are drawn, bytes: the largest.
    pub largest_packet_size: u32,
    /// Random stream of their packet sizes.
    pub packet_sizes: RandomStream,
    /// Random stream of their access delays.
    pub delays: RandomStream,
    /// Slots of completed flows, sorted by completion time (as bits of a non-negative double) and
    /// number.
    pub retired: VecDeque<(u64, FlowId)>,
    /// Counters over the measurement window.
    pub counters: GroupCounters,
}

/// Counters over the measurement window.
#[derive(Clone, Copy, Debug, Default)]
pub struct GroupCounters {
    /// Flows that arrived.
    pub arrived: u64,
    /// Data packets sent.
    pub sent: u64,
    /// Data packets retransmitted.
    pub retransmitted: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// New data packets delivered.
    pub delivered: u64,
    /// Their payload, bytes.
    pub delivered_bytes: u64,
    /// Data packets dropped.
    pub dropped: u64,
    /// Bytes of data packets delivered, duplicates and SYNs included.
    pub arrived_bytes: u64,
}

impl GroupCounters {
    /// Adds the counters of a sender.
    pub fn add_sent(&mut self, added: &Counters) {
        self.sent += added.sent;
        self.retransmitted += added.retransmitted;
        self.timeouts += u64::from(added.timeouts);
    }

    /// Adds the counters of a receiver; `config`: all settings.
    pub fn add_received(&mut self, sink: &ReceiverEndpoint, config: &[TcpConfig]) {
        self.delivered += sink.delivered;
        self.delivered_bytes += sink.delivered_bytes(&config[sink.config as usize]);
        self.dropped += sink.dropped;
        self.arrived_bytes += sink.arrived_bytes;
    }
}
