//! CoDel (controlled delay): drops or marks packets at dequeue when the sojourn time stays above
//! `target` for `interval`.
//!
//! Source: K. Nichols, V. Jacobson, A. McGregor and J. Iyengar, RFC 8289, sections 3 and 5
//! (pseudo-code).
//!
//! * The sojourn time of a packet is its time in the queue. The queue enters the dropping state
//!   once every packet for an `interval` had a sojourn time of at least `target` while more than
//!   one packet of the largest size waited.
//! * It drops the first packet at once, the next at `t + interval/sqrt(count)`: `t` is the time of
//!   the previous drop, `count` the number of drops so far.
//! * It leaves the dropping state at one sojourn time below `target`, or with at most one packet of
//!   the largest size waiting.
//! * If it re-enters within 16 intervals of the last scheduled drop, it resumes at the drop rate
//!   reached before: `count` starts from what the last dropping state added to it.
//!
//! * With `ce_threshold` an ECT packet that is sent after a longer sojourn time is marked (RFC 8290
//!   section 5.2.7, for data centres), or only one of an L4S flow (RFC 9331 section 5.4). Such a
//!   mark changes no state.
//!
//! Parameters: [`CoDelParameters`].
//!
//! Departures from the RFC: `MAXPACKET` is the largest packet seen so far, not the interface's MTU
//! (as in Linux). With `ecn` an ECT packet is marked and sent where it would be dropped (section 3,
//! "drop or mark"): the mark counts as a drop, and the next one is scheduled from it. A full buffer
//! drops arriving packets.

use crate::buffer_limit::Limit;
use crate::fifo::{Fifo, PacketPool};
use crate::queue_disc::{QueueDisc, QueueItem};

/// Parameters of a CoDel queue.
///
/// ```
/// use cwndlab_queues::{CoDelParameters, Limit};
/// let parameters = CoDelParameters::new(Limit::Packets(1000));
/// assert_eq!((parameters.target_s, parameters.interval_s), (0.005, 0.1)); // RFC 8289
/// assert!(!parameters.ecn);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoDelParameters {
    /// Buffer limit, without the packet in service.
    pub limit: Limit,
    /// Acceptable standing delay, seconds (TARGET).
    pub target_s: f64,
    /// Interval over which the sojourn time is judged, a worst-case round trip, seconds (INTERVAL).
    pub interval_s: f64,
    /// Whether ECT packets are marked instead of dropped.
    pub ecn: bool,
    /// Marks sent ECT packets from a sojourn time on.
    pub ce_threshold: Option<CeThreshold>,
}

/// Marking by the sojourn time of a packet alone.
///
/// ```
/// use cwndlab_queues::{CeThreshold, CoDel, CoDelParameters, Limit};
/// # use cwndlab_queues::{QueueDisc, QueueItem};
/// # let item = |flow, packet| QueueItem { size_bytes: 1000, flow, ecn: false, l4s: false,
/// #     marked: false, priority: 1, enqueued_s: 0.0, packet };
/// let ce_threshold = Some(CeThreshold { sojourn_s: 0.001, only_l4s: false });
/// let parameters = CoDelParameters { ce_threshold, ..CoDelParameters::new(Limit::Packets(9)) };
/// let mut queue = CoDel::new(&parameters);
/// queue.enqueue(QueueItem { ecn: true, ..item(0, 'a') }, &mut |_| ());
/// queue.enqueue(QueueItem { ecn: true, ..item(0, 'b') }, &mut |_| ());
/// assert!(!queue.dequeue(0.001, &mut |_| ()).unwrap().marked);
/// assert!(queue.dequeue(0.002, &mut |_| ()).unwrap().marked);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CeThreshold {
    /// Sojourn time above which an ECT packet is marked, seconds.
    pub sojourn_s: f64,
    /// Marks only packets of L4S flows.
    pub only_l4s: bool,
}

