//! Drop-tail: drops an arriving packet when the buffer is full.
//!
//! ns-2's `Queue/DropTail` with `limit_` B holds B - 1 waiting packets and one in service
//! (`queue/drop-tail.cc`): a limit of B that counts the packet in service. A router whose line card
//! holds the packet in service buffers one packet more.

use crate::admission::{Admission, ArrivingPacket, Backlog, Decision};
use crate::buffer_limit::Limit;

/// A FIFO queue with a buffer limit.
///
/// ```
/// use cwndlab_queues::{Admission, DropTail, Limit};
/// # use cwndlab_queues::{ArrivingPacket, Backlog, Decision};
/// # let arriving = |ecn| ArrivingPacket { now_s: 1.0, size_bytes: 1000, flow: 0, ecn,
/// #     priority: 1 };
/// # let backlog = |packets| Backlog { packets, bytes: 1000 * packets,
/// #     in_service_bytes: 1000.min(1000 * packets), ..Backlog::default() };
/// // Two packets: with the one in service, as ns-2 counts, or behind it.
/// let decide = |count_in_service| {
///     DropTail::new(Limit::Packets(2), count_in_service)
///         .admit(&arriving(false), &backlog(2), &mut || 0.5)
/// };
/// assert_eq!((decide(true), decide(false)), (Decision::Drop, Decision::Accept));
/// ```
#[derive(Clone, Debug)]
pub struct DropTail {
    limit: Limit,
    /// Whether the packet in service occupies the buffer.
    count_in_service: bool,
}

impl DropTail {
    /// An empty queue.
    pub fn new(limit: Limit, count_in_service: bool) -> Self {
        Self { limit, count_in_service }
    }
}

impl Admission for DropTail {
    #[inline]
    fn admit(
        &mut self,
        packet: &ArrivingPacket,
        backlog: &Backlog,
        _random: &mut impl FnMut() -> f64,
    ) -> Decision {
        let fits = match self.limit {
            Limit::Packets(limit) => {
                backlog.packets < limit.saturating_add(u64::from(!self.count_in_service))
            }
            Limit::Bytes(limit) => {
                // An idle link always accepts a packet, which goes into service.
                let uncounted = if self.count_in_service { 0 } else { backlog.in_service_bytes };
                backlog.packets == 0
                    || backlog.bytes + u64::from(packet.size_bytes)
                        <= limit.saturating_add(uncounted)
            }
        };
        if fits { Decision::Accept } else { Decision::Drop }
    }

    fn guaranteed_accept_backlog(&self, largest_bytes: u32) -> u64 {
        match self.limit {
            Limit::Packets(limit) => limit,
            Limit::Bytes(limit) => limit / u64::from(largest_bytes.max(1)),
        }
    }
}
