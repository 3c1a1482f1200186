//! Scheduled queue of a link: the discipline decides at departure (DRR, strict priority, CoDel,
//! FQ-CoDel), so that the next departure is known only when the link is free.
//!
//! A packet moves on when its transmission starts, since everything about it is known then.

use crate::packet::RoutedPacket;
use cwndlab_queues::ScheduledQueue as Discipline;

/// Packets in one queue beyond which a run stops: about 1.5 GiB.
pub(super) const MAX_WAITING_PACKETS: u32 = 15_000_000;

/// The discipline with its packets, and the packet in service.
#[derive(Debug)]
pub struct ScheduledQueue {
    pub(super) queue: Discipline<RoutedPacket>,
    /// Start and end of the last transmission, seconds.
    pub(super) tx_start_s: f64,
    pub(super) tx_end_s: f64,
    pub(super) in_service_bytes: u64,
    /// Whether the last packet in service is lost at the end of its transmission.
    pub(super) in_service_lost: bool,
    /// Time integral of the number of waiting packets, up to the last change, packet seconds.
    pub(super) waiting_area_packet_s: f64,
    pub(super) changed_s: f64,
    /// Packets whose transmission has started, and their bytes.
    pub(super) served: u64,
    pub(super) served_bytes: u64,
    /// Packets that wait.
    pub(super) waiting: u32,
    /// Packets just dropped, to be fetched by `pop_drop`.
    pub(super) drops: Vec<RoutedPacket>,
}

impl ScheduledQueue {
    /// An empty queue.
    pub fn new(queue: Discipline<RoutedPacket>) -> Self {
        Self {
            queue,
            tx_start_s: 0.0,
            tx_end_s: f64::NEG_INFINITY,
            in_service_bytes: 0,
            in_service_lost: false,
            waiting_area_packet_s: 0.0,
            changed_s: 0.0,
            served: 0,
            served_bytes: 0,
            waiting: 0,
            drops: Vec::new(),
        }
    }

    /// Packets that wait or are in service.
    pub fn backlog(&self, now_s: f64) -> u64 {
        u64::from(self.waiting) + u64::from(self.tx_end_s > now_s)
    }

    /// Packets whose transmission has ended, their bits, and how many packets that will be lost
    /// after transmission are still in service.
    pub fn departed(&self, now_s: f64) -> (u64, u64, u64) {
        let in_service = self.tx_end_s > now_s;
        let bytes = self.served_bytes - if in_service { self.in_service_bytes } else { 0 };
        (
            self.served - u64::from(in_service),
            8 * bytes,
            u64::from(in_service && self.in_service_lost),
        )
    }

    /// Time integral of the number of waiting packets, packet seconds.
    pub fn waiting_area_s(&self, now_s: f64) -> f64 {
        self.waiting_area_packet_s + f64::from(self.waiting) * (now_s - self.changed_s)
    }

    pub(super) fn accumulate_waiting_area(&mut self, now_s: f64) {
        self.waiting_area_packet_s = self.waiting_area_s(now_s);
        self.changed_s = now_s;
    }
}
