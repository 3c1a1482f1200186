//! COBALT: CoDel for flows that respond to it, and BLUE for those that do not.
//!
//! Source: the queue discipline CAKE of Linux, `net/sched/sch_cake.c` (`cobalt_should_drop`,
//! `cobalt_queue_full`, `cobalt_queue_empty`; T. Hoeiland-Joergensen, D. Taht and J. Morton, "Piece
//! of CAKE", 2018, section III.C; BLUE: W. Feng et al. 2002).
//!
//! * A sojourn time above `target` starts the dropping state, one that is not ends it. In this
//!   state a packet is marked, or dropped if it is not ECT, each `interval/sqrt(count)`, and `count`
//!   grows by one each time. Outside it `count` falls by one each `interval/sqrt(count)`, so that
//!   the rate of drops decays as it grew, where CoDel forgets it.
//! * A full buffer drops from the head. It puts the queue into the dropping state, with the next
//!   drop due, and raises BLUE's probability by 1/256, at most once in `target`. A queue found empty
//!   lowers this probability by 1/4096, at most once in `target`, ends the dropping state, and lowers
//!   `count` once if a drop was due.
//! * Every packet, ECT or not, is dropped with BLUE's probability.
//! * The last packet in the queue is never dropped.
//!
//! Departures from CAKE: one queue without its flows, hosts and shaper, so `target` is not raised for
//! slow links. BLUE draws no random numbers: it adds its probabilities up and drops when the sum
//! exceeds 1, which it then lowers by 1 (as [`super::DualPi2`]). The queue is found empty when its
//! last packet leaves it, in Linux when the transmission of this packet ends. Square roots are
//! exact.

use crate::buffer_limit::Limit;
use crate::fifo::{Fifo, PacketPool};
use crate::queue_disc::{QueueDisc, QueueItem};

/// Steps of BLUE's probability at a full and an empty queue (`p_inc`, `p_dec`).
const RAISE: f64 = 1.0 / 256.0;
const LOWER: f64 = 1.0 / 4096.0;

/// Parameters of a COBALT queue.
///
/// ```
/// use cwndlab_queues::{CobaltParameters, Limit};
/// let parameters = CobaltParameters::new(Limit::Bytes(4_000_000));
/// assert_eq!((parameters.target_s, parameters.interval_s), (0.005, 0.1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CobaltParameters {
    /// Buffer limit, without the packet in service.
    pub limit: Limit,
    /// Acceptable standing delay, seconds.
    pub target_s: f64,
    /// Time until the first drop, seconds.
    pub interval_s: f64,
}

impl CobaltParameters {
    /// CAKE's values: 5 ms over 100 ms.
    pub fn new(limit: Limit) -> Self {
        Self { limit, target_s: 0.005, interval_s: 0.1 }
    }
}

/// A COBALT queue.
///
/// ```
/// use cwndlab_queues::{Cobalt, CobaltParameters, Limit};
/// # use cwndlab_queues::{QueueDisc, QueueItem};
/// # let item = |flow, packet| QueueItem { size_bytes: 1000, flow, ecn: false, l4s: false,
/// #     marked: false, priority: 1, enqueued_s: 0.0, packet };
/// let mut queue = Cobalt::new(&CobaltParameters::new(Limit::Packets(2)));
/// let mut dropped = Vec::new();
/// for number in 0..3 {
///     queue.enqueue(item(0, number), &mut |item| dropped.push(item.packet));
/// }
/// assert_eq!(dropped, [0]); // a full buffer drops from its head
/// ```
#[derive(Clone, Debug)]
pub struct Cobalt<P> {
    limit: Limit,
    law: CobaltLaw,
    state: CobaltState,
    pool: PacketPool<P>,
    queue: Fifo,
}

/// The times that all queues under one COBALT share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CobaltLaw {
    pub(crate) target_s: f64,
    pub(crate) interval_s: f64,
}

/// COBALT's state of one queue.
#[derive(Clone, Debug)]
pub(crate) struct CobaltState {
    is_dropping: bool,
    count: u32,
    /// Time of the next drop; with a `count` of 0, time until which the queue counts as active.
    drop_next_s: f64,
    /// BLUE's probability, the sum that decides its drops, and the time of its last change.
    blue: f64,
    blue_sum: f64,
    blue_changed_s: f64,
}

impl Default for CobaltState {
    fn default() -> Self {
        Self {
            is_dropping: false,
            count: 0,
            drop_next_s: f64::NEG_INFINITY,
            blue: 0.0,
            blue_sum: 0.0,
            blue_changed_s: f64::NEG_INFINITY,
        }
    }
}

/// What happens to a packet.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Verdict {
    Send,
    Mark,
    Drop,
}

