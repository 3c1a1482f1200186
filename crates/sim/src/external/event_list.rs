//! Future event list of a [`super::NetworkPath`]: a binary heap.

use crate::packet::RoutedPacket;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// An event on the network path.
#[derive(Clone, Copy, Debug)]
pub(super) enum NetworkEvent {
    /// A packet enters this stage of its route.
    EnterStage(RoutedPacket),
    /// A link with a scheduled queue starts a transmission.
    StartTransmission(u32),
    /// A cross traffic source sends a packet.
    CrossSend(u32),
}

#[derive(Clone, Copy, Debug)]
struct ScheduledEvent {
    at_s: f64,
    /// Start of its last transmission: orders simultaneous events as in the engine, followed by
    /// order of insertion.
    tx_start_s: f64,
    order: u64,
    event: NetworkEvent,
}

impl ScheduledEvent {
    fn key(&self) -> (f64, f64, u64) {
        (self.at_s, self.tx_start_s, self.order)
    }
}

impl Ord for ScheduledEvent {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (self.key(), other.key());
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2))
    }
}

impl PartialOrd for ScheduledEvent {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ScheduledEvent {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for ScheduledEvent {}

/// Events in order of time.
#[derive(Default)]
pub(super) struct EventList {
    due: BinaryHeap<Reverse<ScheduledEvent>>,
    order: u64,
}

impl EventList {
    /// Adds an event at `at_s`; `tx_start_s` orders it among simultaneous ones.
    pub(super) fn put(&mut self, at_s: f64, tx_start_s: f64, event: NetworkEvent) {
        self.order += 1;
        self.due.push(Reverse(ScheduledEvent { at_s, tx_start_s, order: self.order, event }));
    }

    /// Time of the next event, seconds; infinite for never.
    pub(super) fn next_time_s(&self) -> f64 {
        self.due.peek().map_or(f64::INFINITY, |Reverse(due)| due.at_s)
    }

    /// Removes the next event, with its time, if it is due by `now_s`.
    pub(super) fn pop(&mut self, now_s: f64) -> Option<(f64, NetworkEvent)> {
        if self.next_time_s() > now_s {
            return None;
        }
        self.due.pop().map(|Reverse(due)| (due.at_s, due.event))
    }

    /// Number of packets in the network.
    pub(super) fn packets(&self) -> usize {
        self.due
            .iter()
            .filter(|Reverse(due)| matches!(due.event, NetworkEvent::EnterStage(_)))
            .count()
    }
}
