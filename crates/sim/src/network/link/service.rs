//! Service of a link with a scheduled queue: a packet is enqueued, a transmission starts.

use super::metrics::count_drops;
use super::scheduled_queue::MAX_WAITING_PACKETS;
use super::state::Link;
use crate::packet::{LOST, RoutedPacket};
use cwndlab_queues::{QueueDisc, QueueItem};

impl Link {
    /// A packet arrives at the queue. Returns whether the link is idle, so that a transmission must
    /// start now. Dropped packets are fetched by [`Link::pop_drop`].
    #[inline(always)]
    pub fn enqueue(&mut self, mut routed: RoutedPacket) -> bool {
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
            self.marks.count(flags, routed.packet.flags);
        }
        let Some(scheduled_queue) = &mut self.scheduled_queue else { return false };
        self.hash.add(
            now_s.to_bits()
                ^ ((routed.packet.number as u64) << 20)
                ^ (u64::from(routed.flow) << 50),
        );
        if is_lost {
            count_drops(&mut self.dropped, 1);
            scheduled_queue.drops.push(routed);
            return false;
        }
        let flags = routed.packet.flags;
        let item = QueueItem {
            size_bytes,
            flow: routed.flow,
            ecn: flags.is_ect(),
            l4s: flags.is_l4s(),
            marked: false,
            priority: flags.priority(),
            enqueued_s: now_s,
            packet: routed,
        };
        scheduled_queue.accumulate_waiting_area(now_s);
        let had_packets = scheduled_queue.waiting > 0;
        let drops = &mut scheduled_queue.drops;
        scheduled_queue
            .queue
            .enqueue(item, &mut |lost: QueueItem<RoutedPacket>| drops.push(lost.packet));
        let lost = scheduled_queue.drops.len();
        count_drops(&mut self.dropped, lost as u64);
        scheduled_queue.waiting += 1;
        scheduled_queue.waiting -= lost as u32;
        debug_assert_eq!(u64::from(scheduled_queue.waiting), scheduled_queue.queue.packets());
        self.overflowed |= scheduled_queue.waiting >= MAX_WAITING_PACKETS;
        // If an arrival and the end of a transmission coincide, the one that was scheduled first
        // precedes, as elsewhere.
        !had_packets
            && (scheduled_queue.tx_end_s < now_s
                || (scheduled_queue.tx_end_s == now_s && scheduled_queue.tx_start_s < tx_start_s))
    }

    /// When the last packet accepted so far will have been transmitted, seconds.
    pub fn free_s(&self) -> f64 {
        self.free_s
    }

    /// Start of the transmission in progress or of the last one, seconds.
    pub fn service_start_s(&self) -> f64 {
        self.scheduled_queue.as_ref().map_or(f64::INFINITY, |queue| queue.tx_start_s)
    }

    /// When the next transmission starts, if packets wait for it, and when the link is free,
    /// seconds.
    pub fn next_service_s(&self) -> (f64, f64) {
        let Some(queue) = &self.scheduled_queue else { return (f64::INFINITY, 0.0) };
        (if queue.waiting > 0 { queue.tx_end_s } else { f64::INFINITY }, queue.tx_end_s)
    }

    /// The link is free: starts the next transmission. Returns the packet and its arrival time at
    /// the other end ([`LOST`] if it is lost).
    #[inline(always)]
    pub fn start_transmission(&mut self, now_s: f64) -> Option<(RoutedPacket, f64)> {
        if now_s >= self.next_due_s {
            self.run_due_samples(now_s);
        }
        let scheduled_queue = self.scheduled_queue.as_mut()?;
        scheduled_queue.accumulate_waiting_area(now_s);
        let drops = &mut scheduled_queue.drops;
        let before = drops.len();
        let item = scheduled_queue
            .queue
            .dequeue(now_s, &mut |lost: QueueItem<RoutedPacket>| drops.push(lost.packet));
        let lost = scheduled_queue.drops.len() - before;
        count_drops(&mut self.dropped, lost as u64);
        scheduled_queue.waiting -= lost as u32 + u32::from(item.is_some());
        debug_assert_eq!(u64::from(scheduled_queue.waiting), scheduled_queue.queue.packets());
        let QueueItem { size_bytes, marked, enqueued_s, packet: mut routed, .. } = item?;
        if marked {
            let flags = routed.packet.flags;
            routed.packet.flags = flags.marked();
            self.marks.count(flags, routed.packet.flags);
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
        if self.metrics.window.contains(enqueued_s) {
            if now_s > enqueued_s {
                self.metrics.waiting.add(now_s - enqueued_s)
            } else {
                self.metrics.waiting.add_zero()
            }
        }
        if let Some(impairments) = &mut self.impairments {
            routed.packet.flags = impairments.mangle(routed.packet.flags);
            at_s = impairments.after_transmission(at_s, routed.flow);
        }
        scheduled_queue.in_service_lost = at_s == LOST;
        self.lost += u64::from(scheduled_queue.in_service_lost);
        Some((routed, at_s))
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
        self.scheduled_queue.as_mut()?.drops.pop()
    }

    /// Removes one waiting packet after the end of the run.
    pub fn drain_at_end(&mut self, now_s: f64) -> Option<RoutedPacket> {
        let scheduled_queue = self.scheduled_queue.as_mut()?;
        // Packets that the discipline would drop now are in flight like the rest.
        let drops = &mut scheduled_queue.drops;
        let next = scheduled_queue
            .queue
            .dequeue(now_s, &mut |lost: QueueItem<RoutedPacket>| drops.push(lost.packet));
        next.map(|item| item.packet).or_else(|| scheduled_queue.drops.pop())
    }
}
