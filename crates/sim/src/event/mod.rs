//! What is due: packets that wait for stations, timers, and how far each station may go on.

pub mod arrival_queue;
pub mod chunks;
pub mod occupied;
pub mod stations;
pub mod timers;
