//! The event loop: whichever comes first, the head of a stream or a timer.

use crate::arrivals::{ArrivalGroup, Transfer};
use crate::cross_traffic::CrossSource;
use crate::datapath::{CROSS, Datapath};
use crate::endpoints::SenderEndpoint;
use crate::event_queues::{EventKind, FlowIndices, PacketFifo};
use crate::event_scheduler::{EventScheduler, NO_EVENT};
use crate::packet::Packet;
use crate::simultaneous_events::SimultaneousEvent;
use crate::timers::TimerKind;
use crate::trace::Tracer;
use cwndlab_prefetch::prefetch;
use cwndlab_tcp::{Counters, Knobs};
use std::sync::Arc;

/// Senders, and what lies between them.
pub struct Engine<S: EventScheduler, T: Tracer> {
    /// The flows of the scenario, then the slots of those that arrive.
    pub(crate) senders: Vec<SenderEndpoint>,
    /// How many there are of the former.
    pub(crate) listed_flows: usize,
    /// Groups of flows that arrive.
    pub(crate) groups: Vec<ArrivalGroup>,
    /// Transfers that are complete.
    pub(crate) transfers: Vec<Transfer>,
    /// The first flow whose rule gave an answer that is no window, and when, seconds: senders run ahead, so another may yet be earlier.
    pub(crate) fault: Option<(f64, u32)>,
    pub(crate) cross: Vec<CrossSource>,
    pub(crate) datapath: Datapath<S, T>,
    pub(crate) knobs: Arc<[Knobs]>,
    pub(crate) now_s: f64,
    /// Senders' sums when the measuring window began; none where it began with the run.
    pub(crate) counters_at_window_start: Vec<Counters>,
    /// What they added to them within the window, once it is over; none where the run ends with it.
    pub(crate) measured: Vec<Counters>,
    /// When the measuring window begins and ends.
    pub(crate) window_edges_s: Vec<f64>,
    /// The next of them.
    pub(crate) next_window_edge_s: f64,
    /// Heads of streams that are due at this very moment.
    pub(crate) simultaneous: Vec<SimultaneousEvent>,
    /// How many there have been, and how many goes at them.
    pub(crate) simultaneous_seen: u64,
    pub(crate) rounds: u64,
    /// Timers that expire at this very moment, when each was armed, last first.
    pub(crate) expired_timers: Vec<(f64, TimerKind, u32)>,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// There is more to do.
    Running,
    /// The end was reached.
    Done,
    /// Packets on their way, or recorded rows, exceed the memory meant for them.
    OutOfMemory,
    /// A rule gave an answer that is no window.
    InvalidWindow,
}

impl<S: EventScheduler, T: Tracer> Engine<S, T> {
    /// Handles up to `events` events.
    pub fn advance(&mut self, events: u64) -> Status {
        for _ in 0..events {
            if self.datapath.overflowed {
                return Status::OutOfMemory;
            }
            if S::CAN_PEEK_AHEAD {
                self.fetch_ahead();
            }
            let (time_s, fifo) = self.datapath.event_queues.scheduler.earliest();
            let timer_s = self.datapath.timers.first_s();
            let is_untied = self.simultaneous.is_empty() && self.expired_timers.is_empty();
            if let Some((fault_s, _)) = self.fault
                && fault_s <= if is_untied { time_s.min(timer_s) } else { self.now_s }
            {
                return Status::InvalidWindow;
            }
            if is_untied {
                if timer_s < time_s {
                    if timer_s > self.datapath.end_s {
                        return self.finish();
                    }
                    self.on_timer();
                    continue;
                }
                if time_s > self.datapath.end_s {
                    return self.finish();
                }
                self.now_s = time_s;
                if timer_s > time_s {
                    let PacketFifo { flow, event, indices, .. } =
                        self.datapath.event_queues.fifos[fifo as usize];
                    if event == EventKind::AckLookahead {
                        self.on_ack_batch(fifo, flow, indices);
                        continue;
                    }
                    // As below, in line: most events.
                    if let EventKind::EnterStage(stage) = event {
                        let packet = self.datapath.event_queues.pop(fifo);
                        if self.datapath.event_queues.scheduler.earliest().0 > time_s {
                            if let Some((fifo, ack)) =
                                self.datapath.traverse(flow, indices, stage as usize, packet)
                            {
                                self.on_ack_early(fifo, flow, ack);
                            }
                        } else {
                            self.defer_to_tie_break(fifo, Some(packet));
                            self.on_simultaneous();
                        }
                        continue;
                    }
                    let head = self.take(fifo, flow, event);
                    if self.datapath.event_queues.scheduler.earliest().0 > time_s {
                        self.on_head(flow, event, indices, head);
                        continue;
                    }
                    self.defer_to_tie_break(fifo, head);
                }
            }
            self.on_simultaneous();
        }
        if self.datapath.overflowed || self.datapath.trace.overflowed() {
            Status::OutOfMemory
        } else {
            Status::Running
        }
    }

