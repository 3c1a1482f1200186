//! The network of a scenario as built: buffers in packets, and what is drawn from random streams.
//! For programs that write the same network down for another simulator.

use super::info::{FlowInfos, Options};
use super::network::build;
use super::network_plan::NetworkPlan;
use crate::endpoint::source_population::SourcePopulation;
use crate::rate::piecewise::PiecewiseRate;
use cwndlab_queues::Limit;
use cwndlab_scenario::{CheckedScenario, CrossSpec, QueueSpec, instance};
use cwndlab_tcp::NEVER;
use cwndlab_units::{Buffer, Span, Time};
use serde::Serialize;

/// A rate from a time on: seconds, bit/s.
type Step = (f64, f64);

/// The network of a scenario with all its values.
#[derive(Debug, Serialize)]
pub struct DrawnNetwork {
    /// Links in order.
    pub links: Vec<DrawnLink>,
    /// Listed flows in order.
    pub flows: Vec<DrawnFlow>,
    /// Sources of cross traffic in order.
    pub sources: Vec<DrawnSource>,
    /// Groups of arriving flows in order.
    pub arrivals: Vec<DrawnArrivals>,
}

/// A link.
#[derive(Debug, Serialize)]
pub struct DrawnLink {
    /// Name.
    pub name: String,
    /// Key of its queue in the scenario.
    pub queue_key: String,
    /// Rates over time.
    pub rates: Vec<Step>,
    /// Propagation delay, seconds.
    pub delay_s: f64,
    /// Its queue, with the defaults of the router profile.
    pub queue: QueueSpec,
    /// Buffer limit, packets; none if it is in bytes or unlimited.
    pub limit_packets: Option<u64>,
    /// Buffer limit, bytes; none if it is in packets.
    pub limit_bytes: Option<u64>,
    /// Thresholds of RED, packets.
    pub min_packets: Option<f64>,
    /// Upper threshold.
    pub max_packets: Option<f64>,
    /// Threshold of step marking, packets; none if it is in bytes.
    pub threshold_packets: Option<u64>,
    /// Size of a data packet of the first flow that crosses it, bytes.
    pub packet_bytes: u32,
    /// Mean rate over the measurement window, bit/s.
    pub rate_bps: f64,
    /// Mean offered rate of cross traffic over the window, as far as it is known ahead, bit/s.
    pub cross_bps: f64,
    /// Available rate that a varying population of sources aims at, bit/s.
    pub target_available_bps: Option<f64>,
}

/// A listed flow.
#[derive(Debug, Serialize)]
pub struct DrawnFlow {
    /// Name.
    pub name: String,
    /// Number of its `[[flows]]` entry.
    pub group: usize,
    /// Start, seconds; none if it never starts.
    pub start_s: Option<f64>,
    /// Stop of its application, seconds.
    pub stop_s: Option<f64>,
    /// Rate of the source's access link, bit/s; none if it is a pure delay.
    pub access_bps: Option<u64>,
    /// Its delay, seconds.
    pub access_delay_s: f64,
    /// Rate of the sink's access link.
    pub sink_bps: Option<u64>,
    /// Its delay.
    pub sink_delay_s: f64,
    /// Links from source to sink.
    pub forward: Vec<String>,
    /// Links from sink to source; none if the reverse path is a pure delay.
    pub back: Vec<String>,
    /// That delay, seconds.
    pub back_delay_s: f64,
    /// Offset of its timer within a tick, seconds.
    pub timer_phase_s: f64,
}

/// A source of cross traffic.
#[derive(Debug, Serialize)]
pub struct DrawnSource {
    /// Name.
    pub name: String,
    /// Number of its `[[cross]]` entry.
    pub entry: usize,
    /// Rate of its access link, bit/s; none if it is a pure delay.
    pub access_bps: Option<u64>,
    /// Its delay, seconds.
    pub access_delay_s: f64,
    /// Links that it crosses.
    pub path: Vec<String>,
    /// Start and stop, seconds.
    pub start_s: f64,
    /// None if it sends to the end.
    pub stop_s: Option<f64>,
    /// Rates over time; of an on-off source those within bursts.
    pub rates: Vec<Step>,
    /// Fraction of a packet's time at its rate after which its first packet leaves, whenever its
    /// rate rises from zero.
    pub phase: f64,
}

