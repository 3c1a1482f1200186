//! Network graph: the one-way links of a scenario and the nodes between them.

use crate::{
    BackRate, EcnMangling, JitterSpec, LinkSpec, LossSpec, MarkerSpec, OutageSpec, PolicerSpec,
    QueueSpec, Scenario, ScenarioError, TokenBucketSpec, Waveform,
};
use cwndlab_units::{Buffer, Time};
use std::collections::{BTreeMap, BTreeSet};

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct OneWayLink<'a> {
    /// Key of its table in the scenario, such as `links[2]`; both directions of a duplex link share
    /// it.
    pub key: String,
    /// Key of its rate.
    pub rate_key: String,
    /// Key of its queue.
    pub queue_key: String,
    /// Name of the link.
    pub name: String,
    /// Node where it starts, if nodes are named.
    pub from: Option<&'a str>,
    /// Node where it ends.
    pub to: Option<&'a str>,
    /// Rate.
    pub rate: Waveform,
    /// Propagation delay.
    pub delay: Time,
    /// Queue.
    pub queue: QueueSpec,
    /// Loss models.
    pub loss: &'a [LossSpec],
    /// Jitter of its delay.
    pub jitter: Option<JitterSpec>,
    /// Outages.
    pub outages: &'a [OutageSpec],
    /// What it does to the ECN field of packets.
    pub ecn_mangling: Option<EcnMangling>,
    /// Token bucket that sets the priority of its packets.
    pub marker: Option<MarkerSpec>,
    /// Drops or marks packets in front of its queue.
    pub policer: Option<PolicerSpec>,
    /// Token bucket behind its queue.
    pub shaper: Option<TokenBucketSpec>,
}

/// Links in order; both directions of a duplex link are adjacent.
#[derive(Clone, Debug)]
pub struct NetworkGraph<'a> {
    /// The links; of a dumbbell the bottleneck, and the reverse link unless its rate is unlimited.
    pub links: Vec<OneWayLink<'a>>,
    by_name: BTreeMap<String, u32>,
}

impl<'a> NetworkGraph<'a> {
    /// The one-way links of a scenario; fails if a name or a node is invalid.
    pub fn new(scenario: &'a Scenario) -> Result<Self, ScenarioError> {
        let mut graph = Self::as_written(scenario)?;
        if let Some(profile) = scenario.router_profile {
            graph.links.iter_mut().for_each(|link| link.queue = profile.complete(link.queue));
        }
        Ok(graph)
    }

    fn as_written(scenario: &'a Scenario) -> Result<Self, ScenarioError> {
        let links = match (&scenario.dumbbell, scenario.links.is_empty()) {
            (Some(_), false) => {
                return Err(ScenarioError::at(
                    "links",
                    "`links` must not be given when `dumbbell` is",
                ));
            }
            (None, true) => {
                return Err(ScenarioError::at(
                    "dumbbell",
                    "a network is missing: write [dumbbell] or [[links]]",
                ));
            }
            (Some(_), true) => dumbbell_links(scenario),
            (None, false) => return Self::of_links(&scenario.links),
        };
        let by_name =
            links.iter().enumerate().map(|(i, link)| (link.name.clone(), i as u32)).collect();
        Ok(Self { links, by_name })
    }

    fn of_links(specs: &'a [LinkSpec]) -> Result<Self, ScenarioError> {
        let mut graph = Self { links: Vec::new(), by_name: BTreeMap::new() };
        for (i, spec) in specs.iter().enumerate() {
            let key = |name: &str| format!("links[{i}].{name}");
            match (&spec.from, &spec.to) {
                (Some(_), None) => {
                    return Err(ScenarioError::at(
                        key("to"),
                        "`to` is required when `from` is given",
                    ));
                }
                (None, Some(_)) => {
                    return Err(ScenarioError::at(
                        key("from"),
                        "`from` is required when `to` is given",
                    ));
                }
                (Some(from), Some(to)) if from == to => {
                    return Err(ScenarioError::invalid(
                        key("to"),
                        format!("\"{to}\""),
                        "another node than `from`",
                    ));
                }
                _ => {}
            }
            for link in one_or_two(spec, i) {
                let index = graph.links.len() as u32;
                if link.name.is_empty() || graph.by_name.insert(link.name.clone(), index).is_some()
                {
                    let name = format!("\"{}\"", link.name);
                    return Err(ScenarioError::invalid(key("name"), name, "a unique link name"));
                }
                graph.links.push(link);
            }
        }
        Ok(graph)
    }