impl CeThreshold {
    /// Whether it marks a packet that is sent after this sojourn time.
    #[inline]
    pub(crate) fn marks<P>(self, item: &QueueItem<P>, sojourn_s: f64) -> bool {
        item.ecn && (item.l4s || !self.only_l4s) && sojourn_s > self.sojourn_s
    }
}

impl CoDelParameters {
    /// 5 ms over 100 ms, dropping (RFC 8289, section 4).
    pub fn new(limit: Limit) -> Self {
        Self { limit, target_s: 0.005, interval_s: 0.1, ecn: false, ce_threshold: None }
    }
}

/// The control law and what all queues under it share.
#[derive(Clone, Debug)]
pub(crate) struct ControlLaw {
    pub(crate) target_s: f64,
    pub(crate) interval_s: f64,
    pub(crate) ecn: bool,
    pub(crate) ce_threshold: Option<CeThreshold>,
    /// Largest packet seen (MAXPACKET).
    pub(crate) max_packet_bytes: u32,
}

impl ControlLaw {
    /// Time of the next drop (`control_law`, RFC 8289, section 5.6).
    fn next_drop_s(&self, from_s: f64, count: u32) -> f64 {
        from_s + self.interval_s / f64::from(count).sqrt()
    }
}

/// Intervals after the last scheduled drop until the drop rate is forgotten.
pub(crate) const MEMORY_INTERVALS: f64 = 16.0;

/// CoDel state of one queue (RFC 8289, section 5.2).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CoDelState {
    /// When the sojourn time will have been above target for an interval, if it is above.
    first_above_s: Option<f64>,
    is_dropping: bool,
    drop_next_s: f64,
    count: u32,
    last_count: u32,
}

impl CoDelState {
    /// Dequeues the head and says whether it is ok to drop (`dodequeue`, section 5.6).
    #[inline]
    fn do_dequeue<P>(
        &mut self,
        now_s: f64,
        control_law: &ControlLaw,
        pool: &mut PacketPool<P>,
        queue: &mut Fifo,
    ) -> (Option<QueueItem<P>>, bool) {
        let Some(item) = pool.pop(queue) else {
            self.first_above_s = None;
            return (None, false);
        };
        if now_s - item.enqueued_s < control_law.target_s
            || queue.bytes <= u64::from(control_law.max_packet_bytes)
        {
            self.first_above_s = None;
            return (Some(item), false);
        }
        match self.first_above_s {
            Some(since_s) => (Some(item), now_s >= since_s),
            None => {
                self.first_above_s = Some(now_s + control_law.interval_s);
                (Some(item), false)
            }
        }
    }

    /// The next packet to send, if any, marked above the CE threshold.
    #[inline]
    pub(crate) fn dequeue<P>(
        &mut self,
        now_s: f64,
        control_law: &ControlLaw,
        pool: &mut PacketPool<P>,
        queue: &mut Fifo,
        dropped: &mut impl FnMut(QueueItem<P>),
    ) -> Option<QueueItem<P>> {
        let item = self.next(now_s, control_law, pool, queue, dropped)?;
        let sojourn_s = now_s - item.enqueued_s;
        let threshold = control_law.ce_threshold;
        let marked = item.marked || threshold.is_some_and(|ce| ce.marks(&item, sojourn_s));
        Some(QueueItem { marked, ..item })
    }

    /// The next packet to send, if any (`deque`, section 5.5).
    #[inline]
    fn next<P>(
        &mut self,
        now_s: f64,
        control_law: &ControlLaw,
        pool: &mut PacketPool<P>,
        queue: &mut Fifo,
        dropped: &mut impl FnMut(QueueItem<P>),
    ) -> Option<QueueItem<P>> {
        let (mut head, mut ok_to_drop) = self.do_dequeue(now_s, control_law, pool, queue);
        if self.is_dropping {
            self.is_dropping = ok_to_drop;
            while self.is_dropping && now_s >= self.drop_next_s {
                self.count = self.count.saturating_add(1);
                if let Some(marked) = mark_or_drop(head, control_law, dropped) {
                    self.drop_next_s = control_law.next_drop_s(self.drop_next_s, self.count);
                    return Some(marked);
                }
                (head, ok_to_drop) = self.do_dequeue(now_s, control_law, pool, queue);
                if ok_to_drop {
                    self.drop_next_s = control_law.next_drop_s(self.drop_next_s, self.count);
                } else {
                    self.is_dropping = false;
                }
            }
        } else if ok_to_drop {
            head = match mark_or_drop(head, control_law, dropped) {
                Some(marked) => Some(marked),
                None => self.do_dequeue(now_s, control_law, pool, queue).0,
            };
            self.enter_dropping_state(now_s, control_law);
        }
        head
    }

