//! What types cannot say: ranges, references between parts, and sizes that would exhaust memory.

use super::{FlowSpec, Graph, LossSpec, QueueSpec, Routes, Sampling, Scenario, ScenarioError, Shape, Waveform};
use cwndlab_units::{Buffer, Time};
use std::collections::HashSet;

/// Flows in one scenario.
const MOST_FLOWS: u64 = 2_000_000;
/// Changes of a rate in one run: some seconds of work before the first packet.
const MOST_PIECES: f64 = 1e8;
/// Samples in one trace table: about 2 GiB.
const MOST_SAMPLES: f64 = 1e8;

impl Scenario {
    /// Checks everything beyond types.
    pub(super) fn check(&self) -> Result<(), ScenarioError> {
        self.check_times()?;
        let graph = self.check_links()?;
        self.check_flows()?;
        self.check_cross()?;
        let routes = Routes::new(self, &graph)?;
        self.check_available(&graph, &routes)?;
        self.check_trace()
    }

    /// The measuring window.
    pub fn window(&self) -> [Time; 2] {
        self.measure.unwrap_or([Time::default(), self.duration])
    }

    fn check_times(&self) -> Result<(), ScenarioError> {
        if self.duration == Time::default() {
            return Err(ScenarioError::at("duration", "0s is not allowed: a time above 0, such as \"60s\""));
        }
        let [from, to] = self.window();
        if from >= to || to > self.duration {
            let message =
                format!("[{from}, {to}] is not a window inside the run: write [from, to] with 0s <= from < to <= {}", self.duration);
            return Err(ScenarioError::at("measure", message));
        }
        if self.rate_bin < Time::ns(1_000_000) {
            return Err(ScenarioError::at("rate_bin", format!("{} is too short: at least 1ms", self.rate_bin)));
        }
        Ok(())
    }