    fn finish(&mut self) -> Status {
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
        Status::Done
    }

    /// Takes the head of a stream that is due, and schedules the next: a packet, or nothing where a whole batch is due.
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

    /// Has what the packets after the next will need fetched from memory: first where their flows are, and when that is there, these.
    #[inline(always)]
    fn fetch_ahead(&self) {
        let queues = &self.datapath.event_queues;
        let pending = |(fifo, _): (u32, &Packet)| queues.fifos.get(fifo as usize);
        queues.scheduler.peek_ahead(8).and_then(pending).inspect(|pending| prefetch(*pending));
        // What these have elsewhere, which they must be there to tell.
        if let Some(pending) = queues.scheduler.peek_ahead(2).and_then(pending) {
            self.senders.get(pending.flow as usize).inspect(|endpoint| endpoint.sender.fetch());
            self.datapath
                .receivers
                .get(pending.flow as usize)
                .inspect(|sink| sink.receiver.fetch());
        }
        let Some(soon) = queues.scheduler.peek_ahead(4) else { return };
        self.datapath.options.prefetch(soon.1.options);
        let Some(pending) = pending(soon) else { return };
        let flow = pending.flow as usize;
        if !matches!(pending.event, EventKind::Ack | EventKind::AckLookahead) {
            self.datapath.receivers.get(flow).inspect(|sink| prefetch(*sink));
        }
        self.senders.get(flow).inspect(|endpoint| prefetch(*endpoint));
        self.datapath.access_links.prefetch(pending.indices.first_access_link);
    }

    /// Handles what [`Engine::take`] took.
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
                self.on_enter(flow, indices, stage as usize, packet)
            }
            (EventKind::MergeBatch(merge_queue), _) => {
                self.datapath.run_merge_batch(merge_queue, self.now_s)
            }
            (EventKind::TransmissionEnd(link), _) => self.datapath.on_depart(link, self.now_s),
            (_, Some(packet)) => self.datapath.traverse_slow_path(flow, indices, 0, packet),
            (_, None) => {}
        }
    }

    #[cold]
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
            return self.expire(kind, flow);
        }
        self.expired_timers.push((self.armed_at_s(kind, flow), kind, flow));
        self.on_simultaneous();
    }

    /// A source of cross traffic has a packet ready; when it will have the next is known at once.
    #[inline]
    fn emit(&mut self, fifo: u32, flow: u32) -> Packet {
        let source = &mut self.cross[(flow & !CROSS) as usize];
        let (at_s, tx_start_s, number, size_bytes, flags) =
            (self.now_s, source.last_s, source.next, source.size_bytes, source.flags);
        let next_time_s = source.send(at_s, &self.datapath.window);
        self.datapath.event_queues.scheduler.schedule(fifo, next_time_s);
        Packet { at_s, tx_start_s, number, sent_s: at_s, size_bytes, flags, options: 0 }
    }
}
