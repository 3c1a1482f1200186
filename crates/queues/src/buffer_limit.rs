//! Limits of buffers.

use crate::admission::Backlog;

/// Size of a buffer.
///
/// ```
/// # use cwndlab_queues::{Admission, ArrivingPacket, Backlog, Decision, DropTail, Limit};
/// # let arriving = |ecn| ArrivingPacket { now_s: 1.0, size_bytes: 1000, flow: 0, ecn,
/// #     priority: 1 };
/// # let backlog = |packets| Backlog { packets, bytes: 1000 * packets,
/// #     in_service_bytes: 1000.min(1000 * packets), ..Backlog::default() };
/// let decide = |limit| {
///     DropTail::new(limit, true).admit(&arriving(false), &backlog(3), &mut || 0.5)
/// };
/// // Three packets of 1000 bytes are there, and a fourth arrives.
/// assert_eq!(decide(Limit::Packets(4)), Decision::Accept);
/// assert_eq!(decide(Limit::Bytes(3999)), Decision::Drop);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// In packets.
    Packets(u64),
    /// In bytes.
    Bytes(u64),
}

impl Limit {
    /// Whether a packet of this size fits into a buffer with `packets` and `bytes`.
    #[inline]
    pub(crate) fn admits(self, packets: u64, bytes: u64, size_bytes: u32) -> bool {
        match self {
            Self::Packets(limit) => packets < limit,
            Self::Bytes(limit) => bytes + u64::from(size_bytes) <= limit,
        }
    }
}

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
