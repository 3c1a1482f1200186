//! A network from a scenario: links, routes, streams and endpoints.

use crate::course::Course;
use crate::engine::Engine;
use crate::flow::{Bins, CrossFlow, Host, Sink};
use crate::hash::TraceHash;
use crate::link::{Link, Loss, LossKind, Pipe, QueueSampler, Window};
use crate::packet::OptionStore;
use crate::random::Stream;
use crate::rate::Serializer;
use crate::scenario::{CrossSpec, FlowSpec, LossSpec, QueueSpec, Scenario, Waveform};
use crate::scheduler::Scheduler;
use crate::streams::{Due, Inbox, Pending, Place, Streams};
use crate::timers::{Kind, Timers};
use crate::trace::Trace;
use crate::transit::{Entry, Route, Stage, Transit};
use cwndlab_queues::{Discipline, DropTail, Limit};
use cwndlab_rules::Arithmetic;
use cwndlab_tcp::{Counters, Knobs, NEVER, Receiver, Recovery, Sender};
use cwndlab_units::{Buffer, RateLimit, Span, Time};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
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

/// One direction of a link before it is built.
struct LinkPlan<'a> {
    name: String,
    rate: Waveform,
    delay: Time,
    queue: QueueSpec,
    loss: &'a [LossSpec],
}

/// A flow's own links, drawn.
struct Access {
    source: (Option<u64>, f64),
    sink: (Option<u64>, f64),
}

/// A lead is a sum of doubles: this much less of it is certain.
const SAFE: f64 = 1.0 - 1e-6;

/// What is known about the delays with which packets reach a link since their last event.
#[derive(Clone, Copy, Debug)]
enum Lead {
    /// Nothing yet.
    Unknown,
    /// All come straight from this one first-in first-out link, with this delay since: they arrive in order of time.
    InOrder { from: u32, lead_s: f64 },
    /// The same for all, seconds.
    Equal(f64),
    /// Not the same.
    Mixed,
    /// The same for all, and this inbox collects them.
    Inbox(u32),
}

/// How a flow's packets reach a stage: from which shared link, if nothing that depends on their size lies between, and how long after their
/// last event (least and most, seconds).
#[derive(Clone, Copy)]
struct Way {
    from: Option<u32>,
    low_s: f64,
    high_s: f64,
}

struct Builder<'a> {
    scenario: &'a Scenario,
    options: Options,
    plans: Vec<LinkPlan<'a>>,
    by_name: HashMap<String, u32>,
    /// How many flows cross a link, in either direction.
    users: Vec<u64>,
    /// For links that all packets reach with the same lead (the delay since their last event): that lead, and then their inbox.
    leads: Vec<Lead>,
    routes: Vec<Route>,
    route_of: HashMap<Vec<Stage>, u32>,
}

/// A delay drawn uniformly from a span, seconds.
fn draw_delay(span: Span, seed: u64, name: &str) -> f64 {
    if span.low == span.high { span.low.link_delay_s() } else { Stream::new(seed, name).between(span.low.seconds(), span.high.seconds()) }
}

/// Builds the network of a checked scenario.
pub fn build<S: Scheduler, T: Trace>(scenario: &Scenario, options: Options, trace: T) -> Network<S, T> {
    let plans = plan_links(scenario);
    let by_name = plans.iter().enumerate().map(|(i, plan)| (plan.name.clone(), i as u32)).collect();
    let (users, leads) = (vec![0; plans.len()], vec![Lead::Unknown; plans.len()]);
    let mut builder = Builder { scenario, options, plans, by_name, users, leads, routes: Vec::new(), route_of: HashMap::new() };
    builder.count_users();
    builder.find_leads();
    builder.build(trace)
}