    /// Enters the dropping state; the first packet was dropped.
    fn enter_dropping_state(&mut self, now_s: f64, control_law: &ControlLaw) {
        self.is_dropping = true;
        let reached = self.count - self.last_count;
        let is_recent = now_s - self.drop_next_s < MEMORY_INTERVALS * control_law.interval_s;
        self.count = if reached > 1 && is_recent { reached } else { 1 };
        self.drop_next_s = control_law.next_drop_s(now_s, self.count);
        self.last_count = self.count;
    }
}

/// Marks the packet and returns it, or drops it.
fn mark_or_drop<P>(
    head: Option<QueueItem<P>>,
    control_law: &ControlLaw,
    dropped: &mut impl FnMut(QueueItem<P>),
) -> Option<QueueItem<P>> {
    let item = head?;
    if control_law.ecn && item.ecn {
        return Some(QueueItem { marked: true, ..item });
    }
    dropped(item);
    None
}

/// A CoDel queue.
///
/// ```
/// use cwndlab_queues::{CoDel, CoDelParameters, Limit};
/// # use cwndlab_queues::{QueueDisc, QueueItem};
/// # let item = |flow, packet| QueueItem { size_bytes: 1000, flow, ecn: false, l4s: false,
/// #     marked: false, priority: 1, enqueued_s: 0.0, packet };
/// let mut queue = CoDel::new(&CoDelParameters::new(Limit::Packets(1000)));
/// (0..300).for_each(|number| queue.enqueue(item(0, number), &mut |_| ()));
/// // Packets that arrived together leave every millisecond. At 5 ms the delay reaches the target;
/// // above it for an interval, until 105 ms, it costs a packet at the next departure.
/// let mut dropped = Vec::new();
/// for millisecond in 1..=106 {
///     queue.dequeue(f64::from(millisecond) / 1000.0, &mut |item| dropped.push(item.packet));
/// }
/// assert_eq!(dropped, [105]);
/// ```
#[derive(Clone, Debug)]
pub struct CoDel<P> {
    limit: Limit,
    control_law: ControlLaw,
    state: CoDelState,
    pool: PacketPool<P>,
    queue: Fifo,
}

impl<P> CoDel<P> {
    /// An empty queue.
    pub fn new(parameters: &CoDelParameters) -> Self {
        let CoDelParameters { limit, target_s, interval_s, ecn, ce_threshold } = *parameters;
        Self {
            limit,
            control_law: ControlLaw {
                target_s,
                interval_s,
                ecn,
                ce_threshold,
                max_packet_bytes: 0,
            },
            state: CoDelState::default(),
            pool: PacketPool::new(),
            queue: Fifo::default(),
        }
    }
}

impl<P> QueueDisc<P> for CoDel<P> {
    #[inline]
    fn enqueue(&mut self, item: QueueItem<P>, dropped: &mut impl FnMut(QueueItem<P>)) {
        if !self.limit.admits(self.queue.packets, self.queue.bytes, item.size_bytes) {
            return dropped(item);
        }
        self.control_law.max_packet_bytes = self.control_law.max_packet_bytes.max(item.size_bytes);
        self.pool.push(&mut self.queue, item);
    }

    #[inline]
    fn dequeue(
        &mut self,
        now_s: f64,
        dropped: &mut impl FnMut(QueueItem<P>),
    ) -> Option<QueueItem<P>> {
        self.state.dequeue(now_s, &self.control_law, &mut self.pool, &mut self.queue, dropped)
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
