//! A link whose queue owns its packets, because it decides at departure: what leaves next is known only when the link is free.
//!
//! A packet goes on its way when its transmission begins, for then everything about it is known. That moment need not be an event: nobody can
//! tell whether a transmission began until its packet arrives elsewhere, a propagation delay later. So the beginnings are caught up with when
//! the next packet arrives here, or at the latest when the first of them is `behind_s` ago; the plain engine makes each an event.

use super::Link;
use crate::kept::{Kept, Ticket};
use crate::packet::Flags;
use crate::streams::Waiting;
use cwndlab_queues::{QueueItem, ScheduledQueue, QueueDisc};

/// Packets that wait in one queue beyond which a run is stopped: about 1.5 GiB.
const MOST_WAITING: u32 = 15_000_000;

/// The queue, and what is in service.
#[derive(Debug)]
pub struct Owned {
    queue: ScheduledQueue<Ticket>,
    /// The packets in it: the queue itself moves only their tickets.
    packets: Kept<Waiting>,
    /// The stream that schedules the end of a transmission, or when to catch up.
    pub stream: u32,
    /// Whether it does.
    scheduled: bool,
    /// How long after the beginning of a transmission it may be found out; 0 where each is an event.
    pub behind_s: f64,
    /// When the last transmission began, and when it ends.
    pub since_s: f64,
    busy_until_s: f64,
    in_service_bytes: u64,
    /// Whether what is in service, or was last, is lost at the end of its transmission.
    is_losing: bool,
    /// Integral over time of the number waiting, up to the last change, packet seconds.
    area_s: f64,
    changed_s: f64,
    /// Packets whose transmission began, and their bytes.
    served: u64,
    served_bytes: u64,
    /// How many wait, up to the end of the run.
    waiting: u32,
    /// Packets just lost.
    casualties: Vec<Ticket>,
}

impl Owned {
    /// An empty one.
    pub fn new(queue: ScheduledQueue<Ticket>) -> Self {
        Self {
            queue,
            packets: Kept::default(),
            stream: u32::MAX,
            scheduled: false,
            behind_s: 0.0,
            since_s: 0.0,
            busy_until_s: f64::NEG_INFINITY,
            in_service_bytes: 0,
            is_losing: false,
            area_s: 0.0,
            changed_s: 0.0,
            served: 0,
            served_bytes: 0,
            waiting: 0,
            casualties: Vec::new(),
        }
    }

    /// When to catch up with what waits, if that is not arranged already; it is from now on.
    pub fn arrange(&mut self) -> Option<f64> {
        let arrange = self.behind_s > 0.0 && !self.scheduled && self.waiting > 0;
        self.scheduled |= arrange;
        arrange.then_some(self.busy_until_s + self.behind_s)
    }

    /// The moment has come that was arranged.
    pub fn wake(&mut self) {
        self.scheduled = false;
    }

    /// When the transmission began that should be caught up with first, if there is one, where a packet arrives at `now_s` that was set in motion
    /// at `since_s`: where both fall on one moment, what was set in motion first comes first.
    #[inline]
    pub fn missed(&self, now_s: f64, since_s: f64) -> Option<f64> {
        let begins_s = self.busy_until_s;
        let earlier = begins_s < now_s || (begins_s == now_s && self.since_s < since_s);
        (earlier && self.behind_s > 0.0 && self.waiting > 0).then_some(begins_s)
    }

    /// Packets waiting or in service.
    pub fn backlog(&self, now_s: f64) -> u64 {
        u64::from(self.waiting) + u64::from(self.busy_until_s > now_s)
    }

    /// Packets whose transmission has ended, their bits, and how many of the packets lost after transmission are not yet.
    pub fn departed(&self, now_s: f64) -> (u64, u64, u64) {
        let in_service = self.busy_until_s > now_s;
        let bytes = self.served_bytes - if in_service { self.in_service_bytes } else { 0 };
        (self.served - u64::from(in_service), 8 * bytes, u64::from(in_service && self.is_losing))
    }

    /// Integral over time of the number of packets waiting, packet seconds.
    pub fn waiting_area_s(&self, now_s: f64) -> f64 {
        self.area_s + f64::from(self.waiting) * (now_s - self.changed_s)
    }

    fn settle(&mut self, now_s: f64) {
        self.area_s = self.waiting_area_s(now_s);
        self.changed_s = now_s;
    }
}

/// What a link must do next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Then {
    /// Nothing.
    Nothing,
    /// It is idle: serve the queue.
    Serve,
    /// Schedule the end of the transmission that goes on.
    Wait(f64),
}

