//! A one-way link: impairments, a queue, a serializer and a propagation delay.
//!
//! Departures of a FIFO queue are known at arrival, so a packet costs one event here: the backlog
//! is the list of pending departures. If a departure and an arrival coincide, the one that was
//! scheduled first precedes: the arrival counts from the start of its transmission on the link in
//! front, the departure from the start of its own. This is the insertion order of ns-2. It decides
//! drops in slow start, where packets arrive in pairs, the first of each exactly when a packet
//! departs.

mod backlog;
mod counters;
mod impairments;
mod metrics;
mod scheduled_queue;

use crate::collections::ring_buffer::RingBuffer;
use crate::measure::histogram::Histogram;
use crate::measure::trace_hash::TraceHash;
use crate::measure::window::MeasurementWindow;
use crate::packet::Flags;
use crate::random::stream::RandomStream;
use crate::rate::serializer::Serializer;
use backlog::PendingDeparture;
use counters::count_drops;
use cwndlab_queues::{Admission, Discipline};
pub use impairments::Impairments;
pub use metrics::{LinkCounts, QueueSampler};
pub use scheduled_queue::{ScheduledQueue, ServiceAction};

/// Arrival time of a packet that is lost.
pub const LOST: f64 = f64::INFINITY;

/// A one-way link.
#[derive(Debug)]
pub struct Link {
    serializer: Serializer,
    delay_s: f64,
    discipline: Discipline,
    /// Whether the discipline is notified of departures.
    notifies_departures: bool,
    random: RandomStream,
    impairments: Option<Box<Impairments>>,
    /// The queue, if it decides at departure; `discipline` is unused then.
    scheduled_queue: Option<Box<ScheduledQueue>>,
    backlog: RingBuffer<PendingDeparture>,
    /// Length of the backlog, uncounted departures included, below which a packet of at most
    /// `largest_bytes` is certain to be accepted and no impairment applies; 0 where nothing is
    /// certain.
    guaranteed_accept_backlog: usize,
    largest_bytes: u32,
    free_s: f64,
    /// Time of the last arrival, and the latest start of transmission among the packets that
    /// arrived then: a departure that precedes one of them has happened.
    last_arrival_s: f64,
    last_arrival_tx_start_s: f64,
    arrived: u64,
    dropped: u64,
    marked: u64,
    accepted_bytes: u64,
    /// Accepted bytes that were counted as departed.
    departed_bytes: u64,
    /// Sum of the waiting times of accepted packets, up to the end of the window, seconds.
    waiting_time_sum_s: f64,
    /// Packets lost after transmission.
    lost: u64,
    window: MeasurementWindow,
    /// The next edge of the window, seconds.
    next_window_edge_s: f64,
    /// Time of the next window edge, queue sample or deadline of the discipline: the only time that
    /// an arrival must compare with.
    next_due_s: f64,
    /// Flags of the last packet, if they changed.
    changed_flags: Option<Flags>,
    /// Whether the queue exceeds the memory limit.
    pub overflowed: bool,
    measuring: bool,
    /// Queueing delays of packets that arrived in the window.
    pub waiting: Histogram,
    /// Counters at the start of the window.
    pub counts_at_window_start: LinkCounts,
    /// Counters at its end.
    pub counts_at_window_end: LinkCounts,
    /// Queue trace.
    pub sampler: Option<QueueSampler>,
    /// Hash of arrivals and their outcome.
    pub hash: TraceHash,
}

/// Components of a link.
pub struct LinkConfig {
    /// Its rate.
    pub serializer: Serializer,
    /// Propagation delay, seconds.
    pub delay_s: f64,
    /// Queue that decides at arrival.
    pub discipline: Discipline,
    /// Or a queue that decides at departure.
    pub scheduled_queue: Option<ScheduledQueue>,
    /// Random stream of the queue.
    pub random: RandomStream,
    /// Its impairments.
    pub impairments: Impairments,
    /// Measurement window.
    pub window: MeasurementWindow,
    /// Queue trace.
    pub sampler: Option<QueueSampler>,
}

impl Link {
    /// An idle link.
    pub fn new(parts: LinkConfig) -> Self {
        let LinkConfig {
            serializer,
            delay_s,
            discipline,
            scheduled_queue,
            random,
            impairments,
            window,
            sampler,
        } = parts;
        Self {
            serializer,
            delay_s,
            notifies_departures: discipline.needs_departures(),
            discipline,
            random,
            impairments: (!impairments.is_empty()).then(|| Box::new(impairments)),
            scheduled_queue: scheduled_queue.map(Box::new),
            backlog: RingBuffer::default(),
            guaranteed_accept_backlog: 0,
            largest_bytes: 0,
            free_s: 0.0,
            last_arrival_s: 0.0,
            last_arrival_tx_start_s: 0.0,
            arrived: 0,
            dropped: 0,
            marked: 0,
            accepted_bytes: 0,
            departed_bytes: 0,
            waiting_time_sum_s: 0.0,
            lost: 0,
            window,
            next_window_edge_s: window.from_s,
            next_due_s: 0.0,
            changed_flags: None,
            overflowed: false,
            measuring: false,
            waiting: Histogram::default(),
            counts_at_window_start: LinkCounts::default(),
            counts_at_window_end: LinkCounts::default(),
            sampler,
            hash: TraceHash::default(),
        }
    }

