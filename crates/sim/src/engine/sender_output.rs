//! The output of a TCP sender: turns its segments into packets and sends them along the route.

use crate::event::scheduler::EventScheduler;
use crate::measure::trace::row;
use crate::measure::trace::{PacketEvent, PacketRow, Tracer};
use crate::measure::trace_hash::TraceHash;
use crate::network::datapath::Datapath;
use crate::packet::FlowIndices;
use crate::packet::{Flags, Packet};
use cwndlab_tcp::{DataSegment, Output};

/// Packets in the network beyond which a run stops: about 3 GiB.
const MAX_PACKETS_IN_NETWORK: u64 = 50_000_000;

/// Segments that one event may send. A larger window is a mistake, and a burst cannot be
/// interrupted.
pub(crate) const MAX_SEGMENTS_PER_EVENT: u32 = 20_000_000;

/// Output of one sender during one event.
pub(crate) struct SenderOutput<'a, S: EventScheduler, T: Tracer> {
    pub(crate) datapath: &'a mut Datapath<S, T>,
    pub(crate) hash: &'a mut TraceHash,
    pub(crate) flow: u32,
    pub(crate) indices: &'a FlowIndices,
    pub(crate) flags: Flags,
    pub(crate) now_s: f64,
    /// Segments that this event may still send.
    pub(crate) left: u32,
}

impl<S: EventScheduler, T: Tracer> Output for SenderOutput<'_, S, T> {
    #[inline(always)]
    fn send(&mut self, segment: DataSegment) {
        if self.datapath.event_queues.packets > MAX_PACKETS_IN_NETWORK || self.left == 0 {
            // A burst may exceed memory: it is truncated, and the run stops after this event.
            self.datapath.overflowed = true;
            return;
        }
        self.left -= 1;
        let (at_s, number, size_bytes) = (self.now_s, segment.number, segment.size_bytes as u16);
        self.hash
            .add(at_s.to_bits() ^ ((number as u64) << 40) ^ segment.cwnd.to_bits().rotate_left(7));
        let flags = self
            .flags
            .with(Flags::RETRANSMISSION, segment.retransmission)
            .with_ecn(segment.ecn)
            .with(Flags::CWR, segment.cwr);
        if T::ON {
            let packet = Packet::sent(at_s, number, size_bytes, flags);
            let row = PacketRow {
                cwnd: segment.cwnd,
                ssthresh: segment.ssthresh,
                ..row(PacketEvent::Send, self.flow, &packet)
            };
            self.datapath.trace.packet(row);
        }
        let packet = Packet::sent(at_s, number, size_bytes, flags);
        self.datapath.reach(self.flow, *self.indices, 0, packet);
    }
}