    /// The link with this name.
    pub fn link(&self, name: &str) -> Option<u32> {
        self.by_name.get(name).copied()
    }

    /// Names of all links.
    pub fn link_names(&self) -> Vec<&str> {
        self.by_name.keys().map(String::as_str).collect()
    }

    /// All nodes that links name.
    pub fn nodes(&self) -> BTreeSet<&'a str> {
        self.links.iter().flat_map(|link| [link.from, link.to]).flatten().collect()
    }
}

fn dumbbell_links(scenario: &Scenario) -> Vec<OneWayLink<'_>> {
    let Some(dumbbell) = &scenario.dumbbell else { return Vec::new() };
    let forward = OneWayLink {
        key: "dumbbell".into(),
        rate_key: "dumbbell.rate".into(),
        queue_key: "dumbbell.queue".into(),
        name: "bottleneck".into(),
        from: None,
        to: None,
        rate: dumbbell.rate.clone(),
        delay: dumbbell.delay,
        queue: dumbbell.queue,
        loss: &dumbbell.loss,
        jitter: dumbbell.jitter.clone(),
        outages: &dumbbell.outages,
        ecn_mangling: dumbbell.ecn_mangling,
        marker: dumbbell.marker,
        policer: dumbbell.policer,
        shaper: dumbbell.shaper,
    };
    let back_rate = match &dumbbell.back_rate {
        None => Some(Waveform::Constant(dumbbell.rate.largest())),
        Some(BackRate::Limited(rate)) => Some(rate.clone()),
        Some(BackRate::Unlimited) => None,
    };
    // Acknowledgements alone need no limit, data does.
    let reversed = scenario
        .flows
        .iter()
        .map(|flow| flow.reverse)
        .chain(scenario.arrivals.iter().map(|arrivals| arrivals.reverse));
    let default = match reversed
        .chain(scenario.cross.iter().map(|cross| cross.reverse))
        .any(|reverse| reverse)
    {
        true => dumbbell.queue,
        false => QueueSpec::DropTail { limit: Buffer::Unlimited, count_in_service: true },
    };
    let back = back_rate.map(|rate| OneWayLink {
        rate_key: "dumbbell.back_rate".into(),
        queue_key: "dumbbell.back_queue".into(),
        name: "bottleneck-back".into(),
        rate,
        queue: dumbbell.back_queue.unwrap_or(default),
        loss: &[],
        jitter: None,
        outages: &[],
        ecn_mangling: None,
        marker: None,
        policer: None,
        shaper: None,
        ..forward.clone()
    });
    std::iter::once(forward).chain(back).collect()
}

/// A link, and the reverse one if it is duplex.
fn one_or_two(spec: &LinkSpec, index: usize) -> Vec<OneWayLink<'_>> {
    let named = !spec.name.is_empty();
    let between = |from: &Option<String>, to: &Option<String>| match (from, to) {
        (Some(from), Some(to)) => format!("{from}-{to}"),
        _ => String::new(),
    };
    let forward = OneWayLink {
        key: format!("links[{index}]"),
        rate_key: format!("links[{index}].rate"),
        queue_key: format!("links[{index}].queue"),
        name: if named { spec.name.clone() } else { between(&spec.from, &spec.to) },
        from: spec.from.as_deref(),
        to: spec.to.as_deref(),
        rate: spec.rate.clone(),
        delay: spec.delay,
        queue: spec.queue,
        loss: &spec.loss,
        jitter: spec.jitter.clone(),
        outages: &spec.outages,
        ecn_mangling: spec.ecn_mangling,
        marker: spec.marker,
        policer: spec.policer,
        shaper: spec.shaper,
    };
    if !spec.duplex {
        return vec![forward];
    }
    let name = if named { format!("{}-back", spec.name) } else { between(&spec.to, &spec.from) };
    let back = OneWayLink { name, from: forward.to, to: forward.from, ..forward.clone() };
    vec![forward, back]
}
