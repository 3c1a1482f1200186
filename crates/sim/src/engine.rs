//! The event loop: whichever comes first, the head of a stream or a timer.

use crate::flow::{CrossFlow, Host};
use crate::hash::TraceHash;
use crate::link::Link;
use crate::packet::Packet;
use crate::scheduler::{EMPTY, Scheduler};
use crate::streams::{Due, Place};
use crate::timers::Kind;
use crate::trace::{PacketEvent, PacketRow, Trace};
use crate::transit::{Transit, ack_options, row};
use cwndlab_tcp::{AckSegment, DataSegment, Knobs, NEVER, SackBlocks, Sender};
use std::sync::Arc;

/// Senders, and what lies between them.
pub struct Engine<S: Scheduler, T: Trace> {
    pub(crate) hosts: Vec<Host>,
    pub(crate) cross: Vec<CrossFlow>,
    pub(crate) transit: Transit<S, T>,
    pub(crate) knobs: Arc<[Knobs]>,
    pub(crate) now_s: f64,
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
const MOST_PENDING: u64 = 100_000_000;

impl<S: Scheduler, T: Trace> Engine<S, T> {
    /// Handles up to `events` events.
    pub fn advance(&mut self, events: u64) -> Status {
        for _ in 0..events {
            let (time_s, stream) = self.transit.streams.scheduler.first();
            let timer_s = self.transit.timers.first_s();
            if timer_s < time_s || (timer_s == time_s && self.timer_is_older(stream)) {
                if timer_s > self.transit.end_s {
                    return self.finish();
                }
                self.on_timer();
            } else if time_s > self.transit.end_s {
                return self.finish();
            } else {
                self.now_s = time_s;
                self.on_stream(stream);
            }
        }
        let queued: usize = self.transit.links.iter().map(Link::backlog).sum();
        let too_large = self.transit.streams.packets + queued as u64 > MOST_PENDING || self.transit.trace.overflowed();
        if too_large { Status::TooLarge } else { Status::Running }
    }

    /// Whether, at equal times, the first timer goes before the head of a stream. As in ns-2, the event that was scheduled earlier is
    /// the first: a timer when it was armed, a packet when its last transmission began. Starts and stops precede everything.
    #[cold]
    fn timer_is_older(&self, stream: u32) -> bool {
        let Some((kind, flow)) = self.transit.timers.first() else { return false };
        let armed_at_s = match kind {
            Kind::Start | Kind::Measure | Kind::Stop => return true,
            Kind::DelayedAck => self.transit.sinks[flow as usize].receiver.armed_at_s(),
            Kind::Retransmission => self.hosts[flow as usize].sender.armed_at_s(),
        };
        self.transit.streams.all[stream as usize].ring.front().is_some_and(|packet| armed_at_s <= packet.since_s)
    }

    fn finish(&mut self) -> Status {
        let end_s = self.transit.end_s;
        self.now_s = end_s;
        for link in &mut self.transit.links {
            link.finish(end_s);
        }
        for (flow, host) in self.hosts.iter().enumerate() {
            self.transit.trace.before(end_s, flow as u32, &host.sender, &self.knobs[host.knobs as usize]);
        }
        Status::Done
    }

    /// The head of a stream is due.
    #[inline]
    fn on_stream(&mut self, stream: u32) {
        let streams = &mut self.transit.streams;
        let pending = &mut streams.all[stream as usize];
        let (flow, due, place) = (pending.flow, pending.due, pending.place);
        match due {
            Due::Emit => return self.emit_cross(stream, flow),
            Due::Batch(inbox) => return self.transit.enter_batch(inbox, self.now_s),
            Due::Ack | Due::Enter(_) => {}
        }
        let Some(packet) = pending.ring.pop_front() else { return };
        let next_s = pending.ring.front().map_or(EMPTY, |next| next.at_s);
        streams.packets -= 1;
        streams.scheduler.set(stream, next_s);
        match due {
            Due::Enter(stage) => self.transit.carry(flow, place, stage as usize, packet),
            _ => self.on_ack(flow, packet),
        }
    }

    /// An acknowledgement reached its sender.
    #[inline]
    fn on_ack(&mut self, flow: u32, packet: Packet) {
        let mut ack =
            AckSegment { ack: packet.number, sent_s: packet.sent_s, echo_s: packet.sent_s, size_bytes: u32::from(packet.size_bytes) };
        let options = (packet.options > 0).then(|| self.transit.options.take(packet.options));
        let sack: Option<&SackBlocks> = options.as_ref().and_then(|options| {
            ack.echo_s = options.echo_s;
            Some(&options.sack).filter(|sack| !sack.is_empty())
        });
        if T::ON {
            let sender = &self.hosts[flow as usize].sender;
            let row =
                PacketRow { cwnd: sender.cwnd(), ssthresh: sender.ssthresh(), echo_s: ack.echo_s, ..row(PacketEvent::Ack, flow, &packet) };
            self.transit.trace.ack(row, sack);
        }
        self.on_sender(flow, |sender, now_s, knobs, wire| sender.on_ack(now_s, &ack, sack, knobs, &mut |segment| wire.send(segment)));
    }

