//! The event loop, in rounds: the station with the earliest item runs up to its horizon, and then
//! every sender processes its ACKs as soon as they are known.
//!
//! A window of packets is processed at once like this, link by link and sender by sender, as far as
//! delays separate them. Where nothing separates them, a round is the items of one instant in
//! the order of ns-2, in which what was scheduled first is processed first.

use crate::engine::state::{Engine, Status};
use crate::event::arrival_queue::NEVER;
use crate::event::stations::StationKind;
use crate::event::timers::TimerKind;
use crate::id::{FlowId, LinkId};
use crate::measure::trace::Tracer;
use crate::network::route::Stage;
use crate::packet::{Packet, RoutedPacket};
use cwndlab_prefetch::prefetch;

/// Items that a station or the senders process at most before the loop comes back: whoever runs the
/// simulation waits for that.
pub(crate) const LONGEST_RUN: usize = 1 << 11;

/// ACKs on their way beyond which a run stops: about 3 GiB.
const MOST_ACKS: usize = 50_000_000;

/// What is due first among simultaneous items of different stations: when it was scheduled, timers
/// first, longest lead first, kind of timer or hop, flow.
type ItemKey = (f64, bool, f64, u32, u32);

impl<T: Tracer> Engine<T> {
    /// Processes about `events` items, until the end of the run.
    pub fn advance(&mut self, events: u64) -> Status {
        let status = self.process(events, self.network.end_s);
        if status == Status::Done {
            self.finish();
        }
        status
    }

    /// Processes all that is due up to `until_s`, and ends the run if it ends by then.
    pub fn advance_to(&mut self, until_s: f64) -> Status {
        let ends = until_s >= self.network.end_s;
        let mut status = Status::Running;
        while status == Status::Running {
            status = if ends { self.advance(u64::MAX) } else { self.process(u64::MAX, until_s) };
        }
        if ends {
            return status;
        }
        self.clock_s = self.clock_s.max(until_s);
        if status == Status::Done { Status::Running } else { status }
    }

    /// Processes about `events` items; done if none is left up to `until_s`, this instant included.
    fn process(&mut self, events: u64, until_s: f64) -> Status {
        if self.halt_s != until_s.next_up() {
            self.halt_s = until_s.next_up();
            self.release_acks();
        }
        let end = self.processed.saturating_add(events);
        loop {
            if self.exceeds_memory() {
                return Status::OutOfMemory;
            }
            if self.processed >= end {
                return Status::Running;
            }
            if let Some(status) = self.round(end) {
                return status;
            }
        }
    }

    /// Whether packets in the network or recorded rows exceed the memory limit.
    fn exceeds_memory(&self) -> bool {
        self.network.overflowed
            || self.network.trace.overflowed()
            || self.network.acks.len() > MOST_ACKS
            || self.network.stations.overflowed && !self.network.is_live()
    }

    /// Nothing at this time or later is processed yet, seconds.
    pub(crate) fn limit_s(&self) -> f64 {
        let fault_s = self.fault.map_or(NEVER, |fault| fault.0);
        self.halt_s.min(self.next_window_edge_s).min(fault_s)
    }

    /// One round; some status if no further one may follow.
    fn round(&mut self, end: u64) -> Option<Status> {
        self.rounds += 1;
        let limit_s = self.limit_s();
        if let Some((_, ack)) = self.network.acks.front() {
            if ack.at_s < limit_s {
                self.clock_s = self.clock_s.max(ack.at_s);
            }
            self.run_acks(limit_s);
            return None;
        }
        let (station, first_s) = self.network.stations.earliest();
        if first_s >= limit_s {
            return self.pass_limit(limit_s);
        }
        self.clock_s = self.clock_s.max(first_s);
        let horizon_s =
            if self.looks_ahead { self.horizon_s(station).min(limit_s) } else { first_s };
        if horizon_s > first_s {
            self.run_station(station, horizon_s);
        } else {
            self.run_first_item(first_s);
            while self.network.acks.len() == 0
                && self.processed < end
                && self.network.stations.earliest().1 == first_s
                && !self.exceeds_memory()
            {
                self.run_first_item(first_s);
            }
        }
        None
    }

    /// Everything before the limit is processed: goes on behind it, if it is an edge of the
    /// measurement window.
    fn pass_limit(&mut self, limit_s: f64) -> Option<Status> {
        if self.fault.is_some_and(|fault| fault.0 <= limit_s) {
            return Some(Status::InvalidWindow);
        }
        if self.next_window_edge_s > limit_s || self.halt_s <= limit_s {
            // ACKs beyond the end of what was asked for wait until more is.
            return Some(Status::Done);
        }
        self.clock_s = limit_s;
        self.now_s = limit_s;
        self.measure();
        self.pass_edge();
        self.release_acks();
        None
    }

