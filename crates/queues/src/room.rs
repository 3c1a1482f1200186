//! How much a queue beside the line card holds.

use crate::{Backlog, Limit};

/// A buffer in which the packet in service takes no room.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    limit: Limit,
    /// The mean packet, where a limit in packets means so many bytes.
    bytes_per_packet: Option<u64>,
}

impl Room {
    pub(crate) fn new(limit: Limit, bytes_per_packet: Option<u64>) -> Self {
        Self { limit, bytes_per_packet }
    }

    /// Whether an arriving packet finds no room. On an idle link it goes straight into service and needs none.
    #[inline]
    pub(crate) fn is_full(&self, size_bytes: u32, backlog: &Backlog) -> bool {
        backlog.packets > 0
            && match (self.limit, self.bytes_per_packet) {
                (Limit::Packets(limit), None) => backlog.waiting_packets() >= limit,
                (Limit::Packets(limit), Some(mean)) => backlog.waiting_bytes() >= limit.saturating_mul(mean),
                (Limit::Bytes(limit), _) => backlog.waiting_bytes() + u64::from(size_bytes) > limit,
            }
    }
}
