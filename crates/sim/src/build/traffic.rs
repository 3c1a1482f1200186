//! Traffic beside the listed flows, as it is built: flows that arrive, responses, and sources that do not react.

use super::Builder;
use super::plan::Group;
use crate::arrivals::{self, Gaps, Job, Tally, Template, whole};
use crate::cross::{Activity, CrossFlow, CrossSink};
use crate::draw::Draw;
use crate::engine::Engine;
use crate::packet::Flags;
use crate::population::Population;
use crate::random::Stream;
use crate::rate::{Constant, Serializer};
use crate::scenario::{CrossSpec, Distribution, Law, Packets};
use crate::scheduler::{EMPTY, Scheduler};
use crate::streams::{Due, Pending};
use crate::timers::Kind;
use crate::trace::Trace;
use crate::transit::{CROSS, Stage};
use cwndlab_rules::Arithmetic;
use cwndlab_tcp::{NEVER, Recovery};
use cwndlab_units::Time;
use std::collections::VecDeque;

impl Builder<'_> {
    /// What a flow that answers requests has to do: the first request comes with its start.
    pub(super) fn responder(&self, group: &Group, name: &str, transfers: u32, start_s: f64, base_rtt_s: f64) -> Job {
        let seed = self.plan.scenario.seed;
        let responses = group.spec.responses.as_ref().expect("only groups that respond have transfers");
        let mut size = Draw::new(&responses.size, Stream::new(seed, &format!("size/{name}")));
        let think = Draw::new(&responses.think, Stream::new(seed, &format!("think/{name}")));
        let packets = whole(size.next());
        let slowest_s = self.plan.slowest_s(group);
        Job { group: transfers, began_s: start_s, packets, base_rtt_s, slowest_s, requests: Some((size, think)), is_cut: false }
    }

    /// Adds a group of flows that arrive: nothing of them exists yet but the first arrival.
    pub(super) fn add_arrivals<S: Scheduler, T: Trace>(
        &mut self,
        group: &Group,
        index: usize,
        knobs_index: u32,
        engine: &mut Engine<S, T>,
    ) {
        let scenario = self.plan.scenario;
        let (spec, arrivals) = (&group.spec, &scenario.arrivals[index]);
        let knobs = self.plan.knobs(spec);
        let ([source_rate, sink_rate], source, sink) = self.plan.spans(spec);
        let span = |rate, low: Time, high: Time| (rate, low.link_delay_s(), high.link_delay_s());
        let back_s = self.plan.back_delay(&group.way);
        let own = [span(source_rate, source.low, source.high), span(sink_rate, sink.low, sink.high), (None, back_s, back_s)];
        let (stages, pipes) = self.stages(group);
        let route = self.route(stages, knobs.delayed_ack);
        let template = Template {
            route,
            dues: self.dues(route),
            pipes: pipes.into_iter().map(|which| (which, own[which])).collect(),
            knobs: knobs_index,
            rule: spec.rule.0.build(if knobs.ns2_arithmetic { Arithmetic::Ns2 } else { Arithmetic::Plain }),
            recovery: Recovery::from(spec.recovery),
            flags: Flags::of_priority(spec.priority),
            phase_s: spec.tcp.timer_phase.or(scenario.tcp.timer_phase).unwrap_or(0.0),
            base_rtt_s: self.plan.links_rtt_s(&group.way) - back_s,
            slowest_s: self.plan.slowest_s(group),
        };
        let stream = |what: &str| Stream::new(scenario.seed, &format!("{what}/{}", spec.name));
        let one = Packets(1.0);
        let unit = if arrivals.regular { Distribution::Constant(one) } else { Distribution::Random(Law::Exponential { mean: one }) };
        let phases = match arrivals.gap {
            Some(gap) => vec![(f64::INFINITY, gap.seconds())],
            None => arrivals.phases.iter().map(|phase| (phase.length.seconds(), phase.gap.seconds())).collect(),
        };
        let start_s = arrivals.start.seconds();
        // An arrival at the very end of the run still is one.
        let stop_s = arrivals.stop.map_or(NEVER, Time::seconds).min(scenario.duration.seconds().next_up());
        let mut gaps = Gaps::new(Draw::new(&unit, stream("gap")), phases, start_s, stop_s);
        if let Some(first_s) = gaps.next_s(start_s) {
            engine.transit.timers.push(first_s, Kind::Arrive, index as u32);
        }
        let (size, delays) = (Draw::new(&arrivals.size, stream("size")), stream("access"));
        engine.groups.push(arrivals::Group { template, gaps, size, delays, retired: VecDeque::new(), tally: Tally::default() });
    }

    /// Adds all sources; returns the stream of each and when it first sends.
    pub(super) fn add_cross<S: Scheduler, T: Trace>(&mut self, engine: &mut Engine<S, T>) -> Vec<(u32, f64)> {
        let scenario = self.plan.scenario;
        let mut emissions = Vec::new();
        for (index, spec) in scenario.cross.iter().enumerate() {
            let way = self.plan.cross[index].iter();
            let mut stages: Vec<Stage> =
                way.map(|&link| if self.plan.owns(link) { Stage::Queue(link) } else { Stage::Link(link) }).collect();
            stages.push(Stage::Sink);
            let route = self.route(stages, false);
            let numbers = spec.source_rate.map(|_| self.plan.numbers(index, spec));
            for number in 0..numbers.as_ref().map_or(spec.count, Population::most) {
                let mut source = self.source(index, spec, number, numbers.as_ref());
                let start = spec.start;
                let start_s = match start.low == start.high {
                    true => start.low.seconds(),
                    false => self.stream("start", spec, number).between(start.low.seconds(), start.high.seconds()),
                };
                let flow = CROSS + engine.cross.len() as u32;
                let place = self.add_streams(route, flow, 0, engine);
                let first_s = source.first_s(start_s);
                emissions.push((engine.transit.streams.all.len() as u32, first_s));
                engine.transit.streams.all.push(Pending::new(flow, Due::Emit, place));
                engine.transit.trace.source(index as u32);
                engine.cross.push(source);
                engine.transit.cross.push(CrossSink::default());
            }
        }
        emissions
    }

    /// A stream of random numbers of one source.
    fn stream(&self, what: &str, spec: &CrossSpec, number: u64) -> Stream {
        let name = if number == 0 { spec.name.clone() } else { format!("{}-{number}", spec.name) };
        Stream::new(self.plan.scenario.seed, &format!("{what}/{name}"))
    }

    fn source(&self, index: usize, spec: &CrossSpec, number: u64, numbers: Option<&Population>) -> CrossFlow {
        let scenario = self.plan.scenario;
        let horizon_s = scenario.duration.seconds();
        let serializer = match spec.source_rate {
            Some(rate) => Serializer::Constant(Constant::new(rate.bps().min(self.plan.four_shares(index, spec, number)))),
            None => {
                let (waveform, left_of) = self.plan.cross_rate(index, spec);
                // The course of a rate is the same for all sources of a name, like weather.
                Serializer::new(waveform, self.stream("rate", spec, 0), horizon_s, left_of)
            }
        };
        let draw = |what, times| Draw::new(times, self.stream(what, spec, number));
        let activity = match (&spec.on, &spec.off, numbers) {
            (Some(on), Some(off), _) => Activity::Bursts { on: draw("on", on), off: draw("off", off), left: 0 },
            (_, _, Some(numbers)) => Activity::Numbered {
                number,
                sources: numbers.clone(),
                active: false,
                until_s: 0.0,
                phase: self.stream("phase", spec, number).uniform(),
            },
            _ => Activity::Always,
        };
        let (size_bytes, flags) = (spec.packet_size.0 as u16, Flags::of_priority(spec.priority));
        let stop_s = spec.stop.map_or(EMPTY, Time::seconds).min(horizon_s.next_up());
        CrossFlow { serializer, activity, size_bytes, flags, next: 0, last_s: 0.0, stop_s, sent: 0 }
    }
}
