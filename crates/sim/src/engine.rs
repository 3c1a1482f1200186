//! The event loop.
//!
//! A packet costs an event only where it meets others: at a shared link, and at its sender. Everything else (private links, first-in
//! first-out departures, a receiver that answers at once) is arithmetic done as soon as its inputs are known. That is exact because a
//! private stage sees its packets in order of time whoever else is active; `Options::look_ahead` turns it off for tests.

use crate::flow::{CrossFlow, TcpFlow};
use crate::link::{Link, Pipe, Window};
use crate::packet::{AckOptions, OptionStore, Packet};
use crate::scheduler::{EMPTY, Scheduler};
use crate::timers::{Kind, Timers};
use crate::trace::{PacketEvent, PacketRow, Trace};
use cwndlab_tcp::{AckSegment, DataSegment, Knobs, NEVER, Sender};
use std::collections::VecDeque;

/// A stage of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// The flow's own link, by its offset among the flow's pipes.
    Pipe(u32),
    /// A link.
    Link(u32),
    /// The receiver, or the end of cross traffic.
    Sink,
    /// The sender.
    Source,
}

/// The way of a packet from its sender to the receiver, and of the acknowledgement back.
#[derive(Clone, Debug, Default)]
pub struct Route {
    /// Stages in order, each with the stream that leads to it (offset among the flow's), if packets wait for an event there.
    pub stages: Vec<(Stage, Option<u32>)>,
}

/// Packets on their way to one stage of one flow.
#[derive(Debug)]
pub struct Pending {
    /// In order of time.
    pub ring: VecDeque<Packet>,
    /// Flow, or number of TCP flows plus number of the cross source.
    pub flow: u32,
    /// Stage of the flow's route.
    pub stage: u32,
}

/// Everything that moves.
pub struct Engine<S: Scheduler, T: Trace> {
    pub(crate) flows: Vec<TcpFlow>,
    pub(crate) cross: Vec<CrossFlow>,
    pub(crate) links: Vec<Link>,
    pub(crate) pipes: Vec<Pipe>,
    pub(crate) routes: Vec<Route>,
    pub(crate) streams: Vec<Pending>,
    pub(crate) knobs: Vec<Knobs>,
    pub(crate) options: OptionStore,
    pub(crate) scheduler: S,
    pub(crate) timers: Timers,
    pub(crate) trace: T,
    pub(crate) window: Window,
    pub(crate) end_ns: u64,
    pub(crate) bin_ns: u64,
    pub(crate) now_ns: u64,
    /// Packets waiting in streams.
    pub(crate) pending: u64,
    /// Data packets that reached receivers.
    pub(crate) delivered: u64,
    pub(crate) outbox: Vec<DataSegment>,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// There is more to do.
    Running,
    /// The end was reached.
    Done,
    /// Packets on their way, or recorded rows, exceed the memory meant for them.
    TooLarge,
}

/// Packets in streams and queues beyond which a run is stopped: about 6 GiB.
const MOST_PENDING: u64 = 150_000_000;

impl<S: Scheduler, T: Trace> Engine<S, T> {
    /// Handles up to `events` events.
    pub fn advance(&mut self, events: u64) -> Status {
        for _ in 0..events {
            let (time_ns, stream) = self.scheduler.first();
            let timer_ns = self.timers.first_ns();
            // A moment's bookkeeping (starts, the measuring window) comes before its packets, its time-outs after them.
            if timer_ns < time_ns || (timer_ns == time_ns && self.timers.first_is_bookkeeping()) {
                if timer_ns > self.end_ns {
                    return self.finish();
                }
                self.on_timer();
            } else if time_ns > self.end_ns {
                return self.finish();
            } else {
                self.now_ns = time_ns;
                self.on_stream(stream);
            }
        }
        let queued: usize = self.links.iter().map(Link::backlog).sum();
        if self.pending + queued as u64 > MOST_PENDING || self.trace.overflowed() { Status::TooLarge } else { Status::Running }
    }

    fn finish(&mut self) -> Status {
        self.now_ns = self.end_ns;
        for link in &mut self.links {
            link.finish(self.end_ns);
        }
        for (flow, tcp) in self.flows.iter().enumerate() {
            self.trace.before(self.end_ns, flow as u32, &tcp.sender, &self.knobs[tcp.knobs as usize]);
        }
        Status::Done
    }

