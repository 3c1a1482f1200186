//! Builder of a network.

use super::info::Options;
use super::lookahead::{Lookahead, find_lookaheads};
use super::network_plan::NetworkPlan;
use crate::network::route::{Hop, Route, Stage};
use cwndlab_scenario::Scenario;
use std::collections::HashMap;

/// Builder of a network, with what it knows so far.
pub struct Builder<'a> {
    /// The network of the scenario.
    pub plan: NetworkPlan<'a>,
    /// Options of the run.
    pub options: Options,
    /// Flows and sources on each link.
    pub flows_per_link: Vec<u64>,
    /// Lookahead of each link.
    pub lookaheads: Vec<Lookahead>,
    /// How much of the lookahead of each link deferral may consume, seconds.
    pub max_deferral_s: Vec<f64>,
    /// Lookahead of links with a merge queue, seconds.
    pub merge_lookaheads: Vec<f64>,
    /// For each merge queue the shared links in front of it, each with an input port; none stands
    /// for senders.
    pub ports: Vec<Vec<Option<Stage>>>,
    /// Routes so far.
    pub routes: Vec<Route>,
    /// Hops of all routes.
    pub hops: Vec<Hop>,
    /// Number of each route by its stages.
    pub route_of: HashMap<Vec<Stage>, u32>,
}

impl<'a> Builder<'a> {
    /// A builder of the network of a checked scenario.
    pub fn new(scenario: &'a Scenario, options: Options) -> Self {
        let plan = NetworkPlan::new(scenario);
        let flows_per_link = plan.flows_per_link();
        let (lookaheads, max_deferral_s) = find_lookaheads(&plan, &flows_per_link);
        let merge_lookaheads = vec![0.0; lookaheads.len()];
        Self {
            plan,
            options,
            flows_per_link,
            lookaheads,
            max_deferral_s,
            merge_lookaheads,
            ports: Vec::new(),
            routes: Vec::new(),
            hops: Vec::new(),
            route_of: HashMap::new(),
        }
    }
}
