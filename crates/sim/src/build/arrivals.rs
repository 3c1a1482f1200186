//! Builds arriving flows, and the transfers of flows with responses or frames.

use super::builder::Builder;
use super::network_plan::FlowGroup;
use crate::endpoint::arrivals::{ArrivalGroup, DrawnPacketSize, FlowTemplate, GroupCounters};
use crate::endpoint::transfer::{ActiveTransfer, FrameSize, NextTransfer};
use crate::engine::state::Engine;
use crate::event::scheduler::EventScheduler;
use crate::event::timers::TimerKind;
use crate::measure::trace::Tracer;
use crate::packet::Flags;
use crate::random::variable::RandomVariable;
use cwndlab_rules::{Arithmetic, WindowRule};
use cwndlab_tcp::{Knobs, Recovery};
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
            (None, Some(frames)) => {
                let size = match &frames.size {
                    Some(size) => FrameSize::Drawn(sizes(size)),
                    None => FrameSize::Encoded { left_packets: 0.0 },
                };
                NextTransfer::Frame { size, every_s: frames.every.seconds() }
            }
            (None, None) => unreachable!("only groups with responses or frames have transfers"),
        };
        let packets = match &mut next {
            NextTransfer::Response { size, .. } => size.next_packets(),
            NextTransfer::Frame { size, every_s } => {
                let mut rule = group.spec.rule.0.build(Arithmetic::Plain);
                let packets = size.next_packets(*every_s, rule.encoder_rate_packets_s(0));
                // The first frame opens the connection, so that it has a packet; later ones make up
                // for it.
                if let (FrameSize::Encoded { left_packets }, 0) = (size, packets) {
                    *left_packets -= 1.0;
                }
                packets.max(1)
            }
            NextTransfer::Exchanges(_) => unreachable!("listed flows have no exchanges"),
        };
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

    /// The packet sizes of a group of arriving flows; appends the knobs of each.
    pub(super) fn packet_sizes(
        &self,
        group: &FlowGroup,
        index: usize,
        knobs: &mut Vec<Knobs>,
    ) -> Vec<DrawnPacketSize> {
        let mut cumulative_share = 0.0;
        let drawn = |(sized, share): (FlowGroup, f64)| {
            cumulative_share += share;
            knobs.push(self.plan.knobs(&sized.spec));
            DrawnPacketSize {
                knobs: knobs.len() as u32 - 1,
                bottleneck_tx_s: self.plan.bottleneck_tx_s(&sized),
                cumulative_share,
            }
        };
        self.plan.packet_sizes(group, index).into_iter().map(drawn).collect()
    }

    /// Adds a group of arriving flows: no slot yet, only a timer for the first arrival.
    pub(super) fn add_arrivals<S: EventScheduler, T: Tracer>(
        &mut self,
        group: &FlowGroup,
        index: usize,
        packet_sizes: Vec<DrawnPacketSize>,
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
            packet_sizes,
            rule: spec.rule.0.build(if knobs.ns2_arithmetic {
                Arithmetic::Ns2
            } else {
                Arithmetic::Plain
            }),
            recovery: Recovery::from(spec.recovery),
            flags: Flags::of_priority(spec.priority),
            timer_phase_s: spec.tcp.timer_phase.or(scenario.tcp.timer_phase).unwrap_or(0.0),
            base_rtt_s: self.plan.links_rtt_s(&group.path) - back_s,
        };
        let (mut connections, delays) = self.plan.arrival_draws(index);
        let start_s = arrivals.start.seconds();
        if let Some(first_s) = connections.next_time_s(start_s) {
            engine.datapath.timers.push(first_s, TimerKind::FlowArrival, index as u32);
        }
        engine.groups.push(ArrivalGroup {
            template,
            connections,
            largest_packet_size: knobs.packet_size,
            packet_sizes: self.plan.stream("packet_size", &spec.name),
            delays,
            retired: VecDeque::new(),
            counters: GroupCounters::default(),
        });
    }
}
