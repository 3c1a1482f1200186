//! Builds cross traffic sources.

use super::builder::Builder;
use super::network_plan::EndpointOrder;
use crate::endpoint::cross_traffic::{Activity, CrossSink, CrossSource};
use crate::endpoint::source_population::SourcePopulation;
use crate::engine::state::Engine;
use crate::event::arrival_queue::NEVER;
use crate::measure::trace::Tracer;
use crate::packet::{Flags, FlowIndices};
use crate::random::variable::RandomVariable;
use crate::rate::transmitter::{ConstantRate, Transmitter};
use cwndlab_scenario::CrossSpec;
use cwndlab_units::Time;

impl Builder<'_> {
    /// Adds all cross traffic sources.
    pub(super) fn add_cross<T: Tracer>(&mut self, engine: &mut Engine<T>) {
        let scenario = self.plan.scenario;
        for (index, spec) in scenario.cross.iter().enumerate() {
            let has_access_link = self.plan.source_access(spec, 0).is_some();
            let stages = self.cross_stages(has_access_link, &self.plan.cross[index]);
            let route = self.route(stages, EndpointOrder::Own);
            let numbers = spec.source_rate.map(|_| self.plan.population(index, spec));
            for number in 0..numbers.as_ref().map_or(spec.count, SourcePopulation::most) {
                let mut source = self.source(index, spec, number, numbers.as_ref());
                let start_s = self.plan.source_start_s(spec, number);
                let first_access_link = engine.network.access_links.len() as u32;
                if let Some(own) = self.plan.source_access(spec, number) {
                    engine.network.access_links.push(own.rate_bps, own.delay_s);
                }
                let indices = FlowIndices { route, first_access_link };
                source.next_s = if spec.first_at_start {
                    source.unless_stopped(start_s)
                } else {
                    source.first_s(start_s)
                };
                engine.network.trace.source(index as u32);
                engine.network.cross.push((source, indices));
                engine.network.cross_sinks.push(CrossSink::default());
            }
        }
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
        let transmitter = match spec.source_rate {
            Some(rate) => Transmitter::Constant(ConstantRate::new(
                rate.bps().min(self.plan.source_rate_cap_bps(index, spec, number)),
            )),
            None => {
                let (waveform, link_rate_bps) = self.plan.cross_rate(index, spec);
                // All sources of an entry share one varying rate, like weather.
                Transmitter::new(
                    waveform,
                    self.plan.source_stream("rate", spec, 0),
                    horizon_s,
                    link_rate_bps,
                )
            }
        };
        let draw =
            |what, times| RandomVariable::new(times, self.plan.source_stream(what, spec, number));
        let activity = match (&spec.on, &spec.off, numbers) {
            (Some(on), Some(off), _) => {
                Activity::OnOff { on: draw("on", on), off: draw("off", off), left: 0 }
            }
            (_, _, Some(numbers)) => Activity::VaryingPopulation {
                number,
                sources: numbers.clone(),
                active: false,
                until_s: 0.0,
                phase: self.plan.source_stream("phase", spec, number).uniform(),
            },
            _ => Activity::AlwaysOn,
        };
        let (size_bytes, flags) = (spec.packet_size.0 as u16, Flags::of_priority(spec.priority));
        let stop_s = spec.stop.map_or(NEVER, Time::seconds).min(horizon_s.next_up());
        CrossSource {
            transmitter,
            activity,
            size_bytes,
            flags,
            next: 0,
            last_s: 0.0,
            next_s: NEVER,
            stop_s,
            sent: 0,
        }
    }
}
