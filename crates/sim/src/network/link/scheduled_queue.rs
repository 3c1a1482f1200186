//! Scheduled queue of a link: the discipline decides at departure (DRR, strict priority, CoDel,
//! FQ-CoDel), so that the next departure is known only when the link is free.
//!
//! A packet moves on when its transmission starts, since everything about it is known then. This
//! start need not be an event: it is unobservable until the packet arrives elsewhere, a propagation
//! delay later. So starts are deferred until the next arrival at the queue, or until the first of
//! them is `max_deferral_s` old. Without lookahead each start is an event.

use crate::packet::RoutedPacket;
use cwndlab_queues::ScheduledQueue as Discipline;

/// Packets in one queue beyond which a run stops: about 1.5 GiB.
pub(super) const MAX_WAITING_PACKETS: u32 = 15_000_000;

/// The discipline with its packets, and the packet in service.
#[derive(Debug)]
pub struct ScheduledQueue {
    pub(super) queue: Discipline<RoutedPacket>,
    /// Number of the FIFO that stands for this queue in the event scheduler.
    pub fifo: u32,
    /// Whether an event is scheduled for it.
    pub(super) has_event: bool,
    /// How long the start of a transmission may be deferred, seconds; 0 if each is an event.
    pub max_deferral_s: f64,
    /// Start and end of the last transmission, seconds.
    pub tx_start_s: f64,
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
            fifo: u32::MAX,
            has_event: false,
            max_deferral_s: 0.0,
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

    /// Time of the event at which deferred transmissions must start, if it is not scheduled yet;
    /// the caller schedules it.
    pub fn schedule_catch_up(&mut self) -> Option<f64> {
        let schedule_catch_up = self.max_deferral_s > 0.0 && !self.has_event && self.waiting > 0;
        self.has_event |= schedule_catch_up;
        schedule_catch_up.then_some(self.tx_end_s + self.max_deferral_s)
    }

    /// The scheduled event has come.
    pub fn on_catch_up(&mut self) {
        self.has_event = false;
    }

    /// Start of the first deferred transmission that precedes the arrival of a packet at `now_s`
    /// whose own last transmission started at `tx_start_s`, if there is one.
    #[inline]
    pub fn deferred_start_s(&self, now_s: f64, tx_start_s: f64) -> Option<f64> {
        let begins_s = self.tx_end_s;
        let earlier = begins_s < now_s || (begins_s == now_s && self.tx_start_s < tx_start_s);
        (earlier && self.max_deferral_s > 0.0 && self.waiting > 0).then_some(begins_s)
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
