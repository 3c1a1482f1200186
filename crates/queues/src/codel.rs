//! Controlled delay: packets that have waited too long, for too long, are lost as they leave, ever faster until the delay is gone.
//!
//! Source: K. Nichols, V. Jacobson, A. McGregor and J. Iyengar, RFC 8289, sections 3 and 5 (the pseudo-code).
//!
//! * A packet's sojourn is its time in the queue. Once every packet for an `interval` has had one of at least `target` while more than one
//!   packet of the largest size waited, the queue starts to lose packets.
//! * The first is lost at once, the next at `t + interval/sqrt(count)`, `t` the time of the loss before and `count` the losses so far.
//! * One sojourn below `target`, or a queue of at most one packet of the largest size, ends it.
//! * If it starts again within 16 intervals of the last planned loss, it resumes at the rate that the last period reached: `count` starts
//!   from what was added to it there.
//!
//! Knobs: [`CoDelParameters`].
//!
//! Departures from the RFC: `MAXPACKET` is the largest packet seen so far, not the interface's MTU (as Linux has it). With `ecn` a packet
//! that can be marked is marked and sent where it would be lost (the RFC leaves marking open; section 3's "drop or mark"): it counts as the
//! loss, and the next one is planned from it. The buffer loses what arrives when it is full.

use crate::fifo::{Fifo, Pool};
use crate::{Item, Limit, Scheduling};

/// What a CoDel queue is made from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoDelParameters {
    /// What may wait, without the packet in service.
    pub limit: Limit,
    /// Standing delay that is allowed, seconds (TARGET).
    pub target_s: f64,
    /// Time to judge it over: a worst-case round trip, seconds (INTERVAL).
    pub interval_s: f64,
    /// Whether packets that can be marked are marked instead of lost.
    pub ecn: bool,
}

impl CoDelParameters {
    /// 5 ms over 100 ms, losing (RFC 8289, section 4).
    pub fn new(limit: Limit) -> Self {
        Self { limit, target_s: 0.005, interval_s: 0.1, ecn: false }
    }
}

/// What all queues under one set of parameters share.
#[derive(Clone, Debug)]
pub(crate) struct Law {
    pub(crate) target_s: f64,
    pub(crate) interval_s: f64,
    pub(crate) ecn: bool,
    /// Largest packet seen.
    pub(crate) max_packet_bytes: u32,
}

impl Law {
    /// When the next packet is lost (RFC 8289, section 5.6, `control_law`).
    fn next_loss_s(&self, from_s: f64, count: u32) -> f64 {
        from_s + self.interval_s / f64::from(count).sqrt()
    }
}

/// How many intervals after the last planned loss the reached rate is forgotten.
pub(crate) const MEMORY_INTERVALS: f64 = 16.0;

/// The state of one controlled queue (RFC 8289, section 5.2).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Control {
    /// When the sojourn will have been above target for an interval, if it is above.
    first_above_s: Option<f64>,
    is_dropping: bool,
    drop_next_s: f64,
    count: u32,
    last_count: u32,
}

impl Control {
    /// Takes the head and says whether it is to be lost (section 5.6, `dodequeue`).
    #[inline]
    fn head<P>(&mut self, now_s: f64, law: &Law, pool: &mut Pool<P>, queue: &mut Fifo) -> (Option<Item<P>>, bool) {
        let Some(item) = pool.pop(queue) else {
            self.first_above_s = None;
            return (None, false);
        };
        if now_s - item.arrived_s < law.target_s || queue.bytes <= u64::from(law.max_packet_bytes) {
            self.first_above_s = None;
            return (Some(item), false);
        }
        match self.first_above_s {
            Some(since_s) => (Some(item), now_s >= since_s),
            None => {
                self.first_above_s = Some(now_s + law.interval_s);
                (Some(item), false)
            }
        }
    }

    /// The next packet to send, if any (section 5.5, `deque`).
    #[inline]
    pub(crate) fn dequeue<P>(
        &mut self,
        now_s: f64,
        law: &Law,
        pool: &mut Pool<P>,
        queue: &mut Fifo,
        lost: &mut impl FnMut(Item<P>),
    ) -> Option<Item<P>> {
        let (mut head, mut is_late) = self.head(now_s, law, pool, queue);
        if self.is_dropping {
            self.is_dropping = is_late;
            while self.is_dropping && now_s >= self.drop_next_s {
                self.count = self.count.saturating_add(1);
                if let Some(marked) = signal(head, law, lost) {
                    self.drop_next_s = law.next_loss_s(self.drop_next_s, self.count);
                    return Some(marked);
                }
                (head, is_late) = self.head(now_s, law, pool, queue);
                if is_late {
                    self.drop_next_s = law.next_loss_s(self.drop_next_s, self.count);
                } else {
                    self.is_dropping = false;
                }
            }
        } else if is_late {
            head = match signal(head, law, lost) {
                Some(marked) => Some(marked),
                None => self.head(now_s, law, pool, queue).0,
            };
            self.start(now_s, law);
        }
        head
    }

    /// Starts to lose packets; the first is gone.
    fn start(&mut self, now_s: f64, law: &Law) {
        self.is_dropping = true;
        let reached = self.count - self.last_count;
        let is_recent = now_s - self.drop_next_s < MEMORY_INTERVALS * law.interval_s;
        self.count = if reached > 1 && is_recent { reached } else { 1 };
        self.drop_next_s = law.next_loss_s(now_s, self.count);
        self.last_count = self.count;
    }
}

/// Marks the packet and gives it back, or loses it.
fn signal<P>(head: Option<Item<P>>, law: &Law, lost: &mut impl FnMut(Item<P>)) -> Option<Item<P>> {
    let item = head?;
    if law.ecn && item.ecn {
        return Some(Item { marked: true, ..item });
    }
    lost(item);
    None
}

/// A CoDel queue.
#[derive(Clone, Debug)]
pub struct CoDel<P> {
    limit: Limit,
    law: Law,
    control: Control,
    pool: Pool<P>,
    queue: Fifo,
}

impl<P> CoDel<P> {
    /// An empty queue with these parameters.
    pub fn new(parameters: &CoDelParameters) -> Self {
        let CoDelParameters { limit, target_s, interval_s, ecn } = *parameters;
        Self {
            limit,
            law: Law { target_s, interval_s, ecn, max_packet_bytes: 0 },
            control: Control::default(),
            pool: Pool::new(),
            queue: Fifo::default(),
        }
    }
}

impl<P> Scheduling<P> for CoDel<P> {
    #[inline]
    fn enqueue(&mut self, item: Item<P>, lost: &mut impl FnMut(Item<P>)) {
        if !self.limit.admits(self.queue.packets, self.queue.bytes, item.size_bytes) {
            return lost(item);
        }
        self.law.max_packet_bytes = self.law.max_packet_bytes.max(item.size_bytes);
        self.pool.push(&mut self.queue, item);
    }

    #[inline]
    fn dequeue(&mut self, now_s: f64, lost: &mut impl FnMut(Item<P>)) -> Option<Item<P>> {
        self.control.dequeue(now_s, &self.law, &mut self.pool, &mut self.queue, lost)
    }

    #[inline]
    fn packets(&self) -> u64 {
        self.queue.packets
    }

    #[inline]
    fn bytes(&self) -> u64 {
        self.queue.bytes
    }
}
