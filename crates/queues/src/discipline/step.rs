//! Step marking: a FIFO that marks every packet that arrives while the queue is at its threshold.
//!
//! Source: M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, section 3.1 (1); RFC 8257,
//! section 3.1.
//!
//! * With K the threshold, a packet is marked if the queue with it is longer than K. Of packets of
//!   one size the first marked one finds K waiting: a buffer of K would have dropped it. This is
//!   RED with both thresholds at K and a weight of 1, as the paper sets up its switches.
//! * A packet that is not ECT is dropped where an ECT packet would be marked (RFC 3168, section 5:
//!   a router marks where it would drop otherwise). So do such switches and ns-2's RED.
//! * A full buffer drops the arriving packet.
//!
//! The packet in service is not counted; a packet that finds the link idle is never marked.
//!
//! Departure: Linux's step markers (`ce_threshold` of CoDel, `step_thresh` of DualPI2) compare the
//! sojourn time at departure, and leave packets that are not ECT alone.

use crate::admission::{Admission, ArrivingPacket, Backlog, Decision};
use crate::buffer_limit::{BufferLimit, Limit};

/// A queue that marks at a step.
///
/// ```
/// use cwndlab_queues::{Admission, Decision, Limit, Step};
/// # use cwndlab_queues::{ArrivingPacket, Backlog};
/// # let arriving = |ecn| ArrivingPacket { now_s: 1.0, size_bytes: 1000, flow: 0, ecn,
/// #     priority: 1 };
/// # let backlog = |packets| Backlog { packets, bytes: 1000 * packets,
/// #     in_service_bytes: 1000.min(1000 * packets), ..Backlog::default() };
/// let mut queue = Step::new(Limit::Packets(6), Limit::Packets(3));
/// let decide = |packets| queue.admit(&arriving(true), &backlog(packets), &mut || 0.5);
/// // Three wait behind the packet in service: the next is marked.
/// assert_eq!([3, 4, 7].map(decide), [Decision::Accept, Decision::Mark, Decision::Drop]);
/// ```
#[derive(Clone, Debug)]
pub struct Step {
    limit: BufferLimit,
    threshold: BufferLimit,
    /// The smaller of limit and threshold, by unit: packets, bytes.
    least_packets: u64,
    least_bytes: u64,
}

impl Step {
    /// An empty queue; limit and threshold are without the packet in service.
    pub fn new(limit: Limit, threshold: Limit) -> Self {
        let (mut least_packets, mut least_bytes) = (u64::MAX, u64::MAX);
        for size in [limit, threshold] {
            match size {
                Limit::Packets(packets) => least_packets = least_packets.min(packets),
                Limit::Bytes(bytes) => least_bytes = least_bytes.min(bytes),
            }
        }
        Self {
            limit: BufferLimit::new(limit, None),
            threshold: BufferLimit::new(threshold, None),
            least_packets,
            least_bytes,
        }
    }
}

impl Admission for Step {
    #[inline]
    fn admit(
        &mut self,
        packet: &ArrivingPacket,
        backlog: &Backlog,
        _random: &mut impl FnMut() -> f64,
    ) -> Decision {
        if self.limit.is_full(packet.size_bytes, backlog) {
            return Decision::Drop;
        }
        match (self.threshold.is_full(packet.size_bytes, backlog), packet.ecn) {
            (false, _) => Decision::Accept,
            (true, true) => Decision::Mark,
            (true, false) => Decision::Drop,
        }
    }

    fn guaranteed_accept_backlog(&self, largest_bytes: u32) -> u64 {
        let packets_of_bytes = self.least_bytes / u64::from(largest_bytes.max(1));
        self.least_packets.min(packets_of_bytes).saturating_add(1)
    }
}
