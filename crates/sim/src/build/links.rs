//! Builds the links of a network: rates, impairments, queues, and their available rates.

use super::info::{FlowInfos, LinkInfo};
use super::network_plan::NetworkPlan;
use super::queues::{BuiltQueue, UNLIMITED};
use crate::measure::window::MeasurementWindow;
use crate::network::link::{Link, LinkMetrics, LinkQueue, QueueSampler};
use crate::random::stream::RandomStream;
use crate::rate::outages::Outages;
use crate::rate::transmitter::Line;
use crate::rate::transmitter::Transmitter;
use cwndlab_queues::Limit;

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
            let outages = Outages::new(&plan.outages);
            let impairments = self.impairments(i as u32, flows);
            let queue = match self.queue(i as u32, flows) {
                BuiltQueue::Admission(discipline) => LinkQueue::fifo(discipline, stream("queue")),
                BuiltQueue::Scheduling(discipline) => LinkQueue::scheduled(discipline),
            };
            let unshaped =
                Transmitter::with_outages(&plan.rate, stream("link-rate"), horizon, &outages);
            let transmitter = match plan.shaper {
                Some(shaper) => unshaped.shaped(&shaper),
                None => unshaped,
            };
            let sampler = scenario.trace.queue.map(|every| QueueSampler::new(every.seconds()));
            links.push(Link::new(
                Line { transmitter, delay_s: plan.delay.link_delay_s() },
                queue,
                impairments,
                LinkMetrics::new(window, sampler),
            ));
            let limit = self.limit(plan.queue.limit(), i as u32, flows);
            infos.push(LinkInfo {
                name: plan.name.clone(),
                rate_bps: self.link_rate(i as u32).mean_bps(from, to),
                rate: scenario.trace.account.then(|| self.passing_rate(i as u32, from, to)),
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
