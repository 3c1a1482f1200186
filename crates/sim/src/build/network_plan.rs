//! A scenario read as a network: its links in order, and the ways, delays and knobs of each group of flows. Nothing is built yet.

use crate::random_stream::RandomStream;
use crate::scenario::{
    ArrivalSpec, CrossSpec, FlowPath, FlowSpec, NetworkGraph, OneWayLink, QueueSpec, Routes,
    Scenario, Waveform,
};
use cwndlab_rules::{Arithmetic, WindowRule};
use cwndlab_tcp::Knobs;
use cwndlab_units::{RateLimit, Span};

/// A flow's own links, drawn.
pub struct DrawnAccessLinks {
    /// Rate and delay (seconds) at the source.
    pub source: (Option<u64>, f64),
    /// Rate and delay at the sink.
    pub sink: (Option<u64>, f64),
}

/// Flows that are alike: listed ones, or those that arrive.
pub struct FlowGroup {
    /// What they are; those that arrive as a single flow.
    pub spec: FlowSpec,
    /// Their way.
    pub path: FlowPath,
    /// How many there may be.
    pub count: u64,
}

/// The network of a scenario.
pub struct NetworkPlan<'a> {
    /// Where it comes from.
    pub scenario: &'a Scenario,
    /// Links in order.
    pub links: Vec<OneWayLink<'a>>,
    /// Groups of flows: the listed ones, then those that arrive.
    pub groups: Vec<FlowGroup>,
    /// Links that each cross source takes.
    pub cross: Vec<Vec<u32>>,
}

/// A delay drawn uniformly from a span, seconds.
fn draw_delay(span: Span, seed: u64, name: &str) -> f64 {
    if span.low == span.high {
        span.low.link_delay_s()
    } else {
        RandomStream::new(seed, name).between(span.low.seconds(), span.high.seconds())
    }
}

/// One of the flows that arrive.
fn arriving(spec: &ArrivalSpec) -> FlowSpec {
    let ArrivalSpec { name, rule, recovery, priority, path, back, from, to, reverse, .. } =
        spec.clone();
    let ArrivalSpec { access_rate, access_delay, sink_rate, sink_delay, tcp, .. } = spec.clone();
    FlowSpec {
        name,
        count: 1,
        rule,
        recovery,
        start: Span::from(spec.start),
        stop: None,
        join: None,
        leave: None,
        responses: None,
        priority,
        packets: Some(1),
        path,
        back,
        from,
        to,
        reverse,
        access_rate,
        access_delay,
        sink_rate,
        sink_delay,
        tcp,
    }
}

impl<'a> NetworkPlan<'a> {
    /// Reads a checked scenario.
    pub fn new(scenario: &'a Scenario) -> Self {
        let graph = NetworkGraph::new(scenario).expect("a checked scenario has a network");
        let Routes { flows, arrivals, cross } =
            Routes::new(scenario, &graph).expect("a checked scenario has routes");
        let listed_flows = scenario.flows.iter().zip(flows).map(|(spec, path)| FlowGroup {
            spec: spec.clone(),
            path,
            count: spec.count,
        });
        let arriving = scenario.arrivals.iter().zip(arrivals).map(|(spec, path)| FlowGroup {
            spec: arriving(spec),
            path,
            count: 2,
        });
        let groups = listed_flows.chain(arriving).collect();
        Self {
            scenario,
            links: graph.links,
            groups,
            cross: cross.into_iter().map(|path| path.forward).collect(),
        }
    }

    /// Whether a link's queue owns its packets.
    pub fn has_scheduled_queue(&self, link: u32) -> bool {
        match self.links[link as usize].queue {
            QueueSpec::DropTail { .. }
            | QueueSpec::Red { .. }
            | QueueSpec::Rio { .. }
            | QueueSpec::Pie { .. } => false,
            QueueSpec::Drr { .. }
            | QueueSpec::Priority { .. }
            | QueueSpec::CoDel { .. }
            | QueueSpec::FqCoDel { .. } => true,
        }
    }

    /// Whether packets may overtake each other on a link.
    pub fn reorders(&self, link: u32) -> bool {
        self.links[link as usize].jitter.is_some_and(|jitter| jitter.reorders())
    }

