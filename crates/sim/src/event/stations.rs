//! Stations: where packets wait until their order relative to other flows is known, and how far
//! each may go on.
//!
//! A station is a link that packets of several inputs enter, or stands for all receivers, all
//! senders or all groups of arriving flows, which also have timers. It processes what it knows in
//! order of time up to its *horizon*, the earliest time at which anything that happens elsewhere
//! could still reach it (conservative simulation, K. M. Chandy and J. Misra, "Asynchronous
//! distributed simulation via a sequence of parallel computations", CACM 24(4), 1981; here in one
//! thread).

use crate::event::arrival_queue::{ArrivalQueue, NEVER};
use crate::event::timers::{TimerKind, Timers};
use crate::id::LinkId;
use crate::packet::RoutedPacket;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a station stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StationKind {
    /// A link of this number with a FIFO queue, which decides at arrival.
    Link(LinkId),
    /// A link of this number with a scheduled queue, which decides at departure.
    Queue(LinkId),
    /// Timers of receivers, and packets behind a link that reorders.
    Receivers,
    /// Timers of senders, and ACKs that must be processed in order of time with those of others.
    Senders,
    /// Arrivals of flows.
    Groups,
}

/// A station.
#[derive(Debug)]
pub struct Station {
    /// What it stands for.
    pub kind: StationKind,
    /// Packets that wait to enter it.
    pub arrivals: ArrivalQueue,
    /// When it acts by itself: the first timer, or the end of a transmission behind which others
    /// wait, seconds.
    pub own_s: f64,
    /// Timers; empty for a link.
    pub timers: Timers,
    /// Sources of cross traffic whose packets wait here first, by the time of the next one (as
    /// bits).
    pub sources: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Station {
    /// Time of what is due first, seconds.
    pub fn first_s(&self) -> f64 {
        self.arrivals.first_s().min(self.own_s).min(self.next_source_s())
    }

    /// The source whose next packet leaves first, if it does before `until_s`.
    pub fn next_source(&mut self, until_s: f64) -> Option<u32> {
        if self.next_source_s() >= until_s {
            return None;
        }
        self.sources.pop().map(|Reverse((_, source))| source)
    }

    /// When the next packet of cross traffic leaves its source, seconds.
    pub fn next_source_s(&self) -> f64 {
        self.sources.peek().map_or(NEVER, |Reverse((at, _))| f64::from_bits(*at))
    }
}

/// Stations per block: of many stations the first is looked for among blocks.
const BLOCK: usize = 32;

/// The index of the earliest of some times, and that time; the first one if some are equal.
#[inline(always)]
fn first_of(times_s: &[f64]) -> (usize, f64) {
    let mut first = (0, NEVER);
    for (index, &time_s) in times_s.iter().enumerate() {
        if time_s < first.1 {
            first = (index, time_s);
        }
    }
    first
}

/// All stations.
#[derive(Debug)]
pub struct Stations {
    /// Links, then receivers, senders and groups.
    pub list: Vec<Station>,
    /// Time of what is due first at each, seconds; never too late, and exact once the station is
    /// settled.
    first_s: Vec<f64>,
    /// The same for each block of [`BLOCK`] stations; never too late.
    block_first_s: Vec<f64>,
    /// No packet that is still to come leaves a station before this time, seconds: all transmissions
    /// that are known end by then.
    free_s: Vec<f64>,
    /// Least delays from each station, seconds: to the first, to the second, and so on; or to any
    /// link and the receivers, to the senders, and to the groups.
    delays_s: Vec<f64>,
    /// Whether packets that wait exceed the memory limit.
    pub overflowed: bool,
}

impl Stations {
    /// The stations of links, with the packets per second to expect, and the three others, which
    /// expect `packets_s`.
    pub fn new(links: &[(StationKind, f64)], packets_s: f64) -> Self {
        let station = |kind, packets_s| Station {
            kind,
            arrivals: ArrivalQueue::new(packets_s),
            own_s: NEVER,
            timers: Timers::default(),
            sources: BinaryHeap::new(),
        };
        let others = [StationKind::Receivers, StationKind::Senders, StationKind::Groups];
        let list: Vec<_> = links
            .iter()
            .map(|&(kind, packets_s)| station(kind, packets_s))
            .chain(others.map(|kind| station(kind, packets_s)))
            .collect();
        let count = list.len();
        Self {
            list,
            first_s: vec![NEVER; count],
            block_first_s: vec![NEVER; count.div_ceil(BLOCK)],
            free_s: vec![0.0; count],
            delays_s: vec![0.0; 3 * count],
            overflowed: false,
        }
    }

