//! Builds traffic beside listed flows: arriving flows, request-response transfers and cross
//! traffic.

use super::Builder;
use super::network_plan::FlowGroup;
use crate::endpoint::arrivals::{self, ArrivalProcess, FlowTemplate, GroupCounters, whole_packets};
use crate::endpoint::cross_traffic::{Activity, CrossSink, CrossSource};
use crate::endpoint::source_population::SourcePopulation;
use crate::endpoint::transfer::ActiveTransfer;
use crate::engine::state::Engine;
use crate::event::queues::{EventKind, PacketFifo};
use crate::event::scheduler::{EventScheduler, NO_EVENT};
use crate::event::timers::TimerKind;
use crate::measure::trace::Tracer;
use crate::network::route::Stage;
use crate::packet::CROSS;
use crate::packet::Flags;
use crate::random::stream::RandomStream;
use crate::random::variable::RandomVariable;
use crate::rate::serializer::{ConstantRate, Serializer};
use cwndlab_rules::Arithmetic;
use cwndlab_scenario::{CrossSpec, Distribution, Law, Packets};
use cwndlab_tcp::{NEVER, Recovery};
use cwndlab_units::Time;
use std::collections::VecDeque;

impl Builder<'_> {
    /// The first transfer of a flow that answers requests, which starts with the flow.
    pub(super) fn responder(
        &self,
        group: &FlowGroup,
        name: &str,
        transfers: u32,
        start_s: f64,
        base_rtt_s: f64,
    ) -> ActiveTransfer {
        let seed = self.plan.scenario.seed;
        let responses =
            group.spec.responses.as_ref().expect("only groups that respond have transfers");
        let mut size =
            RandomVariable::new(&responses.size, RandomStream::new(seed, &format!("size/{name}")));
        let think = RandomVariable::new(
            &responses.think,
            RandomStream::new(seed, &format!("think/{name}")),
        );
        let packets = whole_packets(size.next());
        let bottleneck_tx_s = self.plan.bottleneck_tx_s(group);
        ActiveTransfer {
            group: transfers,
            start_s,
            packets,
            base_rtt_s,
            bottleneck_tx_s,
            requests: Some((size, think)),
            is_truncated: false,
        }
    }

    /// Adds a group of arriving flows: no slot yet, only a timer for the first arrival.
    pub(super) fn add_arrivals<S: EventScheduler, T: Tracer>(
        &mut self,
        group: &FlowGroup,
        index: usize,
        knobs_index: u32,
        engine: &mut Engine<S, T>,
    ) {
        let scenario = self.plan.scenario;
        let (spec, arrivals) = (&group.spec, &scenario.arrivals[index]);
        let knobs = self.plan.knobs(spec);
        let ([source_rate, sink_rate], source, sink) = self.plan.access_ranges(spec);
        let span = |rate, low: Time, high: Time| (rate, low.link_delay_s(), high.link_delay_s());
        let back_s = self.plan.back_delay(&group.path);
        let own = [
            span(source_rate, source.low, source.high),
            span(sink_rate, sink.low, sink.high),
            (None, back_s, back_s),
        ];
        let (stages, access_links) = self.stages(group);
        let route = self.route(stages, knobs.delayed_ack);
        let template = FlowTemplate {
            route,
            event_kinds: self.event_kinds(route),
            access_links: access_links.into_iter().map(|which| (which, own[which])).collect(),
            knobs: knobs_index,
            rule: spec.rule.0.build(if knobs.ns2_arithmetic {
                Arithmetic::Ns2
            } else {
                Arithmetic::Plain
            }),
            recovery: Recovery::from(spec.recovery),
            flags: Flags::of_priority(spec.priority),
            timer_phase_s: spec.tcp.timer_phase.or(scenario.tcp.timer_phase).unwrap_or(0.0),
            base_rtt_s: self.plan.links_rtt_s(&group.path) - back_s,
            bottleneck_tx_s: self.plan.bottleneck_tx_s(group),
        };
        let stream =
            |what: &str| RandomStream::new(scenario.seed, &format!("{what}/{}", spec.name));
        let one = Packets(1.0);
        let unit = if arrivals.regular {
            Distribution::Constant(one)
        } else {
            Distribution::Random(Law::Exponential { mean: one })
        };
        let phases = match arrivals.gap {
            Some(gap) => vec![(f64::INFINITY, gap.seconds())],
            None => arrivals
                .phases
                .iter()
                .map(|phase| (phase.length.seconds(), phase.gap.seconds()))
                .collect(),
        };
        let start_s = arrivals.start.seconds();
        // An arrival at the very end of the run counts.
        let stop_s =
            arrivals.stop.map_or(NEVER, Time::seconds).min(scenario.duration.seconds().next_up());
        let mut process =
            ArrivalProcess::new(RandomVariable::new(&unit, stream("gap")), phases, start_s, stop_s);
        if let Some(first_s) = process.next_time_s(start_s) {
            engine.datapath.timers.push(first_s, TimerKind::FlowArrival, index as u32);
        }
        let (size, delays) =
            (RandomVariable::new(&arrivals.size, stream("size")), stream("access"));
        engine.groups.push(arrivals::ArrivalGroup {
            template,
            process,
            size,
            delays,
            retired: VecDeque::new(),
            counters: GroupCounters::default(),
        });
    }

    /// Adds all cross traffic sources; returns the FIFO of each and the time of its first packet.
    pub(super) fn add_cross<S: EventScheduler, T: Tracer>(
        &mut self,
        engine: &mut Engine<S, T>,
    ) -> Vec<(u32, f64)> {
        let scenario = self.plan.scenario;
        let mut emissions = Vec::new();
        for (index, spec) in scenario.cross.iter().enumerate() {
            let path = self.plan.cross[index].iter();
            let mut stages: Vec<Stage> = path
                .map(|&link| {
                    if self.plan.has_scheduled_queue(link) {
                        Stage::Queue(link)
                    } else {
                        Stage::Link(link)
                    }
                })
                .collect();
            stages.push(Stage::Sink);
            let route = self.route(stages, false);
            let numbers = spec.source_rate.map(|_| self.plan.population(index, spec));
            for number in 0..numbers.as_ref().map_or(spec.count, SourcePopulation::most) {
                let mut source = self.source(index, spec, number, numbers.as_ref());
                let start = spec.start;
                let start_s = match start.low == start.high {
                    true => start.low.seconds(),
                    false => self
                        .stream("start", spec, number)
                        .between(start.low.seconds(), start.high.seconds()),
                };
                let flow = CROSS + engine.cross.len() as u32;
                let indices = self.add_fifos(route, flow, 0, engine);
                let first_s = source.first_s(start_s);
                emissions.push((engine.datapath.event_queues.fifos.len() as u32, first_s));
                engine.datapath.event_queues.fifos.push(PacketFifo::new(
                    flow,
                    EventKind::CrossSend,
                    indices,
                ));
                engine.datapath.trace.source(index as u32);
                engine.cross.push(source);
                engine.datapath.sinks.cross.push(CrossSink::default());
            }
        }
        emissions
    }

    /// A random stream of one source.
    fn stream(&self, what: &str, spec: &CrossSpec, number: u64) -> RandomStream {
        let name = if number == 0 { spec.name.clone() } else { format!("{}-{number}", spec.name) };
        RandomStream::new(self.plan.scenario.seed, &format!("{what}/{name}"))
    }

    fn source(
        &self,
        index: usize,
        spec: &CrossSpec,
        number: u64,
        numbers: Option<&SourcePopulation>,
    ) -> CrossSource {
        let scenario = self.plan.scenario;
        let horizon_s = scenario.duration.seconds();
        let serializer = match spec.source_rate {
            Some(rate) => Serializer::Constant(ConstantRate::new(
                rate.bps().min(self.plan.source_rate_cap_bps(index, spec, number)),
            )),
            None => {
                let (waveform, link_rate_bps) = self.plan.cross_rate(index, spec);
                // All sources of an entry share one varying rate, like weather.
                Serializer::new(waveform, self.stream("rate", spec, 0), horizon_s, link_rate_bps)
            }
        };
        let draw = |what, times| RandomVariable::new(times, self.stream(what, spec, number));
        let activity = match (&spec.on, &spec.off, numbers) {
            (Some(on), Some(off), _) => {
                Activity::OnOff { on: draw("on", on), off: draw("off", off), left: 0 }
            }
            (_, _, Some(numbers)) => Activity::VaryingPopulation {
                number,
                sources: numbers.clone(),
                active: false,
                until_s: 0.0,
                phase: self.stream("phase", spec, number).uniform(),
            },
            _ => Activity::AlwaysOn,
        };
        let (size_bytes, flags) = (spec.packet_size.0 as u16, Flags::of_priority(spec.priority));
        let stop_s = spec.stop.map_or(NO_EVENT, Time::seconds).min(horizon_s.next_up());
        CrossSource {
            serializer,
            activity,
            size_bytes,
            flags,
            next: 0,
            last_s: 0.0,
            stop_s,
            sent: 0,
        }
    }
}
