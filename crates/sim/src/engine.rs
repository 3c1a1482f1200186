//! The event loop.
//!
//! A packet costs an event only where it meets others: at a shared link, and at its sender. Everything else (private links, first-in
//! first-out departures, a receiver that answers at once) is arithmetic done as soon as its inputs are known. That is exact because a
//! private stage sees its packets in order of time whoever else is active; `Options::look_ahead` turns it off for tests.

use crate::flow::{CrossFlow, Place, TcpFlow};
use crate::link::{Link, Pipe, Window};
use crate::packet::{AckOptions, OptionStore, Packet};
use crate::scheduler::{EMPTY, Scheduler};
use crate::timers::{Kind, Timers};
use crate::trace::{PacketEvent, PacketRow, Trace};
use cwndlab_tcp::{AckSegment, DataSegment, Knobs, NEVER, Receiver, Sender};
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

/// What the head of a stream is due for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// An acknowledgement reaches the sender.
    Ack,
    /// A packet enters this stage of its route.
    Enter(u32),
    /// A source of cross traffic has a packet ready.
    Emit,
}

/// Packets on their way to one stage of one flow.
#[derive(Debug)]
pub struct Pending {
    /// In order of time.
    pub ring: VecDeque<Packet>,
    /// Flow, or number of TCP flows plus number of the cross source.
    pub flow: u32,
    /// What happens at its head.
    pub due: Due,
    /// Where the flow is in the tables.
    pub place: Place,
}

/// All packets that wait for an event, and which comes first.
#[derive(Debug)]
pub struct Streams<S> {
    /// One for each stage of a flow where packets wait.
    pub all: Vec<Pending>,
    /// Order of their heads.
    pub scheduler: S,
    /// Packets in all of them.
    pub packets: u64,
}

impl<S: Scheduler> Streams<S> {
    #[inline]
    fn push(&mut self, stream: u32, packet: Packet) {
        let ring = &mut self.all[stream as usize].ring;
        debug_assert!(ring.back().is_none_or(|last| last.at_s <= packet.at_s), "a stream is in order of time");
        let was_empty = ring.is_empty();
        ring.push_back(packet);
        self.packets += 1;
        if was_empty {
            self.scheduler.set(stream, packet.at_s);
        }
    }
}

