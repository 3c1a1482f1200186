//! Builds the network of a scenario.

mod arrival_draws;
mod arrivals;
mod builder;
mod cross_traffic;
mod drawn_network;
mod flow_schedule;
mod flows;
mod in_order;
mod info;
mod link_impairments;
mod links;
mod network;
mod network_plan;
mod queues;
mod rates;
mod routes;
mod stations;
mod subflows;
mod transfers;

pub use drawn_network::{
    ArrivingFlow, DrawnArrivals, DrawnFlow, DrawnLink, DrawnNetwork, DrawnSource,
};
pub use info::{GroupInfo, LinkInfo, Options, StackFlowInfo};
pub use network::{BuiltNetwork, build};
pub use network_plan::NetworkPlan;
