//! Transport of packets through the stages of their routes.
//!
//! A packet costs an event only where its order relative to other flows matters: at a shared link,
//! and at its sender unless that runs ahead. All other stages (private links, FIFO departures, a
//! receiver that acknowledges at once) are computed as soon as their inputs are known. This
//! lookahead is exact because a private stage sees its packets in order of time whatever other
//! flows do.

use crate::event::merge_queue::InputPort;
use crate::event::scheduler::EventScheduler;
use crate::measure::trace::{PacketEvent, Tracer, row};
use crate::network::datapath::Datapath;
use crate::network::route::{Entry, Hop, Stage};
use crate::packet::{CROSS, FlowIndices, LOST, Packet, RoutedPacket};

impl<S: EventScheduler, T: Tracer> Datapath<S, T> {
    /// A packet traverses its route from hop `first` on until it waits for an event, is dropped,
    /// or reaches its end. Returns an ACK whose next stage is a sender that may process it early,
    /// with the FIFO where it waits otherwise.
    ///
    /// Times live in locals and the packet is assembled where it is stored: a struct written in
    /// parts and read back as a whole stalls store forwarding.
    #[inline(always)]
    pub fn traverse(
        &mut self,
        flow: u32,
        indices: FlowIndices,
        first: u32,
        packet: Packet,
    ) -> Option<(u32, Packet)> {
        let Packet {
            mut at_s,
            mut tx_start_s,
            mut lead_s,
            mut number,
            sent_s,
            mut size_bytes,
            mut flags,
            mut options,
        } = packet;
        let mut hops = self.hops[first as usize..].iter();
        let mut stage = hops.next()?.stage;
        loop {
            match stage {
                Stage::Link(link) => {
                    let passed = self.links[link as usize]
                        .arrive(at_s, tx_start_s, number, size_bytes, flow, flags);
                    match passed {
                        Ok(times) => (at_s, tx_start_s, lead_s, flags) = times,
                        Err(flags) => {
                            let packet = Packet {
                                at_s,
                                tx_start_s,
                                lead_s,
                                number,
                                sent_s,
                                size_bytes,
                                flags,
                                options,
                            };
                            let index = (self.hops.len() - hops.len()) as u32 - 1;
                            self.end_trip(flow, indices, index, packet, LOST);
                            return None;
                        }
                    }
                }
                Stage::AccessLink(offset) => {
                    (at_s, tx_start_s, lead_s) = self.access_links.transmit(
                        indices.first_access_link + offset,
                        at_s,
                        size_bytes,
                        tx_start_s,
                    );
                }
                Stage::Queue(link) => {
                    let packet = Packet {
                        at_s,
                        tx_start_s,
                        lead_s,
                        number,
                        sent_s,
                        size_bytes,
                        flags,
                        options,
                    };
                    let stage = (self.hops.len() - hops.len()) as u32 - 1;
                    self.enqueue_at_link(link, RoutedPacket { packet, flow, stage, indices });
                    return None;
                }
                // A packet enters a sender by an event: this is a receiver or the end of a route.
                Stage::Sink | Stage::Source => {
                    if !self.trace.records_deliveries()
                        && let Some(sink) = self.sinks.receivers.get_mut(flow as usize)
                        && let Some((ack_bytes, echo)) =
                            sink.receive_in_order(at_s, number, sent_s, size_bytes, flags)
                    {
                        self.sinks.delivered += 1;
                        (size_bytes, flags) = (ack_bytes, flags.of_ack(echo));
                    } else {
                        let packet = Packet {
                            at_s,
                            tx_start_s,
                            lead_s,
                            number,
                            sent_s,
                            size_bytes,
                            flags,
                            options,
                        };
                        let Self { sinks, trace, timers, options: store, .. } = self;
                        let Some(ack) = sinks.deliver(flow, &packet, trace, timers, store) else {
                            if !self.sinks.divided_acks.is_empty() {
                                let after = (self.hops.len() - hops.len()) as u32;
                                self.send_divided_acks(flow, indices, after);
                            }
                            return None;
                        };
                        (number, size_bytes, flags, options) =
                            (ack.number, ack.size_bytes, ack.flags, ack.options);
                    }
                }
            }
            let hop = hops.next()?;
            if hop.access_link != Hop::NO_ACCESS_LINK {
                (at_s, tx_start_s, lead_s) = self.access_links.transmit(
                    indices.first_access_link + hop.access_link,
                    at_s,
                    size_bytes,
                    tx_start_s,
                );
            }
            if at_s > self.end_s {
                let packet =
                    Packet { at_s, tx_start_s, lead_s, number, sent_s, size_bytes, flags, options };
                let index = (self.hops.len() - hops.len()) as u32 - 2;
                self.end_trip(flow, indices, index, packet, at_s);
                return None;
            }
            if hop.entry == Entry::Immediate {
                stage = hop.stage;
                continue;
            }
            let entry = hop.entry;
            if let Entry::RunAhead(offset) = entry {
                let ack =
                    Packet { at_s, tx_start_s, lead_s, number, sent_s, size_bytes, flags, options };
                return Some((indices.first_fifo + offset, ack));
            }
            let packet =
                Packet { at_s, tx_start_s, lead_s, number, sent_s, size_bytes, flags, options };
            let index = (self.hops.len() - hops.len()) as u32 - 1;
            self.schedule(flow, indices, index, entry, packet);
            return None;
        }
    }

