//! The event loop: processes the earliest event, a FIFO head or a timer, until the end of the run.

use crate::engine::state::{Engine, Status};
use crate::event::queues::{EventKind, PacketFifo};
use crate::event::scheduler::{EventScheduler, NO_EVENT};
use crate::measure::trace::Tracer;
use crate::packet::{CROSS, FlowIndices, Packet};
use cwndlab_prefetch::prefetch;

/// Events between checks of the memory limit.
const EVENTS_BETWEEN_CHECKS: u64 = 1024;

impl<S: EventScheduler, T: Tracer> Engine<S, T> {
    /// Processes at most `events` events, until the end of the run.
    pub fn advance(&mut self, events: u64) -> Status {
        let status = self.process(events, self.datapath.end_s);
        if status == Status::Done {
            self.finish();
        }
        status
    }

    /// Processes all events up to `until_s`, and ends the run if it ends by then.
    pub fn advance_to(&mut self, until_s: f64) -> Status {
        let ends = until_s >= self.datapath.end_s;
        let mut status = Status::Running;
        while status == Status::Running {
            status = if ends { self.advance(u64::MAX) } else { self.process(u64::MAX, until_s) };
        }
        if ends {
            return status;
        }
        self.now_s = self.now_s.max(until_s);
        if status == Status::Done { Status::Running } else { status }
    }

    /// Processes at most `events` events; done if none is left up to `until_s`.
    fn process(&mut self, mut events: u64, until_s: f64) -> Status {
        if self.exceeds_memory() {
            return Status::OutOfMemory;
        }
        let fault_s = self.fault.map_or(NO_EVENT, |fault| fault.0);
        // What is due at `until_s` itself is processed.
        self.datapath.timers.halt_at(until_s.next_up().min(fault_s));
        while events > 0 {
            let batch = events.min(EVENTS_BETWEEN_CHECKS);
            events -= batch;
            let status = self.process_batch(batch);
            if self.exceeds_memory() {
                return Status::OutOfMemory;
            }
            if let Some(status) = status {
                return status;
            }
        }
        Status::Running
    }

    /// Whether packets in the network or recorded rows exceed the memory limit.
    fn exceeds_memory(&self) -> bool {
        self.datapath.overflowed || self.datapath.trace.overflowed()
    }

    /// Processes at most `events` events; some status if no further one may be processed.
    #[inline(always)]
    fn process_batch(&mut self, events: u64) -> Option<Status> {
        if self.has_simultaneous()
            && let Some(status) = self.process_simultaneous()
        {
            return Some(status);
        }
        for _ in 0..events {
            if S::CAN_PEEK_AHEAD {
                self.fetch_ahead();
            }
            let (time_s, fifo) = self.datapath.event_queues.scheduler.earliest();
            if time_s >= self.datapath.timers.due_s() {
                if let Some(status) = self.process_timer_or_halt(time_s) {
                    return Some(status);
                }
                continue;
            }
            self.now_s = time_s;
            let PacketFifo { flow, event, indices, .. } =
                self.datapath.event_queues.fifos[fifo as usize];
            // The most frequent event, inlined; the general form is `on_head`.
            if let EventKind::EnterStage(stage) = event {
                let packet = self.datapath.event_queues.pop(fifo);
                if self.datapath.event_queues.scheduler.earliest().0 > time_s {
                    if let Some((fifo, ack)) = self.datapath.traverse(flow, indices, stage, packet)
                    {
                        self.on_ack_early(fifo, flow, ack);
                    }
                    continue;
                }
                self.defer_to_tie_break(fifo, Some(packet));
            } else if event == EventKind::AckLookahead {
                self.on_ack_batch(fifo, flow, indices);
                continue;
            } else {
                let head = self.take(fifo, flow, event);
                if self.datapath.event_queues.scheduler.earliest().0 > time_s {
                    self.on_head(flow, event, indices, head);
                    continue;
                }
                self.defer_to_tie_break(fifo, head);
            }
            if let Some(status) = self.process_simultaneous() {
                return Some(status);
            }
        }
        None
    }

    /// The next thing due is a timer, alone or together with the packet due at `time_s`, or what is
    /// due must not be processed: the end is reached, or a sender is at fault.
    #[cold]
    #[inline(never)]
    fn process_timer_or_halt(&mut self, time_s: f64) -> Option<Status> {
        let timer_s = self.datapath.timers.first_s();
        let next_time_s = time_s.min(timer_s);
        if next_time_s >= self.datapath.timers.halt_s() {
            return Some(self.halted());
        }
        if timer_s < time_s {
            self.on_timer();
        } else {
            self.now_s = time_s;
        }
        if timer_s == time_s || self.has_simultaneous() {
            return self.process_simultaneous();
        }
        None
    }

    /// Processes what is due at this instant; some status if it must not go on now.
    #[cold]
    #[inline(never)]
    fn process_simultaneous(&mut self) -> Option<Status> {
        for _ in 0..EVENTS_BETWEEN_CHECKS {
            if self.datapath.timers.halt_s() <= self.now_s {
                return Some(self.halted());
            }
            self.on_simultaneous();
            if !self.has_simultaneous() {
                return None;
            }
        }
        Some(Status::Running)
    }

