//! Builds the network of a scenario: links, endpoints, routes and event queues.

use super::builder::Builder;
use super::info::{FlowInfos, LinkInfo, Options};
use crate::endpoint::sinks::Sinks;
use crate::engine::state::Engine;
use crate::event::queues::{EventKind, PacketFifo};
use crate::event::scheduler::EventScheduler;
use crate::measure::trace::Tracer;
use crate::measure::window::MeasurementWindow;
use crate::network::datapath::Datapath;
use crate::packet::FlowIndices;
use cwndlab_scenario::Scenario;
use std::sync::Arc;

/// A network ready to run, with the descriptions of its tables.
pub struct BuiltNetwork<S: EventScheduler, T: Tracer> {
    /// The engine.
    pub engine: Engine<S, T>,
    /// Links in order.
    pub links: Vec<LinkInfo>,
    /// Listed TCP flows in order.
    pub flows: FlowInfos,
    /// Names of the groups with transfers: groups of arriving flows, then groups that answer
    /// requests.
    pub transfer_groups: Vec<String>,
    /// Number of sources of each `[[cross]]` entry.
    pub cross_counts: Vec<u64>,
    /// Indices of each cross traffic source, and the time of its first packet, seconds.
    pub sources: Vec<(FlowIndices, f64)>,
}

/// Builds the network of a checked scenario.
pub fn build<S: EventScheduler, T: Tracer>(
    scenario: &Scenario,
    options: Options,
    trace: T,
) -> BuiltNetwork<S, T> {
    Builder::new(scenario, options).build(trace)
}

impl Builder<'_> {
    fn build<S: EventScheduler, T: Tracer>(mut self, trace: T) -> BuiltNetwork<S, T> {
        let scenario = self.plan.scenario;
        let [from, to] = scenario.window();
        let window = MeasurementWindow { from_s: from.seconds(), to_s: to.seconds() };
        let (end_s, bin_s) = (scenario.duration.seconds(), scenario.rate_bin.seconds());
        let mut engine =
            Engine::new(Datapath::new(trace, Sinks::new(window, bin_s), end_s), window);
        let jitter_s = scenario.host_jitter.seconds();
        engine.datapath.access_links.host_jitter.set(jitter_s, scenario.seed);
        if self.options.look_ahead {
            self.add_merge_queues(&mut engine);
        }
        let groups = std::mem::take(&mut self.plan.groups);
        let (listed_flows, arriving) = groups.split_at(scenario.flows.len());
        let mut infos = FlowInfos::default();
        let mut transfer_groups: Vec<String> =
            arriving.iter().map(|group| group.spec.name.clone()).collect();
        for (i, group) in listed_flows.iter().enumerate() {
            self.add_flows(group, i as u32, &mut transfer_groups, &mut engine, &mut infos);
        }
        engine.listed_flows = engine.senders.len();
        engine.datapath.sinks.first_slot = engine.listed_flows;
        let mut knobs: Vec<_> =
            listed_flows.iter().map(|group| self.plan.knobs(&group.spec)).collect();
        for (i, group) in arriving.iter().enumerate() {
            let packet_sizes = self.packet_sizes(group, i, &mut knobs);
            self.add_arrivals(group, i, packet_sizes, &mut engine);
        }
        let knobs: Arc<[_]> = knobs.into();
        self.plan.groups = groups;
        let emissions = self.add_cross(&mut engine);
        let (links, link_infos) = self.plan.build_links(&infos, window);
        engine.datapath.links = links;
        for (i, link) in engine.datapath.links.iter_mut().enumerate() {
            if let Some(scheduled_queue) = link.scheduled_queue_mut() {
                scheduled_queue.fifo = engine.datapath.event_queues.fifos.len() as u32;
                scheduled_queue.max_deferral_s =
                    if self.options.look_ahead { self.plan.max_deferral_s(i as u32) } else { 0.0 };
                let indices = FlowIndices {
                    route: 0,
                    first_fifo: scheduled_queue.fifo,
                    first_access_link: 0,
                };
                engine.datapath.event_queues.fifos.push(PacketFifo::new(
                    0,
                    EventKind::TransmissionEnd(i as u32),
                    indices,
                ));
            }
        }
        let cross_counts =
            scenario.cross.iter().enumerate().map(|(i, spec)| self.plan.sources(i, spec)).collect();
        (engine.knobs, engine.datapath.sinks.knobs) = (knobs.clone(), knobs);
        (engine.datapath.routes, engine.datapath.hops) = (self.routes, self.hops);
        engine
            .datapath
            .merge_queues
            .iter_mut()
            .zip(&self.ports)
            .for_each(|(merge_queue, ports)| merge_queue.open(ports.len()));
        // As many packets of 1000 bytes as the links can carry, in both directions.
        let packets_s =
            self.plan.links.iter().map(|link| link.rate.largest().bps() as f64 / 8000.0).sum();
        let queues = &mut engine.datapath.event_queues;
        queues.scheduler = S::new(queues.fifos.len(), packets_s);
        for &(fifo, time_s) in &emissions {
            engine.datapath.event_queues.scheduler.schedule(fifo, time_s);
        }
        let sources = emissions
            .iter()
            .map(|&(fifo, time_s)| {
                (engine.datapath.event_queues.fifos[fifo as usize].indices, time_s)
            })
            .collect();
        BuiltNetwork {
            engine,
            links: link_infos,
            flows: infos,
            transfer_groups,
            cross_counts,
            sources,
        }
    }
}
