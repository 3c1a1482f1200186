//! Builds the network of a scenario: links, endpoints, routes and event queues.

mod flow_schedule;
mod info;
mod links;
mod lookahead;
mod network_plan;
mod queues;
mod routes;
mod traffic;

use crate::collections::slab::Slab;
use crate::endpoint::sinks::Sinks;
use crate::endpoint::tcp::{ApplicationState, ReceiverEndpoint, SenderEndpoint};
use crate::engine::state::Engine;
use crate::event::queues::{EventKind, EventQueues, PacketFifo};
use crate::event::scheduler::EventScheduler;
use crate::event::timers::{TimerKind, Timers};
use crate::measure::goodput_bins::GoodputBins;
use crate::measure::trace::Tracer;
use crate::measure::trace_hash::TraceHash;
use crate::measure::window::MeasurementWindow;
use crate::network::access_links::AccessLinks;
use crate::network::datapath::Datapath;
use crate::network::route::{Hop, Route, Stage};
use crate::packet::Flags;
use crate::packet::FlowIndices;
use crate::random::stream::RandomStream;
use cwndlab_rules::Arithmetic;
use cwndlab_scenario::Scenario;
use cwndlab_tcp::{NEVER, Receiver, Recovery, Sender};
use flow_schedule::flow_schedule;
pub use info::{FlowInfos, GroupInfo, LinkInfo, Options};
use lookahead::Lookahead;
use network_plan::{DrawnAccessLinks, FlowGroup, NetworkPlan};
use std::collections::HashMap;
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

struct Builder<'a> {
    plan: NetworkPlan<'a>,
    options: Options,
    flows_per_link: Vec<u64>,
    lookaheads: Vec<Lookahead>,
    /// How much of the lookahead of each link deferral may consume, seconds.
    max_deferral_s: Vec<f64>,
    /// Lookahead of links with a merge queue, seconds.
    merge_lookaheads: Vec<f64>,
    /// For each merge queue the shared links in front of it, each with an input port; none stands
    /// for senders.
    ports: Vec<Vec<Option<Stage>>>,
    routes: Vec<Route>,
    hops: Vec<Hop>,
    route_of: HashMap<Vec<Stage>, u32>,
}

/// Builds the network of a checked scenario.
pub fn build<S: EventScheduler, T: Tracer>(
    scenario: &Scenario,
    options: Options,
    trace: T,
) -> BuiltNetwork<S, T> {
    let plan = NetworkPlan::new(scenario);
    let flows_per_link = plan.flows_per_link();
    let (lookaheads, max_deferral_s) = lookahead::find_lookaheads(&plan, &flows_per_link);
    let merge_lookaheads = vec![0.0; lookaheads.len()];
    Builder {
        plan,
        options,
        flows_per_link,
        lookaheads,
        max_deferral_s,
        merge_lookaheads,
        ports: Vec::new(),
        routes: Vec::new(),
        hops: Vec::new(),
        route_of: HashMap::new(),
    }
    .build(trace)
}

