//! A network from a scenario: endpoints, routes and streams, over the links of the plan.

mod info;
mod leads;
mod links;
mod plan;
mod queues;
mod routes;
mod schedule;
mod traffic;

use crate::engine::Engine;
use crate::flow::{Agenda, Bins, Host, Sink};
use crate::hash::TraceHash;
use crate::kept::Kept;
use crate::link::Window;
use crate::packet::Flags;
use crate::pipe::Pipes;
use crate::random::Stream;
use crate::scenario::Scenario;
use crate::scheduler::Scheduler;
use crate::streams::{Due, Pending, Place, Streams};
use crate::timers::{Kind, Timers};
use crate::trace::Trace;
use crate::transit::{Route, Stage, Transit};
use cwndlab_rules::Arithmetic;
use cwndlab_tcp::{NEVER, Receiver, Recovery, Sender};
pub use info::{FlowInfos, GroupInfo, LinkInfo, Options};
use leads::Lead;
use plan::{Access, Group, Plan};
use schedule::schedule;
use std::collections::HashMap;
use std::sync::Arc;

/// A network ready to run, and what its tables mean.
pub struct Network<S: Scheduler, T: Trace> {
    /// What moves.
    pub engine: Engine<S, T>,
    /// Links in order.
    pub links: Vec<LinkInfo>,
    /// Listed TCP flows in order.
    pub flows: FlowInfos,
    /// Names of the groups that make transfers: those that arrive, then those that respond.
    pub transfer_groups: Vec<String>,
    /// How many sources each line of cross traffic stands for.
    pub cross_counts: Vec<u64>,
    /// Where each source of cross traffic is in the tables, and when it first sends, seconds.
    pub sources: Vec<(Place, f64)>,
}

struct Builder<'a> {
    plan: Plan<'a>,
    options: Options,
    users: Vec<u64>,
    leads: Vec<Lead>,
    /// How much of each link's lead may be lost.
    behind_s: Vec<f64>,
    /// Leads of the links that have an inbox, seconds.
    inbox_leads: Vec<f64>,
    /// For each inbox the shared links before it, each of which has a door; none stands for senders.
    doors: Vec<Vec<Option<Stage>>>,
    routes: Vec<Route>,
    route_of: HashMap<Vec<Stage>, u32>,
}

/// Builds the network of a checked scenario.
pub fn build<S: Scheduler, T: Trace>(scenario: &Scenario, options: Options, trace: T) -> Network<S, T> {
    let plan = Plan::new(scenario);
    let users = plan.users();
    let (leads, behind_s) = leads::find(&plan, &users);
    let inbox_leads = vec![0.0; leads.len()];
    Builder { plan, options, users, leads, behind_s, inbox_leads, doors: Vec::new(), routes: Vec::new(), route_of: HashMap::new() }
        .build(trace)
}