impl<P> Cobalt<P> {
    /// An empty queue.
    pub fn new(parameters: &CobaltParameters) -> Self {
        let CobaltParameters { limit, target_s, interval_s } = *parameters;
        Self {
            limit,
            law: CobaltLaw { target_s, interval_s },
            state: CobaltState::default(),
            pool: PacketPool::new(),
            queue: Fifo::default(),
        }
    }
}

impl CobaltState {
    /// CoDel's control law (`cobalt_control`).
    fn next_drop_s(&self, from_s: f64, law: CobaltLaw) -> f64 {
        from_s + law.interval_s / f64::from(self.count.max(1)).sqrt()
    }

    /// Whether BLUE's probability may change now.
    fn blue_may_change(&self, now_s: f64, law: CobaltLaw) -> bool {
        now_s - self.blue_changed_s > law.target_s
    }

    /// A packet was dropped by a full buffer (`cobalt_queue_full`).
    pub(crate) fn on_full(&mut self, now_s: f64, law: CobaltLaw) {
        if self.blue_may_change(now_s, law) {
            self.blue = (self.blue + RAISE).min(1.0);
            self.blue_changed_s = now_s;
        }
        self.is_dropping = true;
        self.drop_next_s = now_s;
        self.count = self.count.max(1);
    }

    /// The queue is found empty (`cobalt_queue_empty`).
    pub(crate) fn on_empty(&mut self, now_s: f64, law: CobaltLaw) {
        if self.blue > 0.0 && self.blue_may_change(now_s, law) {
            self.blue = (self.blue - LOWER).max(0.0);
            self.blue_changed_s = now_s;
        }
        self.is_dropping = false;
        if self.count > 0 && now_s >= self.drop_next_s {
            self.count -= 1;
            self.drop_next_s = self.next_drop_s(self.drop_next_s, law);
        }
    }

    /// Judges a packet that is dequeued now (`cobalt_should_drop`).
    pub(crate) fn judge(
        &mut self,
        now_s: f64,
        sojourn_s: f64,
        ecn: bool,
        law: CobaltLaw,
    ) -> Verdict {
        let mut is_due = self.count > 0 && now_s >= self.drop_next_s;
        let mut late_s = now_s - self.drop_next_s;
        let is_over_target = sojourn_s > law.target_s;
        if is_over_target {
            if !self.is_dropping {
                self.drop_next_s = self.next_drop_s(now_s, law);
            }
            self.count = self.count.max(1);
        }
        self.is_dropping = is_over_target;
        let mut verdict = Verdict::Send;
        if is_due && self.is_dropping {
            verdict = if ecn { Verdict::Mark } else { Verdict::Drop };
            self.count = self.count.saturating_add(1);
            self.drop_next_s = self.next_drop_s(self.drop_next_s, law);
            late_s = now_s - self.drop_next_s;
        } else {
            while is_due {
                self.count -= 1;
                self.drop_next_s = self.next_drop_s(self.drop_next_s, law);
                late_s = now_s - self.drop_next_s;
                is_due = self.count > 0 && late_s >= 0.0;
            }
        }
        if verdict != Verdict::Drop {
            self.blue_sum += self.blue;
            if self.blue_sum > 1.0 {
                self.blue_sum -= 1.0;
                verdict = Verdict::Drop;
            }
        }
        if self.count == 0 {
            self.drop_next_s = now_s + law.interval_s;
        } else if late_s > 0.0 && verdict != Verdict::Drop {
            self.drop_next_s = now_s;
        }
        verdict
    }
}

impl<P> QueueDisc<P> for Cobalt<P> {
    #[inline]
    fn enqueue(&mut self, item: QueueItem<P>, dropped: &mut impl FnMut(QueueItem<P>)) {
        while !self.limit.admits(self.queue.packets, self.queue.bytes, item.size_bytes) {
            let Some(head) = self.pool.pop(&mut self.queue) else { return dropped(item) };
            dropped(head);
            self.state.on_full(item.enqueued_s, self.law);
        }
        self.pool.push(&mut self.queue, item);
    }

    #[inline]
    fn dequeue(
        &mut self,
        now_s: f64,
        dropped: &mut impl FnMut(QueueItem<P>),
    ) -> Option<QueueItem<P>> {
        loop {
            let item = self.pool.pop(&mut self.queue)?;
            let sojourn_s = now_s - item.enqueued_s;
            let verdict = self.state.judge(now_s, sojourn_s, item.ecn, self.law);
            let is_last = self.queue.packets == 0;
            if is_last {
                self.state.on_empty(now_s, self.law);
            }
            if verdict != Verdict::Drop || is_last {
                return Some(QueueItem { marked: verdict == Verdict::Mark, ..item });
            }
            dropped(item);
        }
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
