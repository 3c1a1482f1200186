//! Endpoints of traffic: TCP senders and receivers, arriving flows, cross traffic,
//! and endpoints outside the simulation.

pub mod arrival_process;
pub mod arrivals;
pub mod connections;
pub mod cross_traffic;
pub mod external;
pub mod multipath;
pub mod page_loader;
pub mod receivers;
pub mod source_population;
pub mod tcp;
pub mod transfer;
pub mod video_player;
