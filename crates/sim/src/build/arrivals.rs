//! Builds arriving flows, and the transfers of flows with responses or frames.

use super::builder::Builder;
use super::network_plan::FlowGroup;
use crate::endpoint::arrivals::{ArrivalGroup, FlowTemplate, GroupCounters, whole_packets};
use crate::endpoint::transfer::{ActiveTransfer, NextTransfer};
use crate::engine::state::Engine;
use crate::event::scheduler::EventScheduler;
use crate::event::timers::TimerKind;
use crate::measure::trace::Tracer;
use crate::packet::Flags;
use crate::random::variable::RandomVariable;
use cwndlab_rules::Arithmetic;
use cwndlab_tcp::Recovery;
use cwndlab_units::Time;
use std::collections::VecDeque;

impl Builder<'_> {
    /// The first response or frame of a flow, which starts with the flow.
    pub(super) fn first_transfer(
        &self,
        group: &FlowGroup,
        name: &str,
        transfers: u32,
        start_s: f64,
        base_rtt_s: f64,
    ) -> ActiveTransfer {
        let sizes = |size| RandomVariable::new(size, self.plan.stream("size", name));
        let mut next = match (&group.spec.responses, &group.spec.frames) {
            (Some(responses), _) => NextTransfer::Response {
                size: sizes(&responses.size),
                think: RandomVariable::new(&responses.think, self.plan.stream("think", name)),
            },
            (None, Some(frames)) => NextTransfer::Frame {
                size: sizes(&frames.size),
                every_s: frames.every.seconds(),
                pending: VecDeque::new(),
            },
            (None, None) => unreachable!("only groups with responses or frames have transfers"),
        };
        let (NextTransfer::Response { size, .. } | NextTransfer::Frame { size, .. }) = &mut next;
        let packets = whole_packets(size.next());
        let bottleneck_tx_s = self.plan.bottleneck_tx_s(group);
        ActiveTransfer {
            group: transfers,
            start_s,
            packets,
            base_rtt_s,
            bottleneck_tx_s,
            next: Some(next),
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
        let (mut process, size, delays) = self.plan.arrival_draws(index);
        let start_s = arrivals.start.seconds();
        if let Some(first_s) = process.next_time_s(start_s) {
            engine.datapath.timers.push(first_s, TimerKind::FlowArrival, index as u32);
        }
        engine.groups.push(ArrivalGroup {
            template,
            process,
            size,
            delays,
            retired: VecDeque::new(),
            counters: GroupCounters::default(),
        });
    }
}
