//! Links whose queue owns its packets, as packets meet them: an event for the end of a transmission where something waits.

use crate::kept::Kept;
use crate::link::{LOST, Owned, Then};
use crate::packet::Packet;
use crate::pipe::Pipes;
use crate::scheduler::Scheduler;
use crate::streams::Waiting;
use crate::timers::Timers;
use crate::trace::Trace;
use crate::transit::{Entry, Transit};

impl<S: Scheduler, T: Trace> Transit<S, T> {
    /// A packet reaches a queue that owns its packets.
    #[inline(never)]
    pub(crate) fn join(&mut self, index: u32, waiting: Waiting) {
        let now_s = waiting.packet.at_s;
        self.catch_up(index, now_s, waiting.packet.since_s);
        let link = &mut self.links[index as usize];
        let then = link.offer(waiting);
        self.overflowed |= link.overflowed;
        self.bury(index);
        match then {
            Then::Nothing => {}
            Then::Serve => {
                self.serve(index, now_s);
                self.arrange(index);
            }
            Then::Wait(until_s) => self.wait(index, until_s),
        }
    }

    /// Begins the transmissions that should have begun by now, before a packet arrives that was set in motion at `since_s`.
    #[inline]
    fn catch_up(&mut self, index: u32, now_s: f64, since_s: f64) {
        while let Some(begins_s) = self.links[index as usize].service().and_then(|owned| owned.missed(now_s, since_s)) {
            self.serve(index, begins_s);
        }
    }

    /// Every link catches up: somebody is about to look at what has arrived where.
    pub fn catch_up_all(&mut self, now_s: f64) {
        for index in 0..self.links.len() as u32 {
            self.catch_up(index, now_s, f64::NEG_INFINITY);
        }
    }

    /// The end of a transmission, or the moment to catch up at the latest.
    pub fn on_depart(&mut self, index: u32, now_s: f64) {
        let Some(owned) = self.links[index as usize].service() else { return };
        if owned.behind_s == 0.0 {
            return self.serve(index, now_s);
        }
        owned.wake();
        // What begins at this very moment waits: a packet may still arrive that was set in motion earlier.
        self.catch_up(index, now_s, f64::NEG_INFINITY);
        self.arrange(index);
    }

    fn arrange(&mut self, index: u32) {
        if let Some(until_s) = self.links[index as usize].service().and_then(Owned::arrange) {
            self.wait(index, until_s);
        }
    }

    /// A link whose queue owns its packets begins its next transmission.
    #[inline(never)]
    fn serve(&mut self, index: u32, now_s: f64) {
        let served = self.links[index as usize].serve(now_s);
        self.bury(index);
        let Some((Waiting { packet, flow, stage, place }, at_s, free_s)) = served else { return };
        if let Some(free_s) = free_s {
            self.wait(index, free_s);
        }
        let stage = stage as usize;
        if at_s > self.end_s {
            return self.gone(flow, place, stage, packet, at_s);
        }
        let packet = Packet { at_s, since_s: now_s, ..packet };
        let route = &self.routes[place.route as usize];
        if route.stages[stage + 1].1 != Entry::AtOnce || route.legs[stage + 1].is_none() {
            return self.carry_on(flow, place, stage + 1, packet);
        }
        // As most packets go on, in line.
        if let Some((stream, ack)) = self.enter(flow, place, stage + 1, packet) {
            self.streams.push(stream, ack);
        }
    }

    /// Schedules the end of a transmission.
    fn wait(&mut self, index: u32, until_s: f64) {
        if let Some(owned) = self.links[index as usize].service() {
            self.streams.scheduler.set(owned.stream, until_s);
        }
    }

    /// Sees to the packets that a queue has just lost.
    #[inline]
    fn bury(&mut self, index: u32) {
        if self.links[index as usize].has_casualties() {
            self.bury_all(index);
        }
    }

    #[cold]
    fn bury_all(&mut self, index: u32) {
        while let Some(Waiting { packet, flow, stage, place }) = self.links[index as usize].casualty() {
            self.gone(flow, place, stage as usize, packet, LOST);
        }
    }

    /// The run is over: what waits in queues that own their packets is on its way.
    pub fn finish(&mut self) {
        let end_s = self.end_s;
        for index in 0..self.links.len() {
            self.catch_up(index as u32, end_s, f64::INFINITY);
            self.links[index].finish(end_s);
            while let Some(Waiting { packet, flow, stage, place }) = self.links[index].drain(end_s) {
                self.gone(flow, place, stage as usize, packet, f64::MAX);
            }
        }
    }

    /// The run is over: gives back what only packets on their way needed, so that results can have the memory.
    pub fn release(&mut self) {
        self.streams.all = Vec::new();
        self.streams.scheduler = S::new(1, 0.0);
        self.inboxes = Vec::new();
        self.pipes = Pipes::default();
        self.options = Kept::default();
        self.timers = Timers::default();
    }
}
