//! Packets that endpoints outside the engine send into the network.

use crate::endpoint::external::ExternalPacket;
use crate::engine::state::Engine;
use crate::id::FlowId;
use crate::measure::trace::Tracer;
use crate::network::route::Route;
use crate::packet::{Flags, Packet};

/// Packet number of what carries no data.
const NO_DATA: i64 = -1;

impl<T: Tracer> Engine<T> {
    /// Sends a packet of external endpoints into the network now.
    pub(crate) fn inject(&mut self, packet: ExternalPacket) {
        let ExternalPacket { token, flow, number, reverse, size_bytes, ecn } = packet;
        let flow = FlowId::new(flow);
        let endpoint = &self.senders[flow.index()];
        let flags = endpoint.flags.with_ecn(ecn).with(Flags::EXTERNAL, true);
        let indices = endpoint.indices;
        let Route { first, sink, .. } = self.network.routes[indices.route as usize];
        let number = number.map_or(NO_DATA, |number| number as i64);
        let sent = Packet::sent(self.clock_s, number, size_bytes, flags);
        let mut packet = Packet { options: token, ..sent };
        let stage = if reverse { sink.next() } else { first };
        if !reverse {
            packet.at_s = self.network.access_links.host_jitter.departure_s(flow, self.clock_s);
        }
        self.network.reach(flow, indices.first_access_link, stage, packet);
    }
}
