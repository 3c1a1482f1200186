//! Builder of a network.

use super::in_order::links_in_order;
use super::info::Options;
use super::network_plan::{EndpointOrder, NetworkPlan};
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
    /// Whether packets reach each link in order of time without waiting.
    pub in_order: Vec<bool>,
    /// Station of each link, or [`crate::network::route::Entry::NO_STATION`].
    pub station_of: Vec<u32>,
    /// Stations of all receivers and of all senders.
    pub receivers: u32,
    pub senders: u32,
    /// Routes so far.
    pub routes: Vec<Route>,
    /// Hops of all routes.
    pub hops: Vec<Hop>,
    /// Number of each route by its stages, and by which endpoints process packets in order of time.
    pub route_of: HashMap<(Vec<Stage>, EndpointOrder), u32>,
}

impl<'a> Builder<'a> {
    /// A builder of the network of a checked scenario.
    pub fn new(scenario: &'a Scenario, options: Options) -> Self {
        let plan = NetworkPlan::new(scenario);
        let flows_per_link = plan.flows_per_link();
        let in_order = links_in_order(&plan, &flows_per_link);
        Self {
            plan,
            options,
            flows_per_link,
            in_order,
            station_of: Vec::new(),
            receivers: 0,
            senders: 0,
            routes: Vec::new(),
            hops: Vec::new(),
            route_of: HashMap::new(),
        }
    }
}
