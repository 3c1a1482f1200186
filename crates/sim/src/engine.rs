//! The event loop: whichever comes first, the head of a stream or a timer.

use crate::arrivals::{Group, Transfer};
use crate::cross::CrossFlow;
use crate::flow::Host;
use crate::packet::Packet;
use crate::scheduler::{EMPTY, Scheduler};
use crate::streams::{Due, Pending, Place};
use crate::ties::Tied;
use crate::timers::Kind;
use crate::trace::Trace;
use crate::transit::{CROSS, Transit};
use cwndlab_prefetch::prefetch;
use cwndlab_tcp::{Counters, Knobs};
use std::sync::Arc;

/// Senders, and what lies between them.
pub struct Engine<S: Scheduler, T: Trace> {
    /// The flows of the scenario, then the slots of those that arrive.
    pub(crate) hosts: Vec<Host>,
    /// How many there are of the former.
    pub(crate) listed: usize,
    /// Groups of flows that arrive.
    pub(crate) groups: Vec<Group>,
    /// Transfers that are complete.
    pub(crate) transfers: Vec<Transfer>,
    /// The first flow whose rule gave an answer that is no window, and when, seconds: senders run ahead, so another may yet be earlier.
    pub(crate) fault: Option<(f64, u32)>,
    pub(crate) cross: Vec<CrossFlow>,
    pub(crate) transit: Transit<S, T>,
    pub(crate) knobs: Arc<[Knobs]>,
    pub(crate) now_s: f64,
    /// Senders' sums when the measuring window began; none where it began with the run.
    pub(crate) begun: Vec<Counters>,
    /// What they added to them within the window, once it is over; none where the run ends with it.
    pub(crate) measured: Vec<Counters>,
    /// When the measuring window begins and ends.
    pub(crate) edges_s: Vec<f64>,
    /// The next of them.
    pub(crate) next_edge_s: f64,
    /// Heads of streams that are due at this very moment.
    pub(crate) tied: Vec<Tied>,
    /// How many there have been, and how many goes at them.
    pub(crate) ties: u64,
    pub(crate) rounds: u64,
    /// Timers that expire at this very moment, when each was armed, last first.
    pub(crate) expiring: Vec<(f64, Kind, u32)>,
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
    /// A rule gave an answer that is no window.
    Faulty,
}

impl<S: Scheduler, T: Trace> Engine<S, T> {
    /// Handles up to `events` events.
    pub fn advance(&mut self, events: u64) -> Status {
        for _ in 0..events {
            if self.transit.overflowed {
                return Status::TooLarge;
            }
            if S::KNOWS_AHEAD {
                self.fetch_ahead();
            }
            let (time_s, stream) = self.transit.streams.scheduler.first();
            let timer_s = self.transit.timers.first_s();
            let is_untied = self.tied.is_empty() && self.expiring.is_empty();
            if let Some((fault_s, _)) = self.fault
                && fault_s <= if is_untied { time_s.min(timer_s) } else { self.now_s }
            {
                return Status::Faulty;
            }
            if is_untied {
                if timer_s < time_s {
                    if timer_s > self.transit.end_s {
                        return self.finish();
                    }
                    self.on_timer();
                    continue;
                }
                if time_s > self.transit.end_s {
                    return self.finish();
                }
                self.now_s = time_s;
                if timer_s > time_s {
                    let Pending { flow, due, place, .. } = self.transit.streams.all[stream as usize];
                    if due == Due::AckAhead {
                        self.on_acks(stream, flow, place);
                        continue;
                    }
                    // As below, in line: most events.
                    if let Due::Enter(stage) = due {
                        let packet = self.transit.streams.pop(stream);
                        if self.transit.streams.scheduler.first().0 > time_s {
                            if let Some((stream, ack)) = self.transit.enter(flow, place, stage as usize, packet) {
                                self.on_ack_early(stream, flow, ack);
                            }
                        } else {
                            self.tie(stream, Some(packet));
                            self.on_tied();
                        }
                        continue;
                    }
                    let head = self.take(stream, flow, due);
                    if self.transit.streams.scheduler.first().0 > time_s {
                        self.on_head(flow, due, place, head);
                        continue;
                    }
                    self.tie(stream, head);
                }
            }
            self.on_tied();
        }
        if self.transit.overflowed || self.transit.trace.overflowed() { Status::TooLarge } else { Status::Running }
    }

