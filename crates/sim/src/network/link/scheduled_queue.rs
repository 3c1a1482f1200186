//! Scheduled queue of a link: the discipline decides at departure (DRR, strict priority, CoDel,
//! FQ-CoDel), so that the next departure is known only when the link is free.
//!
//! A packet moves on when its transmission starts, since everything about it is known then. This
//! start need not be an event: it is unobservable until the packet arrives elsewhere, a propagation
//! delay later. So starts are deferred until the next arrival at the queue, or until the first of
//! them is `max_deferral_s` old. Without lookahead each start is an event.

use super::Link;
use super::counters::count_drops;
use crate::collections::slab::{Slab, SlabKey};
use crate::packet::RoutedPacket;
use cwndlab_queues::{QueueDisc, QueueItem, ScheduledQueue as Discipline};

/// Packets in one queue beyond which a run stops: about 1.5 GiB.
const MAX_WAITING_PACKETS: u32 = 15_000_000;

/// The discipline with its packets, and the packet in service.
#[derive(Debug)]
pub struct ScheduledQueue {
    queue: Discipline<SlabKey>,
    /// Its packets: the discipline itself moves only their keys.
    packets: Slab<RoutedPacket>,
    /// Number of the FIFO that stands for this queue in the event scheduler.
    pub fifo: u32,
    /// Whether an event is scheduled for it.
    has_event: bool,
    /// How long the start of a transmission may be deferred, seconds; 0 if each is an event.
    pub max_deferral_s: f64,
    /// Start and end of the last transmission, seconds.
    pub tx_start_s: f64,
    tx_end_s: f64,
    in_service_bytes: u64,
    /// Whether the last packet in service is lost at the end of its transmission.
    in_service_lost: bool,
    /// Time integral of the number of waiting packets, up to the last change, packet seconds.
    waiting_area_packet_s: f64,
    changed_s: f64,
    /// Packets whose transmission has started, and their bytes.
    served: u64,
    served_bytes: u64,
    /// Packets that wait.
    waiting: u32,
    /// Packets just dropped, to be fetched by `pop_drop`.
    drops: Vec<SlabKey>,
}

impl ScheduledQueue {
    /// An empty queue.
    pub fn new(queue: Discipline<SlabKey>) -> Self {
        Self {
            queue,
            packets: Slab::default(),
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

    fn accumulate_waiting_area(&mut self, now_s: f64) {
        self.waiting_area_packet_s = self.waiting_area_s(now_s);
        self.changed_s = now_s;
    }
}

/// What a link must do next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ServiceAction {
    /// Nothing.
    None,
    /// Start a transmission: the link is idle.
    StartTransmission,
    /// Schedule an event at this time.
    ScheduleAt(f64),
}

impl Link {
    /// A packet arrives at the queue. Dropped packets are fetched by [`Link::pop_drop`].
    #[inline(always)]
    pub fn enqueue(&mut self, mut routed: RoutedPacket) -> ServiceAction {
        let (now_s, tx_start_s) = (routed.packet.at_s, routed.packet.tx_start_s);
        let size_bytes = u32::from(routed.packet.size_bytes);
        if now_s >= self.next_due_s {
            self.run_due_samples(now_s);
        }
        self.arrived += 1;
        let mut is_lost = false;
        if let Some(impairments) = &mut self.impairments {
            let flags = routed.packet.flags;
            (is_lost, routed.packet.flags) =
                impairments.before_queue(now_s, size_bytes, routed.flow, flags);
            self.marked += u64::from(!flags.is_ce() && routed.packet.flags.is_ce());
        }
        let Some(scheduled_queue) = &mut self.scheduled_queue else { return ServiceAction::None };
        self.hash.add(
            now_s.to_bits()
                ^ ((routed.packet.number as u64) << 20)
                ^ (u64::from(routed.flow) << 50),
        );
        if is_lost {
            count_drops(&mut self.dropped, 1);
            scheduled_queue.drops.push(scheduled_queue.packets.insert(routed));
            return ServiceAction::None;
        }
        let flags = routed.packet.flags;
        let item = QueueItem {
            size_bytes,
            flow: routed.flow,
            ecn: flags.is_ect(),
            marked: false,
            priority: flags.priority(),
            enqueued_s: now_s,
            packet: scheduled_queue.packets.insert(routed),
        };
        scheduled_queue.accumulate_waiting_area(now_s);
        let drops = &mut scheduled_queue.drops;
        scheduled_queue
            .queue
            .enqueue(item, &mut |lost: QueueItem<SlabKey>| drops.push(lost.packet));
        let lost = scheduled_queue.drops.len();
        count_drops(&mut self.dropped, lost as u64);
        scheduled_queue.waiting += 1;
        scheduled_queue.waiting -= lost as u32;
        debug_assert_eq!(u64::from(scheduled_queue.waiting), scheduled_queue.queue.packets());
        self.overflowed |= scheduled_queue.waiting >= MAX_WAITING_PACKETS;
        if scheduled_queue.has_event && scheduled_queue.max_deferral_s == 0.0 {
            return ServiceAction::None;
        }
        // If an arrival and the end of a transmission coincide, the one that was scheduled first
        // precedes, as elsewhere.
        if scheduled_queue.tx_end_s < now_s
            || (scheduled_queue.tx_end_s == now_s && scheduled_queue.tx_start_s < tx_start_s)
        {
            return ServiceAction::StartTransmission;
        }
        if scheduled_queue.max_deferral_s > 0.0 {
            return scheduled_queue
                .schedule_catch_up()
                .map_or(ServiceAction::None, ServiceAction::ScheduleAt);
        }
        scheduled_queue.has_event = scheduled_queue.waiting > 0;
        if scheduled_queue.has_event {
            ServiceAction::ScheduleAt(scheduled_queue.tx_end_s)
        } else {
            ServiceAction::None
        }
    }