    /// Why nothing more is processed.
    fn halted(&self) -> Status {
        match self.fault {
            _ if self.exceeds_memory() => Status::OutOfMemory,
            Some((fault_s, _)) if fault_s <= self.datapath.timers.halt_s() => Status::InvalidWindow,
            _ => Status::Done,
        }
    }

    fn has_simultaneous(&self) -> bool {
        !(self.simultaneous.is_empty() && self.expired_timers.is_empty())
    }

    fn finish(&mut self) {
        let end_s = self.datapath.end_s;
        self.now_s = end_s;
        self.datapath.finish();
        self.datapath.release();
        for (flow, endpoint) in self.senders.iter().enumerate() {
            self.datapath.trace.before(
                end_s,
                flow as u32,
                &endpoint.sender,
                &self.knobs[endpoint.knobs as usize],
            );
        }
    }

    /// Takes the head of a FIFO that is due, and schedules its next one. Returns none for events
    /// that concern a queue instead of one packet.
    #[inline(always)]
    pub(crate) fn take(&mut self, fifo: u32, flow: u32, event: EventKind) -> Option<Packet> {
        match event {
            EventKind::MergeBatch(_) | EventKind::TransmissionEnd(_) => {
                self.datapath.event_queues.scheduler.schedule(fifo, NO_EVENT);
                None
            }
            EventKind::CrossSend => Some(self.emit(fifo, flow)),
            EventKind::Ack | EventKind::AckLookahead | EventKind::EnterStage(_) => {
                Some(self.datapath.event_queues.pop(fifo))
            }
        }
    }

    /// Prefetches state of upcoming packets: the structs of their flows first, and one packet later
    /// the memory that these structs point to.
    #[inline(always)]
    fn fetch_ahead(&self) {
        let queues = &self.datapath.event_queues;
        let pending = |(fifo, _): (u32, &Packet)| queues.fifos.get(fifo as usize);
        queues.scheduler.peek_ahead(8).and_then(pending).inspect(|pending| prefetch(*pending));
        // Memory that the prefetched structs point to.
        if let Some(pending) = queues.scheduler.peek_ahead(2).and_then(pending) {
            self.senders.get(pending.flow as usize).inspect(|endpoint| endpoint.sender.prefetch());
            self.datapath
                .sinks
                .receivers
                .get(pending.flow as usize)
                .inspect(|sink| sink.receiver.prefetch());
        }
        let Some(soon) = queues.scheduler.peek_ahead(4) else { return };
        self.datapath.options.prefetch(soon.1.options);
        let Some(pending) = pending(soon) else { return };
        let flow = pending.flow as usize;
        if !matches!(pending.event, EventKind::Ack | EventKind::AckLookahead) {
            self.datapath.sinks.receivers.get(flow).inspect(|sink| prefetch(*sink));
        }
        self.senders.get(flow).inspect(|endpoint| prefetch(*endpoint));
        self.datapath.access_links.prefetch(pending.indices.first_access_link);
    }

    /// Processes what [`Engine::take`] took.
    #[inline(always)]
    pub(crate) fn on_head(
        &mut self,
        flow: u32,
        event: EventKind,
        indices: FlowIndices,
        head: Option<Packet>,
    ) {
        match (event, head) {
            (EventKind::Ack | EventKind::AckLookahead, Some(packet)) => self.on_ack(flow, packet),
            (EventKind::EnterStage(stage), Some(packet)) => {
                self.on_enter(flow, indices, stage, packet)
            }
            (EventKind::MergeBatch(merge_queue), _) => {
                self.datapath.run_merge_batch(merge_queue, self.now_s)
            }
            (EventKind::TransmissionEnd(link), _) => {
                self.datapath.on_service_event(link, self.now_s)
            }
            (EventKind::CrossSend, Some(packet)) => {
                let first = self.datapath.routes[indices.route as usize].first;
                self.datapath.reach::<false>(flow, indices, first, packet)
            }
            (_, None) => {}
        }
    }

    #[cold]
    #[inline(never)]
    fn on_timer(&mut self) {
        self.now_s = self.datapath.timers.first_s();
        let Some((_, kind, flow)) = self.datapath.timers.pop() else { return };
        if S::CAN_PEEK_AHEAD {
            self.datapath
                .timers
                .next_flow()
                .and_then(|flow| self.senders.get(flow as usize))
                .inspect(|endpoint| prefetch(*endpoint));
        }
        if self.datapath.timers.first_s() > self.now_s {
            self.armed_s = self.armed_at_s(kind, flow);
            return self.expire(kind, flow);
        }
        self.expired_timers.push((self.armed_at_s(kind, flow), kind, flow));
        self.on_simultaneous();
    }

    /// A cross traffic source sends a packet; the time of its next packet is known at once.
    #[inline]
    fn emit(&mut self, fifo: u32, flow: u32) -> Packet {
        let source = &mut self.cross[(flow & !CROSS) as usize];
        let (at_s, tx_start_s, number, size_bytes, flags) =
            (self.now_s, source.last_s, source.next, source.size_bytes, source.flags);
        let next_time_s = source.send(at_s, &self.datapath.sinks.window);
        self.datapath.event_queues.scheduler.schedule(fifo, next_time_s);
        Packet { tx_start_s, ..Packet::sent(at_s, number, size_bytes, flags) }
    }
}
