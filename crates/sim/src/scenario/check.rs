//! What types cannot say: ranges, references between parts, and sizes that would exhaust memory.

use super::{FlowSpec, LossSpec, QueueSpec, Sampling, Scenario, ScenarioError, Waveform};
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
        let links = self.check_links()?;
        self.check_flows(&links)?;
        self.check_cross(&links)?;
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

    /// Checks the links and returns their names.
    fn check_links(&self) -> Result<HashSet<&str>, ScenarioError> {
        let mut names = HashSet::new();
        match (&self.dumbbell, self.links.is_empty()) {
            (Some(_), false) => return Err(ScenarioError::at("links", "a scenario has either [dumbbell] or [[links]], not both")),
            (None, true) => return Err(ScenarioError::at("dumbbell", "there is no network: write [dumbbell] or [[links]]")),
            (Some(dumbbell), true) => {
                names.insert("bottleneck");
                names.insert("bottleneck-back");
                check_link("dumbbell", &dumbbell.rate, &dumbbell.queue, &dumbbell.loss, self)?;
                if let Some(queue) = &dumbbell.back_queue {
                    check_queue("dumbbell.back_queue", queue)?;
                }
            }
            (None, false) => {
                for (i, link) in self.links.iter().enumerate() {
                    let key = format!("links[{i}]");
                    if link.name.is_empty() || !names.insert(link.name.as_str()) {
                        return Err(ScenarioError::at(
                            format!("{key}.name"),
                            format!("\"{}\" is empty or taken: every link has its own name", link.name),
                        ));
                    }
                    check_link(&key, &link.rate, &link.queue, &link.loss, self)?;
                }
            }
        }
        Ok(names)
    }

    fn check_flows(&self, links: &HashSet<&str>) -> Result<(), ScenarioError> {
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
            self.check_path(flow, links, &key)?;
            check_knobs(&flow.tcp, &key("tcp"))?;
        }
        check_knobs(&self.tcp, "tcp")
    }

    fn check_path(&self, flow: &FlowSpec, links: &HashSet<&str>, key: &dyn Fn(&str) -> String) -> Result<(), ScenarioError> {
        if self.dumbbell.is_some() {
            return match flow.path.is_empty() && flow.back.is_empty() {
                true => Ok(()),
                false => Err(ScenarioError::at(
                    key("path"),
                    "in a dumbbell all flows cross the bottleneck: leave path and back out, or use [[links]]",
                )),
            };
        }
        if flow.path.is_empty() {
            return Err(ScenarioError::at(key("path"), format!("the list is empty: name at least one of {}", list(links))));
        }
        check_names(&flow.path, links, &key("path"))?;
        check_names(&flow.back, links, &key("back"))
    }

    fn check_cross(&self, links: &HashSet<&str>) -> Result<(), ScenarioError> {
        let mut names: HashSet<&str> = self.flows.iter().map(|flow| flow.name.as_str()).collect();
        let mut shaped = HashSet::new();
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
            if cross.path.is_empty() && self.dumbbell.is_none() {
                return Err(ScenarioError::at(key("path"), format!("the list is empty: name at least one of {}", list(links))));
            }
            check_names(&cross.path, links, &key("path"))?;
            if cross.available.is_some() {
                let first = cross.path.first().map_or("bottleneck", String::as_str);
                if !shaped.insert(first) || !self.has_constant_rate(first) {
                    let message =
                        format!("what is left of \"{first}\" needs a link of constant rate, and no other source with available on it");
                    return Err(ScenarioError::at(key("available"), message));
                }
            }
        }
        Ok(())
    }

    fn has_constant_rate(&self, link: &str) -> bool {
        let rate = match &self.dumbbell {
            Some(dumbbell) => Some(&dumbbell.rate),
            None => self.links.iter().find(|spec| spec.name == link).map(|spec| &spec.rate),
        };
        rate.is_some_and(|rate| matches!(rate, Waveform::Constant(_) | Waveform::Shape(super::Shape::Constant { .. })))
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

fn check_names(names: &[String], links: &HashSet<&str>, key: &str) -> Result<(), ScenarioError> {
    let mut seen = HashSet::new();
    for name in names {
        if !links.contains(name.as_str()) {
            return Err(ScenarioError::at(key, format!("there is no link \"{name}\": {}", list(links))));
        }
        if !seen.insert(name) {
            return Err(ScenarioError::at(key, format!("link \"{name}\" is there twice: a path crosses a link once")));
        }
    }
    Ok(())
}

fn list(names: &HashSet<&str>) -> String {
    let mut names: Vec<&str> = names.iter().copied().collect();
    names.sort_unstable();
    names.join(", ")
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
