//! The output of a TCP sender: turns its segments into packets and sends them along the route.

use crate::endpoint::tcp::SenderEndpoint;
use crate::id::FlowId;
use crate::measure::trace::{PacketEvent, PacketRow, Tracer, row};
use crate::measure::trace_hash::TraceHash;
use crate::network::Network;
use crate::packet::{Flags, FlowIndices, Packet};
use cwndlab_tcp::{DataSegment, Ecn, Output, TcpConfig};

/// Segments that one event may send. A larger window is a mistake, and a burst cannot be
/// interrupted.
pub(crate) const MAX_SEGMENTS_PER_EVENT: u32 = 20_000_000;

/// When the event in which a sender sends was scheduled, and the lead of that
/// (`Packet::tie_break_s`), seconds. Without an access link its packets enter a queue within this
/// event and rank as it does.
pub(crate) type Cause = (f64, f64);

/// Time (seconds) and cause of an event.
pub(crate) type Event = (f64, Cause);

/// No event.
pub(crate) const NO_EVENT: Event = (f64::NEG_INFINITY, (0.0, 0.0));

/// Cause of the packets of a timer that expires at `now_s`: they come after those of the event
/// before at the same instant, which may have armed it.
pub(crate) fn later_cause(now_s: f64, own: Cause, last: Event) -> Cause {
    let key = |cause: Cause| (cause.0, -cause.1);
    if last.0 == now_s && key(last.1) > key(own) { last.1 } else { own }
}

/// Output of one sender during one event.
pub(crate) struct SenderOutput<'a, T: Tracer> {
    pub(crate) network: &'a mut Network<T>,
    pub(crate) hash: &'a mut TraceHash,
    pub(crate) flow: FlowId,
    pub(crate) indices: &'a FlowIndices,
    pub(crate) flags: Flags,
    pub(crate) echoed_ms: u32,
    pub(crate) now_s: f64,
    pub(crate) cause: Cause,
    /// Segments that this event may still send.
    pub(crate) left: u32,
}

impl<T: Tracer> Output for SenderOutput<'_, T> {
    fn send(&mut self, segment: DataSegment) {
        if self.left == 0 {
            self.network.note_overflow(true);
            return;
        }
        self.left -= 1;
        let Self { network, hash, flow, indices, flags, echoed_ms, now_s, cause, .. } = self;
        let route = (*flow, **indices, *flags, *echoed_ms);
        put_on_route(network, hash, route, *now_s, *cause, &segment);
    }
}

/// A sender sends one segment.
#[inline(always)]
pub(crate) fn send<T: Tracer>(
    endpoint: &mut SenderEndpoint,
    network: &mut Network<T>,
    flow: FlowId,
    now_s: f64,
    cause: Cause,
    segment: &DataSegment,
) {
    let SenderEndpoint { hash, indices, flags, echoed_ms, .. } = endpoint;
    put_on_route(network, hash, (flow, *indices, *flags, *echoed_ms), now_s, cause, segment)
}

#[inline(always)]
fn put_on_route<T: Tracer>(
    network: &mut Network<T>,
    hash: &mut TraceHash,
    (flow, indices, flags, options): (FlowId, FlowIndices, Flags, u32),
    now_s: f64,
    (tx_start_s, tie_break_s): Cause,
    segment: &DataSegment,
) {
    let (number, size_bytes) = (segment.number, segment.size_bytes as u16);
    hash.add(now_s.to_bits() ^ ((number as u64) << 40) ^ segment.cwnd.to_bits().rotate_left(7));
    let flags = flags
        .with(Flags::RETRANSMISSION, segment.retransmission)
        .with_ecn(segment.ecn)
        .with(Flags::CWR, segment.cwr)
        .with(Flags::PUSH, segment.push);
    let sent = Packet::sent(now_s, number, size_bytes, flags);
    let packet = Packet { tx_start_s, tie_break_s, options, ..sent };
    if network.trace.records_packets() {
        let &DataSegment { cwnd, ssthresh, .. } = segment;
        let row = row(PacketEvent::Send, flow, &packet);
        network.trace.packet(PacketRow { cwnd, ssthresh, ..row });
    }
    depart(network, flow, indices, now_s, packet);
}

/// The ACK that ends the handshake leaves.
pub(crate) fn send_handshake_ack<T: Tracer>(
    endpoint: &SenderEndpoint,
    network: &mut Network<T>,
    flow: FlowId,
    now_s: f64,
    (tx_start_s, tie_break_s): Cause,
    config: &TcpConfig,
) {
    let ecn = if config.all_are_ect() { Ecn::Ect0 } else { Ecn::NotEct };
    let flags = endpoint.flags.with(Flags::HANDSHAKE_ACK, true).with_ecn(ecn);
    let sent = Packet::sent(now_s, 0, config.ack_wire_size() as u16, flags);
    let packet = Packet { tx_start_s, tie_break_s, ..sent };
    depart(network, flow, endpoint.indices, now_s, packet);
}

/// A packet leaves its host, after the time that the host needs.
#[inline(always)]
fn depart<T: Tracer>(
    network: &mut Network<T>,
    flow: FlowId,
    indices: FlowIndices,
    now_s: f64,
    mut packet: Packet,
) {
    let departure_s = network.access_links.host_jitter.departure_s(flow, now_s);
    if departure_s > now_s {
        // A host sends in order: among packets that leave together the first one is first.
        (packet.at_s, packet.tx_start_s) = (departure_s, now_s);
    }
    let first = network.routes[indices.route as usize].first;
    network.reach(flow, indices.first_access_link, first, packet);
}
