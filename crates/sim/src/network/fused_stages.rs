//! Event fusion: processes all stages of a route between two events in one pass.
//!
//! Nearly all routes have one shape between events: a link, the receiver and the reverse path, with
//! the access links of the flow around them. The builder finds this shape once ([`FusedStages`]),
//! and a packet traverses it in straight-line code. Routes of any other shape are processed stage
//! by stage (`Datapath::traverse_stage_by_stage`), with equal results: `tests/equivalence.rs`
//! compares both.

use crate::event::merge_queue::InputPort;
use crate::event::scheduler::EventScheduler;
use crate::event::timers::TimerKind;
use crate::measure::trace::Tracer;
use crate::network::datapath::Datapath;
use crate::network::link::LOST;
use crate::network::route::{Entry, Stage};
use crate::network::transport::{ack_options, receive, trace_receive};
use crate::packet::{Flags, Packet};
use crate::packet::{FlowIndices, RoutedPacket};
use cwndlab_tcp::NEVER;

/// No such stage.
const NONE: u32 = u32::MAX;

/// The stages from one event to the next, in this order; each is optional.
#[derive(Clone, Copy, Debug)]
pub struct FusedStages {
    /// A link with an admission queue.
    link: u32,
    /// The access link of the flow, by offset.
    access_link: u32,
    /// Whether the receiver follows.
    sink: bool,
    /// Whether the route of cross traffic ends there instead.
    ends_route: bool,
    /// Input port of the merge queue where the packet waits next; none if it waits in a FIFO.
    port: Option<InputPort>,
    /// Access links and a link after the receiver, or in front of it if there is none.
    access_link_after: u32,
    link_after: u32,
    access_links_last: [u32; 2],
    /// Stage index of `link_after`.
    stage_after: u32,
    /// FIFO where the packet waits next, by offset among the flow's FIFOs.
    exit: u32,
    /// The stage that the packet enters from there.
    next: u32,
    /// Whether that stage is a sender with unlimited lookahead.
    is_last: bool,
}

impl FusedStages {
    /// The fused stages that begin with `first`; none if the stages have another shape.
    pub fn new(stages: &[(Stage, Entry)], first: usize, may_run_ahead: bool) -> Option<Self> {
        let mut fused = Self {
            link: NONE,
            access_link: NONE,
            sink: false,
            ends_route: false,
            port: None,
            access_link_after: NONE,
            link_after: NONE,
            access_links_last: [NONE; 2],
            stage_after: NONE,
            exit: NONE,
            next: NONE,
            is_last: false,
        };
        // Slots in order: a stage takes the first free slot of its kind behind the last one taken.
        let mut slot = 0;
        for (index, &(stage, entry)) in stages.iter().enumerate().skip(first) {
            if index > first {
                match entry {
                    Entry::Immediate => {}
                    Entry::Merge(port) => {
                        (fused.port, fused.next) = (Some(port), index as u32);
                        return Some(fused);
                    }
                    Entry::Fifo(exit) => {
                        (fused.exit, fused.next) = (exit, index as u32);
                        fused.is_last = may_run_ahead && stage == Stage::Source;
                        return Some(fused);
                    }
                    Entry::SortedFifo(_) => return None,
                }
            }
            slot = match stage {
                Stage::Link(link) if slot < 1 => {
                    fused.link = link;
                    1
                }
                Stage::AccessLink(access_link) if slot < 2 => {
                    fused.access_link = access_link;
                    2
                }
                Stage::Sink if slot < 3 => {
                    fused.ends_route = index + 1 == stages.len();
                    fused.sink = !fused.ends_route;
                    3
                }
                Stage::AccessLink(access_link) if slot < 4 => {
                    fused.access_link_after = access_link;
                    4
                }
                Stage::Link(link) if slot < 5 => {
                    (fused.link_after, fused.stage_after) = (link, index as u32);
                    5
                }
                Stage::AccessLink(access_link) if slot < 7 => {
                    fused.access_links_last[usize::from(slot == 6)] = access_link;
                    if slot == 6 { 7 } else { 6 }
                }
                _ => return None,
            };
        }
        fused.ends_route.then_some(fused)
    }
}

