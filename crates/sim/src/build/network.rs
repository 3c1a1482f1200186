//! Builds the network of a scenario: links, endpoints, routes and stations.

use super::builder::Builder;
use super::info::{FlowInfos, LinkInfo, Options};
use crate::endpoint::receivers::Receivers;
use crate::engine::state::Engine;
use crate::measure::trace::Tracer;
use crate::measure::window::MeasurementWindow;
use crate::network::Network;
use crate::network::route::Entry;
use cwndlab_scenario::Scenario;
use std::sync::Arc;

/// Number of flows from which state of upcoming packets is prefetched: it outgrows the caches
/// there.
const MANY_FLOWS: usize = 1_000;

/// A network ready to run, with the descriptions of its tables.
pub struct BuiltNetwork<T: Tracer> {
    /// The engine.
    pub engine: Engine<T>,
    /// Links in order.
    pub links: Vec<LinkInfo>,
    /// Listed TCP flows in order.
    pub flows: FlowInfos,
    /// Names of the groups with transfers: groups of arriving flows, then groups that answer
    /// requests.
    pub transfer_groups: Vec<String>,
    /// Number of sources of each `[[cross]]` entry.
    pub cross_counts: Vec<u64>,
}

/// Builds the network of a checked scenario.
pub fn build<T: Tracer>(scenario: &Scenario, options: Options, trace: T) -> BuiltNetwork<T> {
    Builder::new(scenario, options).build(trace)
}

impl Builder<'_> {
    fn build<T: Tracer>(mut self, trace: T) -> BuiltNetwork<T> {
        let scenario = self.plan.scenario;
        let [from, to] = scenario.window();
        let window = MeasurementWindow { from_s: from.seconds(), to_s: to.seconds() };
        let (end_s, bin_s) = (scenario.duration.seconds(), scenario.rate_bin.seconds());
        let stations = self.stations();
        let network = Network::new(trace, Receivers::new(window, bin_s), stations, end_s);
        let mut engine = Engine::new(network, window, self.options.look_ahead);
        let jitter_s = scenario.host_jitter.seconds();
        engine.network.access_links.host_jitter.set(jitter_s, scenario.seed);
        engine.network.access_links.host_jitter.set_step(scenario.host_clock.seconds());
        let groups = std::mem::take(&mut self.plan.groups);
        let (listed_flows, arriving) = groups.split_at(scenario.flows.len());
        let mut infos = FlowInfos::default();
        let mut transfer_groups: Vec<String> =
            arriving.iter().map(|group| group.spec.name.clone()).collect();
        for (i, group) in listed_flows.iter().enumerate() {
            self.add_flows(group, i as u32, &mut transfer_groups, &mut engine, &mut infos);
        }
        engine.listed_flows = engine.senders.len();
        engine.network.receivers.first_slot = engine.listed_flows;
        let mut config: Vec<_> =
            listed_flows.iter().map(|group| self.plan.tcp_config(&group.spec)).collect();
        for (i, group) in arriving.iter().enumerate() {
            let packet_sizes = self.packet_sizes(group, i, &mut config);
            self.add_arrivals(group, i, packet_sizes, &mut engine);
        }
        let config: Arc<[_]> = config.into();
        self.plan.groups = groups;
        self.add_cross(&mut engine);
        let (links, link_infos) = self.plan.build_links(&infos, window);
        engine.network.links = links;
        if self.options.look_ahead {
            self.set_delays(&mut engine.network.stations);
        }
        engine.prefetches = engine.senders.len() >= MANY_FLOWS || !engine.groups.is_empty();
        let cross_counts =
            scenario.cross.iter().enumerate().map(|(i, spec)| self.plan.sources(i, spec)).collect();
        (engine.config, engine.network.receivers.config) = (config.clone(), config);
        (engine.network.routes, engine.network.hops) = (self.routes, self.hops);
        engine.network.station_of = self.station_of;
        for source in 0..engine.network.cross.len() as u32 {
            let route = engine.network.cross[source as usize].1.route;
            let first = engine.network.routes[route as usize].first;
            if let Entry::Wait(station) = engine.network.hops[first.index()].entry {
                engine.network.schedule_source(station as usize, source);
            }
        }
        BuiltNetwork { engine, links: link_infos, flows: infos, transfer_groups, cross_counts }
    }
}
