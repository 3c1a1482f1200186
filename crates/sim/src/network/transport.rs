//! Transport of packets through the stages of their routes.
//!
//! A packet waits at a station only where its order relative to other flows matters: at a link that
//! packets of several inputs enter. All other stages (private links, a link that all packets reach
//! in order from the same one, a receiver) are computed as soon as their inputs are known. This is
//! exact because such a stage sees its packets in order of time whatever other flows do.

use crate::endpoint::external::Fate;
use crate::endpoint::tcp::ack_options;
use crate::event::arrival_queue::NEVER;
use crate::event::timers::TimerKind;
use crate::id::{FlowId, HopId, Source};
use crate::measure::trace::{PacketEvent, PacketRow, Tracer, row};
use crate::network::Network;
use crate::network::link::Transit;
use crate::network::route::{Entry, Hop, Stage};
use crate::packet::{Flags, FlowIndices, Packet, RoutedPacket, Times};

/// Packets of cross traffic that wait at a station at most before it processes them.
const MOST_SENT: usize = 1 << 10;

impl<T: Tracer> Network<T> {
    /// A packet enters the stage of its hop and goes on along its route until it waits at a
    /// station, is dropped, or reaches its end. Returns an ACK that is on its way to its sender.
    ///
    /// Times live in locals and the packet is assembled where it is stored: a struct written in
    /// parts and read back as a whole stalls store forwarding.
    #[inline(always)]
    pub fn traverse(&mut self, routed: RoutedPacket) -> Option<Packet> {
        let first = routed.hop();
        let RoutedPacket { packet, flow, first_access_link, .. } = routed;
        let Packet {
            mut at_s,
            mut tx_start_s,
            mut tie_break_s,
            mut number,
            sent_s,
            mut size_bytes,
            mut flags,
            mut options,
        } = packet;
        macro_rules! packet {
            () => {
                Packet { at_s, tx_start_s, tie_break_s, number, sent_s, size_bytes, flags, options }
            };
        }
        let mut hops = self.hops[first.index()..].iter();
        let Hop { mut stage, .. } = *hops.next()?;
        // Number of the hop whose stage the packet is in.
        macro_rules! index {
            () => {
                HopId::new((self.hops.len() - hops.len()) as u32 - 1)
            };
        }
        loop {
            match stage {
                Stage::FifoLink(link) => {
                    let passed = self.links[link.index()]
                        .arrive(at_s, tx_start_s, number, size_bytes, flow, flags);
                    match passed {
                        Transit::Forwarded(times, new) => {
                            Times { at_s, tx_start_s, tie_break_s } = times;
                            flags = new;
                        }
                        Transit::Dropped(new) => {
                            flags = new;
                            let index = index!();
                            self.on_dropped(flow, index, packet!());
                            return None;
                        }
                    }
                }
                Stage::AccessLink(offset) => {
                    Times { at_s, tx_start_s, tie_break_s } = self.access_links.transmit(
                        first_access_link + offset,
                        at_s,
                        size_bytes,
                        tx_start_s,
                    );
                }
                Stage::ScheduledLink(link) => {
                    let packet = packet!();
                    let hop = index!();
                    let routed = RoutedPacket::new(packet, flow, hop, first_access_link);
                    self.enqueue_at_link(link, routed);
                    return None;
                }
                // A packet enters a sender by itself: this is a receiver or the end of a route.
                Stage::Sink | Stage::Source => {
                    if !self.trace.records_deliveries()
                        && let Some(sink) = self.receivers.list.get_mut(flow.index())
                        && let Some((ack_bytes, echo)) =
                            sink.receive_in_order(at_s, number, sent_s, size_bytes, flags)
                    {
                        self.receivers.delivered += 1;
                        (size_bytes, flags) = (ack_bytes, flags.of_ack(echo));
                    } else {
                        let index = index!();
                        let arrived = (flow, first_access_link, index);
                        at_s = self.access_links.host_jitter.noticed_s(at_s);
                        let ack = self.deliver(arrived, packet!())?;
                        hops = self.hops[index.index() + 1..].iter();
                        (number, size_bytes, flags, options) =
                            (ack.number, ack.size_bytes, ack.flags, ack.options);
                    }
                }
            }
            let hop = hops.next()?;
            if hop.access_link != Hop::NO_ACCESS_LINK {
                Times { at_s, tx_start_s, tie_break_s } = self.access_links.transmit(
                    first_access_link + hop.access_link,
                    at_s,
                    size_bytes,
                    tx_start_s,
                );
            }
            if at_s > self.end_s {
                let before = index!().before();
                self.on_unfinished(flow, before, packet!());
                return None;
            }
            match hop.entry {
                Entry::Immediate => stage = hop.stage,
                Entry::Wait(station) => {
                    let hop = index!();
                    self.stations
                        .push(station, RoutedPacket::new(packet!(), flow, hop, first_access_link));
                    return None;
                }
                Entry::Collect => return Some(packet!()),
            }
        }
    }