impl Builder<'_> {
    fn build<S: Scheduler, T: Trace>(mut self, trace: T) -> Network<S, T> {
        let scenario = self.plan.scenario;
        let [from, to] = scenario.window();
        let window = Window { from_s: from.seconds(), to_s: to.seconds() };
        let transit = Transit {
            links: Vec::new(),
            pipes: Pipes::default(),
            sinks: Vec::new(),
            first_slot: 0,
            slot_losses: Vec::new(),
            cross: Vec::new(),
            routes: Vec::new(),
            streams: Streams { all: Vec::new(), scheduler: S::new(1, 0.0), packets: 0 },
            inboxes: Vec::new(),
            knobs: Arc::from([]),
            options: Kept::default(),
            timers: Timers::default(),
            trace,
            window,
            end_s: scenario.duration.seconds(),
            bin_s: scenario.rate_bin.seconds(),
            delivered: 0,
            overflowed: false,
        };
        let mut engine = Engine {
            hosts: Vec::new(),
            listed: 0,
            groups: Vec::new(),
            transfers: Vec::new(),
            fault: None,
            cross: Vec::new(),
            transit,
            knobs: Arc::from([]),
            now_s: 0.0,
            begun: Vec::new(),
            measured: Vec::new(),
            edges_s: vec![window.from_s, window.to_s],
            next_edge_s: window.from_s,
            tied: Vec::new(),
            ties: 0,
            rounds: 0,
            expiring: Vec::new(),
        };
        if self.options.look_ahead {
            self.add_inboxes(&mut engine);
        }
        let groups = std::mem::take(&mut self.plan.groups);
        let (listed, arriving) = groups.split_at(scenario.flows.len());
        let mut infos = FlowInfos::default();
        let mut transfer_groups: Vec<String> = arriving.iter().map(|group| group.spec.name.clone()).collect();
        for (i, group) in listed.iter().enumerate() {
            self.add_flows(group, i as u32, &mut transfer_groups, &mut engine, &mut infos);
        }
        engine.listed = engine.hosts.len();
        engine.transit.first_slot = engine.listed;
        for (i, group) in arriving.iter().enumerate() {
            self.add_arrivals(group, i, (listed.len() + i) as u32, &mut engine);
        }
        let knobs: Arc<[_]> = groups.iter().map(|group| self.plan.knobs(&group.spec)).collect();
        self.plan.groups = groups;
        let emissions = self.add_cross(&mut engine);
        let (links, link_infos) = self.plan.build_links(&infos, window);
        engine.transit.links = links;
        for (i, link) in engine.transit.links.iter_mut().enumerate() {
            if let Some(owned) = link.service() {
                owned.stream = engine.transit.streams.all.len() as u32;
                owned.behind_s = if self.options.look_ahead { self.plan.behind_s(i as u32) } else { 0.0 };
                let place = Place { route: 0, first_stream: owned.stream, first_pipe: 0 };
                engine.transit.streams.all.push(Pending::new(0, Due::Depart(i as u32), place));
            }
        }
        let cross_counts = scenario.cross.iter().enumerate().map(|(i, spec)| self.plan.sources(i, spec)).collect();
        (engine.knobs, engine.transit.knobs) = (knobs.clone(), knobs);
        engine.transit.routes = self.routes;
        engine.transit.inboxes.iter_mut().zip(&self.doors).for_each(|(inbox, doors)| inbox.open(doors.len()));
        // As many of 1000 bytes as links may carry, there and back.
        let packets_s = self.plan.links.iter().map(|link| link.rate.largest().bps() as f64 / 8000.0).sum();
        let streams = &mut engine.transit.streams;
        streams.scheduler = S::new(streams.all.len(), packets_s);
        for &(stream, time_s) in &emissions {
            engine.transit.streams.scheduler.set(stream, time_s);
        }
        let sources = emissions.iter().map(|&(stream, time_s)| (engine.transit.streams.all[stream as usize].place, time_s)).collect();
        engine.transit.timers.push(window.from_s, Kind::Measure, 0);
        engine.transit.timers.push(window.to_s, Kind::Measure, 0);
        Network { engine, links: link_infos, flows: infos, transfer_groups, cross_counts, sources }
    }

    fn add_flows<S: Scheduler, T: Trace>(
        &mut self,
        group: &Group,
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
        infos.group(GroupInfo { name: spec.name.clone(), rule: spec.rule.0.to_string(), recovery, count: spec.count });
        let flows = spec.count as usize;
        engine.hosts.reserve_exact(flows);
        engine.transit.sinks.reserve_exact(flows);
        infos.base_rtts_s.reserve_exact(flows);
        let transfers = spec.responses.as_ref().map(|_| {
            transfer_groups.push(spec.name.clone());
            transfer_groups.len() as u32 - 1
        });
        let drawn_s = |i: u64| match spec.start.low == spec.start.high {
            true => spec.start.low.seconds(),
            false => {
                let name = format!("start/{}", spec.instance(i));
                Stream::new(scenario.seed, &name).between(spec.start.low.seconds(), spec.start.high.seconds())
            }
        };
        for (i, times) in schedule(spec, scenario.duration.seconds(), drawn_s).into_iter().enumerate() {
            let name = spec.instance(i as u64);
            let flow = engine.hosts.len() as u32;
            let access = self.plan.access(spec, &name);
            let place = self.place(group, &access, knobs.delayed_ack, flow, engine);
            let phase_s = spec.tcp.timer_phase.or(scenario.tcp.timer_phase).unwrap_or(0.0);
            let base_rtt_s = self.plan.links_rtt_s(&group.way) + 2.0 * (access.source.1 + access.sink.1);
            // Whose stop comes first never starts.
            let (start_s, stop_s) = times.unwrap_or((NEVER, NEVER));
            let job = transfers.map(|transfers| self.responder(group, &name, transfers, start_s, base_rtt_s));
            let packets = job.as_ref().map(|job| job.packets).or(spec.packets);
            if start_s < NEVER {
                engine.transit.timers.push(start_s, Kind::Start, flow);
            }
            if stop_s < NEVER {
                engine.transit.timers.push(stop_s, Kind::Stop, flow);
            }
            let rule = if rule.is_stateless() { rule.clone() } else { spec.rule.0.build(arithmetic) };
            let sender = Sender::new(rule, recovery, packets, phase_s, &knobs);
            let agenda = Agenda::of(&sender, stop_s, job);
            engine.hosts.push(Host {
                sender,
                place,
                knobs: knobs_index,
                flags: Flags::of_priority(spec.priority),
                armed_s: NEVER,
                hash: TraceHash::default(),
                finish_s: NEVER,
                agenda,
            });
            let bins = Bins::new(engine.transit.window.from_s, engine.transit.bin_s);
            engine.transit.sinks.push(Sink::new(Receiver::new(recovery.uses_sack()), knobs_index, bins));
            infos.base_rtts_s.push(base_rtt_s);
        }
    }

    /// Stages of a group's route, and its own links: which of source, sink and way back each is (0, 1, 2).
    fn stages(&self, group: &Group) -> (Vec<Stage>, Vec<usize>) {
        let ([source_rate, sink_rate], source, sink) = self.plan.spans(&group.spec);
        let there = |rate: Option<u64>, high_s: f64| rate.is_some() || high_s > 0.0;
        let own =
            [there(source_rate, source.high.seconds()), there(sink_rate, sink.high.seconds()), self.plan.back_delay(&group.way) > 0.0];
        let (mut stages, mut pipes) = (Vec::new(), Vec::new());
        let mut pipe = |stages: &mut Vec<Stage>, which: usize| {
            if own[which] {
                stages.push(Stage::Pipe(pipes.len() as u32));
                pipes.push(which);
            }
        };
        let links = |links: &[u32]| -> Vec<Stage> {
            links.iter().map(|&link| if self.plan.owns(link) { Stage::Queue(link) } else { Stage::Link(link) }).collect()
        };
        pipe(&mut stages, 0);
        stages.extend(links(&group.way.there));
        pipe(&mut stages, 1);
        stages.push(Stage::Sink);
        pipe(&mut stages, 1);
        stages.extend(links(&group.way.back));
        pipe(&mut stages, 2);
        pipe(&mut stages, 0);
        stages.push(Stage::Source);
        (stages, pipes)
    }

    /// Lays a flow's route: its pipes, the links, and a stream wherever packets must wait for an event.
    fn place<S: Scheduler, T: Trace>(
        &mut self,
        group: &Group,
        access: &Access,
        delayed_ack: bool,
        flow: u32,
        engine: &mut Engine<S, T>,
    ) -> Place {
        let first_pipe = engine.transit.pipes.len() as u32;
        let (stages, pipes) = self.stages(group);
        let own = [access.source, access.sink, (None, self.plan.back_delay(&group.way))];
        pipes.into_iter().for_each(|which| engine.transit.pipes.push(own[which].0, own[which].1));
        let route = self.route(stages, delayed_ack);
        self.add_streams(route, flow, first_pipe, engine)
    }
}
