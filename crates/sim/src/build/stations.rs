//! Builds stations: which links are stations, and the least delays between stations.

use super::builder::Builder;
use super::network_plan::{EndpointOrder, FlowGroup};
use crate::event::stations::{StationKind, Stations};
use crate::id::LinkId;
use crate::network::route::{Entry, Stage};

/// Fraction of a delay to rely on, and a time to take from it (seconds), since it is a sum of
/// doubles.
const MARGIN: (f64, f64) = (1.0 - 1e-6, 1e-9);

/// With more stations than this only the least delay of all is known: a table of all pairs takes
/// memory by their square and time by their cube.
const MOST_IN_TABLE: usize = 1024;

/// Delay between stations of which none reaches the other, seconds.
const UNREACHABLE: f64 = f64::INFINITY;

impl Builder<'_> {
    /// The stations of a network, without delays. Each link that packets of several inputs enter is
    /// one, and each that a source of cross traffic enters first: the source sends its next packet
    /// when the last one is there.
    pub(super) fn stations(&mut self) -> Stations {
        let mut is_station: Vec<bool> = (0..self.plan.links.len())
            .map(|link| self.flows_per_link[link] > 1 && !self.in_order[link])
            .collect();
        for (link, is_station) in is_station.iter_mut().enumerate() {
            *is_station |= self.plan.has_scheduled_queue(link as u32);
        }
        for path in &self.plan.cross {
            path.first().iter().for_each(|&&link| is_station[link as usize] = true);
        }
        for group in &self.plan.groups {
            for pair in group.path.forward.windows(2).chain(group.path.back.windows(2)) {
                is_station[pair[1] as usize] |= self.plan.reorders(pair[0]);
            }
        }
        let packets_s = |link: usize| {
            // As many packets of 1000 bytes as the link can carry.
            self.plan.links[link].rate.largest().bps() as f64 / 8000.0
        };
        let all_s = (0..self.plan.links.len()).map(packets_s).sum();
        let mut links = Vec::new();
        for (link, is_station) in is_station.into_iter().enumerate() {
            let has_queue = self.plan.has_scheduled_queue(link as u32);
            // Without lookahead all packets wait at one station, in one order.
            if !is_station || !(self.options.look_ahead || has_queue) {
                self.station_of.push(Entry::NO_STATION);
                continue;
            }
            let kind = match has_queue {
                true => StationKind::Queue(LinkId::new(link as u32)),
                false => StationKind::Link(LinkId::new(link as u32)),
            };
            self.station_of.push(links.len() as u32);
            links.push((kind, packets_s(link)));
        }
        let stations = Stations::new(&links, all_s);
        (self.receivers, self.senders) = (stations.receivers(), stations.senders());
        stations
    }

    /// Sets the least delays between stations, from the routes of all flows.
    pub(super) fn set_delays(&self, stations: &mut Stations) {
        let mut delays = Delays::new(stations);
        for (index, group) in self.plan.groups.iter().enumerate() {
            let is_arriving = index >= self.plan.scenario.flows.len();
            self.add_delays(group, is_arriving, stations, &mut delays);
        }
        for (index, path) in self.plan.cross.iter().enumerate() {
            let spec = &self.plan.scenario.cross[index];
            let has_access_link = self.plan.source_access(spec, 0).is_some();
            let stages =
                self.entries(&self.cross_stages(has_access_link, path), EndpointOrder::Own);
            delays.add_route(self, &stages, |_| 0.0, None, false);
        }
        stations.set_delays(delays.least());
    }

    fn add_delays(
        &self,
        group: &FlowGroup,
        is_arriving: bool,
        stations: &Stations,
        delays: &mut Delays,
    ) {
        let (_, source, sink) = self.plan.access_ranges(&group.spec);
        let (stages, access_links) = self.stages(group);
        let own_s = [
            source.low.link_delay_s(),
            sink.low.link_delay_s(),
            self.plan.back_delay_s(&group.path),
        ];
        let access_s = |offset: u32| own_s[access_links[offset as usize]];
        let stages = self.entries(&stages, group.order());
        let senders = stations.senders();
        let has_timer = self.plan.has_receiver_timer(&group.spec);
        delays.add_route(self, &stages, access_s, Some(senders), has_timer);
        if is_arriving {
            delays.add_route(self, &stages, access_s, Some(stations.groups()), false);
        }
    }
}

/// Least delays between stations, seconds.
struct Delays {
    count: usize,
    receivers: usize,
    senders: usize,
    groups: usize,
    /// From each station, to each; empty if they are too many.
    least_s: Vec<f64>,
    /// The least of all.
    least_of_all_s: f64,
}

