//! Transport of packets through the stages of their routes.
//!
//! A packet costs an event only where its order relative to other flows matters: at a shared link
//! and at its sender. All other stages (private links, FIFO departures, a receiver that
//! acknowledges at once) are computed as soon as their inputs are known. This lookahead is exact
//! because crate::network::access_links::AccessLinks;
use crate::collections::slab::Slab;
use crate::endpoint::tcp::ReceiverEndpoint;
use crate::event::merge_queue::InputPort;
use crate::event::scheduler::EventScheduler;
use crate::event::timers::TimerKind;
use crate::measure::trace::row;
use crate::measure::trace::{PacketEvent, Tracer};
use crate::measure::window::MeasurementWindow;
use crate::network::datapath::Datapath;
use crate::network::link::LOST;
use crate::network::route::Entry;
use crate::network::route::Stage;
use crate::packet::CROSS;
use crate::packet::{AckOptions, Flags, Packet};
use crate::packet::{FlowIndices, RoutedPacket};
use cwndlab_tcp::{AckSegment, Knobs, NEVER, Receiver};

impl<S: EventScheduler, T: Tracer> Datapath<S, T> {
    /// A packet traverses its route from `stage` on, one stage at a time: the general form, for
    /// routes of any shape.
    #[inline(never)]
    pub(crate) fn traverse_stage_by_stage(
        &mut self,
        flow: u32,
        indices: FlowIndices,
        mut stage: usize,
        packet: Packet,
    ) {
        let stages = &self.routes[indices.route as usize].stages;
        let Packet {
            mut at_s,
            mut tx_start_s,
            mut number,
            sent_s,
            mut size_bytes,
            mut flags,
            mut options,
        } = packet;
        loop {
            let kind = stages[stage].0;
            let entered_s = at_s;
            if let Stage::Link(link) = kind {
                let passed = self.links[link as usize]
                    .arrive(at_s, tx_start_s, number, size_bytes, flow, &mut flags);
                (at_s, tx_start_s) = passed.unwrap_or((LOST, at_s));
            } else if let Stage::AccessLink(offset) = kind {
                (at_s, tx_start_s) = self.access_links.transmit(
                    indices.first_access_link + offset,
                    at_s,
                    size_bytes,
                );
            } else if let Stage::Queue(link) = kind {
                let packet =
                    Packet { at_s, tx_start_s, number, sent_s, size_bytes, flags, options };
                return self.enqueue_at_link(
                    link,
                    RoutedPacket { packet, flow, stage: stage as u32, indices },
                );
            } else {
                // A sender is always entered by an event, so this is a receiver or a cross traffic
                // sink.
                let Some(sink) = self.receivers.get_mut(flow as usize) else {
                    return self.end_cross(flow, at_s, size_bytes);
                };
                let knobs = &self.knobs[sink.knobs as usize];
                self.delivered += 1;
                let packet =
                    Packet { at_s, tx_start_s, number, sent_s, size_bytes, flags, options };
                let new = receive(sink, &packet, knobs, &self.window, self.bin_s);
                if T::ON {
                    trace_receive(&mut self.trace, flow, &packet, new.0, knobs);
                }
                if knobs.delayed_ack && sink.receiver.deadline_s() != NEVER {
                    self.timers.push(sink.receiver.deadline_s(), TimerKind::DelayedAck, flow);
                }
                let Some(ack) = new.1 else { return };
                (number, size_bytes, flags) =
                    (ack.ack, ack.size_bytes as u16, flags.of_ack(ack.echo));
                options = ack_options(&ack, &sink.receiver, &mut self.options);
            }
            stage += 1;
            if at_s > self.end_s {
                let packet = Packet {
                    at_s: entered_s,
                    tx_start_s,
                    number,
                    sent_s,
                    size_bytes,
                    flags,
                    options,
                };
                return self.end_trip(flow, indices, stage - 1, packet, at_s);
            }
            match stages[stage].1 {
                Entry::Immediate => {}
                Entry::Fifo(offset) => {
                    let packet =
                        Packet { at_s, tx_start_s, number, sent_s, size_bytes, flags, options };
                    return self.event_queues.push(indices.first_fifo + offset, packet);
                }
                Entry::SortedFifo(offset) => {
                    let packet =
                        Packet { at_s, tx_start_s, number, sent_s, size_bytes, flags, options };
                    return self.event_queues.insert(indices.first_fifo + offset, packet);
                }
                Entry::Merge(port) => {
                    let packet =
                        Packet { at_s, tx_start_s, number, sent_s, size_bytes, flags, options };
                    return self.merge_packet(
                        port,
                        RoutedPacket { packet, flow, stage: stage as u32, indices },
                    );
                }
            }
        }
    }