    fn finish(&mut self) -> Status {
        let end_s = self.transit.end_s;
        self.now_s = end_s;
        self.transit.finish();
        self.transit.release();
        for (flow, host) in self.hosts.iter().enumerate() {
            self.transit.trace.before(end_s, flow as u32, &host.sender, &self.knobs[host.knobs as usize]);
        }
        Status::Done
    }

    /// Takes the head of a stream that is due, and schedules the next: a packet, or nothing where a whole batch is due.
    #[inline(always)]
    pub(crate) fn take(&mut self, stream: u32, flow: u32, due: Due) -> Option<Packet> {
        match due {
            Due::Batch(_) | Due::Depart(_) => {
                self.transit.streams.scheduler.set(stream, EMPTY);
                None
            }
            Due::Emit => Some(self.emit(stream, flow)),
            Due::Ack | Due::AckAhead | Due::Enter(_) => Some(self.transit.streams.pop(stream)),
        }
    }

    /// Has what the packets after the next will need fetched from memory: first where their flows are, and when that is there, these.
    #[inline(always)]
    fn fetch_ahead(&self) {
        let streams = &self.transit.streams;
        let pending = |(stream, _): (u32, &Packet)| streams.all.get(stream as usize);
        streams.scheduler.ahead(8).and_then(pending).inspect(|pending| prefetch(*pending));
        // What these have elsewhere, which they must be there to tell.
        if let Some(pending) = streams.scheduler.ahead(2).and_then(pending) {
            self.hosts.get(pending.flow as usize).inspect(|host| host.sender.prefetch());
            self.transit.sinks.get(pending.flow as usize).inspect(|sink| sink.receiver.prefetch());
        }
        let Some(soon) = streams.scheduler.ahead(4) else { return };
        self.transit.options.fetch(soon.1.options);
        let Some(pending) = pending(soon) else { return };
        let flow = pending.flow as usize;
        if !matches!(pending.due, Due::Ack | Due::AckAhead) {
            self.transit.sinks.get(flow).inspect(|sink| prefetch(*sink));
        }
        self.hosts.get(flow).inspect(|host| prefetch(*host));
        self.transit.pipes.fetch(pending.place.first_pipe);
    }

    /// Handles what [`Engine::take`] took.
    #[inline(always)]
    pub(crate) fn on_head(&mut self, flow: u32, due: Due, place: Place, head: Option<Packet>) {
        match (due, head) {
            (Due::Ack | Due::AckAhead, Some(packet)) => self.on_ack(flow, packet),
            (Due::Enter(stage), Some(packet)) => self.on_enter(flow, place, stage as usize, packet),
            (Due::Batch(inbox), _) => self.transit.enter_batch(inbox, self.now_s),
            (Due::Depart(link), _) => self.transit.on_depart(link, self.now_s),
            (_, Some(packet)) => self.transit.carry(flow, place, 0, packet),
            (_, None) => {}
        }
    }

    #[cold]
    fn on_timer(&mut self) {
        self.now_s = self.transit.timers.first_s();
        let Some((_, kind, flow)) = self.transit.timers.pop() else { return };
        if S::KNOWS_AHEAD {
            self.transit.timers.next_flow().and_then(|flow| self.hosts.get(flow as usize)).inspect(|host| prefetch(*host));
        }
        if self.transit.timers.first_s() > self.now_s {
            return self.expire(kind, flow);
        }
        self.expiring.push((self.armed_at_s(kind, flow), kind, flow));
        self.on_tied();
    }

    /// A source of cross traffic has a packet ready; when it will have the next is known at once.
    #[inline]
    fn emit(&mut self, stream: u32, flow: u32) -> Packet {
        let source = &mut self.cross[(flow & !CROSS) as usize];
        let (at_s, since_s, number, size_bytes, flags) = (self.now_s, source.last_s, source.next, source.size_bytes, source.flags);
        let next_s = source.send(at_s, &self.transit.window);
        self.transit.streams.scheduler.set(stream, next_s);
        Packet { at_s, since_s, number, sent_s: at_s, size_bytes, flags, options: 0 }
    }
}
