//! Builds the links of a network: rates, impairments, queues, and their available rates.

use super::info::{FlowInfos, LinkInfo};
use super::network_plan::NetworkPlan;
use super::queues::{BuiltQueue, UNLIMITED};
use crate::measure::window::MeasurementWindow;
use crate::network::link::{Link, LinkConfig, LinkMetrics, QueueSampler, ScheduledQueue};
use crate::random::stream::RandomStream;
use crate::rate::outages::Outages;
use crate::rate::serializer::Serializer;
use cwndlab_queues::{Discipline, DropTail, Limit};

impl NetworkPlan<'_> {
    /// Builds all links and their descriptions.
    pub fn build_links(
        &self,
        flows: &FlowInfos,
        window: MeasurementWindow,
    ) -> (Vec<Link>, Vec<LinkInfo>) {
        let scenario = self.scenario;
        let horizon = scenario.duration.seconds();
        let (from, to) = (window.from_s, window.to_s);
        let (mut links, mut infos) = (Vec::new(), Vec::new());
        for (i, plan) in self.links.iter().enumerate() {
            let stream =
                |what: &str| RandomStream::new(scenario.seed, &format!("{what}/{}", plan.name));
            let outages = Outages::new(plan.outages);
            let (discipline, scheduled_queue) = match self.queue(i as u32, flows) {
                BuiltQueue::Admission(discipline) => (discipline, None),
                BuiltQueue::Scheduling(queue) => (
                    Discipline::DropTail(DropTail::new(Limit::Packets(1), true)),
                    Some(ScheduledQueue::new(queue)),
                ),
            };
            let unshaped =
                Serializer::with_outages(&plan.rate, stream("link-rate"), horizon, &outages);
            let serializer = match plan.shaper {
                Some(shaper) => unshaped.shaped(&shaper),
                None => unshaped,
            };
            links.push(Link::new(LinkConfig {
                serializer,
                delay_s: plan.delay.link_delay_s(),
                discipline,
                scheduled_queue,
                random: stream("queue"),
                impairments: self.impairments(i as u32, flows),
                metrics: LinkMetrics::new(
                    window,
                    scenario.trace.queue.map(|every| QueueSampler::new(every.seconds())),
                ),
            }));
            let limit = self.limit(plan.queue.limit(), i as u32, flows);
            infos.push(LinkInfo {
                name: plan.name.clone(),
                rate_bps: self.link_rate(i as u32).mean_bps(from, to),
                delay_s: plan.delay.seconds(),
                limit_packets: if let Limit::Packets(packets) = limit {
                    Some(packets).filter(|&p| p < UNLIMITED)
                } else {
                    None
                },
                cross_bps: self.cross_bps(i as u32, from, to),
                target_available_bps: self.target_available_bps(i as u32, from, to),
                cross: self.sources_on(i as u32),
                arrivals: self.arrivals_on(i as u32),
                queue: plan.queue.name(),
                available_bps: scenario
                    .trace
                    .rate
                    .map(|bin| self.available_bps(i as u32, bin.seconds()))
                    .unwrap_or_default(),
            });
        }
        (links, infos)
    }
}