    /// Inserts a packet into a merge queue.
    #[inline(always)]
    pub(crate) fn merge_packet(
        &mut self,
        InputPort { merge_queue, port }: InputPort,
        waiting: RoutedPacket,
    ) {
        let merge_queue = &mut self.merge_queues[merge_queue as usize];
        self.event_queues.packets += 1;
        if merge_queue.put(port, waiting) {
            self.event_queues.scheduler.schedule(merge_queue.fifo, waiting.packet.at_s);
        }
    }

    /// A packet of cross traffic reaches its sink.
    pub(crate) fn end_cross(&mut self, flow: u32, at_s: f64, size_bytes: u16) {
        if let Some(sink) = self.cross.get_mut((flow & !CROSS) as usize).filter(|_| flow >= CROSS) {
            sink.deliver(at_s, size_bytes, &self.window);
            if T::ON {
                self.trace.carried(at_s, flow, u64::from(size_bytes) * 8);
            }
        }
    }

    /// Enters `stage` at the packet's time: at once, or by an event.
    pub fn enter_or_schedule(
        &mut self,
        flow: u32,
        indices: FlowIndices,
        stage: usize,
        packet: Packet,
    ) {
        match self.routes[indices.route as usize].stages[stage].1 {
            Entry::Immediate => self.traverse_slow_path(flow, indices, stage, packet),
            Entry::Fifo(offset) => self.event_queues.push(indices.first_fifo + offset, packet),
            Entry::SortedFifo(offset) => {
                self.event_queues.insert(indices.first_fifo + offset, packet)
            }
            Entry::Merge(port) => {
                self.merge_packet(port, RoutedPacket { packet, flow, stage: stage as u32, indices })
            }
        }
    }

    /// The head of a merge queue is due: it and all packets within the queue's lookahead enter the
    /// link.
    pub fn run_merge_batch(&mut self, index: u32, now_s: f64) {
        let limit_s = now_s + self.merge_queues[index as usize].lookahead_s;
        loop {
            let merge_queue = &mut self.merge_queues[index as usize];
            let first_s = merge_queue.first_s();
            // The head is processed in any case. A packet exactly at the limit may still be
            // preceded by another.
            if first_s > now_s && first_s >= limit_s {
                return self.event_queues.scheduler.schedule(merge_queue.fifo, first_s);
            }
            let Some(RoutedPacket { packet, flow, stage, indices }) = merge_queue.pop() else {
                return;
            };
            self.event_queues.packets -= 1;
            let alone = merge_queue.lookahead_s == 0.0;
            if alone {
                // Without lookahead another event may lie between this packet and the next.
                let (fifo, next_time_s) = (merge_queue.fifo, merge_queue.first_s());
                self.event_queues.scheduler.schedule(fifo, next_time_s);
                return self.traverse_slow_path(flow, indices, stage as usize, packet);
            }
            if let Some((fifo, ack)) = self.traverse(flow, indices, stage as usize, packet) {
                self.event_queues.push(fifo, ack);
            }
        }
    }

