//! Circles in a graph of files.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

type Arrows = BTreeMap<String, BTreeSet<String>>;

/// Circles of files that import each other, each from a file back to it; a file is in one at most.
pub fn circles(arrows: &Arrows) -> Vec<Vec<String>> {
    let mut found: Vec<Vec<String>> = Vec::new();
    for file in arrows.keys() {
        if !found.iter().any(|circle| circle.contains(file)) {
            found.extend(shortest_circle(arrows, file));
        }
    }
    found
}

/// The shortest way from a file back to it.
fn shortest_circle(arrows: &Arrows, start: &str) -> Option<Vec<String>> {
    let mut waiting = VecDeque::from([vec![start.to_string()]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = waiting.pop_front() {
        for next in way.last().and_then(|file| arrows.get(file)).into_iter().flatten() {
            let longer = [&way[..], std::slice::from_ref(next)].concat();
            if next == start {
                return Some(longer);
            }
            if seen.insert(next) {
                waiting.push_back(longer);
            }
        }
    }
    None
}