    /// The same, with the ACK left for later.
    #[inline(never)]
    pub fn enter(&mut self, routed: RoutedPacket) {
        let flow = routed.flow;
        if let Some(ack) = self.traverse(routed) {
            self.acks.push_back((flow, ack));
        }
    }

    /// A packet reaches a receiver, or the end of a route without one. Returns the ACK to send now,
    /// if it is one and not several.
    #[inline(never)]
    fn deliver(
        &mut self,
        (flow, first_access_link, hop): (FlowId, u32, HopId),
        packet: Packet,
    ) -> Option<Packet> {
        while self.receivers.list.get(flow.index()).is_some_and(|sink| {
            let deadline_s = sink.receiver.deadline_s();
            deadline_s < packet.at_s
                || deadline_s == packet.at_s && sink.receiver.armed_at_s() <= packet.tx_start_s
        }) {
            self.expire_receiver(flow, first_access_link, hop);
        }
        if self.receivers.list.get(flow.index()).is_none() {
            self.leave(flow, false, &packet);
            return None;
        }
        if packet.flags.has(Flags::NOT_FOR_RECEIVER) {
            if packet.flags.has(Flags::EXTERNAL) {
                self.leave(flow, false, &packet);
            } else {
                let sink = self.receivers.list.get_mut(flow.index())?;
                sink.receiver.on_handshake_ack(packet.at_s);
            }
            return None;
        }
        let Self { receivers, trace, options, .. } = self;
        let ack = receivers.deliver(flow, &packet, trace, options);
        self.arm_receiver(flow);
        if !self.receivers.divided_acks.is_empty() {
            self.send_divided_acks(flow, first_access_link, hop.next());
        }
        ack
    }

    /// A packet of cross traffic reaches its sink, or one from outside the simulation leaves it, in
    /// the reverse direction at a source.
    pub(crate) fn leave(&mut self, flow: FlowId, is_source: bool, packet: &Packet) {
        let &Packet { at_s, size_bytes, .. } = packet;
        if let Source::Cross(number) = flow.source() {
            let sink = &mut self.cross_sinks[number];
            sink.deliver(at_s, size_bytes, &self.receivers.window);
            if T::ON {
                self.trace.carried(at_s, flow, u64::from(size_bytes) * 8);
            }
        } else if let Some(external) = &mut self.external {
            external.leave(flow, is_source, packet, Fate::Delivered);
        }
    }

    /// Arms the timer of a receiver.
    pub fn arm_receiver(&mut self, flow: FlowId) {
        let Some(sink) = self.receivers.list.get_mut(flow.index()) else { return };
        let deadline_s = sink.receiver.deadline_s();
        if deadline_s < sink.timer_entry_s {
            sink.timer_entry_s = deadline_s;
            self.stations.arm(deadline_s, TimerKind::Receiver, flow.number());
        }
    }

