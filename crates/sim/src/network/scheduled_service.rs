//! Service of scheduled queues: enqueue, start of transmission and end of transmission on links
//! whose discipline decides at departure.

use crate::event::scheduler::EventScheduler;
use crate::measure::trace::Tracer;
use crate::network::datapath::Datapath;
use crate::network::link::{ScheduledQueue, ServiceAction};
use crate::packet::{LOST, Packet, RoutedPacket};

impl<S: EventScheduler, T: Tracer> Datapath<S, T> {
    /// A packet reaches a scheduled queue.
    #[inline(never)]
    pub(crate) fn enqueue_at_link(&mut self, index: u32, routed: RoutedPacket) {
        let now_s = routed.packet.at_s;
        self.catch_up(index, now_s, routed.packet.tx_start_s);
        let link = &mut self.links[index as usize];
        let then = link.enqueue(routed);
        let has_overflowed = link.overflowed;
        self.note_overflow(has_overflowed);
        self.drain_drops(index, now_s);
        match then {
            ServiceAction::None => {}
            ServiceAction::StartTransmission => {
                self.start_transmission(index, now_s);
                self.schedule_catch_up(index);
            }
            ServiceAction::ScheduleAt(until_s) => self.schedule_end(index, until_s),
        }
    }

    /// Starts the deferred transmissions that precede the arrival of a packet at `now_s` whose own
    /// last transmission started at `tx_start_s`.
    #[inline]
    fn catch_up(&mut self, index: u32, now_s: f64, tx_start_s: f64) {
        while let Some(begins_s) = self.links[index as usize]
            .scheduled_queue_mut()
            .and_then(|scheduled_queue| scheduled_queue.deferred_start_s(now_s, tx_start_s))
        {
            self.start_transmission(index, begins_s);
        }
    }

    /// Starts all deferred transmissions, on every link: the caller inspects the state of flows.
    pub fn catch_up_all(&mut self, now_s: f64) {
        for index in 0..self.links.len() as u32 {
            self.catch_up(index, now_s, f64::NEG_INFINITY);
        }
    }

    /// A transmission ends, or the deferral of a start of transmission reaches its limit.
    pub fn on_service_event(&mut self, index: u32, now_s: f64) {
        let Some(scheduled_queue) = self.links[index as usize].scheduled_queue_mut() else {
            return;
        };
        if scheduled_queue.max_deferral_s == 0.0 {
            return self.start_transmission(index, now_s);
        }
        scheduled_queue.on_catch_up();
        // A transmission that starts at this instant stays deferred: a packet whose own
        // transmission started earlier may still arrive now.
        self.catch_up(index, now_s, f64::NEG_INFINITY);
        self.schedule_catch_up(index);
    }

    fn schedule_catch_up(&mut self, index: u32) {
        if let Some(until_s) = self.links[index as usize]
            .scheduled_queue_mut()
            .and_then(ScheduledQueue::schedule_catch_up)
        {
            self.schedule_end(index, until_s);
        }
    }

    /// A link starts its next transmission.
    #[inline(never)]
    fn start_transmission(&mut self, index: u32, now_s: f64) {
        let served = self.links[index as usize].start_transmission(now_s);
        self.drain_drops(index, now_s);
        let Some((RoutedPacket { packet, flow, stage, indices }, at_s, free_s)) = served else {
            return;
        };
        if let Some(free_s) = free_s {
            self.schedule_end(index, free_s);
        }
        if at_s > self.end_s {
            return self.end_trip(flow, indices, stage, packet, at_s);
        }
        let packet = Packet { at_s, tx_start_s: now_s, lead_s: 0.0, ..packet };
        self.reach::<true>(flow, indices, stage + 1, packet);
    }

    /// Schedules an event of the link: the end of a transmission, or the limit of a deferral.
    fn schedule_end(&mut self, index: u32, until_s: f64) {
        if let Some(scheduled_queue) = self.links[index as usize].scheduled_queue_mut() {
            self.event_queues.scheduler.schedule(scheduled_queue.fifo, until_s);
        }
    }

    /// Processes the packets that the queue dropped at `now_s`.
    #[inline]
    fn drain_drops(&mut self, index: u32, now_s: f64) {
        if self.links[index as usize].has_drops() {
            self.drain_all_drops(index, now_s);
        }
    }

    #[cold]
    #[inline(never)]
    fn drain_all_drops(&mut self, index: u32, now_s: f64) {
        while let Some(RoutedPacket { packet, flow, stage, indices }) =
            self.links[index as usize].pop_drop()
        {
            self.end_trip(flow, indices, stage, Packet { at_s: now_s, ..packet }, LOST);
        }
    }

    /// The run ends: packets that wait in scheduled queues are in flight.
    pub fn finish(&mut self) {
        let end_s = self.end_s;
        for index in 0..self.links.len() {
            self.catch_up(index as u32, end_s, f64::INFINITY);
            self.links[index].finish(end_s);
            while let Some(RoutedPacket { packet, flow, stage, indices }) =
                self.links[index].drain_at_end(end_s)
            {
                self.end_trip(flow, indices, stage, packet, f64::MAX);
            }
        }
    }
}
