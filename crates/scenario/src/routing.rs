//! Routing: the links that each flow, arrival process and cross traffic source crosses, in both
//! directions.

use crate::check::conditions::{conflict, invalid};
use crate::{NetworkGraph, Scenario, ScenarioError};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt::Display;

/// Path of a flow, as indices into [`NetworkGraph::links`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowPath {
    /// From source to sink.
    pub forward: Vec<u32>,
    /// From sink to source; empty if the reverse path is a pure delay as long as the forward path,
    /// and for cross traffic.
    pub back: Vec<u32>,
}

/// Paths of all traffic, in the order of the scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routes {
    /// Paths of `[[flows]]` entries.
    pub flows: Vec<FlowPath>,
    /// Paths of `[[arrivals]]` entries.
    pub arrivals: Vec<FlowPath>,
    /// Paths of `[[cross]]` entries, without a reverse path.
    pub cross: Vec<FlowPath>,
}

/// Keys of a flow or source that determine its path.
struct PathRequest<'a> {
    /// The key of one of them in the scenario.
    key: Box<dyn Fn(&str) -> String + 'a>,
    path: &'a [String],
    /// None if there is no reverse path.
    back: Option<&'a [String]>,
    from: Option<&'a str>,
    to: Option<&'a str>,
    reverse: bool,
}

impl PathRequest<'_> {
    /// The key of the flow or source itself.
    fn entry(&self) -> String {
        (self.key)("to").trim_end_matches(".to").to_string()
    }

    fn refuse<T>(&self, name: &str, message: impl Display) -> Result<T, ScenarioError> {
        conflict((self.key)(name), message)
    }
}

impl Routes {
    /// Finds the paths through a graph; fails for the first flow or source without one.
    pub fn new(scenario: &Scenario, graph: &NetworkGraph) -> Result<Self, ScenarioError> {
        let mut router =
            Router { graph, is_dumbbell: scenario.dumbbell.is_some(), trees: BTreeMap::new() };
        macro_rules! paths {
            ($list:ident, $key:expr, $spec:ident => $back:expr) => {{
                let requests = scenario.$list.iter().enumerate().map(|(i, $spec)| PathRequest {
                    key: Box::new(move |name| $key(i, name)),
                    path: &$spec.path,
                    back: $back,
                    from: $spec.from.as_deref(),
                    to: $spec.to.as_deref(),
                    reverse: $spec.reverse,
                });
                requests.map(|request| router.path(&request)).collect::<Result<_, _>>()?
            }};
        }
        Ok(Self {
            flows: paths!(flows, |i, name: &str| scenario.flow_key(i, name),
                flow => Some(&flow.back)),
            arrivals: paths!(arrivals, |i, name: &str| format!("arrivals[{i}].{name}"),
                arrivals => Some(&arrivals.back)),
            cross: paths!(cross, |i, name: &str| format!("cross[{i}].{name}"), cross => None),
        })
    }
}

/// Finds paths; shortest-path trees are computed once per source node.
struct Router<'a> {
    graph: &'a NetworkGraph,
    is_dumbbell: bool,
    trees: BTreeMap<String, BTreeMap<&'a str, Vec<u32>>>,
}