    /// The timer of a receiver at this hop expires: a delayed ACK is due, a SYN-ACK is repeated, or
    /// the window opens.
    pub fn expire_receiver(&mut self, flow: FlowId, first_access_link: u32, hop: HopId) {
        let Self { receivers, options, access_links, .. } = self;
        let sink = &mut receivers.list[flow.index()];
        // The ACK inherits the time at which the timer was armed, so that it precedes a packet that
        // arrives now and that packet's ACK.
        let (at_s, tx_start_s) = (sink.receiver.deadline_s(), sink.receiver.armed_at_s());
        let config = &receivers.config[sink.config as usize];
        let Some(ack) = sink.receiver.on_timer(config) else { return };
        let at_s = access_links.host_jitter.noticed_s(at_s);
        // A window update precedes the packet that arrives at the same instant, even if that one
        // left its last link when the timer was armed.
        let tie_break_s = if ack.sent_s < NEVER { 0.0 } else { TimerKind::Receiver.tie_break_s() };
        let packet = Packet {
            at_s,
            tx_start_s,
            tie_break_s,
            number: ack.ack,
            sent_s: ack.sent_s,
            size_bytes: ack.size_bytes as u16,
            flags: Flags::of_priority(sink.priority).of_ack(ack.echo),
            options: ack_options(at_s, &ack, sink, config, options),
        };
        if config.receiver.ack_division > 1 {
            receivers.divide_ack(flow, packet, &ack, options);
            return self.send_divided_acks(flow, first_access_link, hop.next());
        }
        self.reach(flow, first_access_link, hop.next(), packet);
    }

    /// The ACKs of a receiver that divides them reach hop `after`, the first behind the receiver.
    #[cold]
    #[inline(never)]
    pub fn send_divided_acks(&mut self, flow: FlowId, first_access_link: u32, after: HopId) {
        let mut acks = std::mem::take(&mut self.receivers.divided_acks);
        for ack in acks.drain(..) {
            self.reach(flow, first_access_link, after, ack);
        }
        self.receivers.divided_acks = acks;
    }

    /// A packet reaches hop `index` of its route: it crosses the access link in front, and enters
    /// the stage at once or waits at a station.
    #[inline(always)]
    pub fn reach(&mut self, flow: FlowId, first_access_link: u32, index: HopId, packet: Packet) {
        let hop = self.hops[index.index()];
        let Packet { mut at_s, mut tx_start_s, mut tie_break_s, .. } = packet;
        let Packet { number, sent_s, size_bytes, flags, options, .. } = packet;
        macro_rules! packet {
            () => {
                Packet { at_s, tx_start_s, tie_break_s, number, sent_s, size_bytes, flags, options }
            };
        }
        if hop.access_link != Hop::NO_ACCESS_LINK {
            Times { at_s, tx_start_s, tie_break_s } = self.access_links.transmit(
                first_access_link + hop.access_link,
                at_s,
                size_bytes,
                tx_start_s,
            );
        }
        if at_s > self.end_s {
            let before = if hop.is_first { index } else { index.before() };
            return self.on_unfinished(flow, before, packet!());
        }
        match hop.entry {
            Entry::Immediate => {
                let routed = RoutedPacket::new(packet!(), flow, index, first_access_link);
                self.enter(routed)
            }
            Entry::Wait(station) => {
                let enters_at_once = hop.is_first && hop.access_link == Hop::NO_ACCESS_LINK;
                let routed = if enters_at_once {
                    RoutedPacket::at_once(packet!(), flow, index, first_access_link)
                } else {
                    RoutedPacket::new(packet!(), flow, index, first_access_link)
                };
                self.stations.push(station, routed)
            }
            Entry::Collect => self.acks.push_back((flow, packet!())),
        }
    }