/// The most common first hop: the access link of the sender, then an event.
#[derive(Clone, Copy, Debug)]
pub struct FusedFirstHop {
    access_link: u32,
    port: Option<InputPort>,
    exit: u32,
}

impl FusedFirstHop {
    /// The first hop, if it has this shape.
    pub fn new(stages: &[(Stage, Entry)]) -> Option<Self> {
        match *stages {
            [(Stage::AccessLink(access_link), _), (_, Entry::Fifo(exit)), ..] => {
                Some(Self { access_link, port: None, exit })
            }
            [(Stage::AccessLink(access_link), _), (_, Entry::Merge(port)), ..] => {
                Some(Self { access_link, port: Some(port), exit: NONE })
            }
            _ => None,
        }
    }
}

impl<S: EventScheduler, T: Tracer> Datapath<S, T> {
    /// A data packet that the sender sends at `sent_s` traverses its first hop.
    #[inline(always)]
    pub fn send_data(
        &mut self,
        flow: u32,
        indices: &FlowIndices,
        sent_s: f64,
        number: i64,
        size_bytes: u16,
        flags: Flags,
    ) {
        let Some(first_hop) = self.routes[indices.route as usize].first_hop else {
            return self.send_data_slow_path(flow, indices, sent_s, number, size_bytes, flags);
        };
        let (at_s, tx_start_s) = self.access_links.transmit(
            indices.first_access_link + first_hop.access_link,
            sent_s,
            size_bytes,
        );
        if at_s > self.end_s {
            return self
                .send_data_after_end(flow, indices, sent_s, number, size_bytes, flags, at_s);
        }
        let packet = Packet { at_s, tx_start_s, number, sent_s, size_bytes, flags, options: 0 };
        if let Some(port) = first_hop.port {
            self.merge_packet(port, RoutedPacket { packet, flow, stage: 1, indices: *indices });
        } else {
            self.event_queues.push(indices.first_fifo + first_hop.exit, packet);
        }
    }

    /// Slow path: the first hop has another shape.
    #[inline(never)]
    fn send_data_slow_path(
        &mut self,
        flow: u32,
        indices: &FlowIndices,
        sent_s: f64,
        number: i64,
        size_bytes: u16,
        flags: Flags,
    ) {
        self.traverse_slow_path(
            flow,
            *indices,
            0,
            Packet {
                at_s: sent_s,
                tx_start_s: sent_s,
                number,
                sent_s,
                size_bytes,
                flags,
                options: 0,
            },
        );
    }