    /// Sets the least delays between stations from each, seconds: to the first, to the second, and
    /// so on; or to any link and the receivers, to the senders, and to the groups.
    pub fn set_delays(&mut self, delays_s: Vec<f64>) {
        let count = self.list.len();
        assert!([3 * count, count * count].contains(&delays_s.len()));
        self.delays_s = delays_s;
    }

    /// Least delays from each station to one, seconds.
    #[inline]
    fn delays_to_s(&self, station: usize) -> &[f64] {
        let count = self.list.len();
        let is_of_pairs = self.delays_s.len() == count * count;
        let row = if is_of_pairs { station } else { station.saturating_sub(count - 3) };
        &self.delays_s[row * count..][..count]
    }

    /// Number of the station of all receivers.
    pub fn receivers(&self) -> u32 {
        self.list.len() as u32 - 3
    }

    /// Number of the station of all senders.
    pub fn senders(&self) -> u32 {
        self.list.len() as u32 - 2
    }

    /// Number of the station of all groups of arriving flows.
    pub fn groups(&self) -> u32 {
        self.list.len() as u32 - 1
    }

    /// Least delay between two stations, seconds.
    #[inline(always)]
    pub fn delay_s(&self, from: usize, to: usize) -> f64 {
        self.delays_to_s(to)[from]
    }

    /// The station with what is due first, and its time, seconds.
    #[inline]
    pub fn earliest(&mut self) -> (usize, f64) {
        if self.first_s.len() <= 2 * BLOCK {
            return first_of(&self.first_s);
        }
        loop {
            let (block, first_s) = first_of(&self.block_first_s);
            let from = block * BLOCK;
            let stations = &self.first_s[from..self.first_s.len().min(from + BLOCK)];
            let (number, actual_s) = first_of(stations);
            if actual_s <= first_s {
                return (from + number, actual_s);
            }
            self.block_first_s[block] = actual_s;
        }
    }

    /// The earliest time at which what waits at links and groups may reach the station with what is
    /// due first, seconds. Receivers and senders have timers that may have to be renewed first.
    #[inline]
    pub fn horizon_of_links_s(&self, station: usize) -> f64 {
        let count = self.list.len();
        let delays_s = self.delays_to_s(station);
        let (receivers, groups) = (count - 3, count - 1);
        if station < receivers && self.delays_s.len() < count * count {
            return self.first_s[station] + delays_s[station];
        }
        let mut horizon_s = self.first_s[groups] + delays_s[groups];
        let links = self.first_s[..receivers].iter().zip(&self.free_s).zip(delays_s);
        if station == groups {
            // What happens at a link counts, not what leaves it.
            for ((&first_s, _), &delay_s) in links {
                horizon_s = horizon_s.min(first_s + delay_s);
            }
        } else {
            for ((&first_s, &free_s), &delay_s) in links {
                let out_s = if free_s > first_s { free_s } else { first_s } + delay_s;
                horizon_s = if out_s < horizon_s { out_s } else { horizon_s };
            }
        }
        horizon_s
    }

    /// Time of what is due first at a station, seconds.
    #[inline(always)]
    pub fn first_of_s(&self, station: usize) -> f64 {
        self.first_s[station]
    }

