//! The engine: takes the earliest event and applies it to senders and network.

pub mod application;
pub mod event_loop;
pub mod flow_slots;
pub mod sender_events;
pub mod sender_output;
pub mod simultaneous_events;
pub mod state;
pub mod timer_expiry;