    /// The head of a stream is due.
    #[inline]
    fn on_stream(&mut self, stream: u32) {
        let pending = &mut self.streams[stream as usize];
        let (flow, stage) = (pending.flow, pending.stage as usize);
        let Some(packet) = pending.ring.pop_front() else {
            return self.emit_cross(stream, flow);
        };
        self.pending -= 1;
        let next_ns = pending.ring.front().map_or(EMPTY, |next| next.at_ns);
        self.scheduler.set(stream, next_ns);
        if (flow as usize) < self.flows.len() && self.routes[self.flows[flow as usize].place.route as usize].stages[stage].0 == Stage::Source {
            self.on_ack(flow, packet);
        } else {
            self.carry(flow, stage, packet);
        }
    }

    /// Takes a packet through the stages from `stage` on, until it must wait for an event, is lost, or ends.
    #[inline]
    fn carry(&mut self, flow: u32, mut stage: usize, mut packet: Packet) {
        let place = match self.flows.get(flow as usize) {
            Some(tcp) => tcp.place,
            None => self.cross[flow as usize - self.flows.len()].place,
        };
        loop {
            match self.routes[place.route as usize].stages[stage].0 {
                Stage::Pipe(offset) => {
                    let pipe = &mut self.pipes[(place.first_pipe + offset) as usize];
                    packet.at_ns = pipe.pass(packet.at_ns, u32::from(packet.size_bytes));
                }
                Stage::Link(link) => match self.links[link as usize].arrive(&packet, flow) {
                    Some(at_ns) => packet.at_ns = at_ns,
                    None => return self.lost(flow, stage, packet),
                },
                Stage::Sink => match self.receive(flow, &packet) {
                    Some(ack) => packet = ack,
                    None => return,
                },
                Stage::Source => unreachable!("a sender always waits for an event"),
            }
            stage += 1;
            if packet.at_ns > self.end_ns {
                return self.still_on_its_way(flow, stage, packet);
            }
            if let Some(offset) = self.routes[place.route as usize].stages[stage].1 {
                return self.push(place.first_stream + offset, packet);
            }
        }
    }

    #[inline]
    fn push(&mut self, stream: u32, packet: Packet) {
        let ring = &mut self.streams[stream as usize].ring;
        debug_assert!(ring.back().is_none_or(|last| last.at_ns <= packet.at_ns), "a stream is in order of time");
        let was_empty = ring.is_empty();
        ring.push_back(packet);
        self.pending += 1;
        if was_empty {
            self.scheduler.set(stream, packet.at_ns);
        }
    }

    /// Whether a stage lies on the way of data, not of acknowledgements.
    fn carries_data(&self, flow: u32, stage: usize) -> bool {
        let tcp = &self.flows[flow as usize];
        !self.routes[tcp.place.route as usize].stages[..stage].iter().any(|stage| stage.0 == Stage::Sink)
    }

    #[cold]
    fn lost(&mut self, flow: u32, stage: usize, packet: Packet) {
        if packet.options > 0 {
            self.options.take(packet.options);
        }
        if flow as usize >= self.flows.len() || !self.carries_data(flow, stage) {
            return;
        }
        let sums = &mut self.flows[flow as usize].sums;
        sums.total_dropped += 1;
        sums.dropped += u64::from(self.window.contains(packet.at_ns));
        if T::ON {
            self.trace.packet(row(PacketEvent::Drop, flow, &packet));
        }
    }

    /// The run ends before the packet arrives.
    #[cold]
    fn still_on_its_way(&mut self, flow: u32, stage: usize, packet: Packet) {
        if packet.options > 0 {
            self.options.take(packet.options);
        }
        if (flow as usize) < self.flows.len() && self.carries_data(flow, stage) {
            self.flows[flow as usize].sums.in_flight += 1;
        }
    }