    /// A packet of `flow` arrives at `now`; its last transmission started at `since`. Returns its
    /// arrival time at the other end and the start of its transmission here, or none if it is
    /// dropped; and its flags, which may have changed.
    ///
    /// Times are passed in registers, and departures are counted only when the count matters: each
    /// halves the cost of a packet.
    #[inline(always)]
    pub fn arrive(
        &mut self,
        now: f64,
        since: f64,
        number: i64,
        size_bytes: u16,
        flow: u32,
        flags: Flags,
    ) -> Option<(f64, f64, Flags)> {
        let size = u32::from(size_bytes);
        let since = if now == self.last_arrival_s {
            since.max(self.last_arrival_tx_start_s)
        } else {
            since
        };
        (self.last_arrival_s, self.last_arrival_tx_start_s) = (now, since);
        if now < self.next_due_s
            && self.backlog.len() < self.guaranteed_accept_backlog
            && size <= self.largest_bytes
        {
            self.arrived += 1;
            self.hash_arrival(now, number, flow, true);
            let (at, start) = self.transmit(now, size);
            self.push_departure(size, start, flags, false);
            return Some((at, start, flags));
        }
        let (at, start) = self.arrive_slow_path(now, since, number, size, flow, flags);
        let flags = self.changed_flags.take().unwrap_or(flags);
        (at != LOST).then_some((at, start, flags))
    }

    /// The same if the packet may be impaired or dropped; the time is [`LOST`] if it is.
    #[inline(never)]
    fn arrive_slow_path(
        &mut self,
        now: f64,
        since: f64,
        number: i64,
        size: u32,
        flow: u32,
        flags: Flags,
    ) -> (f64, f64) {
        if now >= self.next_due_s {
            self.run_due_samples(now);
        }
        self.arrived += 1;
        let (is_lost, flags) = if self.impairments.is_none() {
            (false, flags)
        } else {
            self.impairments(now, size, flow, flags)
        };
        let accepted = !is_lost && self.admit(now, since, size, flow, flags);
        self.hash_arrival(now, number, flow, accepted);
        if !accepted {
            count_drops(&mut self.dropped, 1);
            return (LOST, now);
        }
        let (at, start) = self.transmit(now, size);
        let at = self
            .impairments
            .as_mut()
            .map_or(at, |impairments| impairments.after_transmission(at, flow));
        self.push_departure(size, start, flags, at == LOST);
        (at, start)
    }

    /// Hashes the outcome for a packet.
    #[inline(always)]
    fn hash_arrival(&mut self, now: f64, number: i64, flow: u32, accepted: bool) {
        self.hash.add(
            now.to_bits()
                ^ ((number as u64) << 20)
                ^ (u64::from(flow) << 50)
                ^ (u64::from(accepted) << 63),
        );
    }

    /// Transmits an accepted packet: its arrival time at the other end, and the start of its
    /// transmission.
    #[inline(always)]
    fn transmit(&mut self, now: f64, size: u32) -> (f64, f64) {
        let start = if self.free_s > now { self.free_s } else { now };
        let (end, at) = self.serializer.transmit(start, size, self.delay_s);
        self.free_s = end;
        if start > now {
            // Only the part before the end of the window; `min` and `max` would cost every packet
            // more than this branch.
            self.waiting_time_sum_s += if start <= self.window.to_s {
                start - now
            } else {
                (self.window.to_s - now).max(0.0)
            };
            // A packet that never departs has no waiting time.
            if self.measuring && start < f64::MAX {
                self.waiting.add(start - now);
            }
        } else if self.measuring {
            self.waiting.add_zero();
        }
        (at, start)
    }

    /// Appends a packet to the backlog, to depart at the time that `transmit` computed.
    #[inline(always)]
    fn push_departure(&mut self, size: u32, start: f64, flags: Flags, lost: bool) {
        self.accepted_bytes += u64::from(size);
        self.backlog.push_back(PendingDeparture::new(
            self.free_s,
            start,
            self.accepted_bytes,
            flags.priority(),
            lost,
        ));
    }

    /// Applies impairments in front of the queue; returns whether the packet is dropped, and its
    /// flags.
    #[cold]
    #[inline(never)]
    fn impairments(
        &mut self,
        now_s: f64,
        size_bytes: u32,
        flow: u32,
        flags: Flags,
    ) -> (bool, Flags) {
        let Some(impairments) = &mut self.impairments else { return (false, flags) };
        let (is_lost, new) = impairments.before_queue(now_s, size_bytes, flow, flags);
        if new != flags {
            self.marked += u64::from(new.is_ce() && !flags.is_ce());
            self.changed_flags = Some(new);
        }
        (is_lost, new)
    }

    /// The scheduled queue, if the link has one.
    pub fn scheduled_queue_mut(&mut self) -> Option<&mut ScheduledQueue> {
        self.scheduled_queue.as_deref_mut()
    }
}