    /// Checks the links and returns them.
    fn check_links(&self) -> Result<Graph<'_>, ScenarioError> {
        let graph = Graph::new(self)?;
        if let Some(dumbbell) = &self.dumbbell {
            check_link("dumbbell", &dumbbell.rate, &dumbbell.queue, &dumbbell.loss, self)?;
            if let Some(queue) = &dumbbell.back_queue {
                check_queue("dumbbell.back_queue", queue)?;
            }
        }
        for (i, link) in self.links.iter().enumerate() {
            check_link(&format!("links[{i}]"), &link.rate, &link.queue, &link.loss, self)?;
        }
        Ok(graph)
    }

    fn check_flows(&self) -> Result<(), ScenarioError> {
        if self.flows.is_empty() && self.cross.is_empty() {
            return Err(ScenarioError::at("flows", "the list is empty: at least one [[flows]] or [[cross]]"));
        }
        let mut names = HashSet::new();
        let mut total = 0u64;
        for (i, flow) in self.flows.iter().enumerate() {
            let key = |name: &str| format!("flows[{i}].{name}");
            if flow.name.is_empty() || !names.insert(flow.name.as_str()) {
                return Err(ScenarioError::at(
                    key("name"),
                    format!("\"{}\" is empty or taken: every group of flows has its own name", flow.name),
                ));
            }
            total = total.saturating_add(flow.count);
            if flow.count == 0 || total > MOST_FLOWS {
                return Err(ScenarioError::at(key("count"), format!("{} is out of range: 1 to {MOST_FLOWS} flows in all", flow.count)));
            }
            if flow.packets == Some(0) || flow.packets.is_some_and(|packets| packets > 1 << 60) {
                return Err(ScenarioError::at(key("packets"), "a transfer has 1 to 1e18 packets"));
            }
            if let Some(stop) = flow.stop.filter(|stop| *stop <= flow.start.high) {
                return Err(ScenarioError::at(key("stop"), format!("{stop} is not after start = {}", flow.start.high)));
            }
            check_knobs(&flow.tcp, &key("tcp"))?;
        }
        check_knobs(&self.tcp, "tcp")
    }

    fn check_cross(&self) -> Result<(), ScenarioError> {
        let mut names: HashSet<&str> = self.flows.iter().map(|flow| flow.name.as_str()).collect();
        for (i, cross) in self.cross.iter().enumerate() {
            let key = |name: &str| format!("cross[{i}].{name}");
            if cross.name.is_empty() || !names.insert(cross.name.as_str()) {
                return Err(ScenarioError::at(key("name"), format!("\"{}\" is empty or taken: every source has its own name", cross.name)));
            }
            match (&cross.rate, &cross.available) {
                (Some(rate), None) => check_waveform(&key("rate"), rate, self.duration)?,
                (None, Some(available)) => check_waveform(&key("available"), available, self.duration)?,
                _ => return Err(ScenarioError::at(key("rate"), "write either rate or available")),
            }
            if let Some(stop) = cross.stop.filter(|stop| *stop <= cross.start.high) {
                return Err(ScenarioError::at(key("stop"), format!("{stop} is not after start = {}", cross.start.high)));
            }
            if !(20..=65_535).contains(&cross.packet_size.0) {
                return Err(ScenarioError::at(key("packet_size"), format!("{} is out of range: 20B to 65535B", cross.packet_size)));
            }
        }
        Ok(())
    }

    /// What is left of a link is known where its rate is constant, and makes sense once.
    fn check_available(&self, graph: &Graph<'_>, routes: &Routes) -> Result<(), ScenarioError> {
        let mut shaped = HashSet::new();
        for (i, (_, way)) in self.cross.iter().zip(&routes.cross).enumerate().filter(|(_, (cross, _))| cross.available.is_some()) {
            let first = &graph.links[way.there[0] as usize];
            let is_constant = matches!(first.rate, Waveform::Constant(_) | Waveform::Shape(Shape::Constant { .. }));
            if !shaped.insert(way.there[0]) || !is_constant {
                let message =
                    format!("what is left of \"{}\" needs a link of constant rate, and no other source with available on it", first.name);
                return Err(ScenarioError::at(format!("cross[{i}].available"), message));
            }
        }
        Ok(())
    }

    fn check_trace(&self) -> Result<(), ScenarioError> {
        let flows: u64 = self.flows.iter().map(|flow| flow.count).sum();
        let samples = |key: &str, every: Time, each: u64| {
            if every < Time::ns(1_000) {
                return Err(ScenarioError::at(key, format!("{every} is too short: at least 1us")));
            }
            let rows = self.duration.seconds() / every.seconds() * each as f64;
            if rows > MOST_SAMPLES {
                return Err(ScenarioError::at(key, format!("{every} makes {rows:.0} rows: at most {MOST_SAMPLES:.0}; sample less often")));
            }
            Ok(())
        };
        if let Some(Sampling::Every(every)) = self.trace.cwnd {
            samples("trace.cwnd", every, flows)?;
        }
        if let Some(every) = self.trace.queue {
            samples("trace.queue", every, 2 + self.links.len() as u64)?;
        }
        if let Some(every) = self.trace.rate {
            samples("trace.rate", every, flows + self.links.len().max(2) as u64)?;
        }
        samples("rate_bin", self.rate_bin, 1)
    }
}

fn check_link(key: &str, rate: &Waveform, queue: &QueueSpec, loss: &[LossSpec], scenario: &Scenario) -> Result<(), ScenarioError> {
    check_waveform(&format!("{key}.rate"), rate, scenario.duration)?;
    check_queue(&format!("{key}.queue"), queue)?;
    for (i, loss) in loss.iter().enumerate() {
        let (flow, wrong) = match loss {
            LossSpec::Bernoulli { p, flow, .. } => {
                (flow, (!(0.0..1.0).contains(p)).then(|| ("p", format!("{p} is not a loss probability: from 0 to below 1"))))
            }
            LossSpec::GilbertElliott { flow, .. } => (flow, None),
            LossSpec::List { flow, packets } | LossSpec::Marks { flow, packets } => {
                (flow, (packets.len() > 10_000_000).then(|| ("packets", "at most 1e7 packets".to_string())))
            }
        };
        if let Some((name, message)) = wrong {
            return Err(ScenarioError::at(format!("{key}.loss[{i}].{name}"), message));
        }
        if let Some(flow) = flow.as_deref().filter(|flow| !scenario.has_flow(flow)) {
            let names: Vec<&str> = scenario.flows.iter().map(|flow| flow.name.as_str()).collect();
            return Err(ScenarioError::at(format!("{key}.loss[{i}].flow"), format!("there is no flow \"{flow}\": {}", names.join(", "))));
        }
    }
    Ok(())
}

