//! Links whose queue owns its packets, as packets meet them: an event for the end of a transmission where something waits.

use crate::link::{LOST, Then};
use crate::packet::Packet;
use crate::scheduler::Scheduler;
use crate::streams::Waiting;
use crate::trace::Trace;
use crate::transit::Transit;

impl<S: Scheduler, T: Trace> Transit<S, T> {
    /// A packet reaches a queue that owns its packets.
    #[inline(never)]
    pub(crate) fn join(&mut self, index: u32, waiting: Waiting) {
        let now_s = waiting.packet.at_s;
        let link = &mut self.links[index as usize];
        let then = link.offer(waiting);
        self.overflowed |= link.overflowed;
        self.bury(index);
        match then {
            Then::Nothing => {}
            Then::Serve => self.serve(index, now_s),
            Then::Wait(until_s) => self.wait(index, until_s),
        }
    }

    /// A link whose queue owns its packets begins its next transmission.
    pub fn serve(&mut self, index: u32, now_s: f64) {
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
        self.carry_on(flow, place, stage + 1, packet);
    }

    /// Schedules the end of a transmission.
    fn wait(&mut self, index: u32, until_s: f64) {
        if let Some(owned) = self.links[index as usize].service() {
            self.streams.scheduler.set(owned.stream, until_s);
        }
    }

    /// Sees to the packets that a queue has just lost.
    fn bury(&mut self, index: u32) {
        while let Some(Waiting { packet, flow, stage, place }) = self.links[index as usize].casualty() {
            self.gone(flow, place, stage as usize, packet, LOST);
        }
    }

    /// The run is over: what waits in queues that own their packets is on its way.
    pub fn finish(&mut self) {
        let end_s = self.end_s;
        for index in 0..self.links.len() {
            self.links[index].finish(end_s);
            while let Some(Waiting { packet, flow, stage, place }) = self.links[index].drain(end_s) {
                self.gone(flow, place, stage as usize, packet, f64::MAX);
            }
        }
    }
}