    /// How many flows and sources cross each link, in either direction. A queue that owns its packets serves them by events, as if there were more.
    pub fn flows_per_link(&self) -> Vec<u64> {
        let mut flows_per_link: Vec<u64> = (0..self.links.len() as u32)
            .map(|link| if self.has_scheduled_queue(link) { 2 } else { 0 })
            .collect();
        for FlowGroup { path, count, .. } in &self.groups {
            for &link in path.forward.iter().chain(&path.back) {
                flows_per_link[link as usize] += count;
            }
        }
        for (spec, path) in self.scenario.cross.iter().zip(&self.cross) {
            for &link in path {
                flows_per_link[link as usize] +=
                    if spec.source_rate.is_some() { 2 } else { spec.count };
            }
        }
        flows_per_link
    }

    /// Rates of a flow's own links, and the spans of their delays.
    pub fn access_ranges(&self, flow: &FlowSpec) -> ([Option<u64>; 2], Span, Span) {
        let dumbbell = self.scenario.dumbbell.as_ref();
        let rate = |own: Option<RateLimit>, common: Option<RateLimit>| match own
            .or(common)
            .unwrap_or_default()
        {
            RateLimit::Limited(rate) => Some(rate.bps()),
            RateLimit::Unlimited => None,
        };
        let rates = [
            rate(flow.access_rate, dumbbell.map(|d| d.access_rate)),
            rate(flow.sink_rate, dumbbell.map(|d| d.sink_rate)),
        ];
        let source = flow.access_delay.or(dumbbell.map(|d| d.access_delay)).unwrap_or_default();
        let sink = flow.sink_delay.or(dumbbell.map(|d| d.sink_delay)).unwrap_or_default();
        (rates, source, sink)
    }

    /// The endpoint knobs of a flow.
    pub fn knobs(&self, flow: &FlowSpec) -> Knobs {
        let mut knobs = self.scenario.knobs(&flow.tcp);
        knobs.exact_marks |= flow.rule.0.build(Arithmetic::Plain).needs().exact_marks;
        knobs
    }

    /// Delay of the way back where no link stands for it.
    pub fn back_delay(&self, path: &FlowPath) -> f64 {
        if path.back.is_empty() {
            path.forward.iter().map(|&link| self.links[link as usize].delay.link_delay_s()).sum()
        } else {
            0.0
        }
    }

    /// A flow's own links, its delays drawn.
    pub fn access(&self, flow: &FlowSpec, name: &str) -> DrawnAccessLinks {
        let ([source_rate, sink_rate], source, sink) = self.access_ranges(flow);
        let seed = self.scenario.seed;
        DrawnAccessLinks {
            source: (source_rate, draw_delay(source, seed, &format!("access/{name}"))),
            sink: (sink_rate, draw_delay(sink, seed, &format!("sink/{name}"))),
        }
    }

    /// Round trip of the propagation delays of links, seconds.
    pub fn links_rtt_s(&self, path: &FlowPath) -> f64 {
        let delay = |links: &[u32]| {
            links.iter().map(|&link| self.links[link as usize].delay.seconds()).sum::<f64>()
        };
        delay(&path.forward) + delay(&path.back) + self.back_delay(path)
    }

    /// Seconds a data packet takes on the slowest link of its way, each at its fastest.
    pub fn bottleneck_tx_s(&self, group: &FlowGroup) -> f64 {
        let ([source, sink], ..) = self.access_ranges(&group.spec);
        let links =
            group.path.forward.iter().map(|&link| self.links[link as usize].rate.largest().bps());
        let slowest = links.chain(source).chain(sink).min().unwrap_or(u64::MAX);
        f64::from(self.knobs(&group.spec).wire_size(1)) * 8.0 / slowest as f64
    }

    /// The waveform of a source, and the link rate that it leaves something of.
    pub fn cross_rate<'b>(&self, index: usize, spec: &'b CrossSpec) -> (&'b Waveform, Option<u64>) {
        match (&spec.rate, &spec.available) {
            (Some(rate), _) => (rate, None),
            (None, Some(available)) => {
                (available, Some(self.links[self.cross[index][0] as usize].rate.largest().bps()))
            }
            (None, None) => unreachable!("checked: a source has a rate or an available rate"),
        }
    }
}
