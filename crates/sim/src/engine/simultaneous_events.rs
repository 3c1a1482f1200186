//! Simultaneous events: the tie-breaking order of events due at one instant, off the fast path.
//!
//! As in ns-2, the event that was scheduled first is processed first: a packet counts from the
//! start of its last transmission, a timer from when it was armed. Events that were scheduled at
//! the same instant follow the order of the events that scheduled them (`Packet::lead_s`). The
//! order decides whose packet enters a full queue; flows of equal delays meet like this all the
//! time.

use crate::engine::state::Engine;
use crate::event::queues::{EventKind, PacketFifo};
use crate::event::scheduler::{EventScheduler, NO_EVENT};
use crate::event::simultaneous::SimultaneousEvent;
use crate::event::timers::TimerKind;
use crate::measure::trace::Tracer;
use crate::packet::{Packet, RoutedPacket};

impl<S: EventScheduler, T: Tracer> Engine<S, T> {
    /// Adds a FIFO head to the events due at this instant.
    #[cold]
    #[inline(never)]
    pub(crate) fn defer_to_tie_break(&mut self, fifo: u32, head: Option<Packet>) {
        let PacketFifo { flow, event, .. } = self.datapath.event_queues.fifos[fifo as usize];
        let (tx_start_s, lead_s, flow) = match (head, event) {
            (Some(packet), _) => (packet.tx_start_s, packet.lead_s, flow),
            // The end of a transmission comes after an arrival that was scheduled at the same time.
            (None, EventKind::TransmissionEnd(link)) => (
                self.datapath.links[link as usize]
                    .scheduled_queue_mut()
                    .map_or(NO_EVENT, |scheduled_queue| scheduled_queue.tx_start_s),
                0.0,
                u32::MAX,
            ),
            (None, EventKind::MergeBatch(merge_queue)) => self.datapath.merge_queues
                [merge_queue as usize]
                .first()
                .map_or((NO_EVENT, 0.0, u32::MAX), |&RoutedPacket { packet, flow, .. }| {
                    (packet.tx_start_s, packet.lead_s, flow)
                }),
            (None, _) => (NO_EVENT, 0.0, u32::MAX),
        };
        self.simultaneous_seen += 1;
        let (order, round) = (self.simultaneous_seen, self.rounds);
        let event = SimultaneousEvent { tx_start_s, lead_s, flow, round, fifo, order, head };
        self.simultaneous.push(event);
    }

    /// Processes one of several events due at this instant, in the order in which they were
    /// scheduled. One at a time, because an event may cause another one at the same instant.
    #[cold]
    #[inline(never)]
    pub(crate) fn on_simultaneous(&mut self) {
        let known = self.simultaneous.len();
        while self.datapath.event_queues.scheduler.earliest().0 == self.now_s {
            let fifo = self.datapath.event_queues.scheduler.earliest().1;
            let PacketFifo { flow, event, .. } = self.datapath.event_queues.fifos[fifo as usize];
            let head = self.take(fifo, flow, event);
            self.defer_to_tie_break(fifo, head);
        }
        if self.simultaneous.len() > known {
            // Sorted in reverse, so that the first is popped from the end.
            let rest = |simultaneous: &SimultaneousEvent| {
                (simultaneous.flow, simultaneous.round, simultaneous.fifo, simultaneous.order)
            };
            self.simultaneous.sort_by(|a, b| {
                let causes = a.lead_s.total_cmp(&b.lead_s);
                b.tx_start_s.total_cmp(&a.tx_start_s).then(causes).then(rest(b).cmp(&rest(a)))
            });
        }
        self.rounds += 1;
        if self.datapath.timers.first_s() == self.now_s {
            self.collect_timers();
        }
        let first_s = self.simultaneous.last().map_or(NO_EVENT, |first| first.tx_start_s);
        if let Some((armed_s, kind, flow)) = self.expired_timers.pop_if(|timer| timer.0 <= first_s)
        {
            self.armed_s = armed_s;
            self.expire(kind, flow);
        } else if let Some(SimultaneousEvent { fifo, head, .. }) = self.simultaneous.pop() {
            let PacketFifo { flow, event, indices, .. } =
                self.datapath.event_queues.fifos[fifo as usize];
            self.on_head(flow, event, indices, head);
        }
    }

    /// Takes the timers that expire at this instant and sorts them by the time at which they were
    /// armed.
    fn collect_timers(&mut self) {
        while self.datapath.timers.first_s() == self.now_s {
            if let Some((_, kind, flow)) = self.datapath.timers.pop() {
                self.expired_timers.push((self.armed_at_s(kind, flow), kind, flow));
            }
        }
        self.expired_timers.sort_by(|a, b| b.0.total_cmp(&a.0).then((b.1, b.2).cmp(&(a.1, a.2))));
    }

    /// Time at which a timer that expires now was armed, seconds. Starts, stops and window edges
    /// precede everything; so do entries whose deadline has moved, because they are only armed
    /// again.
    pub(crate) fn armed_at_s(&self, kind: TimerKind, flow: u32) -> f64 {
        let (deadline_s, armed_at_s) = match kind {
            TimerKind::Receiver => {
                let receiver = &self.datapath.sinks.receivers[flow as usize].receiver;
                (receiver.deadline_s(), receiver.armed_at_s())
            }
            TimerKind::Retransmission => {
                let sender = &self.senders[flow as usize].sender;
                (sender.deadline_s(), sender.armed_at_s())
            }
            TimerKind::FlowStart
            | TimerKind::Pacing
            | TimerKind::FlowArrival
            | TimerKind::PageRequest
            | TimerKind::Request
            | TimerKind::WindowEdge
            | TimerKind::AppStop => return 0.0,
        };
        if deadline_s == self.now_s { armed_at_s } else { 0.0 }
    }
}