    /// Ends the trip of a packet that was dropped in `stage` (`at_s` is [`LOST`]) or that reaches
    /// the next stage after the end of the run, at `at_s`.
    #[cold]
    #[inline(never)]
    pub(crate) fn end_trip(
        &mut self,
        flow: u32,
        indices: FlowIndices,
        stage: usize,
        packet: Packet,
        at_s: f64,
    ) {
        if packet.options > 0 {
            self.options.remove(packet.options);
        }
        if let Stage::Link(link) | Stage::Queue(link) =
            self.routes[indices.route as usize].stages[stage].0
        {
            self.overflowed |= self.links[link as usize].overflowed;
        }
        let is_data = stage < self.routes[indices.route as usize].sink;
        if flow >= CROSS {
            let sink = &mut self.cross[(flow & !CROSS) as usize];
            sink.dropped += u64::from(at_s == LOST && self.window.contains(packet.at_s));
            return;
        }
        let Some(sink) = self.receivers.get_mut(flow as usize) else { return };
        let slot = (flow as usize)
            .checked_sub(self.first_slot)
            .and_then(|slot| self.slot_losses.get_mut(slot));
        if let Some(slot) = slot.filter(|_| at_s == LOST) {
            slot.last_s = slot.last_s.max(packet.at_s);
            slot.acks += u64::from(!is_data);
        }
        if !is_data {
            return;
        }
        if at_s < LOST {
            sink.in_flight += 1;
            return;
        }
        sink.total_dropped += 1;
        sink.dropped += u64::from(self.window.contains(packet.at_s));
        if T::ON {
            self.trace.packet(row(PacketEvent::Drop, flow, &packet));
        }
    }
}

/// A data packet reaches the receiver. Returns whether it is new, and the ACK to send now, if any.
#[inline(always)]
pub(crate) fn receive(
    sink: &mut ReceiverEndpoint,
    packet: &Packet,
    knobs: &Knobs,
    window: &MeasurementWindow,
    bin_s: f64,
) -> (bool, Option<AckSegment>) {
    let (new, ack) = {
        let (marked, reduced) = (packet.flags.is_ce(), packet.flags.has(Flags::CWR));
        sink.receiver.on_data(packet.at_s, packet.number, packet.sent_s, marked, reduced, knobs)
    };
    sink.total_delivered += 1;
    // A SYN carries no data.
    let new = new && !(packet.number == 0 && knobs.syn);
    let inside = window.contains(packet.at_s);
    sink.arrived_bytes += if inside { u64::from(packet.size_bytes) } else { 0 };
    if new && inside {
        sink.bins.add(packet.at_s, sink.delivered, window, bin_s);
        sink.delivered += 1;
        if let Some(payload_bytes) = sink.receiver.short_payload_bytes(packet.number) {
            sink.missing_bytes = knobs.packet_size - payload_bytes;
        }
    }
    (new, ack)
}

pub(crate) fn trace_receive<T: Tracer>(
    trace: &mut T,
    flow: u32,
    packet: &Packet,
    new: bool,
    knobs: &Knobs,
) {
    if new {
        let payload_bytes = u32::from(packet.size_bytes) - knobs.wire_size_of(0);
        trace.goodput(packet.at_s, flow, u64::from(payload_bytes) * 8);
    }
    trace.carried(packet.at_s, flow, u64::from(packet.size_bytes) * 8);
    trace.packet(row(PacketEvent::Receive, flow, packet));
}

/// Stores SACK blocks and timestamp echo, if the ACK carries any; returns their key.
#[inline(always)]
pub fn ack_options(ack: &AckSegment, receiver: &Receiver, options: &mut Slab<AckOptions>) -> u32 {
    let blocks = receiver.sack_blocks();
    if blocks.is_none() && ack.echo_s == ack.sent_s && ack.echo.ce_bytes().is_none() {
        return 0;
    }
    options.insert(AckOptions {
        sack: blocks.copied().unwrap_or_default(),
        echo_s: ack.echo_s,
        echo: ack.echo,
    })
}
