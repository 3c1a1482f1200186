//! A scenario read as a network: its links in order, and the links, delays and knobs of each flow. Nothing is built yet.

use crate::random::Stream;
use crate::scenario::{CrossSpec, FlowSpec, LossSpec, QueueSpec, Scenario, Waveform};
use cwndlab_tcp::Knobs;
use cwndlab_units::{Buffer, RateLimit, Span, Time};
use std::collections::HashMap;

/// One direction of a link before it is built.
pub struct LinkPlan<'a> {
    /// Name.
    pub name: String,
    /// Rate.
    pub rate: Waveform,
    /// Propagation delay.
    pub delay: Time,
    /// Queue.
    pub queue: QueueSpec,
    /// Losses beside the queue's.
    pub loss: &'a [LossSpec],
}

/// A flow's own links, drawn.
pub struct Access {
    /// Rate and delay (seconds) at the source.
    pub source: (Option<u64>, f64),
    /// Rate and delay at the sink.
    pub sink: (Option<u64>, f64),
}

/// The network of a scenario.
pub struct Plan<'a> {
    /// Where it comes from.
    pub scenario: &'a Scenario,
    /// Links in order.
    pub links: Vec<LinkPlan<'a>>,
    by_name: HashMap<String, u32>,
}

/// A delay drawn uniformly from a span, seconds.
fn draw_delay(span: Span, seed: u64, name: &str) -> f64 {
    if span.low == span.high { span.low.link_delay_s() } else { Stream::new(seed, name).between(span.low.seconds(), span.high.seconds()) }
}

fn plan_links(scenario: &Scenario) -> Vec<LinkPlan<'_>> {
    let Some(dumbbell) = &scenario.dumbbell else {
        return scenario
            .links
            .iter()
            .map(|link| LinkPlan {
                name: link.name.clone(),
                rate: link.rate.clone(),
                delay: link.delay,
                queue: link.queue,
                loss: &link.loss,
            })
            .collect();
    };
    let forward = LinkPlan {
        name: "bottleneck".into(),
        rate: dumbbell.rate.clone(),
        delay: dumbbell.delay,
        queue: dumbbell.queue,
        loss: &dumbbell.loss,
    };
    let back_rate = match dumbbell.back_rate {
        None => Some(Waveform::Constant(dumbbell.rate.largest())),
        Some(RateLimit::Limited(rate)) => Some(Waveform::Constant(rate)),
        Some(RateLimit::Unlimited) => None,
    };
    let unlimited = QueueSpec::DropTail { limit: Buffer::Unlimited, count_in_service: true };
    let back = back_rate.map(|rate| LinkPlan {
        name: "bottleneck-back".into(),
        rate,
        delay: dumbbell.delay,
        queue: dumbbell.back_queue.unwrap_or(unlimited),
        loss: &[],
    });
    std::iter::once(forward).chain(back).collect()
}

impl<'a> Plan<'a> {
    /// Reads a checked scenario.
    pub fn new(scenario: &'a Scenario) -> Self {
        let links = plan_links(scenario);
        let by_name = links.iter().enumerate().map(|(i, plan)| (plan.name.clone(), i as u32)).collect();
        Self { scenario, links, by_name }
    }

    /// How many flows and sources cross each link, in either direction.
    pub fn users(&self) -> Vec<u64> {
        let mut users = vec![0; self.links.len()];
        for flow in &self.scenario.flows {
            for link in self.forward(&flow.path).into_iter().chain(self.back(flow)) {
                users[link as usize] += flow.count;
            }
        }
        for cross in &self.scenario.cross {
            for link in self.forward(&cross.path) {
                users[link as usize] += 1;
            }
        }
        users
    }

    /// Rates of a flow's own links, and the spans of their delays.
    pub fn spans(&self, flow: &FlowSpec) -> ([Option<u64>; 2], Span, Span) {
        let dumbbell = self.scenario.dumbbell.as_ref();
        let rate = |own: Option<RateLimit>, common: Option<RateLimit>| match own.or(common).unwrap_or_default() {
            RateLimit::Limited(rate) => Some(rate.bps()),
            RateLimit::Unlimited => None,
        };
        let rates = [rate(flow.access_rate, dumbbell.map(|d| d.access_rate)), rate(flow.sink_rate, dumbbell.map(|d| d.sink_rate))];
        let source = flow.access_delay.or(dumbbell.map(|d| d.access_delay)).unwrap_or_default();
        let sink = flow.sink_delay.or(dumbbell.map(|d| d.sink_delay)).unwrap_or_default();
        (rates, source, sink)
    }

    /// The endpoint knobs of a flow.
    pub fn knobs(&self, flow: &FlowSpec) -> Knobs {
        let mut knobs = Knobs::profile(self.scenario.profile.into());
        self.scenario.tcp.apply(&mut knobs);
        flow.tcp.apply(&mut knobs);
        knobs
    }

    /// Links of the way there; in a dumbbell the first.
    pub fn forward(&self, path: &[String]) -> Vec<u32> {
        if path.is_empty() { vec![0] } else { path.iter().map(|name| self.by_name[name]).collect() }
    }

    /// Links of the way back; none where it is a pure delay.
    pub fn back(&self, flow: &FlowSpec) -> Vec<u32> {
        match self.scenario.dumbbell {
            Some(_) => (1..self.links.len() as u32).collect(),
            None => flow.back.iter().map(|name| self.by_name[name]).collect(),
        }
    }

    /// Delay of the way back where no link stands for it.
    pub fn back_delay(&self, flow: &FlowSpec) -> f64 {
        if self.back(flow).is_empty() {
            self.forward(&flow.path).iter().map(|&link| self.links[link as usize].delay.link_delay_s()).sum()
        } else {
            0.0
        }
    }

    /// A flow's own links, its delays drawn.
    pub fn access(&self, flow: &FlowSpec, name: &str) -> Access {
        let ([source_rate, sink_rate], source, sink) = self.spans(flow);
        let seed = self.scenario.seed;
        Access {
            source: (source_rate, draw_delay(source, seed, &format!("access/{name}"))),
            sink: (sink_rate, draw_delay(sink, seed, &format!("sink/{name}"))),
        }
    }

    /// Round trip of propagation delays, seconds.
    pub fn base_rtt_s(&self, spec: &FlowSpec, access: &Access) -> f64 {
        let delay = |links: Vec<u32>| links.iter().map(|&link| self.links[link as usize].delay.seconds()).sum::<f64>();
        delay(self.forward(&spec.path)) + delay(self.back(spec)) + self.back_delay(spec) + 2.0 * (access.source.1 + access.sink.1)
    }

    /// The waveform of a source, and the link rate that it leaves something of.
    pub fn cross_rate<'b>(&self, spec: &'b CrossSpec) -> (&'b Waveform, Option<u64>) {
        match (&spec.rate, &spec.available) {
            (Some(rate), _) => (rate, None),
            (None, Some(available)) => (available, Some(self.links[self.forward(&spec.path)[0] as usize].rate.largest().bps())),
            (None, None) => unreachable!("checked: a source has a rate or an available rate"),
        }
    }
}
