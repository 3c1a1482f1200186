//! State of a one-way link.

use super::backlog::PendingDeparture;
use super::impairments::Impairments;
use super::metrics::{LinkMetrics, Marks};
use super::scheduled_queue::ScheduledQueue;
use crate::collections::ring_buffer::RingBuffer;
use crate::measure::trace_hash::TraceHash;
use crate::packet::Flags;
use crate::random::stream::RandomStream;
use crate::rate::serializer::Serializer;
use cwndlab_queues::{Admission, Discipline};

/// A one-way link.
#[derive(Debug)]
pub struct Link {
    pub(super) serializer: Serializer,
    pub(super) delay_s: f64,
    pub(super) discipline: Discipline,
    /// Whether the discipline is notified of departures.
    pub(super) notifies_departures: bool,
    pub(super) random: RandomStream,
    pub(super) impairments: Option<Box<Impairments>>,
    /// The queue, if it decides at departure; `discipline` is unused then.
    pub(super) scheduled_queue: Option<Box<ScheduledQueue>>,
    pub(super) backlog: RingBuffer<PendingDeparture>,
    /// Length of the backlog, uncounted departures included, below which a packet of at most
    /// `largest_bytes` is certain to be accepted and no impairment applies; 0 where nothing is
    /// certain.
    pub(super) guaranteed_accept_backlog: usize,
    pub(super) largest_bytes: u32,
    pub(super) free_s: f64,
    /// Time of the last arrival, and the latest start of transmission among the packets that
    /// arrived then: a departure that precedes one of them has happened.
    pub(super) last_arrival_s: f64,
    pub(super) last_arrival_tx_start_s: f64,
    /// Start of the last transmission, seconds.
    pub(super) last_start_s: f64,
    pub(super) arrived: u64,
    pub(super) dropped: u64,
    pub(super) marks: Marks,
    pub(super) accepted_bytes: u64,
    /// Accepted bytes that were counted as departed.
    pub(super) departed_bytes: u64,
    /// Sum of the waiting times of accepted packets, up to the end of the window, seconds.
    pub(super) waiting_time_sum_s: f64,
    /// Packets lost after transmission.
    pub(super) lost: u64,
    /// Time of the next window edge, queue sample or deadline of the discipline: the only time that
    /// an arrival must compare with.
    pub(super) next_due_s: f64,
    /// Flags of the last packet, if they changed.
    pub(super) changed_flags: Option<Flags>,
    /// Whether the queue exceeds the memory limit.
    pub overflowed: bool,
    /// What is measured within the window.
    pub metrics: LinkMetrics,
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
    /// What to measure.
    pub metrics: LinkMetrics,
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
            metrics,
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
            last_start_s: 0.0,
            arrived: 0,
            dropped: 0,
            marks: Marks::default(),
            accepted_bytes: 0,
            departed_bytes: 0,
            waiting_time_sum_s: 0.0,
            lost: 0,
            next_due_s: 0.0,
            changed_flags: None,
            overflowed: false,
            metrics,
            hash: TraceHash::default(),
        }
    }
}