    /// Lets a sender take an event, and keeps its timer.
    #[inline]
    fn on_sender(&mut self, flow: u32, event: impl FnOnce(&mut Sender, f64, &Knobs, &mut Wire<'_, S, T>)) {
        let now_s = self.now_s;
        let Host { sender, place, knobs, armed_s, hash, finish_s, .. } = &mut self.hosts[flow as usize];
        let knobs = &self.knobs[*knobs as usize];
        if T::ON {
            self.transit.trace.before(now_s, flow, sender, knobs);
        }
        event(sender, now_s, knobs, &mut Wire { transit: &mut self.transit, hash, flow, place: *place, now_s });
        if T::ON {
            self.transit.trace.after(now_s, flow, sender, knobs);
        }
        let deadline_s = sender.deadline_s();
        if deadline_s < *armed_s {
            *armed_s = deadline_s;
            self.transit.timers.push(deadline_s, Kind::Retransmission, flow);
        }
        if deadline_s == NEVER && finish_s.is_none() && sender.is_finished() {
            *finish_s = Some(now_s);
        }
    }

    #[cold]
    fn on_timer(&mut self) {
        let Some((time_s, kind, flow)) = self.transit.timers.pop() else { return };
        self.now_s = time_s;
        match kind {
            Kind::Start => self.on_sender(flow, |sender, now_s, knobs, wire| sender.start(now_s, knobs, &mut |segment| wire.send(segment))),
            Kind::Stop => self.on_sender(flow, |sender, now_s, _, _| sender.stop(now_s)),
            Kind::Measure => self.measure(),
            Kind::DelayedAck => self.on_delayed_ack(flow),
            Kind::Retransmission => self.on_retransmission(flow),
        }
    }

    /// The measuring window begins or ends.
    fn measure(&mut self) {
        let begin = self.now_s == self.transit.window.from_s;
        for host in &mut self.hosts {
            let counters = host.sender.counters(self.now_s);
            *(if begin { &mut host.at_begin } else { &mut host.at_end }) = counters;
        }
    }

    fn on_delayed_ack(&mut self, flow: u32) {
        let (place, time_s, transit) = (self.hosts[flow as usize].place, self.now_s, &mut self.transit);
        let sink = &mut transit.sinks[flow as usize];
        if sink.receiver.deadline_s() != time_s {
            return;
        }
        if let Some(ack) = sink.receiver.on_timer(&self.knobs[sink.knobs as usize]) {
            let options = ack_options(&ack, &sink.receiver, &mut transit.options);
            let (number, sent_s, size_bytes) = (ack.ack, ack.sent_s, ack.size_bytes as u16);
            let packet = Packet { at_s: time_s, since_s: time_s, number, sent_s, size_bytes, retransmission: false, options };
            let after = transit.routes[place.route as usize].sink + 1;
            transit.carry_on(flow, place, after, packet);
        }
    }

    /// An entry of a retransmission timer came up; the deadline may have moved since it was made.
    fn on_retransmission(&mut self, flow: u32) {
        let host = &mut self.hosts[flow as usize];
        if host.armed_s != self.now_s {
            return;
        }
        host.armed_s = NEVER;
        let deadline_s = host.sender.deadline_s();
        if deadline_s > self.now_s {
            if deadline_s != NEVER {
                host.armed_s = deadline_s;
                self.transit.timers.push(deadline_s, Kind::Retransmission, flow);
            }
            return;
        }
        self.on_sender(flow, |sender, now_s, knobs, wire| sender.on_timeout(now_s, knobs, &mut |segment| wire.send(segment)));
        if T::ON {
            let sender = &self.hosts[flow as usize].sender;
            let (at_s, number) = (self.now_s, sender.first_unacknowledged());
            let packet = Packet { at_s, since_s: at_s, number, sent_s: at_s, size_bytes: 0, retransmission: false, options: 0 };
            let row = PacketRow { cwnd: sender.cwnd(), ssthresh: sender.ssthresh(), ..row(PacketEvent::Timeout, flow, &packet) };
            self.transit.trace.packet(row);
        }
    }

    /// A source of cross traffic has a packet ready.
    #[inline]
    fn emit_cross(&mut self, stream: u32, flow: u32) {
        let source = &mut self.cross[flow as usize - self.hosts.len()];
        let (at_s, number, size_bytes, place) = (self.now_s, source.next, source.size_bytes, source.place);
        let packet = Packet { at_s, since_s: at_s, number, sent_s: at_s, size_bytes, retransmission: false, options: 0 };
        source.next += 1;
        let (next_s, _) = source.serializer.finish(self.now_s, u32::from(size_bytes));
        let next_s = if next_s < source.stop_s { next_s } else { EMPTY };
        self.transit.streams.scheduler.set(stream, next_s);
        self.transit.carry(flow, place, 0, packet);
    }
}

/// Where a sender's segments go.
struct Wire<'a, S: Scheduler, T: Trace> {
    transit: &'a mut Transit<S, T>,
    hash: &'a mut TraceHash,
    flow: u32,
    place: Place,
    now_s: f64,
}

impl<S: Scheduler, T: Trace> Wire<'_, S, T> {
    #[inline]
    fn send(&mut self, segment: DataSegment) {
        let (at_s, number, size_bytes) = (self.now_s, segment.number, segment.size_bytes as u16);
        self.hash.add(at_s.to_bits() ^ ((number as u64) << 40) ^ segment.cwnd.to_bits().rotate_left(7));
        let packet = Packet { at_s, since_s: at_s, number, sent_s: at_s, size_bytes, retransmission: segment.retransmission, options: 0 };
        if T::ON {
            let row = PacketRow { cwnd: segment.cwnd, ssthresh: segment.ssthresh, ..row(PacketEvent::Send, self.flow, &packet) };
            self.transit.trace.packet(row);
        }
        self.transit.carry(self.flow, self.place, 0, packet);
    }
}