impl Builder<'_> {
    fn build<S: EventScheduler, T: Tracer>(mut self, trace: T) -> BuiltNetwork<S, T> {
        let scenario = self.plan.scenario;
        let [from, to] = scenario.window();
        let window = MeasurementWindow { from_s: from.seconds(), to_s: to.seconds() };
        let datapath = Datapath {
            links: Vec::new(),
            access_links: AccessLinks::default(),
            sinks: Sinks::new(window, scenario.rate_bin.seconds()),
            routes: Vec::new(),
            hops: Vec::new(),
            event_queues: EventQueues { fifos: Vec::new(), scheduler: S::new(1, 0.0), packets: 0 },
            merge_queues: Vec::new(),
            options: Slab::default(),
            timers: Timers::default(),
            trace,
            end_s: scenario.duration.seconds(),
            overflowed: false,
        };
        let mut engine = Engine {
            senders: Vec::new(),
            listed_flows: 0,
            groups: Vec::new(),
            transfers: Vec::new(),
            fault: None,
            halt_s: 0.0,
            cross: Vec::new(),
            datapath,
            knobs: Arc::from([]),
            now_s: 0.0,
            counters_at_window_start: Vec::new(),
            measured: Vec::new(),
            window_edges_s: vec![window.from_s, window.to_s],
            next_window_edge_s: window.from_s,
            simultaneous: Vec::new(),
            simultaneous_seen: 0,
            rounds: 0,
            expired_timers: Vec::new(),
        };
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
        for (i, group) in arriving.iter().enumerate() {
            self.add_arrivals(group, i, (listed_flows.len() + i) as u32, &mut engine);
        }
        let knobs: Arc<[_]> = groups.iter().map(|group| self.plan.knobs(&group.spec)).collect();
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
        engine.datapath.timers.push(window.from_s, TimerKind::WindowEdge, 0);
        engine.datapath.timers.push(window.to_s, TimerKind::WindowEdge, 0);
        BuiltNetwork {
            engine,
            links: link_infos,
            flows: infos,
            transfer_groups,
            cross_counts,
            sources,
        }
    }

    fn add_flows<S: EventScheduler, T: Tracer>(
        &mut self,
        group: &FlowGroup,
        knobs_index: u32,
        transfer_groups: &mut Vec<String>,
        engine: &mut Engine<S, T>,
        infos: &mut FlowInfos,
    ) {
        let (scenario, spec) = (self.plan.scenario, &group.spec);
        let knobs = self.plan.knobs(spec);
        let arithmetic = if knobs.ns2_arithmetic { Arithmetic::Ns2 } else { Arithmetic::Plain };
        let rule = spec.rule.0.build(arithmetic);
        let recovery = Recovery::from(spec.recovery);
        infos.group(GroupInfo {
            name: spec.name.clone(),
            rule: spec.rule.0.to_string(),
            recovery,
            count: spec.count,
        });
        let flows = spec.count as usize;
        engine.senders.reserve_exact(flows);
        engine.datapath.sinks.receivers.reserve_exact(flows);
        infos.base_rtts_s.reserve_exact(flows);
        let transfers = spec.responses.as_ref().map(|_| {
            transfer_groups.push(spec.name.clone());
            transfer_groups.len() as u32 - 1
        });
        let drawn_s = |i: u64| match spec.start.low == spec.start.high {
            true => spec.start.low.seconds(),
            false => {
                let name = format!("start/{}", spec.instance(i));
                RandomStream::new(scenario.seed, &name)
                    .between(spec.start.low.seconds(), spec.start.high.seconds())
            }
        };
        for (i, times) in
            flow_schedule(spec, scenario.duration.seconds(), drawn_s).into_iter().enumerate()
        {
            let name = spec.instance(i as u64);
            let flow = engine.senders.len() as u32;
            let access = self.plan.access(spec, &name);
            let indices = self.add_route(group, &access, knobs.delayed_ack, flow, engine);
            let timer_phase_s = spec.tcp.timer_phase.or(scenario.tcp.timer_phase).unwrap_or(0.0);
            let base_rtt_s =
                self.plan.links_rtt_s(&group.path) + 2.0 * (access.source.1 + access.sink.1);
            // A flow that would stop before it starts never starts.
            let (start_s, stop_s) = times.unwrap_or((NEVER, NEVER));
            let transfer = transfers
                .map(|transfers| self.responder(group, &name, transfers, start_s, base_rtt_s));
            let (packets, short) = match &transfer {
                Some(transfer) => (Some(transfer.packets), None),
                None => spec.segments(&knobs),
            };
            if start_s < NEVER {
                engine.datapath.timers.push(start_s, TimerKind::FlowStart, flow);
            }
            if stop_s < NEVER {
                engine.datapath.timers.push(stop_s, TimerKind::AppStop, flow);
            }
            let rule =
                if rule.is_stateless() { rule.clone() } else { spec.rule.0.build(arithmetic) };
            let mut sender = Sender::new(rule, recovery, packets, timer_phase_s, &knobs);
            sender.set_short_packet(short);
            let app = ApplicationState::of(&sender, stop_s, transfer);
            engine.senders.push(SenderEndpoint {
                sender,
                indices,
                knobs: knobs_index,
                flags: Flags::of_priority(spec.priority),
                rto_entry_s: NEVER,
                hash: TraceHash::default(),
                finish_s: NEVER,
                app,
            });
            let bins = GoodputBins::new(engine.datapath.sinks.window.from_s);
            let mut receiver = Receiver::new(recovery.uses_sack());
            receiver.set_short_packet(short);
            engine.datapath.sinks.receivers.push(ReceiverEndpoint::new(
                receiver,
                knobs_index,
                knobs.ack_wire_size() as u16,
                bins,
            ));
            infos.base_rtts_s.push(base_rtt_s);
        }
    }

    /// Stages of the route of a group, and for each access link whose it is: source (0), sink (1),
    /// reverse path (2).
    fn stages(&self, group: &FlowGroup) -> (Vec<Stage>, Vec<usize>) {
        let ([source_rate, sink_rate], source, sink) = self.plan.access_ranges(&group.spec);
        let forward = |rate: Option<u64>, high_s: f64| rate.is_some() || high_s > 0.0;
        let own = [
            forward(source_rate, source.high.seconds()),
            forward(sink_rate, sink.high.seconds()),
            self.plan.back_delay(&group.path) > 0.0,
        ];
        let (mut stages, mut access_links) = (Vec::new(), Vec::new());
        let mut add_access_link = |stages: &mut Vec<Stage>, which: usize| {
            if own[which] {
                stages.push(Stage::AccessLink(access_links.len() as u32));
                access_links.push(which);
            }
        };
        let links = |links: &[u32]| -> Vec<Stage> {
            links
                .iter()
                .map(|&link| {
                    if self.plan.has_scheduled_queue(link) {
                        Stage::Queue(link)
                    } else {
                        Stage::Link(link)
                    }
                })
                .collect()
        };
        add_access_link(&mut stages, 0);
        stages.extend(links(&group.path.forward));
        add_access_link(&mut stages, 1);
        stages.push(Stage::Sink);
        add_access_link(&mut stages, 1);
        stages.extend(links(&group.path.back));
        add_access_link(&mut stages, 2);
        add_access_link(&mut stages, 0);
        stages.push(Stage::Source);
        (stages, access_links)
    }

    /// Adds the access links, route and FIFOs of a flow.
    fn add_route<S: EventScheduler, T: Tracer>(
        &mut self,
        group: &FlowGroup,
        access: &DrawnAccessLinks,
        delayed_ack: bool,
        flow: u32,
        engine: &mut Engine<S, T>,
    ) -> FlowIndices {
        let first_access_link = engine.datapath.access_links.len() as u32;
        let (stages, access_links) = self.stages(group);
        let own = [access.source, access.sink, (None, self.plan.back_delay(&group.path))];
        access_links
            .into_iter()
            .for_each(|which| engine.datapath.access_links.push(own[which].0, own[which].1));
        let route = self.route(stages, delayed_ack);
        self.add_fifos(route, flow, first_access_link, engine)
    }
}
