//! Network plan: the links of a scenario, and the paths, delays and knobs of its flow groups,
//! before anything is built.

use crate::random::stream::RandomStream;
use cwndlab_rules::{Arithmetic, WindowRule};
use cwndlab_scenario::{
    CrossSpec, FlowPath, FlowSpec, KnobOverrides, NetworkGraph, OneWayLink, PacketSize, PerFlow,
    Routes, Scenario, Waveform,
};
use cwndlab_tcp::{EcnFeedback, TcpConfig};
use cwndlab_units::{RateLimit, Span};

/// An access link, with its drawn delay.
#[derive(Clone, Copy)]
pub struct DrawnAccessLink {
    /// Rate, bit/s; none if it only delays.
    pub rate_bps: Option<u64>,
    /// Delay, seconds.
    pub delay_s: f64,
}

/// Access links of a flow.
pub struct DrawnAccessLinks {
    /// That of the source.
    pub source: DrawnAccessLink,
    /// That of the sink.
    pub sink: DrawnAccessLink,
}

/// Flows that are alike: a `[[flows]]` entry or an `[[arrivals]]` entry.
pub struct FlowGroup {
    /// Their specification; arriving flows as a single flow.
    pub spec: FlowSpec,
    /// Their path.
    pub path: FlowPath,
    /// Number of flows; 2 stands for several arriving ones.
    pub count: u64,
}

/// Which endpoints of a flow process packets in order of time with those of other flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndpointOrder {
    /// None: each in the order of its own.
    Own,
    /// Its sender: objects of a page that one connection completes make the browser send on
    /// another.
    Sender,
    /// Both: subflows of a connection share its data.
    Both,
}

impl FlowGroup {
    /// Which endpoints of its flows process packets in order of time with others.
    pub fn order(&self) -> EndpointOrder {
        if self.spec.place.is_some() {
            EndpointOrder::Both
        } else if self.spec.page.is_some() {
            EndpointOrder::Sender
        } else {
            EndpointOrder::Own
        }
    }
}

/// The network of a scenario.
pub struct NetworkPlan<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// Links in order.
    pub links: Vec<OneWayLink>,
    /// Groups of listed flows, then groups of arriving flows.
    pub groups: Vec<FlowGroup>,
    /// Links on the path of each `[[cross]]` entry.
    pub cross: Vec<Vec<u32>>,
}

/// A time drawn uniformly from a span, seconds.
fn drawn_s(span: Span, stream: impl FnOnce() -> RandomStream) -> f64 {
    match span.low == span.high {
        true => span.low.seconds(),
        false => stream().between(span.low.seconds(), span.high.seconds()),
    }
}

/// An access link whose delay is drawn uniformly from a span.
fn drawn_link(
    rate_bps: Option<u64>,
    span: Span,
    stream: impl FnOnce() -> RandomStream,
) -> DrawnAccessLink {
    let delay_s = match span.low == span.high {
        true => span.low.link_delay_s(),
        false => drawn_s(span, stream),
    };
    DrawnAccessLink { rate_bps, delay_s }
}

/// A rate in bit/s; none if it has no limit.
fn bps(rate: Option<RateLimit>) -> Option<u64> {
    match rate.unwrap_or_default() {
        RateLimit::Limited(rate) => Some(rate.bps()),
        RateLimit::Unlimited => None,
    }
}

impl<'a> NetworkPlan<'a> {
    /// Plan of a checked scenario.
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
            spec: spec.as_flow(),
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

    /// Whether a link has a scheduled queue.
    pub fn has_scheduled_queue(&self, link: u32) -> bool {
        self.links[link as usize].queue.decides_at_dequeue()
    }

    /// Whether a link may reorder packets.
    pub fn reorders(&self, link: u32) -> bool {
        let link = &self.links[link as usize];
        link.jitter.as_ref().is_some_and(|jitter| jitter.reorders()) || link.holds_packets()
    }

    /// Whether the delay of a link may differ between packets.
    pub fn delay_varies(&self, link: u32) -> bool {
        let link = &self.links[link as usize];
        link.jitter.is_some() || link.holds_packets()
    }

    /// Number of flows and sources that cross each link, in either direction. A scheduled queue
    /// counts as two, because it is a station whoever crosses it.
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

