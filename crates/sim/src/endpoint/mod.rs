//! Endpoints of traffic: TCP senders and receivers, arriving flows, cross traffic.

pub mod arrivals;
pub mod cross_traffic;
pub mod source_population;
pub mod tcp;
pub mod transfer;
