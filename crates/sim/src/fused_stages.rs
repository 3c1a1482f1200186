//! Legs: all that becomes of a packet between two events, in one go.
//!
//! Nearly every route has the same shape between events: a link, the receiver, the way back, each with the flow's own links around it. For that
//! shape the stages are laid out once, when the network is built, and a packet passes them in straight-line code. Whatever has another
//! shape takes its stages one by one (`Datapath::step`); the results are the same, which the plain engine's traces prove.

use crate::datapath::{Datapath, Entry, Stage, ack_options, receive, trace_receive};
use crate::event_queues::{FlowIndices, InputPort, RoutedPacket};
use crate::event_scheduler::EventScheduler;
use crate::link::LOST;
use crate::packet::{Flags, Packet};
use crate::timers::TimerKind;
use crate::trace::Tracer;
use cwndlab_tcp::NEVER;

/// No such stage.
const NONE: u32 = u32::MAX;

/// The stages from one event to the next, where they have this order; any may be missing.
#[derive(Clone, Copy, Debug)]
pub struct FusedStages {
    /// A link whose queue decides at arrival.
    link: u32,
    /// The flow's own link, by its offset.
    pipe: u32,
    /// Whether the receiver comes next.
    sink: bool,
    /// Whether cross traffic ends there instead.
    ends: bool,
    /// The door of an inbox through which the packet goes on, instead of a stream.
    port: Option<InputPort>,
    /// After the receiver, or else on the way to it.
    access_link_after: u32,
    link_after: u32,
    access_links_last: [u32; 2],
    /// Stage of `link_after`.
    stage_after: u32,
    /// Stream through which the packet goes on, by its offset among the flow's.
    exit: u32,
    /// The stage that it then enters.
    next: u32,
    /// Whether that is its sender, which may run ahead as far as it likes.
    is_last: bool,
}

impl FusedStages {
    /// The leg that begins with entering stage `first`; none where the stages do not have that shape.
    pub fn new(stages: &[(Stage, Entry)], first: usize, may_run_ahead: bool) -> Option<Self> {
        let mut leg = Self {
            link: NONE,
            pipe: NONE,
            sink: false,
            ends: false,
            port: None,
            access_link_after: NONE,
            link_after: NONE,
            access_links_last: [NONE; 2],
            stage_after: NONE,
            exit: NONE,
            next: NONE,
            is_last: false,
        };
        // The slots in order; a stage takes the first free one of its kind behind the last taken.
        let mut slot = 0;
        for (index, &(stage, entry)) in stages.iter().enumerate().skip(first) {
            if index > first {
                match entry {
                    Entry::Immediate => {}
                    Entry::Merge(port) => {
                        (leg.port, leg.next) = (Some(port), index as u32);
                        return Some(leg);
                    }
                    Entry::Fifo(exit) => {
                        (leg.exit, leg.next) = (exit, index as u32);
                        leg.is_last = may_run_ahead && stage == Stage::Source;
                        return Some(leg);
                    }
                    Entry::SortedFifo(_) => return None,
                }
            }
            slot = match stage {
                Stage::Link(link) if slot < 1 => {
                    leg.link = link;
                    1
                }
                Stage::AccessLink(pipe) if slot < 2 => {
                    leg.pipe = pipe;
                    2
                }
                Stage::Sink if slot < 3 => {
                    leg.ends = index + 1 == stages.len();
                    leg.sink = !leg.ends;
                    3
                }
                Stage::AccessLink(pipe) if slot < 4 => {
                    leg.access_link_after = pipe;
                    4
                }
                Stage::Link(link) if slot < 5 => {
                    (leg.link_after, leg.stage_after) = (link, index as u32);
                    5
                }
                Stage::AccessLink(pipe) if slot < 7 => {
                    leg.access_links_last[usize::from(slot == 6)] = pipe;
                    if slot == 6 { 7 } else { 6 }
                }
                _ => return None,
            };
        }
        leg.ends.then_some(leg)
    }
}

/// The first leg of most routes: the sender's own link, then an event.
#[derive(Clone, Copy, Debug)]
pub struct FusedAccess {
    pipe: u32,
    port: Option<InputPort>,
    exit: u32,
}

impl FusedAccess {
    /// The first leg, if it is of that shape.
    pub fn new(stages: &[(Stage, Entry)]) -> Option<Self> {
        match *stages {
            [(Stage::AccessLink(pipe), _), (_, Entry::Fifo(exit)), ..] => {
                Some(Self { pipe, port: None, exit })
            }
            [(Stage::AccessLink(pipe), _), (_, Entry::Merge(port)), ..] => {
                Some(Self { pipe, port: Some(port), exit: NONE })
            }
            _ => None,
        }
    }
}