/// A group of arriving flows.
#[derive(Debug, Serialize)]
pub struct DrawnArrivals {
    /// Rate of a source's access link, bit/s; none if it is a pure delay.
    pub access_bps: Option<u64>,
    /// Rate of a sink's access link.
    pub sink_bps: Option<u64>,
    /// Links from source to sink.
    pub forward: Vec<String>,
    /// Links from sink to source; none if the reverse path is a pure delay.
    pub back: Vec<String>,
    /// That delay, seconds.
    pub back_delay_s: f64,
    /// Round trip propagation delay without the access links, seconds.
    pub links_rtt_s: f64,
    /// Transmission time of a data packet on the slowest link, seconds.
    pub bottleneck_tx_s: f64,
    /// Offset of their timers within a tick, seconds.
    pub timer_phase_s: f64,
    /// Its flows.
    pub flows: Vec<ArrivingFlow>,
}

/// A flow that arrives.
#[derive(Debug, Serialize)]
pub struct ArrivingFlow {
    /// Arrival, seconds.
    pub start_s: f64,
    /// Data packets.
    pub packets: u64,
    /// Delay of the source's access link, seconds.
    pub access_delay_s: f64,
    /// Delay of the sink's access link.
    pub sink_delay_s: f64,
}

impl DrawnNetwork {
    /// The network of a checked scenario, with the draws of its seed.
    pub fn new(scenario: &CheckedScenario) -> Self {
        let infos = build::<()>(scenario, Options::default(), ()).flows;
        let plan = NetworkPlan::new(scenario);
        Self {
            links: (0..plan.links.len() as u32).map(|link| plan.drawn_link(link, &infos)).collect(),
            flows: plan.drawn_flows(),
            sources: plan.drawn_sources(),
            arrivals: (0..scenario.arrivals.len()).map(|i| plan.drawn_arrivals(i)).collect(),
        }
    }
}

/// The steps of a rate up to `end_s`.
fn steps(mut rate: PiecewiseRate, end_s: f64) -> Vec<Step> {
    let (mut found, mut begin_s): (Vec<Step>, f64) = (Vec::new(), 0.0);
    while begin_s < end_s {
        let (rate_bps, until_s) = rate.next();
        if found.last().is_none_or(|last| last.1 != rate_bps) {
            found.push((begin_s, rate_bps));
        }
        begin_s = until_s;
    }
    found
}