    /// Sources of cross traffic whose packets wait at a station first send what they send before
    /// `until_s`, or part of it. Returns the time before which all of it is sent, seconds.
    pub fn emit(&mut self, station: usize, until_s: f64) -> f64 {
        if self.stations.list[station].next_source_s() >= until_s {
            return until_s;
        }
        for _ in 0..MOST_SENT {
            let Some(source) = self.stations.list[station].next_source(until_s) else { break };
            let (source_of, FlowIndices { route, first_access_link }) =
                &mut self.cross[source as usize];
            let (route, first_access_link, at_s) = (*route, *first_access_link, source_of.next_s);
            let (tx_start_s, number, size_bytes, flags) =
                (source_of.last_s, source_of.next, source_of.size_bytes, source_of.flags);
            source_of.next_s = source_of.send(at_s, &self.receivers.window);
            self.schedule_source(station, source);
            let packet = Packet { tx_start_s, ..Packet::sent(at_s, number, size_bytes, flags) };
            let first = self.routes[route as usize].first;
            self.reach(FlowId::cross(source), first_access_link, first, packet);
        }
        self.stations.settle(station);
        self.stations.list[station].next_source_s().min(until_s)
    }

    /// A source of cross traffic, whose packets wait at a station first, has another packet.
    pub fn schedule_source(&mut self, station: usize, source: u32) {
        let next_s = self.cross[source as usize].0.next_s;
        if next_s < NEVER {
            self.stations.schedule_source(station, source, next_s);
        }
    }

    /// A packet is dropped at a hop, at its own time.
    #[cold]
    #[inline(never)]
    pub(crate) fn on_dropped(&mut self, flow: FlowId, hop: HopId, packet: Packet) {
        let is_data = self.end_trip(flow, hop, &packet);
        let inside = u64::from(self.receivers.window.contains(packet.at_s));
        if let Source::Cross(number) = flow.source() {
            self.cross_sinks[number].dropped += inside;
            return;
        }
        if let Some(external) = self.external.as_mut().filter(|external| external.hold(flow)) {
            return external.leave(flow, !is_data, &packet, Fate::Dropped);
        }
        if packet.flags.has(Flags::HANDSHAKE_ACK) {
            return;
        }
        let Some(sink) = self.receivers.list.get_mut(flow.index()) else { return };
        let slot = (flow.index())
            .checked_sub(self.receivers.first_slot)
            .and_then(|slot| self.receivers.slot_losses.get_mut(slot));
        if let Some(slot) = slot {
            slot.last_s = slot.last_s.max(packet.at_s);
            slot.acks += u64::from(!is_data);
        }
        if is_data {
            sink.total_dropped += 1;
            sink.dropped += inside;
            if T::ON {
                let link = self.hops[hop.index()].stage.link();
                let link = link.map_or(PacketRow::NO_LINK, |link| link.index() as u32);
                self.trace.packet(PacketRow { link, ..row(PacketEvent::Drop, flow, &packet) });
            }
        }
    }

    /// A packet that left a hop reaches the next stage after the end of the run.
    #[cold]
    #[inline(never)]
    pub(crate) fn on_unfinished(&mut self, flow: FlowId, hop: HopId, packet: Packet) {
        let is_data = self.end_trip(flow, hop, &packet) && !packet.flags.has(Flags::HANDSHAKE_ACK);
        let sink = self.receivers.list.get_mut(flow.index()).filter(|_| is_data);
        sink.into_iter().for_each(|sink| sink.in_flight += 1);
    }

    /// The trip of a packet ends at a hop; returns whether it is data.
    fn end_trip(&mut self, flow: FlowId, hop: HopId, packet: &Packet) -> bool {
        let Hop { is_data, stage, .. } = self.hops[hop.index()];
        // What ends behind the receiver is an ACK.
        let is_data = is_data && stage != Stage::Sink;
        if !is_data && packet.options > 0 && !self.is_external(flow) {
            self.options.remove(packet.options);
        }
        if let Some(link) = stage.link() {
            self.note_overflow(self.links[link.index()].overflowed());
        }
        is_data
    }
}