    /// Rates of the access links at the source and at the sink of a flow, bit/s; none if a link only
    /// delays.
    pub fn access_rates(&self, flow: &FlowSpec) -> [Option<u64>; 2] {
        let dumbbell = self.scenario.dumbbell.as_ref();
        [
            bps(flow.access_rate.or(dumbbell.map(|d| d.access_rate))),
            bps(flow.sink_rate.or(dumbbell.map(|d| d.sink_rate))),
        ]
    }

    /// Delays of the access links at the source and at the sink: of a group, or of one of its
    /// flows.
    pub fn access_delays(&self, flow: &FlowSpec, of: impl Fn(&PerFlow<Span>) -> Span) -> [Span; 2] {
        let dumbbell = self.scenario.dumbbell.as_ref();
        let delay = |own: &Option<PerFlow<Span>>, common: Option<Span>| {
            own.as_ref().map(&of).or(common).unwrap_or_default()
        };
        [
            delay(&flow.access_delay, dumbbell.map(|d| d.access_delay)),
            delay(&flow.sink_delay, dumbbell.map(|d| d.sink_delay)),
        ]
    }

    /// Rates of the access links of a flow, and the ranges of their delays in its group.
    pub fn access_ranges(&self, flow: &FlowSpec) -> ([Option<u64>; 2], Span, Span) {
        let [source, sink] = self.access_delays(flow, PerFlow::span);
        (self.access_rates(flow), source, sink)
    }

    /// Longest time that a sender needs for a packet, seconds.
    pub fn host_jitter_s(&self) -> f64 {
        self.scenario.host_jitter.seconds()
    }

    /// Whether a timer may let an ACK leave.
    pub fn has_receiver_timer(&self, flow: &FlowSpec) -> bool {
        flow.reader.is_some() || self.tcp_config(flow).has_receiver_timer()
    }

    /// The settings of the endpoints of a flow.
    pub fn tcp_config(&self, flow: &FlowSpec) -> TcpConfig {
        let mut config = self.scenario.tcp_config(&flow.tcp);
        let needs = flow.rule.0.build(Arithmetic::Plain).needs();
        // An L4S flow has ECN, ECT(1) and AccECN unless the scenario says otherwise.
        let own = |key: fn(&KnobOverrides) -> bool| key(&flow.tcp) || key(&self.scenario.tcp);
        if needs.l4s {
            config.ecn.ecn |= !own(|tcp| tcp.ecn.is_some());
            config.ecn.ect1 |= config.ecn.ecn && !own(|tcp| tcp.ect1.is_some());
            if config.ecn.ecn && !own(|tcp| tcp.ecn_feedback.is_some()) {
                config.ecn.ecn_feedback = EcnFeedback::AccEcn;
            }
        }
        config.receiver.delayed_ack &= !needs.prompt_acks || own(|tcp| tcp.delayed_ack.is_some());
        if needs.exact_marks && config.ecn.ecn_feedback == EcnFeedback::Ece {
            config.ecn.ecn_feedback = EcnFeedback::ExactEce;
        }
        config
    }

    /// Delay of the reverse path if it is a pure delay, seconds; else 0.
    pub fn back_delay_s(&self, path: &FlowPath) -> f64 {
        if path.back.is_empty() {
            path.forward.iter().map(|&link| self.links[link as usize].delay.link_delay_s()).sum()
        } else {
            0.0
        }
    }

    /// Access links of the `i`-th flow of a group, with drawn delays.
    pub fn access(&self, flow: &FlowSpec, i: u64) -> DrawnAccessLinks {
        let [source_rate, sink_rate] = self.access_rates(flow);
        let [source, sink] = self.access_delays(flow, |delay| *delay.of(i));
        let name = flow.instance(i);
        DrawnAccessLinks {
            source: drawn_link(source_rate, source, || self.stream("access", &name)),
            sink: drawn_link(sink_rate, sink, || self.stream("sink", &name)),
        }
    }

    /// Round trip propagation delay of the links on a path, seconds.
    pub fn links_rtt_s(&self, path: &FlowPath) -> f64 {
        let delay = |links: &[u32]| {
            links.iter().map(|&link| self.links[link as usize].delay.seconds()).sum::<f64>()
        };
        delay(&path.forward) + delay(&path.back) + self.back_delay_s(path)
    }

