//! A network from a scenario: endpoints, routes and streams, over the links of the plan.

mod leads;
mod links;
mod plan;
mod routes;

use crate::engine::Engine;
use crate::flow::{Bins, CrossFlow, Host, Sink};
use crate::hash::TraceHash;
use crate::link::Window;
use crate::packet::OptionStore;
use crate::pipe::Pipe;
use crate::random::Stream;
use crate::rate::Serializer;
use crate::scenario::{CrossSpec, FlowSpec, Scenario};
use crate::scheduler::{EMPTY, Scheduler};
use crate::streams::{Due, Pending, Place, Streams};
use crate::timers::{Kind, Timers};
use crate::trace::Trace;
use crate::transit::{Route, Stage, Transit};
use cwndlab_rules::Arithmetic;
use cwndlab_tcp::{Counters, NEVER, Receiver, Recovery, Sender};
use cwndlab_units::Time;
use leads::Lead;
use plan::{Access, Plan};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// What results say about a link beside its sums.
#[derive(Clone, Debug)]
pub struct LinkInfo {
    /// Name.
    pub name: String,
    /// Mean rate over the window, bits per second.
    pub rate_bps: f64,
    /// Propagation delay, seconds.
    pub delay_s: f64,
    /// Buffer, packets; none without limit or in bytes.
    pub limit_packets: Option<u64>,
    /// Mean rate of cross traffic offered to it over the window, bits per second.
    pub cross_bps: f64,
    /// What cross traffic leaves of it in each bin of the rate trace, bits per second.
    pub available_bps: Vec<f64>,
}

/// What results say about a flow beside its sums.
#[derive(Clone, Debug)]
pub struct FlowInfo {
    /// Name.
    pub name: String,
    /// Group.
    pub group: String,
    /// Rule.
    pub rule: String,
    /// Recovery.
    pub recovery: Recovery,
    /// Round trip of propagation delays, seconds.
    pub base_rtt_s: f64,
}

/// How a run is made.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Compute private stages as soon as their inputs are known. Off: an event for every stage, for tests.
    pub look_ahead: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { look_ahead: true }
    }
}

/// A network ready to run, and what its tables mean.
pub struct Network<S: Scheduler, T: Trace> {
    /// What moves.
    pub engine: Engine<S, T>,
    /// Links in order.
    pub links: Vec<LinkInfo>,
    /// TCP flows in order.
    pub flows: Vec<FlowInfo>,
}

struct Builder<'a> {
    plan: Plan<'a>,
    options: Options,
    users: Vec<u64>,
    leads: Vec<Lead>,
    /// Leads of the links that have an inbox, seconds.
    inbox_leads: Vec<f64>,
    routes: Vec<Route>,
    route_of: HashMap<Vec<Stage>, u32>,
}

/// Builds the network of a checked scenario.
pub fn build<S: Scheduler, T: Trace>(scenario: &Scenario, options: Options, trace: T) -> Network<S, T> {
    let plan = Plan::new(scenario);
    let users = plan.users();
    let leads = leads::find(&plan, &users);
    let inbox_leads = vec![0.0; leads.len()];
    Builder { plan, options, users, leads, inbox_leads, routes: Vec::new(), route_of: HashMap::new() }.build(trace)
}

