//! Subflows of connections: each is a flow of its own to the network, with the place that it has in
//! its connection.

use crate::scenario::Scenario;
use crate::traffic::{FlowSpec, Subflow, SubflowPlace};

/// The keys that a subflow may have.
const KEYS_OF_SUBFLOWS: [&str; 13] = [
    "name",
    "start",
    "stop",
    "path",
    "back",
    "from",
    "to",
    "reverse",
    "access_rate",
    "access_delay",
    "sink_rate",
    "sink_delay",
    "tcp",
];

impl FlowSpec {
    /// Its subflows as flows; `entry`: its number in the scenario.
    fn subflows_as_flows(&self, entry: usize) -> Vec<Self> {
        let as_flow = |(number, own): (usize, &Subflow)| {
            let (own, flow) = (own.clone(), self.clone());
            let has_path = !own.path.is_empty() || own.from.is_some() || own.to.is_some();
            let ([path, back], [from, to]) = match has_path {
                true => ([own.path, own.back], [own.from, own.to]),
                false => ([flow.path, flow.back], [flow.from, flow.to]),
            };
            let place = SubflowPlace { connection: self.name.clone(), number, stop: self.stop };
            Self {
                name: self.subflow_name(number),
                path,
                back,
                from,
                to,
                reverse: own.reverse || flow.reverse,
                access_rate: own.access_rate.or(flow.access_rate),
                access_delay: own.access_delay.or(flow.access_delay),
                sink_rate: own.sink_rate.or(flow.sink_rate),
                sink_delay: own.sink_delay.or(flow.sink_delay),
                tcp: own.tcp.over(&flow.tcp),
                start: own.start.unwrap_or(flow.start),
                stop: own.stop.into_iter().chain(flow.stop).min(),
                subflows: Vec::new(),
                entry: Some(entry),
                place: Some(place),
                ..flow
            }
        };
        self.subflows.iter().enumerate().map(as_flow).collect()
    }

    /// Name of the group of flows that a subflow makes. The only one has the name of the
    /// connection.
    pub fn subflow_name(&self, number: usize) -> String {
        match &self.subflows[number].name {
            None if self.subflows.len() == 1 => self.name.clone(),
            None => format!("{}.{number}", self.name),
            Some(own) => format!("{}.{own}", self.name),
        }
    }
}

impl Scenario {
    /// The scenario with each subflow as a flow; none if there is no subflow.
    pub(crate) fn with_subflows_as_flows(&self) -> Option<Self> {
        if self.flows.iter().all(|flow| flow.subflows.is_empty()) {
            return None;
        }
        let flows = self.flows.iter().enumerate().flat_map(|(i, flow)| {
            if flow.subflows.is_empty() {
                return vec![FlowSpec { entry: Some(i), ..flow.clone() }];
            }
            flow.subflows_as_flows(i)
        });
        Some(Self { flows: flows.collect(), ..self.clone() })
    }

    /// The key of the `i`-th flow as written, or that of its subflow for a key that subflows have.
    pub(crate) fn flow_key(&self, i: usize, name: &str) -> String {
        let flow = &self.flows[i];
        let entry = flow.entry.unwrap_or(i);
        let own = name.split('.').next().unwrap_or(name);
        match &flow.place {
            Some(place) if KEYS_OF_SUBFLOWS.contains(&own) => {
                format!("flows[{entry}].subflows[{}].{name}", place.number)
            }
            _ => format!("flows[{entry}].{name}"),
        }
    }
}
