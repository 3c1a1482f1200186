//! The event loop: processes the earliest event, a FIFO head or a timer, until the end of the run.

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

/// State of a run: senders, the datapath between them, and timers.
pub struct Engine<S: EventScheduler, T: Tracer> {
    /// Senders of the listed flows, then the slots of arriving flows.
    pub(crate) senders: Vec<SenderEndpoint>,
    /// Number of listed flows.
    pub(crate) listed_flows: usize,
    /// Groups of arriving flows (`[[arrivals]]`).
    pub(crate) groups: Vec<ArrivalGroup>,
    /// Completed transfers.
    pub(crate) transfers: Vec<Transfer>,
    /// Time (seconds) and flow of the earliest invalid congestion window so far. Senders run ahead
    /// of the clock, so an earlier one may still appear.
    pub(crate) fault: Option<(f64, u32)>,
    pub(crate) cross: Vec<CrossSource>,
    pub(crate) datapath: Datapath<S, T>,
    pub(crate) knobs: Arc<[Knobs]>,
    pub(crate) now_s: f64,
    /// Counters of each sender at the start of the measurement window; empty if the window starts
    /// with the run.
    pub(crate) counters_at_window_start: Vec<Counters>,
    /// Increments of these counters within the window, once it has ended; empty if the run ends
    /// with it.
    pub(crate) measured: Vec<Counters>,
    /// Start and end of the measurement window, seconds.
    pub(crate) window_edges_s: Vec<f64>,
    /// The next edge of the window, seconds.
    pub(crate) next_window_edge_s: f64,
    /// FIFO heads due at the current instant, still to be processed.
    pub(crate) simultaneous: Vec<SimultaneousEvent>,
    /// Simultaneous events seen so far, and passes over them.
    pub(crate) simultaneous_seen: u64,
    pub(crate) rounds: u64,
    /// Timers that expire at the current instant with the time at which each was armed, latest
    /// first.
    pub(crate) expired_timers: Vec<(f64, TimerKind, u32)>,
}

/// State of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Events are left.
    Running,
    /// The end of the run is reached.
    Done,
    /// Packets in the network or recorded rows exceed the memory limit.
    OutOfMemory,
    /// A rule returned an invalid congestion window.
    InvalidWindow,
}

impl<S: EventScheduler, T: Tracer> Engine<S, T> {
    /// Processes at most `events` events.
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
                    // The most frequent event, inlined; the general form is `on_head`.
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
                .receivers
                .get(pending.flow as usize)
                .inspect(|sink| sink.receiver.prefetch());
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
                self.on_enter(flow, indices, stage as usize, packet)
            }
            (EventKind::MergeBatch(merge_queue), _) => {
                self.datapath.run_merge_batch(merge_queue, self.now_s)
            }
            (EventKind::TransmissionEnd(link), _) => {
                self.datapath.on_service_event(link, self.now_s)
            }
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

    /// A cross traffic source sends a packet; the time of its next packet is known at once.
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
