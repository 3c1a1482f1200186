//! Buffer limit of a queue in which the packet in service does not occupy the buffer.

use crate::{Backlog, Limit};

/// A limit on waiting packets or bytes, without the packet in service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BufferLimit {
    limit: Limit,
    /// Mean packet size, where a limit in packets stands for bytes.
    bytes_per_packet: Option<u64>,
}

impl BufferLimit {
    pub(crate) fn new(limit: Limit, bytes_per_packet: Option<u64>) -> Self {
        Self { limit, bytes_per_packet }
    }

    /// Whether the buffer has no space for an arriving packet. On an idle link the packet goes into
    /// service and needs none.
    #[inline]
    pub(crate) fn is_full(&self, size_bytes: u32, backlog: &Backlog) -> bool {
        backlog.packets > 0
            && match (self.limit, self.bytes_per_packet) {
                (Limit::Packets(limit), None) => backlog.waiting_packets() >= limit,
                (Limit::Packets(limit), Some(mean)) => {
                    backlog.waiting_bytes() >= limit.saturating_mul(mean)
                }
                (Limit::Bytes(limit), _) => backlog.waiting_bytes() + u64::from(size_bytes) > limit,
            }
    }
}
