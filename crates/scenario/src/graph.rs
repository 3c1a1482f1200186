//! Network graph: the one-way links of a scenario and the nodes between them.

use crate::check::conditions::{conflict, invalid};
use crate::{BackRate, Dumbbell, LinkSpec, QueueSpec, Scenario, ScenarioError, Waveform};
use cwndlab_units::Buffer;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct OneWayLink {
    /// Key of its table in the scenario, such as `links[2]`; both directions of a duplex link share
    /// it.
    pub key: String,
    /// Key of its rate.
    pub rate_key: String,
    /// Key of its queue.
    pub queue_key: String,
    /// Key of its loss models.
    pub loss_key: String,
    /// The link, always with a name.
    pub spec: LinkSpec,
}

impl Deref for OneWayLink {
    type Target = LinkSpec;

    fn deref(&self) -> &LinkSpec {
        &self.spec
    }
}

/// Links in order; both directions of a duplex link are adjacent.
#[derive(Clone, Debug)]
pub struct NetworkGraph {
    /// The links; of a dumbbell the bottleneck, and the reverse link unless its rate is unlimited.
    pub links: Vec<OneWayLink>,
    by_name: BTreeMap<String, u32>,
}

impl NetworkGraph {
    /// The one-way links of a scenario; fails if a name or a node is invalid.
    pub fn new(scenario: &Scenario) -> Result<Self, ScenarioError> {
        let mut graph = Self::as_written(scenario)?;
        if let Some(profile) = scenario.router_profile {
            graph.links.iter_mut().for_each(|link| link.spec.queue = profile.complete(link.queue));
        }
        Ok(graph)
    }

    fn as_written(scenario: &Scenario) -> Result<Self, ScenarioError> {
        match (&scenario.dumbbell, scenario.links.is_empty()) {
            (Some(_), false) => conflict("links", "`links` must not be given when `dumbbell` is"),
            (None, true) => {
                conflict("dumbbell", "a network is missing: write [dumbbell] or [[links]]")
            }
            (Some(dumbbell), true) => Ok(Self::of_dumbbell(scenario, dumbbell)),
            (None, false) => Self::of_links(&scenario.links),
        }
    }

    fn of_dumbbell(scenario: &Scenario, dumbbell: &Dumbbell) -> Self {
        let links = dumbbell_links(scenario, dumbbell);
        let names = links.iter().map(|link| link.name.clone());
        let by_name = names.zip(0..).collect();
        Self { links, by_name }
    }

    fn of_links(specs: &[LinkSpec]) -> Result<Self, ScenarioError> {
        let mut graph = Self { links: Vec::new(), by_name: BTreeMap::new() };
        for (i, spec) in specs.iter().enumerate() {
            let key = |name: &str| format!("links[{i}].{name}");
            match (&spec.from, &spec.to) {
                (Some(_), None) => conflict(key("to"), "`to` is required when `from` is given"),
                (None, Some(_)) => conflict(key("from"), "`from` is required when `to` is given"),
                (Some(from), Some(to)) if from == to => {
                    invalid(key("to"), format!("\"{to}\""), "another node than `from`")
                }
                _ => Ok(()),
            }?;
            for link in one_or_two(spec, i) {
                let index = graph.links.len() as u32;
                if link.name.is_empty() || graph.by_name.insert(link.name.clone(), index).is_some()
                {
                    let name = format!("\"{}\"", link.name);
                    return invalid(key("name"), name, "a unique link name");
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
    pub fn nodes(&self) -> BTreeSet<&str> {
        let ends = self.links.iter().flat_map(|link| [&link.from, &link.to]);
        ends.flatten().map(String::as_str).collect()
    }
}

fn dumbbell_links(scenario: &Scenario, dumbbell: &Dumbbell) -> Vec<OneWayLink> {
    let one_way = |prefix: &str, spec| OneWayLink {
        key: "dumbbell".into(),
        rate_key: format!("dumbbell.{prefix}rate"),
        queue_key: format!("dumbbell.{prefix}queue"),
        loss_key: format!("dumbbell.{prefix}loss"),
        spec,
    };
    let forward = dumbbell.bottleneck("bottleneck");
    let back_rate = match &dumbbell.back_rate {
        None => Some(Waveform::Constant(dumbbell.rate.largest())),
        Some(BackRate::Limited(rate)) => Some(rate.clone()),
        Some(BackRate::Unlimited) => None,
    };
    // Acknowledgements alone need no limit, data does.
    let has_data = scenario.flows.iter().any(|flow| flow.reverse)
        || scenario.arrivals.iter().any(|arrivals| arrivals.reverse)
        || scenario.cross.iter().any(|cross| cross.reverse);
    let default = match has_data {
        true => dumbbell.queue,
        false => QueueSpec::DropTail { limit: Buffer::Unlimited, count_in_service: true },
    };
    let back = back_rate.map(|rate| {
        let queue = dumbbell.back_queue.unwrap_or(default);
        let loss = dumbbell.back_loss.clone();
        LinkSpec {
            loss,
            ..LinkSpec::without_impairments("bottleneck-back", rate, dumbbell.delay, queue)
        }
    });
    std::iter::once(one_way("", forward)).chain(back.map(|back| one_way("back_", back))).collect()
}

/// A link, and the reverse one if it is duplex.
fn one_or_two(spec: &LinkSpec, index: usize) -> Vec<OneWayLink> {
    let between = |from: &Option<String>, to: &Option<String>| match (from, to) {
        (Some(from), Some(to)) => format!("{from}-{to}"),
        _ => String::new(),
    };
    let [name, back_name] = match spec.name.as_str() {
        "" => [between(&spec.from, &spec.to), between(&spec.to, &spec.from)],
        name => [name.into(), format!("{name}-back")],
    };
    let one_way = |spec| OneWayLink {
        key: format!("links[{index}]"),
        rate_key: format!("links[{index}].rate"),
        queue_key: format!("links[{index}].queue"),
        loss_key: format!("links[{index}].loss"),
        spec,
    };
    let forward = LinkSpec { name, duplex: false, ..spec.clone() };
    let back = spec.duplex.then(|| {
        let (from, to) = (spec.to.clone(), spec.from.clone());
        LinkSpec { name: back_name, from, to, ..forward.clone() }
    });
    std::iter::once(forward).chain(back).map(one_way).collect()
}
