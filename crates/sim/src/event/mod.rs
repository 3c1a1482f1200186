//! Events: packets that wait, the schedulers that find the earliest one, and timers.

pub mod calendar_buckets;
pub mod calendar_queue;
pub mod head_scheduler;
pub mod merge_queue;
pub mod queues;
pub mod ring_pool;
pub mod scheduler;
pub mod simultaneous;
pub mod timers;
pub mod winner_tree;