    /// The earliest time at which anything that happens elsewhere may reach a station, seconds.
    fn horizon_s(&mut self, station: usize) -> f64 {
        let stations = &self.network.stations;
        let (receivers, senders) = (stations.receivers() as usize, stations.senders() as usize);
        let mut horizon_s = stations.horizon_of_links_s(station);
        for number in [receivers, senders] {
            let delay_s = self.network.stations.delay_s(number, station);
            loop {
                let first_s = self.network.stations.first_of_s(number);
                if first_s + delay_s >= horizon_s || !self.renew_first_timer(number) {
                    horizon_s = horizon_s.min(first_s + delay_s);
                    break;
                }
            }
        }
        horizon_s
    }

    /// A station processes what is due before `until_s`, or part of it.
    fn run_station(&mut self, station: usize, until_s: f64) {
        match self.network.stations.list[station].kind {
            StationKind::Link(link) => self.run_link(station, link, until_s),
            StationKind::Queue(link) => {
                let items = self.network.run_queue(station, link, until_s, LONGEST_RUN);
                self.processed += items as u64;
            }
            StationKind::Receivers | StationKind::Senders | StationKind::Groups => {
                self.run_timers(station, until_s)
            }
        }
    }

    /// The packets that wait for a link enter it.
    fn run_link(&mut self, station: usize, link: LinkId, until_s: f64) {
        let mut limit_s = self.limit_s();
        let end = self.processed + LONGEST_RUN as u64;
        let until_s = self.network.emit(station, until_s);
        while self.processed < end && !self.network.overflowed {
            let waiting = &mut self.network.stations.list[station].arrivals;
            let Some(&routed) = waiting.peek_before(until_s) else { break };
            waiting.take();
            if self.prefetches {
                self.fetch_ahead(station);
            }
            self.processed += 1;
            let flow = routed.flow;
            let Some(ack) = self.network.traverse(routed) else { continue };
            if self.network.acks.len() == 0 {
                self.run_ack(flow, ack, &mut limit_s);
            } else {
                // Behind those of the same flow.
                self.network.acks.push_back((flow, Packet { ..ack }));
            }
        }
        self.network.stations.settle(station);
        self.network.stations.set_free(station, self.network.links[link.index()].free_s());
    }

    /// Prefetches state of upcoming packets: the structs of their flows first, and later the memory
    /// that these point to.
    #[inline(always)]
    fn fetch_ahead(&self, station: usize) {
        let network = &self.network;
        let arrivals = &network.stations.list[station].arrivals;
        if let Some(soon) = arrivals.peek_ahead(6) {
            let flow = soon.flow.index();
            network.receivers.list.get(flow).inspect(|sink| prefetch(*sink));
            self.senders.get(flow).inspect(|endpoint| prefetch(*endpoint));
            network.access_links.prefetch(soon.first_access_link);
        }
        if let Some(next) = arrivals.peek_ahead(2) {
            let flow = next.flow.index();
            network.receivers.list.get(flow).inspect(|sink| sink.receiver.prefetch());
            self.senders.get(flow).inspect(|endpoint| endpoint.sender.prefetch());
        }
    }

    /// Timers of a station expire and packets leave it, in order of time.
    fn run_timers(&mut self, station: usize, until_s: f64) {
        let end = self.processed + LONGEST_RUN as u64;
        while self.processed < end && !self.network.overflowed {
            if self.network.stations.list[station].first_s() >= until_s {
                break;
            }
            self.run_first_of(station);
        }
        self.network.stations.settle(station);
    }

    /// Processes the first item of a station that stands for endpoints.
    fn run_first_of(&mut self, station: usize) {
        let own_s = self.network.stations.list[station].own_s;
        let limit_s = if own_s < NEVER { own_s.next_up() } else { NEVER };
        let first = self.network.stations.list[station].arrivals.peek_before(limit_s).copied();
        let first = first.filter(|routed| {
            routed.packet.at_s < own_s || routed.packet.tx_start_s < self.first_timer(station).1
        });
        match first {
            Some(routed) => {
                let waiting = &mut self.network.stations.list[station];
                waiting.arrivals.take();
                self.processed += 1;
                self.on_packet(routed);
            }
            None => self.on_timer(station),
        }
    }