impl Link {
    /// A packet arrives at the queue. Those lost are to be fetched with [`Link::casualty`].
    #[inline(always)]
    pub fn offer(&mut self, mut waiting: Waiting) -> Then {
        let (now_s, since_s) = (waiting.packet.at_s, waiting.packet.since_s);
        let size_bytes = u32::from(waiting.packet.size_bytes);
        if now_s >= self.next_look_s {
            self.look(now_s);
        }
        self.arrived += 1;
        let mut struck = false;
        if let Some(touch) = &mut self.touch {
            let flags = waiting.packet.flags;
            (struck, waiting.packet.flags) = touch.before(now_s, size_bytes, waiting.flow, flags);
            self.marked += u64::from(!flags.has(Flags::CE) && waiting.packet.flags.has(Flags::CE));
        }
        let Some(owned) = &mut self.owned else { return Then::Nothing };
        self.hash.add(now_s.to_bits() ^ ((waiting.packet.number as u64) << 20) ^ (u64::from(waiting.flow) << 50));
        if struck {
            self.dropped += 1;
            owned.casualties.push(owned.packets.put(waiting));
            return Then::Nothing;
        }
        let flags = waiting.packet.flags;
        let item = QueueItem {
            size_bytes,
            flow: waiting.flow,
            ecn: flags.has(Flags::ECT),
            marked: false,
            priority: flags.priority(),
            enqueued_s: now_s,
            packet: owned.packets.put(waiting),
        };
        owned.settle(now_s);
        let casualties = &mut owned.casualties;
        owned.queue.enqueue(item, &mut |lost: QueueItem<Ticket>| casualties.push(lost.packet));
        let lost = owned.casualties.len();
        self.dropped += lost as u64;
        owned.waiting += 1;
        owned.waiting -= lost as u32;
        debug_assert_eq!(u64::from(owned.waiting), owned.queue.packets());
        self.overflowed |= owned.waiting >= MOST_WAITING;
        if owned.scheduled && owned.behind_s == 0.0 {
            return Then::Nothing;
        }
        // As elsewhere: where an arrival and the end of a transmission coincide, what was set in motion first comes first.
        if owned.busy_until_s < now_s || (owned.busy_until_s == now_s && owned.since_s < since_s) {
            return Then::Serve;
        }
        if owned.behind_s > 0.0 {
            return owned.arrange().map_or(Then::Nothing, Then::Wait);
        }
        owned.scheduled = owned.waiting > 0;
        if owned.scheduled { Then::Wait(owned.busy_until_s) } else { Then::Nothing }
    }

    /// The link is free: begins the next transmission. Returns the packet, when it reaches the other end (infinity if it is lost on the way), and
    /// when the link is free again if something waits.
    #[inline(always)]
    pub fn serve(&mut self, now_s: f64) -> Option<(Waiting, f64, Option<f64>)> {
        if now_s >= self.next_look_s {
            self.look(now_s);
        }
        let owned = self.owned.as_mut()?;
        let is_event = owned.behind_s == 0.0;
        owned.scheduled &= !is_event;
        owned.settle(now_s);
        let casualties = &mut owned.casualties;
        let before = casualties.len();
        let item = owned.queue.dequeue(now_s, &mut |lost: QueueItem<Ticket>| casualties.push(lost.packet));
        let lost = owned.casualties.len() - before;
        self.dropped += lost as u64;
        owned.waiting -= lost as u32 + u32::from(item.is_some());
        debug_assert_eq!(u64::from(owned.waiting), owned.queue.packets());
        let QueueItem { size_bytes, marked, enqueued_s, packet, .. } = item?;
        let mut waiting = owned.packets.take(packet);
        self.marked += u64::from(marked && !waiting.packet.flags.has(Flags::CE));
        waiting.packet.flags = waiting.packet.flags.with(Flags::CE, marked);
        self.hash.add(now_s.to_bits() ^ ((waiting.packet.number as u64) << 20) ^ (u64::from(waiting.flow) << 50) ^ (1 << 63));
        let (end_s, mut at_s) = self.serializer.pass(now_s, size_bytes, self.delay_s);
        (owned.since_s, owned.busy_until_s, owned.in_service_bytes) = (now_s, end_s, u64::from(size_bytes));
        owned.served += 1;
        owned.served_bytes += u64::from(size_bytes);
        if self.window.contains(enqueued_s) {
            if now_s > enqueued_s { self.waiting.add(now_s - enqueued_s) } else { self.waiting.add_zero() }
        }
        if let Some(touch) = &mut self.touch {
            at_s = touch.beyond(at_s, waiting.flow);
        }
        owned.is_losing = at_s == super::LOST;
        self.lost += u64::from(owned.is_losing);
        if is_event {
            owned.scheduled = owned.waiting > 0;
        }
        Some((waiting, at_s, (is_event && owned.scheduled).then_some(end_s)))
    }

    /// Whether the queue has just lost any.
    #[inline]
    pub fn has_casualties(&self) -> bool {
        self.owned.as_ref().is_some_and(|owned| !owned.casualties.is_empty())
    }

    /// A packet that the queue has just lost.
    pub fn casualty(&mut self) -> Option<Waiting> {
        let owned = self.owned.as_mut()?;
        owned.casualties.pop().map(|ticket| owned.packets.take(ticket))
    }

    /// The run is over: takes out what still waits, one by one.
    pub fn drain(&mut self, now_s: f64) -> Option<Waiting> {
        let owned = self.owned.as_mut()?;
        // What the queue would lose now waits like the rest.
        let casualties = &mut owned.casualties;
        let next = owned.queue.dequeue(now_s, &mut |lost: QueueItem<Ticket>| casualties.push(lost.packet));
        let ticket = next.map(|item| item.packet).or_else(|| owned.casualties.pop())?;
        Some(owned.packets.take(ticket))
    }
}
