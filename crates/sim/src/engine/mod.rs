//! The engine: processes what is due, station by station and sender by sender.

pub mod application;
pub mod event_loop;
pub mod flow_slots;
pub mod injection;
pub mod multipath;
pub mod sender_events;
pub mod sender_output;
pub mod state;
pub mod timer_expiry;