fn plan_links(scenario: &Scenario) -> Vec<LinkPlan<'_>> {
    let Some(dumbbell) = &scenario.dumbbell else {
        return scenario
            .links
            .iter()
            .map(|link| LinkPlan { name: link.name.clone(), rate: link.rate.clone(), delay: link.delay, queue: link.queue, loss: &link.loss })
            .collect();
    };
    let forward = LinkPlan { name: "bottleneck".into(), rate: dumbbell.rate.clone(), delay: dumbbell.delay, queue: dumbbell.queue, loss: &dumbbell.loss };
    let back_rate = match dumbbell.back_rate {
        None => Some(Waveform::Constant(dumbbell.rate.largest())),
        Some(RateLimit::Limited(rate)) => Some(Waveform::Constant(rate)),
        Some(RateLimit::Unlimited) => None,
    };
    let unlimited = QueueSpec::DropTail { limit: Buffer::Unlimited, count_in_service: true };
    let back = back_rate.map(|rate| LinkPlan {
        name: "bottleneck-back".into(),
        rate,
        delay: dumbbell.delay,
        queue: dumbbell.back_queue.unwrap_or(unlimited),
        loss: &[],
    });
    std::iter::once(forward).chain(back).collect()
}

impl Builder<'_> {
    fn count_users(&mut self) {
        for flow in &self.scenario.flows {
            for link in self.forward(&flow.path).into_iter().chain(self.back(flow)) {
                self.users[link as usize] += flow.count;
            }
        }
        for cross in &self.scenario.cross {
            for link in self.forward(&cross.path) {
                self.users[link as usize] += 1;
            }
        }
    }

    /// Finds the links that need no event for each packet. Either all packets come in order of time, because they come from one and the same
    /// link with nothing but equal delays between; or they can share an inbox: nobody emits into it, and every flow's packets reach it with one
    /// and the same delay since their last event, over own links fast enough not to hold packets back for long.
    fn find_leads(&mut self) {
        for cross in &self.scenario.cross {
            for link in self.forward(&cross.path) {
                self.leads[link as usize] = Lead::Mixed;
            }
        }
        for spec in &self.scenario.flows {
            let knobs = self.knobs(spec);
            let (rate, source, sink) = self.spans(spec);
            let slowest = |links: &[u32], plans: &[LinkPlan<'_>]| links.iter().map(|&link| plans[link as usize].rate.largest().bps()).max().unwrap_or(0);
            let forward = self.forward(&spec.path);
            let held_back = rate.iter().flatten().any(|&rate| rate < slowest(&forward, &self.plans));
            let mut way = Way { from: None, low_s: source.low.link_delay_s(), high_s: source.high.link_delay_s() };
            for link in forward {
                way = self.meet(link, way, held_back);
            }
            if rate[1].is_some() || knobs.delayed_ack {
                way.from = None;
            }
            // In the order in which pipes add it up, so that equal delays are equal numbers.
            for own in [sink, sink] {
                way.low_s += own.low.link_delay_s();
                way.high_s += own.high.link_delay_s();
            }
            for link in self.back(spec) {
                way = self.meet(link, way, held_back || knobs.delayed_ack);
            }
        }
    }

    /// A flow's packets reach `link` on this way; returns theirs to the next stage.
    fn meet(&mut self, link: u32, way: Way, unfit: bool) -> Way {
        let delay_s = self.plans[link as usize].delay.link_delay_s();
        if self.users[link as usize] < 2 {
            // Alone on a link, a flow's packets stay in order among themselves, but no longer among the others.
            return Way { from: None, low_s: way.low_s + delay_s, high_s: way.high_s + delay_s };
        }
        let known = &mut self.leads[link as usize];
        let lead_s = way.low_s;
        let equal = way.low_s == way.high_s;
        let shareable = equal && lead_s > 0.0 && !unfit;
        *known = match (*known, way.from) {
            (Lead::Unknown, Some(from)) if equal => Lead::InOrder { from, lead_s },
            (Lead::InOrder { from, lead_s: known_s }, Some(same)) if equal && same == from && known_s == lead_s => Lead::InOrder { from, lead_s },
            (Lead::Unknown, _) if shareable => Lead::Equal(lead_s),
            (Lead::InOrder { lead_s: known_s, .. } | Lead::Equal(known_s), _) if shareable && known_s == lead_s => Lead::Equal(lead_s),
            _ => Lead::Mixed,
        };
        Way { from: Some(link), low_s: delay_s, high_s: delay_s }
    }

    /// Rates of a flow's own links, and the spans of their delays.
    fn spans(&self, flow: &FlowSpec) -> ([Option<u64>; 2], Span, Span) {
        let dumbbell = self.scenario.dumbbell.as_ref();
        let rate = |own: Option<RateLimit>, common: Option<RateLimit>| match own.or(common).unwrap_or_default() {
            RateLimit::Limited(rate) => Some(rate.bps()),
            RateLimit::Unlimited => None,
        };
        let rates = [rate(flow.access_rate, dumbbell.map(|d| d.access_rate)), rate(flow.sink_rate, dumbbell.map(|d| d.sink_rate))];
        let source = flow.access_delay.or(dumbbell.map(|d| d.access_delay)).unwrap_or_default();
        let sink = flow.sink_delay.or(dumbbell.map(|d| d.sink_delay)).unwrap_or_default();
        (rates, source, sink)
    }

    /// The endpoint knobs of a flow.
    fn knobs(&self, flow: &FlowSpec) -> Knobs {
        let mut knobs = Knobs::profile(self.scenario.profile.into());
        self.scenario.tcp.apply(&mut knobs);
        flow.tcp.apply(&mut knobs);
        knobs
    }

    fn forward(&self, path: &[String]) -> Vec<u32> {
        if path.is_empty() { vec![0] } else { path.iter().map(|name| self.by_name[name]).collect() }
    }

    /// Links of the way back; none where it is a pure delay.
    fn back(&self, flow: &FlowSpec) -> Vec<u32> {
        match self.scenario.dumbbell {
            Some(_) => (1..self.plans.len() as u32).collect(),
            None => flow.back.iter().map(|name| self.by_name[name]).collect(),
        }
    }

    /// Delay of the way back where no link stands for it.
    fn back_delay(&self, flow: &FlowSpec) -> f64 {
        if self.back(flow).is_empty() { self.forward(&flow.path).iter().map(|&link| self.plans[link as usize].delay.link_delay_s()).sum() } else { 0.0 }
    }

    fn access(&self, flow: &FlowSpec, name: &str) -> Access {
        let ([source_rate, sink_rate], source, sink) = self.spans(flow);
        let seed = self.scenario.seed;
        Access {
            source: (source_rate, draw_delay(source, seed, &format!("access/{name}"))),
            sink: (sink_rate, draw_delay(sink, seed, &format!("sink/{name}"))),
        }
    }

    fn build<S: Scheduler, T: Trace>(mut self, trace: T) -> Network<S, T> {
        let scenario = self.scenario;
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
        };
        let mut engine = Engine { hosts: Vec::new(), cross: Vec::new(), transit, knobs: Arc::from([]), now_s: 0.0 };
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
        let links = self.add_links(&infos, &ranges, &mut engine);
        engine.knobs = scenario.flows.iter().map(|spec| self.knobs(spec)).collect();
        engine.transit.knobs = engine.knobs.clone();
        engine.transit.routes = self.routes;
        engine.transit.streams.scheduler = S::new(engine.transit.streams.all.len());
        for (stream, time_s) in first_emissions {
            engine.transit.streams.scheduler.set(stream, time_s);
        }
        engine.transit.timers.push(window.from_s, Kind::Measure, 0);
        engine.transit.timers.push(window.to_s, Kind::Measure, 0);
        Network { engine, links, flows: infos }
    }

    fn add_flows<S: Scheduler, T: Trace>(&mut self, spec: &FlowSpec, knobs_index: u32, engine: &mut Engine<S, T>, infos: &mut Vec<FlowInfo>) {
        let scenario = self.scenario;
        let knobs = self.knobs(spec);
        let arithmetic = if knobs.ns2_arithmetic { Arithmetic::Ns2 } else { Arithmetic::Plain };
        let recovery = Recovery::from(spec.recovery);
        for i in 0..spec.count {
            let name = spec.instance(i);
            let flow = engine.hosts.len() as u32;
            let access = self.access(spec, &name);
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
            infos.push(FlowInfo { name, group: spec.name.clone(), rule: spec.rule.0.to_string(), recovery, base_rtt_s: self.base_rtt_s(spec, &access) });
        }
    }

    fn base_rtt_s(&self, spec: &FlowSpec, access: &Access) -> f64 {
        let delay = |links: Vec<u32>| links.iter().map(|&link| self.plans[link as usize].delay.seconds()).sum::<f64>();
        delay(self.forward(&spec.path)) + delay(self.back(spec)) + self.back_delay(spec) + 2.0 * (access.source.1 + access.sink.1)
    }

    /// Lays a flow's route: its pipes, the links, and a stream wherever packets must wait for an event.
    fn place<S: Scheduler, T: Trace>(&mut self, spec: &FlowSpec, access: &Access, delayed_ack: bool, flow: u32, engine: &mut Engine<S, T>) -> Place {
        let first_pipe = engine.transit.pipes.len() as u32;
        let mut stages = Vec::new();
        let mut pipe = |stages: &mut Vec<Stage>, (rate, delay): (Option<u64>, f64)| {
            if rate.is_some() || delay > 0.0 {
                stages.push(Stage::Pipe(engine.transit.pipes.len() as u32 - first_pipe));
                engine.transit.pipes.push(Pipe::new(rate, delay));
            }
        };
        pipe(&mut stages, access.source);
        stages.extend(self.forward(&spec.path).into_iter().map(Stage::Link));
        pipe(&mut stages, access.sink);
        stages.push(Stage::Sink);
        pipe(&mut stages, access.sink);
        stages.extend(self.back(spec).into_iter().map(Stage::Link));
        pipe(&mut stages, (None, self.back_delay(spec)));
        pipe(&mut stages, access.source);
        stages.push(Stage::Source);
        let route = self.route(stages, delayed_ack);
        self.add_streams(route, flow, first_pipe, engine)
    }

    /// The route with these stages; flows alike share it.
    fn route(&mut self, mut stages: Vec<Stage>, delayed_ack: bool) -> u32 {
        // Routes with and without events at the receiver differ: the key says which.
        let key_end = if delayed_ack { Stage::Sink } else { Stage::Source };
        stages.push(key_end);
        if let Some(&route) = self.route_of.get(&stages) {
            return route;
        }
        let key = stages.clone();
        stages.pop();
        let mut streams = 0;
        let route = stages
            .iter()
            .enumerate()
            .map(|(i, &stage)| {
                let waits = match stage {
                    // Entering the first stage is the sender's own event.
                    _ if i == 0 => false,
                    Stage::Link(link) if let Lead::Inbox(inbox) = self.leads[link as usize] => return (stage, Entry::Inbox(inbox)),
                    Stage::Link(link) if self.options.look_ahead && matches!(self.leads[link as usize], Lead::InOrder { .. }) => false,
                    Stage::Source => true,
                    Stage::Sink if delayed_ack => true,
                    stage => self.shared(stage) || !self.options.look_ahead,
                };
                streams += u32::from(waits);
                (stage, if waits { Entry::Stream(streams - 1) } else { Entry::AtOnce })
            })
            .collect();
        let sink = stages.iter().position(|stage| *stage == Stage::Sink).unwrap_or_default();
        self.routes.push(Route { stages: route, sink });
        self.route_of.insert(key, self.routes.len() as u32 - 1);
        self.routes.len() as u32 - 1
    }

    fn shared(&self, stage: Stage) -> bool {
        matches!(stage, Stage::Link(link) if self.users[link as usize] > 1)
    }

    /// Gives a flow its streams and its place in the tables.
    fn add_streams<S: Scheduler, T: Trace>(&self, route: u32, flow: u32, first_pipe: u32, engine: &mut Engine<S, T>) -> Place {
        let place = Place { route, first_stream: engine.transit.streams.all.len() as u32, first_pipe };
        for (stage, &(kind, stream)) in self.routes[route as usize].stages.iter().enumerate() {
            if let Entry::Stream(_) = stream {
                let due = if kind == Stage::Source { Due::Ack } else { Due::Enter(stage as u32) };
                engine.transit.streams.all.push(Pending { ring: VecDeque::new(), flow, due, place });
            }
        }
        place
    }

    /// Gives every link that can have one an inbox.
    fn add_inboxes<S: Scheduler, T: Trace>(&mut self, engine: &mut Engine<S, T>) {
        for lead in &mut self.leads {
            if let Lead::Equal(lead_s) = *lead {
                let (inbox, stream) = (engine.transit.inboxes.len() as u32, engine.transit.streams.all.len() as u32);
                engine.transit.inboxes.push(Inbox::new(lead_s * SAFE, stream));
                let place = Place { route: 0, first_stream: stream, first_pipe: 0 };
                engine.transit.streams.all.push(Pending { ring: VecDeque::new(), flow: 0, due: Due::Batch(inbox), place });
                *lead = Lead::Inbox(inbox);
            }
        }
    }

    /// Adds a source; returns its own stream and when it first sends.
    fn add_cross<S: Scheduler, T: Trace>(&mut self, spec: &CrossSpec, flow: u32, engine: &mut Engine<S, T>) -> (u32, f64) {
        let mut stages: Vec<Stage> = self.forward(&spec.path).into_iter().map(Stage::Link).collect();
        stages.push(Stage::Sink);
        let route = self.route(stages, false);
        let place = self.add_streams(route, flow, 0, engine);
        let own_stream = engine.transit.streams.all.len() as u32;
        engine.transit.streams.all.push(Pending { ring: VecDeque::new(), flow, due: Due::Emit, place });
        let (waveform, left_of) = self.cross_rate(spec);
        let stream = Stream::new(self.scenario.seed, &format!("rate/{}", spec.name));
        let horizon = self.scenario.duration.seconds();
        let mut serializer = Serializer::new(waveform, stream, horizon, left_of);
        let stop_s = spec.stop.map_or(f64::INFINITY, Time::seconds);
        let first_s = serializer.finish(spec.start.seconds(), spec.packet_size.0 as u32).0;
        engine.cross.push(CrossFlow { serializer, size_bytes: spec.packet_size.0 as u16, place, next: 0, stop_s });
        (own_stream, first_s)
    }

    /// The waveform of a source, and the link rate that it leaves something of.
    fn cross_rate<'b>(&self, spec: &'b CrossSpec) -> (&'b Waveform, Option<u64>) {
        match (&spec.rate, &spec.available) {
            (Some(rate), _) => (rate, None),
            (None, Some(available)) => (available, Some(self.plans[self.forward(&spec.path)[0] as usize].rate.largest().bps())),
            (None, None) => unreachable!("checked: a source has a rate or an available rate"),
        }
    }

    fn add_links<S: Scheduler, T: Trace>(&self, flows: &[FlowInfo], ranges: &HashMap<String, Range<u32>>, engine: &mut Engine<S, T>) -> Vec<LinkInfo> {
        let scenario = self.scenario;
        let horizon = scenario.duration.seconds();
        let (from, to) = (engine.transit.window.from_s, engine.transit.window.to_s);
        let mut infos = Vec::new();
        for (i, plan) in self.plans.iter().enumerate() {
            let rate_stream = || Stream::new(scenario.seed, &format!("link-rate/{}", plan.name));
            let serializer = Serializer::new(&plan.rate, rate_stream(), horizon, None);
            let QueueSpec::DropTail { limit, count_in_service } = plan.queue;
            let limit = self.limit(limit, plan, i as u32, flows);
            let losses = plan.loss.iter().enumerate().map(|(k, loss)| build_loss(loss, scenario, &format!("loss/{}/{k}", plan.name), flows, ranges)).collect();
            let sampler = scenario.trace.queue.map(|every| QueueSampler::new(every.seconds()));
            let discipline = Discipline::DropTail(DropTail::new(limit, count_in_service));
            engine.transit.links.push(Link::new(serializer, plan.delay.link_delay_s(), discipline, losses, engine.transit.window, sampler));
            infos.push(LinkInfo {
                name: plan.name.clone(),
                rate_bps: Course::new(&plan.rate, rate_stream(), None).mean_bps(from, to),
                delay_s: plan.delay.seconds(),
                limit_packets: if let Limit::Packets(packets) = limit { Some(packets).filter(|&p| p < u64::MAX / 4) } else { None },
                cross_bps: self.cross_bps(i as u32, from, to),
                available_bps: scenario.trace.rate.map(|bin| self.available_bps(i as u32, bin.seconds())).unwrap_or_default(),
            });
        }
        infos
    }

    /// Mean cross traffic offered to a link over the window.
    fn cross_bps(&self, link: u32, from_s: f64, to_s: f64) -> f64 {
        let crossing = self.scenario.cross.iter().filter(|cross| self.forward(&cross.path).contains(&link));
        let means = crossing.map(|cross| {
                let (waveform, left_of) = self.cross_rate(cross);
                let begin = cross.start.seconds().max(from_s);
                let end = cross.stop.map_or(to_s, |stop| stop.seconds().min(to_s));
                if begin >= end {
                    return 0.0;
                }
                let stream = Stream::new(self.scenario.seed, &format!("rate/{}", cross.name));
                Course::new(waveform, stream, left_of).mean_bps(begin, end) * (end - begin) / (to_s - from_s)
        });
        means.fold(0.0, |sum, mean| sum + mean)
    }

    /// What cross traffic leaves of a link in bins of `bin_s` from 0 to the end of the run.
    fn available_bps(&self, link: u32, bin_s: f64) -> Vec<f64> {
        let scenario = self.scenario;
        let count = (scenario.duration.seconds() / bin_s).ceil() as usize;
        let plan = &self.plans[link as usize];
        let stream = Stream::new(scenario.seed, &format!("link-rate/{}", plan.name));
        let mut available = Course::new(&plan.rate, stream, None).bins(bin_s, count, 0.0, f64::MAX);
        for cross in scenario.cross.iter().filter(|cross| self.forward(&cross.path).contains(&link)) {
            let (waveform, left_of) = self.cross_rate(cross);
            let stream = Stream::new(scenario.seed, &format!("rate/{}", cross.name));
            let stop_s = cross.stop.map_or(f64::MAX, Time::seconds);
            let offered = Course::new(waveform, stream, left_of).bins(bin_s, count, cross.start.seconds(), stop_s);
            available.iter_mut().zip(offered).for_each(|(available, offered)| *available -= offered);
        }
        available
    }

    /// A buffer in packets or bytes. Packets are those of the first flow that crosses the link.
    fn limit(&self, buffer: Buffer, plan: &LinkPlan<'_>, link: u32, flows: &[FlowInfo]) -> Limit {
        let crossing: Vec<&FlowSpec> = self.scenario.flows.iter().filter(|flow| self.forward(&flow.path).contains(&link)).collect();
        let size = crossing.first().map_or(1000.0, |flow| {
            f64::from(self.knobs(flow).wire_size(1))
        });
        let packets = |bits: f64| Limit::Packets((bits / 8.0 / size).round().clamp(1.0, 1e8) as u64);
        match buffer {
            Buffer::Packets(packets) => Limit::Packets(packets),
            Buffer::Bytes(bytes) => Limit::Bytes(bytes),
            Buffer::Unlimited => Limit::Packets(u64::MAX / 2),
            Buffer::Time(time) => packets(plan.rate.first().bps() as f64 * time.seconds()),
            Buffer::Bdp(multiple) => match self.scenario.bdp {
                Some(bdp) => packets(multiple * bdp.rate.bps() as f64 * bdp.rtt.seconds()),
                None => {
                    let rtts: Vec<f64> = flows.iter().filter(|info| crossing.iter().any(|flow| flow.name == info.group)).map(|info| info.base_rtt_s).collect();
                    let mean = if rtts.is_empty() { 2.0 * plan.delay.seconds() } else { rtts.iter().sum::<f64>() / rtts.len() as f64 };
                    packets(multiple * plan.rate.first().bps() as f64 * mean)
                }
            },
        }
    }
}

fn build_loss(loss: &LossSpec, scenario: &Scenario, stream: &str, flows: &[FlowInfo], ranges: &HashMap<String, Range<u32>>) -> Loss {
    let range = |name: &Option<String>| {
        name.as_ref().map(|name| match ranges.get(name) {
            Some(group) => group.clone(),
            None => {
                let index = flows.iter().position(|flow| flow.name == *name).unwrap_or_default() as u32;
                index..index + 1
            }
        })
    };
    match loss {
        LossSpec::Bernoulli { p, flow, after_queue } => {
            Loss { flows: range(flow), kind: LossKind::Bernoulli { p: *p, stream: Stream::new(scenario.seed, stream), after_queue: *after_queue } }
        }
        LossSpec::List { packets, flow } => {
            let mut packets = packets.clone();
            packets.sort_unstable();
            packets.dedup();
            Loss { flows: range(flow), kind: LossKind::List { packets, seen: 0, next: 0 } }
        }
    }
}