/// Everything that moves.
pub struct Engine<S: Scheduler, T: Trace> {
    pub(crate) flows: Vec<TcpFlow>,
    pub(crate) cross: Vec<CrossFlow>,
    pub(crate) links: Vec<Link>,
    pub(crate) pipes: Vec<Pipe>,
    pub(crate) routes: Vec<Route>,
    pub(crate) streams: Streams<S>,
    pub(crate) knobs: Vec<Knobs>,
    pub(crate) options: OptionStore,
    pub(crate) timers: Timers,
    pub(crate) trace: T,
    pub(crate) window: Window,
    pub(crate) end_s: f64,
    pub(crate) bin_s: f64,
    pub(crate) now_s: f64,
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
            let (time_s, stream) = self.streams.scheduler.first();
            let timer_s = self.timers.first_s();
            // A moment's bookkeeping (starts, the measuring window) comes before its packets, its time-outs after them.
            if timer_s < time_s || (timer_s == time_s && self.timers.first_is_bookkeeping()) {
                if timer_s > self.end_s {
                    return self.finish();
                }
                self.on_timer();
            } else if time_s > self.end_s {
                return self.finish();
            } else {
                self.now_s = time_s;
                self.on_stream(stream);
            }
        }
        let queued: usize = self.links.iter().map(Link::backlog).sum();
        if self.streams.packets + queued as u64 > MOST_PENDING || self.trace.overflowed() { Status::TooLarge } else { Status::Running }
    }

    fn finish(&mut self) -> Status {
        self.now_s = self.end_s;
        for link in &mut self.links {
            link.finish(self.end_s);
        }
        for (flow, tcp) in self.flows.iter().enumerate() {
            self.trace.before(self.end_s, flow as u32, &tcp.sender, &self.knobs[tcp.knobs as usize]);
        }
        Status::Done
    }

    /// The head of a stream is due.
    #[inline]
    fn on_stream(&mut self, stream: u32) {
        let pending = &mut self.streams.all[stream as usize];
        let (flow, due, place) = (pending.flow, pending.due, pending.place);
        if due == Due::Emit {
            return self.emit_cross(stream, flow);
        }
        let Some(packet) = pending.ring.pop_front() else { return };
        let next_s = pending.ring.front().map_or(EMPTY, |next| next.at_s);
        self.streams.packets -= 1;
        self.streams.scheduler.set(stream, next_s);
        match due {
            Due::Enter(stage) => self.carry(flow, place, stage as usize, packet),
            _ => self.on_ack(flow, packet),
        }
    }

    /// Takes a packet through the stages from `stage` on, until it must wait for an event, is lost, or ends.
    #[inline]
    fn carry(&mut self, flow: u32, place: Place, mut stage: usize, mut packet: Packet) {
        let stages = &self.routes[place.route as usize].stages;
        loop {
            match stages[stage].0 {
                Stage::Pipe(offset) => {
                    let pipe = &mut self.pipes[(place.first_pipe + offset) as usize];
                    pipe.pass(&mut packet);
                }
                Stage::Link(link) => {
                    let arrived_s = packet.at_s;
                    if !self.links[link as usize].arrive(&mut packet, flow) {
                        return self.lost(flow, stage, arrived_s, packet);
                    }
                }
                Stage::Sink => {
                    let Some(tcp) = self.flows.get_mut(flow as usize) else { return };
                    let knobs = &self.knobs[tcp.knobs as usize];
                    self.delivered += 1;
                    let Some(ack) = receive(tcp, flow, &packet, knobs, self.window, self.bin_s, &mut self.trace, &mut self.timers) else { return };
                    packet = ack_packet(packet.at_s, &ack, &tcp.receiver, &mut self.options);
                }
                Stage::Source => unreachable!("a sender always waits for an event"),
            }
            stage += 1;
            if packet.at_s > self.end_s {
                return self.still_on_its_way(flow, stage, packet);
            }
            if let Some(offset) = stages[stage].1 {
                return self.streams.push(place.first_stream + offset, packet);
            }
        }
    }

    /// Whether a stage lies on the way of data, not of acknowledgements.
    fn carries_data(&self, flow: u32, stage: usize) -> bool {
        let tcp = &self.flows[flow as usize];
        !self.routes[tcp.place.route as usize].stages[..stage].iter().any(|stage| stage.0 == Stage::Sink)
    }

    #[cold]
    fn lost(&mut self, flow: u32, stage: usize, arrived_s: f64, mut packet: Packet) {
        packet.at_s = arrived_s;
        if packet.options > 0 {
            self.options.take(packet.options);
        }
        if flow as usize >= self.flows.len() || !self.carries_data(flow, stage) {
            return;
        }
        let sums = &mut self.flows[flow as usize].sums;
        sums.total_dropped += 1;
        sums.dropped += u64::from(self.window.contains(packet.at_s));
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

    /// An acknowledgement reached its sender.
    #[inline]
    fn on_ack(&mut self, flow: u32, packet: Packet) {
        let mut ack = AckSegment { ack: packet.number, sent_s: packet.sent_s, echo_s: packet.sent_s, size_bytes: u32::from(packet.size_bytes) };
        let options = (packet.options > 0).then(|| self.options.take(packet.options));
        let sack = options.as_ref().map(|options| {
            ack.echo_s = options.echo_s;
            &options.sack
        });
        let sack = sack.filter(|sack| !sack.is_empty());
        if T::ON {
            let sender = &self.flows[flow as usize].sender;
            let row = PacketRow { cwnd: sender.cwnd(), ssthresh: sender.ssthresh(), ..row(PacketEvent::Ack, flow, &packet) };
            self.trace.ack(row, sack);
        }
        self.on_sender(flow, |sender, now_s, knobs, out| sender.on_ack(now_s, &ack, sack, knobs, &mut |segment| out.push(segment)));
    }

    /// Lets a sender take an event, sends what it hands out, and keeps its timer.
    #[inline]
    fn on_sender(&mut self, flow: u32, event: impl FnOnce(&mut Sender, f64, &Knobs, &mut Vec<DataSegment>)) {
        let now_s = self.now_s;
        let tcp = &mut self.flows[flow as usize];
        let knobs = &self.knobs[tcp.knobs as usize];
        let mut outbox = std::mem::take(&mut self.outbox);
        if T::ON {
            self.trace.before(now_s, flow, &tcp.sender, knobs);
        }
        event(&mut tcp.sender, now_s, knobs, &mut outbox);
        if T::ON {
            self.trace.after(now_s, flow, &tcp.sender, knobs);
        }
        let place = tcp.place;
        let deadline_s = tcp.sender.deadline_s();
        if deadline_s < tcp.armed_s {
            tcp.armed_s = deadline_s;
            self.timers.push(deadline_s, Kind::Retransmission, flow);
        }
        if deadline_s == NEVER && tcp.sums.finish_s.is_none() && tcp.sender.is_finished() {
            tcp.sums.finish_s = Some(now_s);
        }
        for segment in outbox.drain(..) {
            self.flows[flow as usize].hash.add(now_s.to_bits() ^ ((segment.number as u64) << 40) ^ segment.cwnd.to_bits().rotate_left(7));
            let packet = Packet {
                at_s: now_s,
                since_s: now_s,
                number: segment.number,
                sent_s: now_s,
                size_bytes: segment.size_bytes as u16,
                retransmission: segment.retransmission,
                options: 0,
            };
            if T::ON {
                self.trace.packet(PacketRow { cwnd: segment.cwnd, ssthresh: segment.ssthresh, ..row(PacketEvent::Send, flow, &packet) });
            }
            self.carry(flow, place, 0, packet);
        }
        self.outbox = outbox;
    }

    #[cold]
    fn on_timer(&mut self) {
        let Some((time_s, kind, flow)) = self.timers.pop() else { return };
        self.now_s = time_s;
        match kind {
            Kind::Start => self.on_sender(flow, |sender, now_s, knobs, out| sender.start(now_s, knobs, &mut |segment| out.push(segment))),
            Kind::Stop => self.on_sender(flow, |sender, now_s, _, _| sender.stop(now_s)),
            Kind::Measure => {
                let begin = time_s == self.window.from_s;
                for tcp in &mut self.flows {
                    let counters = tcp.sender.counters(time_s);
                    *(if begin { &mut tcp.sums.at_begin } else { &mut tcp.sums.at_end }) = counters;
                }
            }
            Kind::DelayedAck => {
                let tcp = &mut self.flows[flow as usize];
                if tcp.receiver.deadline_s() != time_s {
                    return;
                }
                let place = tcp.place;
                if let Some(ack) = tcp.receiver.on_timer(&self.knobs[tcp.knobs as usize]) {
                    let packet = ack_packet(time_s, &ack, &tcp.receiver, &mut self.options);
                    let sink = self.routes[place.route as usize].stages.iter().position(|stage| stage.0 == Stage::Sink);
                    self.carry_on(flow, sink.map_or(0, |sink| sink + 1), packet);
                }
            }
            Kind::Retransmission => {
                let tcp = &mut self.flows[flow as usize];
                if tcp.armed_s != time_s {
                    return;
                }
                tcp.armed_s = NEVER;
                let deadline_s = tcp.sender.deadline_s();
                if deadline_s > time_s {
                    if deadline_s != NEVER {
                        tcp.armed_s = deadline_s;
                        self.timers.push(deadline_s, Kind::Retransmission, flow);
                    }
                    return;
                }
                self.on_sender(flow, |sender, now_s, knobs, out| sender.on_timeout(now_s, knobs, &mut |segment| out.push(segment)));
                if T::ON {
                    let sender = &self.flows[flow as usize].sender;
                    let packet = Packet { at_s: time_s, since_s: time_s, number: sender.first_unacknowledged(), sent_s: 0.0, size_bytes: 0, retransmission: false, options: 0 };
                    self.trace.packet(PacketRow { cwnd: sender.cwnd(), ssthresh: sender.ssthresh(), ..row(PacketEvent::Timeout, flow, &packet) });
                }
            }
        }
    }

    /// Enters `stage` at the packet's time: at once, or through the stage's stream.
    fn carry_on(&mut self, flow: u32, stage: usize, packet: Packet) {
        let place = self.flows[flow as usize].place;
        match self.routes[place.route as usize].stages[stage].1 {
            Some(offset) => self.streams.push(place.first_stream + offset, packet),
            None => self.carry(flow, place, stage, packet),
        }
    }

    /// A source of cross traffic has a packet ready.
    #[inline]
    fn emit_cross(&mut self, stream: u32, flow: u32) {
        let source = &mut self.cross[flow as usize - self.flows.len()];
        let packet = Packet {
            at_s: self.now_s,
            since_s: self.now_s,
            number: source.next,
            sent_s: self.now_s,
            size_bytes: source.size_bytes,
            retransmission: false,
            options: 0,
        };
        source.next += 1;
        let (next_s, _) = source.serializer.finish(self.now_s, u32::from(source.size_bytes));
        let place = source.place;
        self.streams.scheduler.set(stream, if next_s < source.stop_s { next_s } else { EMPTY });
        self.carry(flow, place, 0, packet);
    }
}

