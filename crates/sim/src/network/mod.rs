//! The network between senders: routes, links, access links, and the transport of packets.

pub mod access_links;
pub mod datapath;
pub mod host_jitter;
pub mod impairment;
pub mod link;
pub mod route;
pub mod scheduled_service;
pub mod transport;