    /// Transmission time of a data packet on the slowest link of its path, at the highest rate of
    /// each, seconds.
    pub fn bottleneck_tx_s(&self, group: &FlowGroup) -> f64 {
        let [source, sink] = self.access_rates(&group.spec);
        let links =
            group.path.forward.iter().map(|&link| self.links[link as usize].rate.largest().bps());
        let slowest = links.chain(source).chain(sink).min().unwrap_or(u64::MAX);
        f64::from(self.tcp_config(&group.spec).wire_size(1)) * 8.0 / slowest as f64
    }

    /// The sizes of data packets that flows of an `[[arrivals]]` entry draw, as specifications of
    /// equal flows, with their shares.
    pub fn packet_sizes(&self, group: &FlowGroup, index: usize) -> Vec<(FlowGroup, f64)> {
        let with = |tcp| FlowGroup {
            spec: FlowSpec { tcp, ..group.spec.clone() },
            path: group.path.clone(),
            count: group.count,
        };
        let sizes = &self.scenario.arrivals[index].packet_sizes;
        if sizes.is_empty() {
            return vec![(with(group.spec.tcp.clone()), 1.0)];
        }
        let sized = |packets: &PacketSize| {
            let packet_size = Some(packets.size.0 as u32);
            (with(KnobOverrides { packet_size, ..group.spec.tcp.clone() }), packets.share)
        };
        sizes.iter().map(sized).collect()
    }

    /// Delay of the links of a path in the direction of data, seconds.
    pub fn forward_delay_s(&self, path: &FlowPath) -> f64 {
        path.forward.iter().map(|&link| self.links[link as usize].delay.seconds()).sum()
    }

    /// The waveform of a `[[cross]]` entry; if it is an available rate, with the rate of the link.
    pub fn cross_rate<'b>(&self, index: usize, spec: &'b CrossSpec) -> (&'b Waveform, Option<u64>) {
        match (&spec.rate, &spec.available) {
            (Some(rate), _) => (rate, None),
            (None, Some(available)) => {
                (available, Some(self.links[self.cross[index][0] as usize].rate.largest().bps()))
            }
            (None, None) => unreachable!("checked: a source has a rate or an available rate"),
        }
    }

    /// Timer phase of the `i`-th flow of a group, seconds.
    pub fn timer_phase_s(&self, spec: &FlowSpec, i: u64) -> f64 {
        let phase_s = spec.tcp.timer_phase.as_ref().or(self.scenario.tcp.timer_phase.as_ref());
        phase_s.map_or(0.0, |phase_s| *phase_s.of(i))
    }

    /// Start time of the `i`-th flow of a group without `join`, seconds.
    pub fn start_s(&self, spec: &FlowSpec, i: u64) -> f64 {
        let start = *spec.start.of(i);
        drawn_s(start, || self.stream("start", &spec.instance(i)))
    }

    /// Start time of a source of cross traffic, seconds.
    pub fn source_start_s(&self, spec: &CrossSpec, number: u64) -> f64 {
        drawn_s(*spec.start.of(number), || self.source_stream("start", spec, number))
    }

    /// Access link of a source of cross traffic; none if the source is at the router.
    pub fn source_access(&self, spec: &CrossSpec, number: u64) -> Option<DrawnAccessLink> {
        let (rate_bps, delay) = (bps(spec.access_rate), &spec.access_delay);
        (rate_bps.is_some() || delay.is_some()).then(|| {
            let span = delay.as_ref().map(|delay| *delay.of(number)).unwrap_or_default();
            drawn_link(rate_bps, span, || self.source_stream("access", spec, number))
        })
    }

    /// The random stream of this name.
    pub fn stream(&self, what: &str, name: &str) -> RandomStream {
        RandomStream::new(self.scenario.seed, &format!("{what}/{name}"))
    }

    /// A random stream of one source of cross traffic.
    pub fn source_stream(&self, what: &str, spec: &CrossSpec, number: u64) -> RandomStream {
        let name = if number == 0 { spec.name.clone() } else { format!("{}-{number}", spec.name) };
        self.stream(what, &name)
    }
}