    /// A data packet reached the receiver; returns the acknowledgement to carry on with.
    #[inline]
    fn receive(&mut self, flow: u32, packet: &Packet) -> Option<Packet> {
        let tcp = self.flows.get_mut(flow as usize)?;
        let knobs = &self.knobs[tcp.knobs as usize];
        let (new, ack) = tcp.receiver.on_data(packet.at_ns, packet.number, packet.sent_ns, knobs);
        tcp.sums.total_delivered += 1;
        self.delivered += 1;
        // A SYN carries no data.
        if new && !(packet.number == 0 && knobs.syn) {
            if self.window.contains(packet.at_ns) {
                tcp.sums.delivered += 1;
                tcp.sums.bins.add(packet.at_ns, &self.window, self.bin_ns);
            }
            if T::ON {
                self.trace.goodput(packet.at_ns, flow, u64::from(knobs.packet_size) * 8);
            }
        }
        if T::ON {
            self.trace.packet(row(PacketEvent::Receive, flow, packet));
        }
        if knobs.delayed_ack && tcp.receiver.deadline_ns() != NEVER {
            self.timers.push(tcp.receiver.deadline_ns(), Kind::DelayedAck, flow);
        }
        let ack = ack?;
        Some(self.ack_packet(packet.at_ns, &ack))
    }

    fn ack_packet(&mut self, at_ns: u64, ack: &AckSegment) -> Packet {
        let plain = ack.sack.is_empty() && ack.echo_ns == ack.sent_ns;
        let options = if plain { 0 } else { self.options.put(AckOptions { sack: ack.sack, echo_ns: ack.echo_ns }) };
        Packet { at_ns, number: ack.ack, sent_ns: ack.sent_ns, size_bytes: ack.size_bytes as u16, retransmission: false, options }
    }

    /// An acknowledgement reached its sender.
    #[inline]
    fn on_ack(&mut self, flow: u32, packet: Packet) {
        let mut ack = AckSegment {
            ack: packet.number,
            sent_ns: packet.sent_ns,
            echo_ns: packet.sent_ns,
            size_bytes: u32::from(packet.size_bytes),
            sack: Default::default(),
        };
        if packet.options > 0 {
            let options = self.options.take(packet.options);
            (ack.sack, ack.echo_ns) = (options.sack, options.echo_ns);
        }
        if T::ON {
            let sender = &self.flows[flow as usize].sender;
            let row = PacketRow { cwnd: sender.cwnd(), ssthresh: sender.ssthresh(), ..row(PacketEvent::Ack, flow, &packet) };
            self.trace.ack(row, &ack);
        }
        self.on_sender(flow, |sender, now_ns, knobs, out| sender.on_ack(now_ns, &ack, knobs, &mut |segment| out.push(segment)));
    }

    /// Lets a sender take an event, sends what it hands out, and keeps its timer.
    #[inline]
    fn on_sender(&mut self, flow: u32, event: impl FnOnce(&mut Sender, u64, &Knobs, &mut Vec<DataSegment>)) {
        let now_ns = self.now_ns;
        let tcp = &mut self.flows[flow as usize];
        let knobs = &self.knobs[tcp.knobs as usize];
        let mut outbox = std::mem::take(&mut self.outbox);
        if T::ON {
            self.trace.before(now_ns, flow, &tcp.sender, knobs);
        }
        event(&mut tcp.sender, now_ns, knobs, &mut outbox);
        if T::ON {
            self.trace.after(now_ns, flow, &tcp.sender, knobs);
        }
        let (cwnd, ssthresh) = (tcp.sender.cwnd(), tcp.sender.ssthresh());
        let deadline_ns = tcp.sender.deadline_ns();
        if deadline_ns < tcp.armed_ns {
            tcp.armed_ns = deadline_ns;
            self.timers.push(deadline_ns, Kind::Retransmission, flow);
        }
        if deadline_ns == NEVER && tcp.sums.finish_ns.is_none() && tcp.sender.is_finished() {
            tcp.sums.finish_ns = Some(now_ns);
        }
        for segment in outbox.drain(..) {
            self.flows[flow as usize].hash.add(now_ns ^ ((segment.number as u64) << 40) ^ cwnd.to_bits().rotate_left(7));
            let packet = Packet {
                at_ns: now_ns,
                number: segment.number,
                sent_ns: now_ns,
                size_bytes: segment.size_bytes as u16,
                retransmission: segment.retransmission,
                options: 0,
            };
            if T::ON {
                self.trace.packet(PacketRow { cwnd, ssthresh, ..row(PacketEvent::Send, flow, &packet) });
            }
            self.carry(flow, 0, packet);
        }
        self.outbox = outbox;
    }