fn check_queue(key: &str, queue: &QueueSpec) -> Result<(), ScenarioError> {
    match queue.limit() {
        Buffer::Packets(0) => Err(ScenarioError::at(format!("{key}.limit"), "a buffer holds at least one packet")),
        _ => Ok(()),
    }
}

fn check_waveform(key: &str, waveform: &Waveform, duration: Time) -> Result<(), ScenarioError> {
    if let Some((name, message)) = waveform.problem() {
        return Err(ScenarioError::at(format!("{key}.{name}"), message));
    }
    match waveform.shortest_piece() {
        Some((name, piece)) if duration.seconds() / piece.seconds().max(1e-12) > MOST_PIECES => {
            let message = format!("a change every {piece} is too often for a run of {duration}: at most {MOST_PIECES:.0} changes");
            Err(ScenarioError::at(format!("{key}.{name}"), message))
        }
        _ => Ok(()),
    }
}

fn check_knobs(knobs: &super::KnobOverrides, key: &str) -> Result<(), ScenarioError> {
    let inside = |name: &str, value: Option<f64>, low: f64, high: f64| match value {
        Some(value) if !(low..=high).contains(&value) => {
            Err(ScenarioError::at(format!("{key}.{name}"), format!("{value} is out of range: {low} to {high}")))
        }
        _ => Ok(()),
    };
    inside("packet_size", knobs.packet_size.map(f64::from), 1.0, 65_000.0)?;
    inside("header_size", knobs.header_size.map(f64::from), 0.0, 400.0)?;
    inside("syn_size", knobs.syn_size.map(f64::from), 1.0, 65_000.0)?;
    inside("ack_size", knobs.ack_size.map(f64::from), 1.0, 65_000.0)?;
    inside("sack_block_size", knobs.sack_block_size.map(f64::from), 0.0, 40.0)?;
    inside("ack_timestamp_size", knobs.ack_timestamp_size.map(f64::from), 0.0, 40.0)?;
    inside("timestamp_size", knobs.timestamp_size.map(f64::from), 0.0, 40.0)?;
    inside("max_sack_blocks", knobs.max_sack_blocks.map(f64::from), 0.0, 3.0)?;
    inside("window", knobs.window, 1.0, 1e9)?;
    inside("initial_ssthresh", knobs.initial_ssthresh, 1.0, 1e9)?;
    inside("initial_window", knobs.initial_window, 1.0, 1e6)?;
    inside("dupack_threshold", knobs.dupack_threshold.map(f64::from), 1.0, 1e6)?;
    inside("cwnd_floor", knobs.cwnd_floor, -1e9, 1e6)?;
    inside("timer_phase", knobs.timer_phase, 0.0, 1e3)?;
    inside("initial_rto", knobs.initial_rto.map(Time::seconds), 1e-3, 1e5)?;
    inside("max_rto", knobs.max_rto.map(Time::seconds), 1e-3, 1e5)
}

impl Scenario {
    /// Whether `name` is a flow or a group of flows.
    fn has_flow(&self, name: &str) -> bool {
        self.flows.iter().any(|flow| flow.matches(name))
    }
}

impl FlowSpec {
    /// Whether `name` is this group, or one of its flows.
    pub fn matches(&self, name: &str) -> bool {
        let member = || name.strip_prefix(&self.name)?.strip_prefix('-')?.parse::<u64>().ok();
        name == self.name || (self.count > 1 && member().is_some_and(|i| i < self.count))
    }

    /// Name of its `i`-th flow.
    pub fn instance(&self, i: u64) -> String {
        if self.count == 1 { self.name.clone() } else { format!("{}-{i}", self.name) }
    }
}