impl Router<'_> {
    fn path(&mut self, request: &PathRequest<'_>) -> Result<FlowPath, ScenarioError> {
        if self.is_dumbbell {
            return self.dumbbell_path(request);
        }
        if request.reverse {
            return request
                .refuse("reverse", "`reverse` needs a dumbbell: give `path`, or `from` and `to`");
        }
        match (request.from, request.to) {
            (Some(_), _) | (_, Some(_)) if !request.path.is_empty() => {
                request.refuse("path", "`path` must not be given when `from` or `to` is")
            }
            (Some(from), Some(to)) => self.path_between(request, from, to),
            (Some(_), None) => request.refuse("to", "`to` is required when `from` is given"),
            (None, Some(_)) => request.refuse("from", "`from` is required when `to` is given"),
            (None, None) if request.path.is_empty() => {
                let expected = format!("one or more of {}", self.graph.link_names().join(", "));
                invalid((request.key)("path"), "[]", expected)
            }
            (None, None) => {
                let forward = self.named(request, "path", request.path, None)?;
                let back = request.back.unwrap_or_default();
                let back = self.named(request, "back", back, forward.last().copied())?;
                if let (Some(&first), Some(&last)) = (forward.first(), back.last()) {
                    let [first, last] = [first, last].map(|link| &self.graph.links[link as usize]);
                    if matches!((&last.to, &first.from), (Some(to), Some(from)) if to != from) {
                        return request.refuse(
                            "back",
                            format!(
                                "link \"{}\" does not end where \"{}\" starts",
                                last.name, first.name
                            ),
                        );
                    }
                }
                Ok(FlowPath { forward, back })
            }
        }
    }

    fn dumbbell_path(&self, request: &PathRequest<'_>) -> Result<FlowPath, ScenarioError> {
        if request.from.is_some() || request.to.is_some() {
            return request
                .refuse("from", "`from` and `to` must not be given in a dumbbell: use [[links]]");
        }
        if request.back.is_some_and(|back| !(request.path.is_empty() && back.is_empty())) {
            return request.refuse(
                "path",
                "`path` and `back` must not be given in a dumbbell: use [[links]]",
            );
        }
        if request.reverse && !request.path.is_empty() {
            return request.refuse("reverse", "`reverse` must not be given when `path` is");
        }
        let (forward, back) = match (request.reverse, self.graph.links.len()) {
            (true, 1) => {
                return request.refuse(
                    "reverse",
                    "`reverse` needs a reverse link: `dumbbell.back_rate` must not be \
                     \"unlimited\"",
                );
            }
            (true, _) => (vec![1], vec![0]),
            (false, links) => (vec![0], (1..links as u32).collect()),
        };
        let forward = if request.path.is_empty() {
            forward
        } else {
            self.named(request, "path", request.path, None)?
        };
        Ok(FlowPath { forward, back: if request.back.is_some() { back } else { Vec::new() } })
    }

    /// The links of a list, which must be contiguous as far as nodes are named, and continue the
    /// link `after`.
    fn named(
        &self,
        request: &PathRequest<'_>,
        list: &str,
        names: &[String],
        after: Option<u32>,
    ) -> Result<Vec<u32>, ScenarioError> {
        let key = (request.key)(list);
        let mut links: Vec<u32> = Vec::new();
        for name in names {
            let Some(link) = self.graph.link(name) else {
                return Err(ScenarioError::unknown(key, name, &self.graph.link_names()));
            };
            if links.contains(&link) {
                return conflict(
                    key,
                    format!("link \"{name}\" occurs twice: a path crosses a link once"),
                );
            }
            if let Some(before) = links.last().copied().or(after) {
                let [before, next] = [before, link].map(|link| &self.graph.links[link as usize]);
                if matches!((&before.to, &next.from), (Some(to), Some(from)) if to != from) {
                    let message =
                        format!("link \"{name}\" does not start where \"{}\" ends", before.name);
                    return conflict(key, message);
                }
            }
            links.push(link);
        }
        Ok(links)
    }

    fn path_between(
        &mut self,
        request: &PathRequest<'_>,
        from: &str,
        to: &str,
    ) -> Result<FlowPath, ScenarioError> {
        let nodes = self.graph.nodes();
        for (key, node) in [("from", from), ("to", to)] {
            if !nodes.contains(node) {
                let nodes: Vec<&str> = nodes.iter().copied().collect();
                return Err(ScenarioError::unknown((request.key)(key), node, &nodes));
            }
        }
        if from == to {
            let key = (request.key)("to");
            return invalid(key, format!("\"{to}\""), "another node than `from`");
        }
        let Some(forward) = self.shortest(from, to) else {
            let message = format!("there is no path from \"{from}\" to \"{to}\"");
            return conflict(request.entry(), message);
        };
        let Some(back) = request.back else {
            return Ok(FlowPath { forward, back: Vec::new() });
        };
        if back.is_empty() {
            let Some(back) = self.shortest(to, from) else {
                let message = format!(
                    "there is no path from \"{to}\" back to \"{from}\": make links duplex, or \
                     give `back`"
                );
                return conflict(request.entry(), message);
            };
            return Ok(FlowPath { forward, back });
        }
        let back = self.named(request, "back", back, forward.last().copied())?;
        match back.last().and_then(|&last| self.graph.links[last as usize].to.as_deref()) {
            Some(end) if end != from => {
                let message = format!("the path ends at \"{end}\" instead of \"{from}\"");
                request.refuse("back", message)
            }
            _ => Ok(FlowPath { forward, back }),
        }
    }

    /// The path of least delay; among several the one with fewest links, then the one whose links
    /// come first in the scenario.
    fn shortest(&mut self, from: &str, to: &str) -> Option<Vec<u32>> {
        if !self.trees.contains_key(from) {
            self.trees.insert(from.to_string(), tree(self.graph, from));
        }
        self.trees[from].get(to).cloned()
    }
}

/// Shortest paths from a node to all others (Dijkstra 1959). Labels are (delay, number of links,
/// links). Appending a link preserves their order, so the best path to a node extends the best path
/// to its predecessor.
fn tree<'a>(graph: &'a NetworkGraph, from: &str) -> BTreeMap<&'a str, Vec<u32>> {
    let mut leaving: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (i, link) in graph.links.iter().enumerate() {
        if let Some(node) = link.from.as_deref() {
            leaving.entry(node).or_default().push(i as u32);
        }
    }
    let mut settled: BTreeMap<&'a str, Vec<u32>> = BTreeMap::new();
    let mut open = BinaryHeap::from([Reverse((0u64, 0usize, Vec::new()))]);
    while let Some(Reverse((delay_ns, count, path))) = open.pop() {
        let node =
            path.last().map_or(Some(from), |&last: &u32| graph.links[last as usize].to.as_deref());
        let Some(node) = node.filter(|node| !settled.contains_key(node)) else { continue };
        if let Some(&last) = path.last() {
            settled.extend(graph.links[last as usize].to.as_deref().map(|to| (to, path.clone())));
        }
        for &link in leaving.get(node).into_iter().flatten() {
            let next = &graph.links[link as usize];
            if next.to.as_deref().is_some_and(|to| to != from && !settled.contains_key(to)) {
                let mut longer = path.clone();
                longer.push(link);
                open.push(Reverse((
                    delay_ns.saturating_add(next.delay.nanoseconds()),
                    count + 1,
                    longer,
                )));
            }
        }
    }
    settled
}
