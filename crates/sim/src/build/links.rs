//! Links as they are built: buffers in packets, losses, and what cross traffic leaves of them.

use super::plan::{LinkPlan, Plan};
use super::{FlowInfo, LinkInfo};
use crate::course::Course;
use crate::link::{Link, QueueSampler, Window};
use crate::loss::{Loss, LossKind};
use crate::random::Stream;
use crate::rate::Serializer;
use crate::scenario::{FlowSpec, LossSpec, QueueSpec, Scenario};
use cwndlab_queues::{Discipline, DropTail, Limit};
use cwndlab_units::{Buffer, Time};
use std::collections::HashMap;
use std::ops::Range;

impl Plan<'_> {
    /// Builds every link, and says what results say about it. `ranges` are the flows of each group.
    pub fn build_links(&self, flows: &[FlowInfo], ranges: &HashMap<String, Range<u32>>, window: Window) -> (Vec<Link>, Vec<LinkInfo>) {
        let scenario = self.scenario;
        let horizon = scenario.duration.seconds();
        let (from, to) = (window.from_s, window.to_s);
        let (mut links, mut infos) = (Vec::new(), Vec::new());
        for (i, plan) in self.links.iter().enumerate() {
            let rate_stream = || Stream::new(scenario.seed, &format!("link-rate/{}", plan.name));
            let serializer = Serializer::new(&plan.rate, rate_stream(), horizon, None);
            let QueueSpec::DropTail { limit, count_in_service } = plan.queue else { todo!() };
            let limit = self.limit(limit, plan, i as u32, flows);
            let losses = plan
                .loss
                .iter()
                .enumerate()
                .map(|(k, loss)| build_loss(loss, scenario, &format!("loss/{}/{k}", plan.name), flows, ranges))
                .collect();
            let sampler = scenario.trace.queue.map(|every| QueueSampler::new(every.seconds()));
            let discipline = Discipline::DropTail(DropTail::new(limit, count_in_service));
            links.push(Link::new(serializer, plan.delay.link_delay_s(), discipline, losses, window, sampler));
            infos.push(LinkInfo {
                name: plan.name.clone(),
                rate_bps: Course::new(&plan.rate, rate_stream(), None).mean_bps(from, to),
                delay_s: plan.delay.seconds(),
                limit_packets: if let Limit::Packets(packets) = limit { Some(packets).filter(|&p| p < u64::MAX / 4) } else { None },
                cross_bps: self.cross_bps(i as u32, from, to),
                available_bps: scenario.trace.rate.map(|bin| self.available_bps(i as u32, bin.seconds())).unwrap_or_default(),
            });
        }
        (links, infos)
    }

    /// Mean cross traffic offered to a link over the window.
    fn cross_bps(&self, link: u32, from_s: f64, to_s: f64) -> f64 {
        let crossing = self.scenario.cross.iter().filter(|cross| self.forward(&cross.path).contains(&link));
        let means = crossing.map(|cross| {
            let (waveform, left_of) = self.cross_rate(cross);
            let begin = cross.start.low.seconds().max(from_s);
            let end = cross.stop.map_or(to_s, |stop| stop.seconds().min(to_s));
            if begin >= end {
                return 0.0;
            }
            let stream = Stream::new(self.scenario.seed, &format!("rate/{}", cross.name));
            Course::new(waveform, stream, left_of).mean_bps(begin, end) * (end - begin) / (to_s - from_s)
        });
        means.fold(0.0, |sum, mean| sum + mean)
    }

    /// What cross traffic leaves of a link in bins of `bin_s` from 0 to the end of the run.
    fn available_bps(&self, link: u32, bin_s: f64) -> Vec<f64> {
        let scenario = self.scenario;
        let count = (scenario.duration.seconds() / bin_s).ceil() as usize;
        let plan = &self.links[link as usize];
        let stream = Stream::new(scenario.seed, &format!("link-rate/{}", plan.name));
        let mut available = Course::new(&plan.rate, stream, None).bins(bin_s, count, 0.0, f64::MAX);
        for cross in scenario.cross.iter().filter(|cross| self.forward(&cross.path).contains(&link)) {
            let (waveform, left_of) = self.cross_rate(cross);
            let stream = Stream::new(scenario.seed, &format!("rate/{}", cross.name));
            let stop_s = cross.stop.map_or(f64::MAX, Time::seconds);
            let offered = Course::new(waveform, stream, left_of).bins(bin_s, count, cross.start.low.seconds(), stop_s);
            available.iter_mut().zip(offered).for_each(|(available, offered)| *available -= offered);
        }
        available
    }

    /// A buffer in packets or bytes. Packets are data packets of the first flow that crosses the link, there or back.
    fn limit(&self, buffer: Buffer, plan: &LinkPlan<'_>, link: u32, flows: &[FlowInfo]) -> Limit {
        let crossing: Vec<&FlowSpec> =
            self.scenario.flows.iter().filter(|flow| self.forward(&flow.path).contains(&link) || self.back(flow).contains(&link)).collect();
        let size = crossing.first().map_or(1000.0, |flow| f64::from(self.knobs(flow).wire_size(1)));
        let packets = |bits: f64| Limit::Packets((bits / 8.0 / size).round().clamp(1.0, 1e8) as u64);
        match buffer {
            Buffer::Packets(packets) => Limit::Packets(packets),
            Buffer::Bytes(bytes) => Limit::Bytes(bytes),
            Buffer::Unlimited => Limit::Packets(u64::MAX / 2),
            Buffer::Time(time) => packets(plan.rate.first().bps() as f64 * time.seconds()),
            Buffer::Bdp(multiple) => match self.scenario.bdp {
                Some(bdp) => packets(multiple * bdp.rate.bps() as f64 * bdp.rtt.seconds()),
                None => {
                    let rtts: Vec<f64> = flows
                        .iter()
                        .filter(|info| crossing.iter().any(|flow| flow.name == info.group))
                        .map(|info| info.base_rtt_s)
                        .collect();
                    let mean = if rtts.is_empty() { 2.0 * plan.delay.seconds() } else { rtts.iter().sum::<f64>() / rtts.len() as f64 };
                    packets(multiple * plan.rate.first().bps() as f64 * mean)
                }
            },
        }
    }
}

fn build_loss(loss: &LossSpec, scenario: &Scenario, stream: &str, flows: &[FlowInfo], ranges: &HashMap<String, Range<u32>>) -> Loss {
    let range = |name: &Option<String>| {
        name.as_ref().map(|name| match ranges.get(name) {
            Some(group) => group.clone(),
            None => {
                let index = flows.iter().position(|flow| flow.name == *name).unwrap_or_default() as u32;
                index..index + 1
            }
        })
    };
    Loss { flows: range(loss.flow()), kind: LossKind::new(loss, Stream::new(scenario.seed, stream)) }
}