    /// The link is free: starts the next transmission. Returns the packet, its arrival time at the
    /// other end ([`LOST`](super::LOST) if it is lost), and the end of its transmission if more
    /// packets wait and this is an event.
    #[inline(always)]
    pub fn start_transmission(&mut self, now_s: f64) -> Option<(RoutedPacket, f64, Option<f64>)> {
        if now_s >= self.next_due_s {
            self.run_due_samples(now_s);
        }
        let scheduled_queue = self.scheduled_queue.as_mut()?;
        let is_event = scheduled_queue.max_deferral_s == 0.0;
        scheduled_queue.has_event &= !is_event;
        scheduled_queue.accumulate_waiting_area(now_s);
        let drops = &mut scheduled_queue.drops;
        let before = drops.len();
        let item = scheduled_queue
            .queue
            .dequeue(now_s, &mut |lost: QueueItem<SlabKey>| drops.push(lost.packet));
        let lost = scheduled_queue.drops.len() - before;
        count_drops(&mut self.dropped, lost as u64);
        scheduled_queue.waiting -= lost as u32 + u32::from(item.is_some());
        debug_assert_eq!(u64::from(scheduled_queue.waiting), scheduled_queue.queue.packets());
        let QueueItem { size_bytes, marked, enqueued_s, packet, .. } = item?;
        let mut routed = scheduled_queue.packets.remove(packet);
        self.marked += u64::from(marked && !routed.packet.flags.is_ce());
        if marked {
            routed.packet.flags = routed.packet.flags.marked();
        }
        self.hash.add(
            now_s.to_bits()
                ^ ((routed.packet.number as u64) << 20)
                ^ (u64::from(routed.flow) << 50)
                ^ (1 << 63),
        );
        let (end_s, mut at_s) = self.serializer.transmit(now_s, size_bytes, self.delay_s);
        (scheduled_queue.tx_start_s, scheduled_queue.tx_end_s, scheduled_queue.in_service_bytes) =
            (now_s, end_s, u64::from(size_bytes));
        scheduled_queue.served += 1;
        scheduled_queue.served_bytes += u64::from(size_bytes);
        if self.window.contains(enqueued_s) {
            if now_s > enqueued_s {
                self.waiting.add(now_s - enqueued_s)
            } else {
                self.waiting.add_zero()
            }
        }
        if let Some(impairments) = &mut self.impairments {
            at_s = impairments.after_transmission(at_s, routed.flow);
        }
        scheduled_queue.in_service_lost = at_s == super::LOST;
        self.lost += u64::from(scheduled_queue.in_service_lost);
        if is_event {
            scheduled_queue.has_event = scheduled_queue.waiting > 0;
        }
        Some((routed, at_s, (is_event && scheduled_queue.has_event).then_some(end_s)))
    }

    /// Whether the queue just dropped packets.
    #[inline]
    pub fn has_drops(&self) -> bool {
        self.scheduled_queue
            .as_ref()
            .is_some_and(|scheduled_queue| !scheduled_queue.drops.is_empty())
    }

    /// A packet that the queue just dropped.
    pub fn pop_drop(&mut self) -> Option<RoutedPacket> {
        let scheduled_queue = self.scheduled_queue.as_mut()?;
        scheduled_queue.drops.pop().map(|key| scheduled_queue.packets.remove(key))
    }

    /// Removes one waiting packet after the end of the run.
    pub fn drain_at_end(&mut self, now_s: f64) -> Option<RoutedPacket> {
        let scheduled_queue = self.scheduled_queue.as_mut()?;
        // Packets that the discipline would drop now are in flight like the rest.
        let drops = &mut scheduled_queue.drops;
        let next = scheduled_queue
            .queue
            .dequeue(now_s, &mut |lost: QueueItem<SlabKey>| drops.push(lost.packet));
        let key = next.map(|item| item.packet).or_else(|| scheduled_queue.drops.pop())?;
        Some(scheduled_queue.packets.remove(key))
    }
}