    /// Slow path: the packet reaches its second stage after the end of the run.
    #[cold]
    #[inline(never)]
    #[allow(
        clippy::too_many_arguments,
        reason = "in registers: put together before the branch, every packet would be written to \
         memory"
    )]
    fn send_data_after_end(
        &mut self,
        flow: u32,
        indices: &FlowIndices,
        sent_s: f64,
        number: i64,
        size_bytes: u16,
        flags: Flags,
        at_s: f64,
    ) {
        self.end_trip(
            flow,
            *indices,
            0,
            Packet {
                at_s: sent_s,
                tx_start_s: sent_s,
                number,
                sent_s,
                size_bytes,
                flags,
                options: 0,
            },
            at_s,
        );
    }

    /// A packet traverses its route from `stage` on until it waits for an event, is dropped, or
    /// reaches its end. Returns an ACK whose next stage is its sender, with the FIFO where it
    /// waits, so that the caller can process the ACK at once.
    ///
    /// Times live in locals and the packet is assembled where it is stored: a struct written in
    /// parts and read back as a whole stalls store forwarding.
    #[inline(always)]
    pub fn traverse(
        &mut self,
        flow: u32,
        indices: FlowIndices,
        stage: usize,
        packet: Packet,
    ) -> Option<(u32, Packet)> {
        let Packet {
            mut at_s,
            mut tx_start_s,
            mut number,
            sent_s,
            mut size_bytes,
            mut flags,
            mut options,
        } = packet;
        // Breaks with the stage where the packet ends, and the time at which it entered that stage.
        let (stage, entered_s) = 'path: {
            let route = &self.routes[indices.route as usize];
            let Some(fused) = &route.fused[stage] else {
                if let Stage::Queue(link) = route.stages[stage].0 {
                    self.enqueue_at_link(
                        link,
                        RoutedPacket { packet, flow, stage: stage as u32, indices },
                    );
                } else {
                    self.traverse_stage_by_stage(flow, indices, stage, packet);
                }
                return None;
            };
            if fused.link != NONE {
                let entered_s = at_s;
                let passed = self.links[fused.link as usize]
                    .arrive(at_s, tx_start_s, number, size_bytes, flow, &mut flags);
                let Some(times) = passed else {
                    at_s = LOST;
                    break 'path (stage, entered_s);
                };
                (at_s, tx_start_s) = times;
            }
            if fused.access_link != NONE {
                (at_s, tx_start_s) = self.access_links.transmit(
                    indices.first_access_link + fused.access_link,
                    at_s,
                    size_bytes,
                );
            }
            if at_s > self.end_s {
                break 'path (stage, at_s);
            }
            if fused.sink {
                let sink = &mut self.receivers[flow as usize];
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
                let ack = new.1?;
                (number, size_bytes, flags) =
                    (ack.ack, ack.size_bytes as u16, flags.of_ack(ack.echo));
                options = ack_options(&ack, &sink.receiver, &mut self.options);
            } else if fused.ends_route {
                self.end_cross(flow, at_s, size_bytes);
                return None;
            }
            if fused.access_link_after != NONE {
                (at_s, tx_start_s) = self.access_links.transmit(
                    indices.first_access_link + fused.access_link_after,
                    at_s,
                    size_bytes,
                );
            }
            if fused.link_after != NONE {
                let entered_s = at_s;
                // Arrivals after the end of the run are not counted at a link.
                if at_s > self.end_s {
                    break 'path (fused.stage_after as usize, entered_s);
                }
                let passed = self.links[fused.link_after as usize]
                    .arrive(at_s, tx_start_s, number, size_bytes, flow, &mut flags);
                let Some(times) = passed else {
                    at_s = LOST;
                    break 'path (fused.stage_after as usize, entered_s);
                };
                (at_s, tx_start_s) = times;
            }
            for access_link in fused.access_links_last {
                if access_link != NONE {
                    (at_s, tx_start_s) = self.access_links.transmit(
                        indices.first_access_link + access_link,
                        at_s,
                        size_bytes,
                    );
                }
            }
            if at_s > self.end_s {
                break 'path (fused.next as usize - 1, at_s);
            }
            let packet = Packet { at_s, tx_start_s, number, sent_s, size_bytes, flags, options };
            if fused.is_last {
                return Some((indices.first_fifo + fused.exit, packet));
            }
            if let Some(port) = fused.port {
                let stage = fused.next;
                self.merge_packet(port, RoutedPacket { packet, flow, stage, indices });
            } else {
                self.event_queues.push(indices.first_fifo + fused.exit, packet);
            }
            return None;
        };
        let packet =
            Packet { at_s: entered_s, tx_start_s, number, sent_s, size_bytes, flags, options };
        self.end_trip(flow, indices, stage, packet, at_s);
        None
    }

    /// The same, out of line, for rare callers.
    #[inline(never)]
    pub fn traverse_slow_path(
        &mut self,
        flow: u32,
        indices: FlowIndices,
        stage: usize,
        packet: Packet,
    ) {
        if let Some((fifo, ack)) = self.traverse(flow, indices, stage, packet) {
            self.event_queues.push(fifo, ack);
        }
    }
}
