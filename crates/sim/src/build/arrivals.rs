//! Builds arriving flows.

use super::builder::Builder;
use super::network_plan::{EndpointOrder, FlowGroup};
use crate::endpoint::arrivals::{ArrivalGroup, DrawnPacketSize, FlowTemplate, GroupCounters};
use crate::engine::state::Engine;
use crate::event::timers::TimerKind;
use crate::measure::trace::Tracer;
use crate::packet::Flags;
use cwndlab_rules::Arithmetic;
use cwndlab_tcp::{Recovery, TcpConfig};
use cwndlab_units::Time;
use std::collections::VecDeque;

impl Builder<'_> {
    /// The packet sizes of a group of arriving flows; appends the settings of each.
    pub(super) fn packet_sizes(
        &self,
        group: &FlowGroup,
        index: usize,
        config: &mut Vec<TcpConfig>,
    ) -> Vec<DrawnPacketSize> {
        let mut cumulative_share = 0.0;
        let drawn = |(sized, share): (FlowGroup, f64)| {
            cumulative_share += share;
            config.push(self.plan.tcp_config(&sized.spec));
            DrawnPacketSize {
                config: config.len() as u32 - 1,
                bottleneck_tx_s: self.plan.bottleneck_tx_s(&sized),
                cumulative_share,
            }
        };
        self.plan.packet_sizes(group, index).into_iter().map(drawn).collect()
    }

    /// Adds a group of arriving flows: no slot yet, only a timer for the first arrival.
    pub(super) fn add_arrivals<T: Tracer>(
        &mut self,
        group: &FlowGroup,
        index: usize,
        packet_sizes: Vec<DrawnPacketSize>,
        engine: &mut Engine<T>,
    ) {
        let scenario = self.plan.scenario;
        let (spec, arrivals) = (&group.spec, &scenario.arrivals[index]);
        let config = self.plan.tcp_config(spec);
        let ([source_rate, sink_rate], source, sink) = self.plan.access_ranges(spec);
        let span = |rate, low: Time, high: Time| (rate, low.link_delay_s(), high.link_delay_s());
        let back_s = self.plan.back_delay_s(&group.path);
        let own = [
            span(source_rate, source.low, source.high),
            span(sink_rate, sink.low, sink.high),
            (None, back_s, back_s),
        ];
        let (stages, access_links) = self.stages(group);
        let route = self.route(stages, EndpointOrder::Own);
        let template = FlowTemplate {
            route,
            access_links: access_links.into_iter().map(|which| (which, own[which])).collect(),
            packet_sizes,
            rule: spec.rule.0.build(if config.quirks.ns2_arithmetic {
                Arithmetic::Ns2
            } else {
                Arithmetic::Plain
            }),
            recovery: Recovery::from(spec.recovery),
            flags: Flags::of_priority(spec.priority),
            timer_phase_s: self.plan.timer_phase_s(spec, 0),
            base_rtt_s: self.plan.links_rtt_s(&group.path) - back_s,
        };
        let (mut connections, delays) = self.plan.arrival_draws(index);
        let start_s = arrivals.start.seconds();
        if let Some(first_s) = connections.next_time_s(start_s) {
            engine.network.stations.arm(first_s, TimerKind::FlowArrival, index as u32);
        }
        engine.groups.push(ArrivalGroup {
            template,
            connections,
            largest_packet_size: config.segment.packet_size,
            packet_sizes: self.plan.stream("packet_size", &spec.name),
            delays,
            retired: VecDeque::new(),
            counters: GroupCounters::default(),
        });
    }
}