/// A data packet reached the receiver; returns the acknowledgement to send now, if any.
#[inline]
#[allow(clippy::too_many_arguments, reason = "the parts of the engine that it touches, borrowed one by one while the route is")]
fn receive<T: Trace>(
    tcp: &mut TcpFlow,
    flow: u32,
    packet: &Packet,
    knobs: &Knobs,
    window: Window,
    bin_s: f64,
    trace: &mut T,
    timers: &mut Timers,
) -> Option<AckSegment> {
    let (new, ack) = tcp.receiver.on_data(packet.at_s, packet.number, packet.sent_s, knobs);
    tcp.sums.total_delivered += 1;
    // A SYN carries no data.
    if new && !(packet.number == 0 && knobs.syn) {
        if window.contains(packet.at_s) {
            tcp.sums.delivered += 1;
            tcp.sums.bins.add(packet.at_s, &window, bin_s);
        }
        if T::ON {
            trace.goodput(packet.at_s, flow, u64::from(knobs.packet_size) * 8);
        }
    }
    if T::ON {
        trace.packet(row(PacketEvent::Receive, flow, packet));
    }
    if knobs.delayed_ack && tcp.receiver.deadline_s() != NEVER {
        timers.push(tcp.receiver.deadline_s(), Kind::DelayedAck, flow);
    }
    ack
}

#[inline]
fn ack_packet(at_s: f64, ack: &AckSegment, receiver: &Receiver, options: &mut OptionStore) -> Packet {
    let blocks = receiver.blocks();
    let plain = blocks.is_none() && ack.echo_s == ack.sent_s;
    let options = if plain { 0 } else { options.put(AckOptions { sack: blocks.copied().unwrap_or_default(), echo_s: ack.echo_s }) };
    Packet { at_s, since_s: at_s, number: ack.ack, sent_s: ack.sent_s, size_bytes: ack.size_bytes as u16, retransmission: false, options }
}

fn row(event: PacketEvent, flow: u32, packet: &Packet) -> PacketRow {
    PacketRow {
        time_s: packet.at_s,
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
