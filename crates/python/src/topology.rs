//! The topology of a scenario as JSON: its links, and the links on the path of each entry.

use cwndlab_scenario::{FlowPath, NetworkGraph, Routes, Scenario, ScenarioError};
use serde_json::{Value, json};

/// Links in order with rate, delay and queue as written, and the paths of all entries of `flows`,
/// `arrivals` and `cross` in order; of subflows each, with the number of its entry.
pub fn topology(scenario: &Scenario) -> Result<Value, ScenarioError> {
    let graph = NetworkGraph::new(scenario)?;
    let routes = Routes::new(scenario, &graph)?;
    let names = |path: &[u32]| -> Vec<&str> {
        path.iter().map(|&link| graph.links[link as usize].name.as_str()).collect()
    };
    let paths = |paths: &[FlowPath]| -> Vec<Value> {
        paths
            .iter()
            .map(|path| json!({"forward": names(&path.forward), "back": names(&path.back)}))
            .collect()
    };
    let links: Vec<Value> = graph
        .links
        .iter()
        .map(|link| {
            json!({
                "name": link.name, "from": link.from, "to": link.to,
                "rate": link.rate, "delay": link.delay, "queue": link.queue,
            })
        })
        .collect();
    let mut flows = paths(&routes.flows);
    for (i, (path, flow)) in flows.iter_mut().zip(&scenario.flows).enumerate() {
        path["name"] = json!(flow.name);
        path["entry"] = json!(flow.entry.unwrap_or(i));
    }
    Ok(json!({
        "links": links,
        "flows": flows,
        "arrivals": paths(&routes.arrivals),
        "cross": paths(&routes.cross),
    }))
}