impl NetworkPlan<'_> {
    fn drawn_link(&self, link: u32, infos: &FlowInfos) -> DrawnLink {
        let plan = &self.links[link as usize];
        let [from_s, to_s] = self.scenario.window().map(Time::seconds);
        let limit = self.limit(plan.queue.limit(), link, infos);
        let in_packets =
            |buffer: Option<Buffer>| buffer.map(|buffer| self.packets(buffer, link, infos));
        let (min, max) = match plan.queue {
            QueueSpec::Red { min, max, .. } => (min, max),
            _ => (None, None),
        };
        let threshold_packets = match plan.queue {
            QueueSpec::Step { threshold, .. } => {
                match self.step_threshold(threshold, link, infos) {
                    Limit::Packets(packets) => Some(packets),
                    Limit::Bytes(_) => None,
                }
            }
            _ => None,
        };
        DrawnLink {
            name: plan.name.clone(),
            queue_key: plan.queue_key.clone(),
            rates: steps(self.link_rate(link), self.scenario.duration.seconds()),
            delay_s: plan.delay.link_delay_s(),
            queue: plan.queue,
            limit_packets: match limit {
                Limit::Packets(packets) => {
                    Some(packets).filter(|_| plan.queue.limit() != Buffer::Unlimited)
                }
                Limit::Bytes(_) => None,
            },
            limit_bytes: match limit {
                Limit::Bytes(bytes) => Some(bytes),
                Limit::Packets(_) => None,
            },
            min_packets: in_packets(min),
            max_packets: in_packets(max),
            threshold_packets,
            packet_bytes: self.packet_bytes(link),
            rate_bps: self.link_rate(link).mean_bps(from_s, to_s),
            cross_bps: self.cross_bps(link, from_s, to_s),
            target_available_bps: self.target_available_bps(link, from_s, to_s),
        }
    }

    fn names(&self, links: &[u32]) -> Vec<String> {
        links.iter().map(|&link| self.links[link as usize].name.clone()).collect()
    }

    fn drawn_flows(&self) -> Vec<DrawnFlow> {
        let end_s = self.scenario.duration.seconds();
        let mut flows = Vec::new();
        for (index, group) in self.groups.iter().take(self.scenario.flows.len()).enumerate() {
            let spec = &group.spec;
            let times = super::flow_schedule::flow_schedule(spec, end_s, |i| self.start_s(spec, i));
            for (i, times) in times.into_iter().enumerate() {
                let access = self.access(spec, i as u64);
                flows.push(DrawnFlow {
                    group: index,
                    start_s: times.map(|(start_s, _)| start_s),
                    stop_s: times.map(|(_, stop_s)| stop_s).filter(|&stop_s| stop_s < NEVER),
                    access_bps: access.source.rate_bps,
                    access_delay_s: access.source.delay_s,
                    sink_bps: access.sink.rate_bps,
                    sink_delay_s: access.sink.delay_s,
                    forward: self.names(&group.path.forward),
                    back: self.names(&group.path.back),
                    back_delay_s: self.back_delay_s(&group.path),
                    name: spec.instance(i as u64),
                    timer_phase_s: self.timer_phase_s(spec, i as u64),
                });
            }
        }
        flows
    }

    fn drawn_arrivals(&self, index: usize) -> DrawnArrivals {
        let group = &self.groups[self.scenario.flows.len() + index];
        let ([access_bps, sink_bps], source, sink) = self.access_ranges(&group.spec);
        let (mut connections, mut delays) = self.arrival_draws(index);
        let packet_size = self.tcp_config(&group.spec).segment.packet_size;
        let mut delay_of = |span: Span| {
            let (low_s, high_s) = (span.low.link_delay_s(), span.high.link_delay_s());
            if low_s == high_s { low_s } else { delays.between(low_s, high_s) }
        };
        let (mut flows, mut now_s) = (Vec::new(), self.scenario.arrivals[index].start.seconds());
        while let Some(start_s) = connections.next_time_s(now_s) {
            flows.push(ArrivingFlow {
                start_s,
                packets: connections.next(start_s, packet_size, packet_size).0,
                access_delay_s: delay_of(source),
                sink_delay_s: delay_of(sink),
            });
            now_s = start_s;
        }
        DrawnArrivals {
            access_bps,
            sink_bps,
            forward: self.names(&group.path.forward),
            back: self.names(&group.path.back),
            back_delay_s: self.back_delay_s(&group.path),
            links_rtt_s: self.links_rtt_s(&group.path),
            bottleneck_tx_s: self.bottleneck_tx_s(group),
            timer_phase_s: self.timer_phase_s(&group.spec, 0),
            flows,
        }
    }

    fn drawn_sources(&self) -> Vec<DrawnSource> {
        let mut sources = Vec::new();
        for (entry, spec) in self.scenario.cross.iter().enumerate() {
            let population = spec.source_rate.map(|_| self.population(entry, spec));
            let count = population.as_ref().map_or(spec.count, SourcePopulation::most);
            for number in 0..count {
                let (rates, phase) = match &population {
                    Some(population) => (
                        self.member_rates(entry, spec, number, population.clone()),
                        self.source_stream("phase", spec, number).uniform(),
                    ),
                    None => {
                        let (waveform, link_bps) = self.cross_rate(entry, spec);
                        let stream = self.source_stream("rate", spec, 0);
                        let rate = PiecewiseRate::new(waveform, stream, link_bps);
                        let phase = if spec.first_at_start { 0.0 } else { 1.0 };
                        (steps(rate, self.scenario.duration.seconds()), phase)
                    }
                };
                let access = self.source_access(spec, number);
                sources.push(DrawnSource {
                    name: instance(&spec.name, number, count),
                    entry,
                    path: self.names(&self.cross[entry]),
                    access_bps: access.and_then(|own| own.rate_bps),
                    access_delay_s: access.map_or(0.0, |own| own.delay_s),
                    start_s: self.source_start_s(spec, number),
                    stop_s: spec.stop.map(Time::seconds),
                    rates,
                    phase,
                });
            }
        }
        sources
    }

    /// Rates of a member of a varying population: its rate while it is on, zero while it is off.
    fn member_rates(
        &self,
        entry: usize,
        spec: &CrossSpec,
        number: u64,
        mut population: SourcePopulation,
    ) -> Vec<Step> {
        let cap_bps = self.source_rate_cap_bps(entry, spec, number);
        let rate_bps = spec.source_rate.map_or(0, |rate| rate.bps().min(cap_bps)) as f64;
        let (mut rates, mut begin_s): (Vec<Step>, f64) = (Vec::new(), 0.0);
        while begin_s < self.scenario.duration.seconds() {
            let (count, until_s) = population.next();
            let own_bps = if count > number { rate_bps } else { 0.0 };
            if rates.last().is_none_or(|last| last.1 != own_bps) {
                rates.push((begin_s, own_bps));
            }
            begin_s = until_s;
        }
        rates
    }
}