    #[cold]
    fn on_timer(&mut self) {
        let Some((time_ns, kind, flow)) = self.timers.pop() else { return };
        self.now_ns = time_ns;
        match kind {
            Kind::Start => self.on_sender(flow, |sender, now_ns, knobs, out| sender.start(now_ns, knobs, &mut |segment| out.push(segment))),
            Kind::Stop => self.on_sender(flow, |sender, now_ns, _, _| sender.stop(now_ns)),
            Kind::Measure => {
                let begin = time_ns == self.window.from_ns;
                for tcp in &mut self.flows {
                    let counters = tcp.sender.counters(time_ns);
                    *(if begin { &mut tcp.sums.at_begin } else { &mut tcp.sums.at_end }) = counters;
                }
            }
            Kind::DelayedAck => {
                let tcp = &mut self.flows[flow as usize];
                if tcp.receiver.deadline_ns() != time_ns {
                    return;
                }
                let place = tcp.place;
                if let Some(ack) = tcp.receiver.on_timer(&self.knobs[tcp.knobs as usize]) {
                    let packet = self.ack_packet(time_ns, &ack);
                    let sink = self.routes[place.route as usize].stages.iter().position(|stage| stage.0 == Stage::Sink);
                    self.carry_on(flow, sink.map_or(0, |sink| sink + 1), packet);
                }
            }
            Kind::Retransmission => {
                let tcp = &mut self.flows[flow as usize];
                if tcp.armed_ns != time_ns {
                    return;
                }
                tcp.armed_ns = NEVER;
                let deadline_ns = tcp.sender.deadline_ns();
                if deadline_ns > time_ns {
                    if deadline_ns != NEVER {
                        tcp.armed_ns = deadline_ns;
                        self.timers.push(deadline_ns, Kind::Retransmission, flow);
                    }
                    return;
                }
                self.on_sender(flow, |sender, now_ns, knobs, out| sender.on_timeout(now_ns, knobs, &mut |segment| out.push(segment)));
                if T::ON {
                    let sender = &self.flows[flow as usize].sender;
                    let packet = Packet { at_ns: time_ns, number: sender.first_unacknowledged(), sent_ns: 0, size_bytes: 0, retransmission: false, options: 0 };
                    self.trace.packet(PacketRow { cwnd: sender.cwnd(), ssthresh: sender.ssthresh(), ..row(PacketEvent::Timeout, flow, &packet) });
                }
            }
        }
    }

    /// Enters `stage` at the packet's time: at once, or through the stage's stream.
    fn carry_on(&mut self, flow: u32, stage: usize, packet: Packet) {
        let place = self.flows[flow as usize].place;
        match self.routes[place.route as usize].stages[stage].1 {
            Some(offset) => self.push(place.first_stream + offset, packet),
            None => self.carry(flow, stage, packet),
        }
    }

    /// A source of cross traffic has a packet ready.
    #[inline]
    fn emit_cross(&mut self, stream: u32, flow: u32) {
        let source = &mut self.cross[flow as usize - self.flows.len()];
        let packet = Packet {
            at_ns: self.now_ns,
            number: source.next,
            sent_ns: self.now_ns,
            size_bytes: source.size_bytes,
            retransmission: false,
            options: 0,
        };
        source.next += 1;
        let next_ns = source.serializer.finish(self.now_ns, u32::from(source.size_bytes));
        self.scheduler.set(stream, if next_ns < source.stop_ns { next_ns } else { EMPTY });
        self.carry(flow, 0, packet);
    }
}

fn row(event: PacketEvent, flow: u32, packet: &Packet) -> PacketRow {
    PacketRow {
        time_ns: packet.at_ns,
        event,
        flow,
        number: packet.number,
        size_bytes: u32::from(packet.size_bytes),
        cwnd: f64::NAN,
        ssthresh: f64::NAN,
        retransmission: packet.retransmission,
        sack: 0,
    }
}
