//! Drop-tail: an arriving packet is lost when the buffer is full.
//!
//! ns-2's `Queue/DropTail` with `limit_` B holds B - 1 waiting packets and one in service (`queue/drop-tail.cc`), which is a limit of B
//! with the packet in service counted; a router whose line card holds the packet in service has it on top.

use crate::{Admission, Arrival, Backlog, Decision};

/// How much a queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// So many packets.
    Packets(u64),
    /// So many bytes.
    Bytes(u64),
}

impl Limit {
    /// Whether a packet of this size still fits where so much is.
    #[inline]
    pub(crate) fn admits(self, packets: u64, bytes: u64, size_bytes: u32) -> bool {
        match self {
            Self::Packets(limit) => packets < limit,
            Self::Bytes(limit) => bytes + u64::from(size_bytes) <= limit,
        }
    }
}

/// A first-in first-out queue of limited size.
#[derive(Clone, Debug)]
pub struct DropTail {
    limit: Limit,
    /// Whether the packet in service takes room in the buffer.
    count_in_service: bool,
}

impl DropTail {
    /// A queue of this size.
    pub fn new(limit: Limit, count_in_service: bool) -> Self {
        Self { limit, count_in_service }
    }
}

impl Admission for DropTail {
    #[inline]
    fn admit(&mut self, packet: &Arrival, backlog: &Backlog, _random: &mut impl FnMut() -> f64) -> Decision {
        let fits = match self.limit {
            Limit::Packets(limit) => backlog.packets < limit.saturating_add(u64::from(!self.count_in_service)),
            Limit::Bytes(limit) => {
                // A packet always fits on an idle link: it goes straight into service.
                let uncounted = if self.count_in_service { 0 } else { backlog.in_service_bytes };
                backlog.packets == 0 || backlog.bytes + u64::from(packet.size_bytes) <= limit.saturating_add(uncounted)
            }
        };
        if fits { Decision::Accept } else { Decision::Drop }
    }

    fn sure_packets(&self, largest_bytes: u32) -> u64 {
        match self.limit {
            Limit::Packets(limit) => limit,
            Limit::Bytes(limit) => limit / u64::from(largest_bytes.max(1)),
        }
    }
}