    /// A packet leaves a station: it enters its stage.
    fn on_packet(&mut self, routed: RoutedPacket) {
        self.now_s = routed.packet.at_s;
        match self.network.hops[routed.hop().index()].stage {
            Stage::Source => self.on_ack(routed.flow, routed.packet),
            _ => self.network.enter(routed),
        }
    }

    /// Of all items that are due at `now_s`, processes the first one.
    #[cold]
    #[inline(never)]
    fn run_first_item(&mut self, now_s: f64) {
        let mut first: Option<(ItemKey, usize)> = None;
        for station in 0..self.network.stations.list.len() {
            while self.network.emit(station, now_s.next_up()) <= now_s {}
            if self.network.stations.first_of_s(station) == now_s {
                let key = self.first_key(station, now_s);
                if first.is_none_or(|(least, _)| key < least) {
                    first = Some((key, station));
                }
            }
        }
        let Some((_, station)) = first else { return };
        match self.network.stations.list[station].kind {
            StationKind::Receivers | StationKind::Senders | StationKind::Groups => {
                self.run_first_of(station)
            }
            StationKind::Link(link) | StationKind::Queue(link) => {
                self.run_first_of_link(station, link, now_s)
            }
        }
        self.network.stations.settle(station);
    }

    /// Processes the first item of a link, which is due at `now_s`.
    fn run_first_of_link(&mut self, station: usize, link: LinkId, now_s: f64) {
        self.processed += 1;
        self.now_s = now_s;
        let waiting = &mut self.network.stations.list[station];
        let (kind, own_s) = (waiting.kind, waiting.own_s);
        let arrival = waiting.arrivals.peek_before(now_s.next_up()).copied();
        match (kind, arrival) {
            (StationKind::Queue(_), arrival)
                if own_s == now_s
                    && arrival.is_none_or(|routed| {
                        routed.packet.tx_start_s
                            > self.network.links[link.index()].service_start_s()
                    }) =>
            {
                self.network.start_transmission(link, own_s)
            }
            (_, Some(routed)) => {
                self.network.stations.list[station].arrivals.take();
                self.network.enter(routed);
            }
            (_, None) => {}
        }
        self.network.stations.set_free(station, self.network.links[link.index()].free_s());
    }

    /// The key of the first item of a station, which is due at `now_s`.
    fn first_key(&mut self, station: usize, now_s: f64) -> ItemKey {
        let waiting = &mut self.network.stations.list[station];
        let (kind, own_s) = (waiting.kind, waiting.own_s);
        let arrival = waiting.arrivals.peek_before(now_s.next_up()).map_or(
            (NEVER, true, NEVER, u32::MAX, u32::MAX),
            |routed| {
                let (_, tx_start_s, minus_tie_break_s, flow, rank) = routed.key();
                (tx_start_s, true, minus_tie_break_s, flow.number(), rank)
            },
        );
        if own_s > now_s {
            return arrival;
        }
        let own = match kind {
            StationKind::Queue(link) => {
                let start_s = self.network.links[link.index()].service_start_s();
                (start_s, true, 0.0, u32::MAX, u32::MAX)
            }
            _ => {
                let ((_, kind, flow), armed_s) = self.first_timer(station);
                (armed_s, false, 0.0, kind as u32, flow)
            }
        };
        if own < arrival { own } else { arrival }
    }

    /// The first timer of a station, and when it was armed, seconds. Of those due at one instant it
    /// is the one that was armed first.
    pub(crate) fn first_timer(&self, station: usize) -> ((f64, TimerKind, u32), f64) {
        let timers = &self.network.stations.list[station].timers;
        let Some((at_s, kind, owner)) = timers.first() else {
            return ((NEVER, TimerKind::default(), 0), NEVER);
        };
        let armed = |(kind, owner)| (self.armed_at_s(at_s, kind, FlowId::new(owner)), kind, owner);
        let mut first = armed((kind, owner));
        // Nothing was armed before the start.
        if first.0 > 0.0 {
            timers.due_together().map(armed).for_each(|other| {
                if other < first {
                    first = other;
                }
            });
        }
        ((at_s, first.1, first.2), first.0)
    }

    fn finish(&mut self) {
        let end_s = self.network.end_s;
        self.now_s = end_s;
        self.clock_s = end_s;
        self.network.finish();
        self.network.release();
        for (flow, endpoint) in self.senders.iter().enumerate() {
            self.network.trace.before(
                end_s,
                FlowId::new(flow as u32),
                &endpoint.sender,
                &self.config[endpoint.config as usize],
            );
        }
        self.network.trace.finish();
    }
}
