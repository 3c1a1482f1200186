//! Where a sender's segments become packets.

use crate::hash::TraceHash;
use crate::packet::{Flags, Packet};
use crate::scheduler::Scheduler;
use crate::streams::Place;
use crate::trace::{PacketEvent, PacketRow, Trace};
use crate::transit::{Transit, row};
use cwndlab_tcp::{DataSegment, Output};

/// Packets on their way beyond which a run is stopped: about 3 GiB.
const MOST_PENDING: u64 = 50_000_000;

/// Packets that one event may send: a window of more is a mistake, and nobody could stop the run while they are sent.
pub(crate) const MOST_AT_ONCE: u32 = 20_000_000;

/// Where a sender's segments go.
pub(crate) struct Wire<'a, S: Scheduler, T: Trace> {
    pub(crate) transit: &'a mut Transit<S, T>,
    pub(crate) hash: &'a mut TraceHash,
    pub(crate) flow: u32,
    pub(crate) place: &'a Place,
    pub(crate) flags: Flags,
    pub(crate) now_s: f64,
    /// How many more this event may send.
    pub(crate) left: u32,
}

impl<S: Scheduler, T: Trace> Output for Wire<'_, S, T> {
    #[inline(always)]
    fn send(&mut self, segment: DataSegment) {
        if self.transit.streams.packets > MOST_PENDING || self.left == 0 {
            // A burst may be larger than memory: it is cut short, and the run stops after this event.
            self.transit.overflowed = true;
            return;
        }
        self.left -= 1;
        let (at_s, number, size_bytes) = (self.now_s, segment.number, segment.size_bytes as u16);
        self.hash.add(at_s.to_bits() ^ ((number as u64) << 40) ^ segment.cwnd.to_bits().rotate_left(7));
        let flags =
            self.flags.with(Flags::RETRANSMISSION, segment.retransmission).with(Flags::ECT, segment.ect).with(Flags::CWR, segment.cwr);
        if T::ON {
            let packet = Packet { at_s, since_s: at_s, number, sent_s: at_s, size_bytes, flags, options: 0 };
            let row = PacketRow { cwnd: segment.cwnd, ssthresh: segment.ssthresh, ..row(PacketEvent::Send, self.flow, &packet) };
            self.transit.trace.packet(row);
        }
        self.transit.set_out(self.flow, self.place, at_s, number, size_bytes, flags);
    }
}