    /// The same without processing an ACK early, out of line.
    #[inline(never)]
    pub fn traverse_and_wait(
        &mut self,
        flow: u32,
        indices: FlowIndices,
        stage: u32,
        packet: Packet,
    ) {
        if let Some((fifo, ack)) = self.traverse(flow, indices, stage, packet) {
            self.event_queues.push(fifo, ack);
        }
    }

    /// The ACKs of a receiver that divides them reach hop `after`, the first behind the receiver.
    #[cold]
    #[inline(never)]
    pub fn send_divided_acks(&mut self, flow: u32, indices: FlowIndices, after: u32) {
        let mut acks = std::mem::take(&mut self.sinks.divided_acks);
        for ack in acks.drain(..) {
            self.reach::<false>(flow, indices, after, ack);
        }
        self.sinks.divided_acks = acks;
    }

    /// A packet reaches hop `index` of its route: it crosses the access link in front, and enters
    /// the stage at once or waits for an event. `INLINE`: the stages behind are inlined here, for
    /// callers whose packets usually enter at once.
    #[inline(always)]
    pub fn reach<const INLINE: bool>(
        &mut self,
        flow: u32,
        indices: FlowIndices,
        index: u32,
        packet: Packet,
    ) {
        let hop = self.hops[index as usize];
        let Packet { mut at_s, mut tx_start_s, mut lead_s, .. } = packet;
        let Packet { number, sent_s, size_bytes, flags, options, .. } = packet;
        if hop.access_link != Hop::NO_ACCESS_LINK {
            (at_s, tx_start_s, lead_s) = self.access_links.transmit(
                indices.first_access_link + hop.access_link,
                at_s,
                size_bytes,
                tx_start_s,
            );
            if at_s > self.end_s {
                let packet =
                    Packet { at_s, tx_start_s, lead_s, number, sent_s, size_bytes, flags, options };
                return self.end_trip(flow, indices, index.saturating_sub(1), packet, at_s);
            }
        }
        if hop.entry != Entry::Immediate {
            let packet =
                Packet { at_s, tx_start_s, lead_s, number, sent_s, size_bytes, flags, options };
            return self.schedule(flow, indices, index, hop.entry, packet);
        }
        let packet =
            Packet { at_s, tx_start_s, lead_s, number, sent_s, size_bytes, flags, options };
        if !INLINE {
            return self.traverse_and_wait(flow, indices, index, packet);
        }
        if let Some((fifo, ack)) = self.traverse(flow, indices, index, packet) {
            self.event_queues.push(fifo, ack);
        }
    }

    /// A packet waits for the event by which it enters `stage`.
    #[inline(always)]
    fn schedule(
        &mut self,
        flow: u32,
        indices: FlowIndices,
        stage: u32,
        entry: Entry,
        packet: Packet,
    ) {
        match entry {
            Entry::Merge(port) => {
                self.merge_packet(port, RoutedPacket { packet, flow, stage, indices })
            }
            Entry::Fifo(offset) | Entry::SortedFifo(offset) | Entry::RunAhead(offset) => {
                let fifo = indices.first_fifo + offset;
                self.event_queues.push(fifo, packet);
                if let Entry::SortedFifo(_) = entry {
                    self.event_queues.sort_in_last(fifo);
                }
            }
            Entry::Immediate => {}
        }
    }

    /// Inserts a packet into a merge queue.
    #[inline(always)]
    fn merge_packet(&mut self, InputPort { merge_queue, port }: InputPort, waiting: RoutedPacket) {
        let merge_queue = &mut self.merge_queues[merge_queue as usize];
        self.event_queues.packets += 1;
        if merge_queue.put(port, waiting) {
            self.event_queues.scheduler.schedule(merge_queue.fifo, waiting.packet.at_s);
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
                return self.traverse_and_wait(flow, indices, stage, packet);
            }
            if let Some((fifo, ack)) = self.traverse(flow, indices, stage, packet) {
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
        stage: u32,
        packet: Packet,
        at_s: f64,
    ) {
        if packet.options > 0 {
            self.options.remove(packet.options);
        }
        if let Some(link) = self.hops[stage as usize].stage.link() {
            self.note_overflow(self.links[link as usize].overflowed);
        }
        let is_data = stage < self.routes[indices.route as usize].sink;
        if flow >= CROSS {
            let sink = &mut self.sinks.cross[(flow & !CROSS) as usize];
            sink.dropped += u64::from(at_s == LOST && self.sinks.window.contains(packet.at_s));
            return;
        }
        if at_s == LOST
            && let Some(external) = &mut self.sinks.external
        {
            return external.leave(flow, !is_data, &packet, at_s);
        }
        let Some(sink) = self.sinks.receivers.get_mut(flow as usize) else { return };
        let slot = (flow as usize)
            .checked_sub(self.sinks.first_slot)
            .and_then(|slot| self.sinks.slot_losses.get_mut(slot));
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
        sink.dropped += u64::from(self.sinks.window.contains(packet.at_s));
        if T::ON {
            self.trace.packet(row(PacketEvent::Drop, flow, &packet));
        }
    }
}