impl<S: EventScheduler, T: Tracer> Datapath<S, T> {
    /// Takes a data packet that its sender sends at `sent_s` through the first leg.
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
        let Some(head) = self.routes[indices.route as usize].head else {
            return self.send_data_slow_path(flow, indices, sent_s, number, size_bytes, flags);
        };
        let (at_s, tx_start_s) =
            self.access_links.transmit(indices.first_access_link + head.pipe, sent_s, size_bytes);
        if at_s > self.end_s {
            return self
                .send_data_after_end(flow, indices, sent_s, number, size_bytes, flags, at_s);
        }
        let packet = Packet { at_s, tx_start_s, number, sent_s, size_bytes, flags, options: 0 };
        if let Some(port) = head.port {
            self.merge_packet(port, RoutedPacket { packet, flow, stage: 1, indices: *indices });
        } else {
            self.event_queues.push(indices.first_fifo + head.exit, packet);
        }
    }

    /// Its first leg is another.
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

    /// It arrives after the end.
    #[cold]
    #[inline(never)]
    #[allow(
        clippy::too_many_arguments,
        reason = "in registers: put together before the branch, every packet would be written to memory"
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
        self.drop_or_leave_in_flight(
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

    /// Takes a packet through the stages from `stage` on, until it must wait for an event, is lost, or ends. Returns an acknowledgement that
    /// reaches its sender next, and the stream where it may wait for that.
    ///
    /// Times are kept in locals, and the packet is put together again where it is stored: written in parts and read back as a whole
    /// it would stall.
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
        // Left where the packet goes no further: the stage, and the time at which it entered that.
        let (stage, entered_s) = 'path: {
            let route = &self.routes[indices.route as usize];
            let Some(leg) = &route.fused[stage] else {
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
            if leg.link != NONE {
                let entered_s = at_s;
                let passed = self.links[leg.link as usize]
                    .arrive(at_s, tx_start_s, number, size_bytes, flow, &mut flags);
                let Some(times) = passed else {
                    at_s = LOST;
                    break 'path (stage, entered_s);
                };
                (at_s, tx_start_s) = times;
            }
            if leg.pipe != NONE {
                (at_s, tx_start_s) = self.access_links.transmit(
                    indices.first_access_link + leg.pipe,
                    at_s,
                    size_bytes,
                );
            }
            if at_s > self.end_s {
                break 'path (stage, at_s);
            }
            if leg.sink {
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
                (number, size_bytes, flags) = (
                    ack.ack,
                    ack.size_bytes as u16,
                    flags.only_priority().with(Flags::ECE, ack.ece),
                );
                options = ack_options(&ack, &sink.receiver, &mut self.options);
            } else if leg.ends {
                self.end_cross(flow, at_s, size_bytes);
                return None;
            }
            if leg.access_link_after != NONE {
                (at_s, tx_start_s) = self.access_links.transmit(
                    indices.first_access_link + leg.access_link_after,
                    at_s,
                    size_bytes,
                );
            }
            if leg.link_after != NONE {
                let entered_s = at_s;
                // Past the end nothing arrives at a link.
                if at_s > self.end_s {
                    break 'path (leg.stage_after as usize, entered_s);
                }
                let passed = self.links[leg.link_after as usize]
                    .arrive(at_s, tx_start_s, number, size_bytes, flow, &mut flags);
                let Some(times) = passed else {
                    at_s = LOST;
                    break 'path (leg.stage_after as usize, entered_s);
                };
                (at_s, tx_start_s) = times;
            }
            for pipe in leg.access_links_last {
                if pipe != NONE {
                    (at_s, tx_start_s) = self.access_links.transmit(
                        indices.first_access_link + pipe,
                        at_s,
                        size_bytes,
                    );
                }
            }
            if at_s > self.end_s {
                break 'path (leg.next as usize - 1, at_s);
            }
            let packet = Packet { at_s, tx_start_s, number, sent_s, size_bytes, flags, options };
            if leg.is_last {
                return Some((indices.first_fifo + leg.exit, packet));
            }
            if let Some(port) = leg.port {
                let stage = leg.next;
                self.merge_packet(port, RoutedPacket { packet, flow, stage, indices });
            } else {
                self.event_queues.push(indices.first_fifo + leg.exit, packet);
            }
            return None;
        };
        let packet =
            Packet { at_s: entered_s, tx_start_s, number, sent_s, size_bytes, flags, options };
        self.drop_or_leave_in_flight(flow, indices, stage, packet, at_s);
        None
    }

    /// The same where it need not be fast.
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