impl Delays {
    fn new(stations: &Stations) -> Self {
        let count = stations.list.len();
        Self {
            count,
            receivers: stations.receivers() as usize,
            senders: stations.senders() as usize,
            groups: stations.groups() as usize,
            least_s: vec![UNREACHABLE; if count > MOST_IN_TABLE { 0 } else { count * count }],
            least_of_all_s: UNREACHABLE,
        }
    }

    fn add(&mut self, from: usize, to: usize, delay_s: f64) {
        self.least_of_all_s = self.least_of_all_s.min(delay_s);
        if let Some(least_s) = self.least_s.get_mut(from * self.count + to) {
            *least_s = least_s.min(delay_s);
        }
    }

    /// Adds the delays along a route. `access_s`: delay of its access links; `from`: the station
    /// where its packets begin, none for cross traffic, which is known ahead.
    fn add_route(
        &mut self,
        builder: &Builder<'_>,
        stages: &[(Stage, Entry)],
        access_s: impl Fn(u32) -> f64,
        from: Option<u32>,
        has_receiver_timer: bool,
    ) {
        // Stations behind which no other came so far, and the delay since.
        let mut since: Vec<(usize, f64)> =
            from.map(|from| (from as usize, 0.0)).into_iter().collect();
        for &(stage, entry) in stages {
            let station = match entry {
                Entry::Immediate => None,
                Entry::Wait(station) => Some(station as usize),
                Entry::Collect => Some(self.senders),
            };
            if let Some(station) = station {
                since.iter().for_each(|&(from, delay_s)| self.add(from, station, delay_s));
                since = vec![(station, 0.0)];
            }
            let delay_s = match stage {
                Stage::AccessLink(offset) => access_s(offset),
                Stage::FifoLink(link) | Stage::ScheduledLink(link) => {
                    builder.plan.links[link.index()].delay.link_delay_s()
                }
                Stage::Sink | Stage::Source => 0.0,
            };
            if stage == Stage::Sink && has_receiver_timer {
                let receivers = self.receivers;
                // What waits there itself is in one order with its timers.
                for &(from, delay_s) in since.iter().filter(|&&(from, _)| from != receivers) {
                    self.add(from, receivers, delay_s);
                }
                // A timer expires here, even if packets wait further ahead.
                since.retain(|&(from, _)| from != receivers);
                since.push((receivers, 0.0));
            }
            since.iter_mut().for_each(|(_, sum_s)| *sum_s += delay_s);
        }
    }

    /// The least delays from each station: to the first, to the second, and so on; or to any link and
    /// the receivers, to the senders, and to the groups.
    fn least(mut self) -> Vec<f64> {
        let (count, groups) = (self.count, self.groups);
        let relied = |delay_s: f64| (delay_s * MARGIN.0 - MARGIN.1).max(0.0);
        let is_of_pairs = !self.least_s.is_empty();
        if is_of_pairs {
            self.add_indirect();
        }
        let least_s = |from: usize, to: usize| match is_of_pairs {
            true => self.least_s[from * count + to],
            false => self.least_of_all_s,
        };
        // Which slots are free for a flow that arrives depends on all that happened before, also on
        // what the last arrival caused.
        let first_caused_s = (0..count).map(|to| least_s(groups, to)).fold(UNREACHABLE, f64::min);
        let delay_s = |from: usize, to: usize| match (from == groups, to == groups) {
            (true, true) => relied(first_caused_s),
            (false, true) => 0.0,
            // A timer of a completed flow does not expire once another has its slot.
            (true, false) if to == self.senders => 0.0,
            _ => relied(least_s(from, to)),
        };
        let first = if is_of_pairs { 0 } else { self.receivers };
        (first..count)
            .flat_map(|to| (0..count).map(move |from| (from, to)))
            .map(|(from, to)| delay_s(from, to))
            .collect()
    }

    /// Adds the delays by way of other stations (R. W. Floyd, "Algorithm 97: shortest path", CACM
    /// 5(6), 1962).
    fn add_indirect(&mut self) {
        let (count, groups) = (self.count, self.groups);
        // Arrivals of flows depend on nothing.
        for via in (0..count).filter(|&via| via != groups) {
            let seconds_s = self.least_s[via * count..][..count].to_vec();
            for row in self.least_s.chunks_exact_mut(count) {
                let first_s = row[via];
                if first_s < UNREACHABLE {
                    for (least_s, second_s) in row.iter_mut().zip(&seconds_s) {
                        *least_s = least_s.min(first_s + second_s);
                    }
                }
            }
        }
    }
}
