//! Scheduled queue of a link: its discipline decides at departure (such as DRR or CoDel), so that
//! the next departure is known only when the link is free. A discipline may hold packets back while
//! it is (FQ, CAKE).
//!
//! A packet moves on when its transmission starts, since everything about it is known then.

use super::metrics::Departures;
use crate::packet::{Flags, RoutedPacket};
use cwndlab_queues::{QueueDisc, QueueItem, ScheduledQueue as Discipline};

/// Packets in one queue beyond which a run stops: about 1.5 GiB.
const MAX_WAITING_PACKETS: u32 = 15_000_000;

/// The discipline with its packets, and the packet in service.
#[derive(Debug)]
pub struct ScheduledQueue {
    discipline: Discipline<RoutedPacket>,
    /// Start and end of the last transmission, seconds.
    pub(super) tx_start_s: f64,
    pub(super) tx_end_s: f64,
    in_service_bytes: u64,
    /// Whether the last packet in service is lost at the end of its transmission.
    in_service_lost: bool,
    /// Packets whose transmission has started, their bytes, and those of them that are lost.
    served: u64,
    served_bytes: u64,
    lost: u64,
    /// Packets that wait.
    waiting: u32,
    /// Time integral of their number, up to the last change, packet seconds.
    waiting_area_packet_s: f64,
    changed_s: f64,
    /// Packets just dropped.
    pub(super) drops: Vec<RoutedPacket>,
    /// Whether it exceeds the memory limit.
    pub(super) overflowed: bool,
}

impl ScheduledQueue {
    /// An empty queue.
    pub fn new(discipline: Discipline<RoutedPacket>) -> Self {
        Self {
            discipline,
            tx_start_s: 0.0,
            tx_end_s: f64::NEG_INFINITY,
            in_service_bytes: 0,
            in_service_lost: false,
            served: 0,
            served_bytes: 0,
            lost: 0,
            waiting: 0,
            waiting_area_packet_s: 0.0,
            changed_s: 0.0,
            drops: Vec::new(),
            overflowed: false,
        }
    }

    /// A packet arrives, with this size and these flags on the link. Returns whether the link is
    /// idle and a packet may leave.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, routed: RoutedPacket, size_bytes: u32, flags: Flags) -> bool {
        let (now_s, tx_start_s) = (routed.packet.at_s, routed.packet.tx_start_s);
        let item = QueueItem {
            size_bytes,
            flow: routed.flow.number(),
            ecn: flags.is_ect(),
            l4s: flags.is_l4s(),
            marked: false,
            priority: flags.priority(),
            enqueued_s: now_s,
            packet: routed,
        };
        self.accumulate_waiting_area(now_s);
        // If an arrival and the end of a transmission coincide, the one that was scheduled first
        // precedes, as elsewhere.
        let is_free =
            self.tx_end_s < now_s || (self.tx_end_s == now_s && self.tx_start_s < tx_start_s);
        // A packet that may leave starts the next transmission by itself.
        let is_idle = is_free && (self.waiting == 0 || self.discipline.ready_s() > self.tx_end_s);
        let drops = &mut self.drops;
        self.discipline.enqueue(item, &mut |lost: QueueItem<RoutedPacket>| drops.push(lost.packet));
        let dropped = self.drops.len();
        self.waiting += 1;
        self.waiting -= dropped as u32;
        debug_assert_eq!(u64::from(self.waiting), self.discipline.packets());
        self.overflowed |= self.waiting >= MAX_WAITING_PACKETS;
        is_idle && self.discipline.ready_s() <= now_s
    }

    /// Takes the next packet to transmit, if there is one.
    #[inline(always)]
    pub(super) fn dequeue(&mut self, now_s: f64) -> Option<QueueItem<RoutedPacket>> {
        self.accumulate_waiting_area(now_s);
        let before = self.drops.len();
        let drops = &mut self.drops;
        let item = self
            .discipline
            .dequeue(now_s, &mut |lost: QueueItem<RoutedPacket>| drops.push(lost.packet));
        let dropped = self.drops.len() - before;
        self.waiting -= dropped as u32 + u32::from(item.is_some());
        debug_assert_eq!(u64::from(self.waiting), self.discipline.packets());
        item
    }

    /// A packet is in service until `end_s`, and lost then, perhaps.
    #[inline(always)]
    pub(super) fn serve(&mut self, now_s: f64, end_s: f64, size_bytes: u32, is_lost: bool) {
        let bytes = u64::from(size_bytes);
        (self.tx_start_s, self.tx_end_s, self.in_service_bytes) = (now_s, end_s, bytes);
        self.served += 1;
        self.served_bytes += bytes;
        self.in_service_lost = is_lost;
        self.lost += u64::from(is_lost);
    }

    /// When the next transmission starts, if packets wait for it, seconds.
    #[inline(always)]
    pub(super) fn next_service_s(&self) -> f64 {
        if self.waiting > 0 { self.tx_end_s.max(self.discipline.ready_s()) } else { f64::INFINITY }
    }

    /// Packets that wait or are in service, and the average queue and drop probability of the
    /// discipline, if it has them.
    pub(super) fn sample(&self, now_s: f64) -> (u64, Option<f64>, Option<f64>) {
        (self.backlog(now_s), None, self.discipline.probability())
    }

    fn backlog(&self, now_s: f64) -> u64 {
        u64::from(self.waiting) + u64::from(self.tx_end_s > now_s)
    }

    /// What has departed.
    pub(super) fn departures(&self, now_s: f64) -> Departures {
        let in_service = self.tx_end_s > now_s;
        let lost = self.lost - u64::from(in_service && self.in_service_lost);
        let bytes = self.served_bytes - if in_service { self.in_service_bytes } else { 0 };
        Departures {
            packets: self.served - u64::from(in_service) - lost,
            bits: 8 * bytes,
            lost,
            waiting_area_s: self.waiting_area_s(now_s),
            backlog: self.backlog(now_s),
        }
    }

    /// Time integral of the number of waiting packets, packet seconds.
    fn waiting_area_s(&self, now_s: f64) -> f64 {
        self.waiting_area_packet_s + f64::from(self.waiting) * (now_s - self.changed_s)
    }

    fn accumulate_waiting_area(&mut self, now_s: f64) {
        self.waiting_area_packet_s = self.waiting_area_s(now_s);
        self.changed_s = now_s;
    }

    /// Removes one waiting packet after the end of the run. Packets that the discipline would drop
    /// now are in flight like the rest, and so are those that it holds back.
    pub(super) fn drain(&mut self, now_s: f64) -> Option<RoutedPacket> {
        let drops = &mut self.drops;
        while self.discipline.packets() > 0 {
            let now_s = now_s.max(self.discipline.ready_s());
            let next = self
                .discipline
                .dequeue(now_s, &mut |lost: QueueItem<RoutedPacket>| drops.push(lost.packet));
            if let Some(item) = next {
                return Some(item.packet);
            }
        }
        self.drops.pop()
    }
}