    /// Brings the time of what is due first at a station up to date after it has processed items.
    #[inline]
    pub fn settle(&mut self, station: usize) {
        self.first_s[station] = self.list[station].first_s();
        self.overflowed |= self.list[station].arrivals.overflows;
    }

    /// Time of what is due first, seconds.
    pub fn first_s(&self) -> f64 {
        first_of(&self.first_s).1
    }

    /// A packet waits to enter a station.
    #[inline(always)]
    pub fn push(&mut self, station: u32, packet: RoutedPacket) {
        self.bring_forward(station as usize, packet.packet.at_s);
        self.list[station as usize].arrivals.push(packet);
    }

    /// Something is due at a station at this time, seconds.
    #[inline(always)]
    fn bring_forward(&mut self, station: usize, at_s: f64) {
        let first_s = &mut self.first_s[station];
        if at_s < *first_s {
            *first_s = at_s;
            let block_first_s = &mut self.block_first_s[station / BLOCK];
            *block_first_s = at_s.min(*block_first_s);
        }
    }

    /// A source of cross traffic sends its next packet to a station at this time, seconds.
    pub fn schedule_source(&mut self, station: usize, source: u32, at_s: f64) {
        self.bring_forward(station, at_s);
        self.list[station].sources.push(Reverse((at_s.to_bits(), source)));
    }

    /// Adds a timer of a flow, a group of arriving flows or a browser, by its number.
    #[inline(never)]
    pub fn arm(&mut self, time_s: f64, kind: TimerKind, owner: u32) {
        let station = match kind {
            TimerKind::Receiver => self.receivers(),
            TimerKind::FlowArrival => self.groups(),
            _ => self.senders(),
        };
        let station_of = &mut self.list[station as usize];
        station_of.timers.push(time_s, kind, owner);
        station_of.own_s = station_of.timers.first_s();
        self.bring_forward(station as usize, time_s);
    }

    /// Takes the first timer of a station, which is to be settled after that.
    pub fn take_timer(&mut self, station: usize) -> Option<(f64, TimerKind, u32)> {
        let owner = &mut self.list[station];
        let timer = owner.timers.pop();
        owner.own_s = owner.timers.first_s();
        timer
    }

    /// Removes a timer of those that are due first at a station, which is to be settled after that.
    pub fn remove_timer(&mut self, station: usize, timer: (f64, TimerKind, u32)) {
        let owner = &mut self.list[station];
        owner.timers.remove(timer);
        owner.own_s = owner.timers.first_s();
    }

    /// When a link acts by itself next, seconds.
    pub fn set_service(&mut self, station: usize, own_s: f64) {
        self.list[station].own_s = own_s;
        self.bring_forward(station, own_s);
    }

    /// When a link is free, seconds.
    pub fn set_free(&mut self, station: usize, free_s: f64) {
        self.free_s[station] = free_s;
    }

    /// Packets that wait.
    pub fn packets(&self) -> u64 {
        self.list.iter().map(|station| station.arrivals.len() as u64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::LinkId;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        /// With blocks the first of many stations is the one that a look at all of them finds.
        #[test]
        fn the_first_of_many_stations_is_found(
            events in prop::collection::vec((0usize..200, 0u32..50, prop::bool::ANY), 1..200),
        ) {
            let links = vec![(StationKind::Link(LinkId::default()), 1.0); 197];
            let mut stations = Stations::new(&links, 1.0);
            for (station, at, acts) in events {
                // A station acts by itself, earlier or later than before, or not at all.
                stations.set_service(station, if acts { f64::from(at) } else { NEVER });
                stations.settle(station);
                let all = stations.list.iter().map(|station| station.own_s);
                let first_s = all.clone().fold(NEVER, f64::min);
                let number = all.clone().position(|own_s| own_s == first_s).unwrap_or(0);
                let expected = if first_s < NEVER { (number, first_s) } else { (0, NEVER) };
                let (found, found_s) = stations.earliest();
                prop_assert_eq!(found_s, expected.1);
                prop_assert!(found_s == NEVER || found == expected.0);
            }
        }
    }
}