impl Builder<'_> {
    fn build<S: Scheduler, T: Trace>(mut self, trace: T) -> Network<S, T> {
        let scenario = self.plan.scenario;
        let [from, to] = scenario.window();
        let window = Window { from_s: from.seconds(), to_s: to.seconds() };
        let transit = Transit {
            links: Vec::new(),
            pipes: Vec::new(),
            sinks: Vec::new(),
            routes: Vec::new(),
            streams: Streams { all: Vec::new(), scheduler: S::new(1), packets: 0 },
            inboxes: Vec::new(),
            knobs: Arc::from([]),
            options: OptionStore::default(),
            timers: Timers::default(),
            trace,
            window,
            end_s: scenario.duration.seconds(),
            bin_s: scenario.rate_bin.seconds(),
            delivered: 0,
            overflowed: false,
        };
        let mut edges_s: Vec<f64> = scenario.flows.iter().filter_map(|spec| spec.stop).map(Time::seconds).collect();
        edges_s.extend([window.from_s, window.to_s]);
        edges_s.sort_by(f64::total_cmp);
        let next_edge_s = edges_s[0];
        let (hosts, cross, knobs, tied) = (Vec::new(), Vec::new(), Arc::from([]), Vec::new());
        let mut engine = Engine { hosts, cross, transit, knobs, now_s: 0.0, edges_s, next_edge_s, tied, ties: 0, expiring: Vec::new() };
        if self.options.look_ahead {
            self.add_inboxes(&mut engine);
        }
        let mut infos = Vec::new();
        let mut ranges = HashMap::new();
        for (i, spec) in scenario.flows.iter().enumerate() {
            let first = engine.hosts.len() as u32;
            self.add_flows(spec, i as u32, &mut engine, &mut infos);
            ranges.insert(spec.name.clone(), first..engine.hosts.len() as u32);
        }
        let tcp_flows = engine.hosts.len() as u32;
        let mut first_emissions = Vec::new();
        for (i, spec) in scenario.cross.iter().enumerate() {
            first_emissions.push(self.add_cross(spec, tcp_flows + i as u32, &mut engine));
        }
        let (links, link_infos) = self.plan.build_links(&infos, &ranges, window);
        engine.transit.links = links;
        engine.knobs = scenario.flows.iter().map(|spec| self.plan.knobs(spec)).collect();
        engine.transit.knobs = engine.knobs.clone();
        engine.transit.routes = self.routes;
        engine.transit.streams.scheduler = S::new(engine.transit.streams.all.len());
        for (stream, time_s) in first_emissions {
            engine.transit.streams.scheduler.set(stream, time_s);
        }
        engine.transit.timers.push(window.from_s, Kind::Measure, 0);
        engine.transit.timers.push(window.to_s, Kind::Measure, 0);
        Network { engine, links: link_infos, flows: infos }
    }

    fn add_flows<S: Scheduler, T: Trace>(
        &mut self,
        spec: &FlowSpec,
        knobs_index: u32,
        engine: &mut Engine<S, T>,
        infos: &mut Vec<FlowInfo>,
    ) {
        let scenario = self.plan.scenario;
        let knobs = self.plan.knobs(spec);
        let arithmetic = if knobs.ns2_arithmetic { Arithmetic::Ns2 } else { Arithmetic::Plain };
        let recovery = Recovery::from(spec.recovery);
        for i in 0..spec.count {
            let name = spec.instance(i);
            let flow = engine.hosts.len() as u32;
            let access = self.plan.access(spec, &name);
            let place = self.place(spec, &access, knobs.delayed_ack, flow, engine);
            let phase_s = spec.tcp.timer_phase.or(scenario.tcp.timer_phase).unwrap_or(0.0);
            let start = spec.start;
            let start_s = match start.low == start.high {
                true => start.low.seconds(),
                false => Stream::new(scenario.seed, &format!("start/{name}")).between(start.low.seconds(), start.high.seconds()),
            };
            engine.transit.timers.push(start_s, Kind::Start, flow);
            if let Some(stop) = spec.stop {
                engine.transit.timers.push(stop.seconds(), Kind::Stop, flow);
            }
            engine.hosts.push(Host {
                sender: Sender::new(spec.rule.0.build(arithmetic), recovery, spec.packets, phase_s, &knobs),
                place,
                knobs: knobs_index,
                armed_s: NEVER,
                hash: TraceHash::default(),
                at_begin: Counters::default(),
                at_end: Counters::default(),
                finish_s: None,
            });
            engine.transit.sinks.push(Sink {
                receiver: Receiver::new(recovery.uses_sack()),
                knobs: knobs_index,
                delivered: 0,
                dropped: 0,
                total_delivered: 0,
                total_dropped: 0,
                in_flight: 0,
                bins: Bins::new(engine.transit.window.from_s, engine.transit.bin_s),
            });
            infos.push(FlowInfo {
                name,
                group: spec.name.clone(),
                rule: spec.rule.0.to_string(),
                recovery,
                base_rtt_s: self.plan.base_rtt_s(spec, &access),
            });
        }
    }

    /// Lays a flow's route: its pipes, the links, and a stream wherever packets must wait for an event.
    fn place<S: Scheduler, T: Trace>(
        &mut self,
        spec: &FlowSpec,
        access: &Access,
        delayed_ack: bool,
        flow: u32,
        engine: &mut Engine<S, T>,
    ) -> Place {
        let first_pipe = engine.transit.pipes.len() as u32;
        let mut stages = Vec::new();
        let mut pipe = |stages: &mut Vec<Stage>, (rate, delay): (Option<u64>, f64)| {
            if rate.is_some() || delay > 0.0 {
                stages.push(Stage::Pipe(engine.transit.pipes.len() as u32 - first_pipe));
                engine.transit.pipes.push(Pipe::new(rate, delay));
            }
        };
        pipe(&mut stages, access.source);
        stages.extend(self.plan.forward(&spec.path).into_iter().map(Stage::Link));
        pipe(&mut stages, access.sink);
        stages.push(Stage::Sink);
        pipe(&mut stages, access.sink);
        stages.extend(self.plan.back(spec).into_iter().map(Stage::Link));
        pipe(&mut stages, (None, self.plan.back_delay(spec)));
        pipe(&mut stages, access.source);
        stages.push(Stage::Source);
        let route = self.route(stages, delayed_ack);
        self.add_streams(route, flow, first_pipe, engine)
    }

    /// Adds a source; returns its own stream and when it first sends.
    fn add_cross<S: Scheduler, T: Trace>(&mut self, spec: &CrossSpec, flow: u32, engine: &mut Engine<S, T>) -> (u32, f64) {
        let mut stages: Vec<Stage> = self.plan.forward(&spec.path).into_iter().map(Stage::Link).collect();
        stages.push(Stage::Sink);
        let route = self.route(stages, false);
        let place = self.add_streams(route, flow, 0, engine);
        let own_stream = engine.transit.streams.all.len() as u32;
        engine.transit.streams.all.push(Pending { ring: VecDeque::new(), flow, due: Due::Emit, place });
        let (waveform, left_of) = self.plan.cross_rate(spec);
        let stream = Stream::new(self.plan.scenario.seed, &format!("rate/{}", spec.name));
        let horizon = self.plan.scenario.duration.seconds();
        let mut serializer = Serializer::new(waveform, stream, horizon, left_of);
        let stop_s = spec.stop.map_or(f64::INFINITY, Time::seconds);
        let first_s = serializer.finish(spec.start.low.seconds(), spec.packet_size.0 as u32).0;
        let first_s = if first_s < stop_s { first_s } else { EMPTY };
        let size_bytes = spec.packet_size.0 as u16;
        engine.cross.push(CrossFlow { serializer, size_bytes, next: 0, last_s: 0.0, stop_s });
        (own_stream, first_s)
    }
}
