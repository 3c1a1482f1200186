//! Service of scheduled queues: enqueue, start and end of transmission on links whose discipline
//! decides at departure.

use crate::id::LinkId;
use crate::measure::trace::Tracer;
use crate::network::Network;
use crate::packet::{Packet, RoutedPacket};

impl<T: Tracer> Network<T> {
    /// The packets that wait for a scheduled queue enter it, and their transmissions start, in order
    /// of time up to the horizon of the station, but at most so many; returns their number.
    pub(crate) fn run_queue(
        &mut self,
        station: usize,
        link: LinkId,
        until_s: f64,
        most: usize,
    ) -> usize {
        let until_s = self.emit(station, until_s);
        let mut items = 0;
        while items < most && !self.overflowed {
            let waiting = &mut self.stations.list[station];
            let own_s = waiting.own_s;
            let limit_s = if own_s < until_s { own_s.next_up() } else { until_s };
            // Of an arrival and the end of a transmission at one instant, the one that was scheduled
            // first precedes.
            let arrival = waiting.arrivals.peek_before(limit_s).filter(|routed| {
                routed.packet.at_s < own_s
                    || routed.packet.tx_start_s <= self.links[link.index()].service_start_s()
            });
            match arrival.copied() {
                Some(routed) => {
                    waiting.arrivals.take();
                    self.enter(routed);
                }
                None if own_s < until_s => self.start_transmission(link, own_s),
                None => break,
            }
            items += 1;
        }
        self.stations.settle(station);
        self.stations.set_free(station, self.links[link.index()].free_s());
        items
    }

    /// A packet reaches a scheduled queue.
    #[inline(never)]
    pub(crate) fn enqueue_at_link(&mut self, link: LinkId, routed: RoutedPacket) {
        let now_s = routed.packet.at_s;
        let queue = &mut self.links[link.index()];
        let is_idle = queue.enqueue(routed);
        let has_overflowed = queue.overflowed();
        self.note_overflow(has_overflowed);
        self.drain_drops(link, now_s);
        if is_idle {
            self.start_transmission(link, now_s);
        } else {
            self.schedule_service(link);
        }
    }

    /// A link starts its next transmission.
    #[inline(never)]
    pub(crate) fn start_transmission(&mut self, link: LinkId, now_s: f64) {
        let served = self.links[link.index()].start_transmission(now_s);
        self.drain_drops(link, now_s);
        self.schedule_service(link);
        let Some((routed, at_s)) = served else { return };
        let hop = routed.hop();
        let RoutedPacket { packet, flow, first_access_link, .. } = routed;
        let Some(at_s) = at_s else { return self.on_dropped(flow, hop, packet) };
        if at_s > self.end_s {
            return self.on_unfinished(flow, hop, packet);
        }
        let packet = Packet { at_s, tx_start_s: now_s, tie_break_s: 0.0, ..packet };
        self.reach(flow, first_access_link, hop.next(), packet);
    }

    /// The station of a link learns when its next transmission starts.
    #[inline]
    fn schedule_service(&mut self, link: LinkId) {
        let next_s = self.links[link.index()].next_service_s();
        self.stations.set_service(self.station_of[link.index()] as usize, next_s);
    }

    /// Processes the packets that the queue dropped at `now_s`.
    #[inline]
    fn drain_drops(&mut self, link: LinkId, now_s: f64) {
        if self.links[link.index()].has_drops() {
            self.drain_all_drops(link, now_s);
        }
    }

    #[cold]
    #[inline(never)]
    fn drain_all_drops(&mut self, link: LinkId, now_s: f64) {
        while let Some(routed) = self.links[link.index()].pop_drop() {
            let packet = Packet { at_s: now_s, ..routed.packet };
            self.on_dropped(routed.flow, routed.hop(), packet);
        }
    }

    /// The run ends: packets that wait in scheduled queues are in flight.
    pub fn finish(&mut self) {
        let end_s = self.end_s;
        for index in 0..self.links.len() {
            self.links[index].finish(end_s);
            while let Some(routed) = self.links[index].drain_at_end(end_s) {
                self.on_unfinished(routed.flow, routed.hop(), routed.packet);
            }
        }
    }
}
