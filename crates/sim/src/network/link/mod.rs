//! A one-way link: impairments, a queue, a transmitter and a propagation delay.

mod fifo;
mod impairments;
mod metrics;
mod scheduled;

pub use impairments::Impairments;
pub use metrics::{LinkCounts, LinkMetrics, QueueSampler};

use crate::id::FlowId;
use crate::measure::trace_hash::TraceHash;
use crate::network::impairment::circuit_breaker::CircuitBreaker;
use crate::packet::{Flags, RoutedPacket, Times};
use crate::random::stream::RandomStream;
use crate::rate::transmitter::Line;
use cwndlab_queues::{Discipline, QueueItem};
use fifo::FifoQueue;
use metrics::{Departures, Marks};
use scheduled::ScheduledQueue;

/// A one-way link.
#[derive(Debug)]
pub struct Link {
    line: Line,
    queue: LinkQueue,
    impairments: Option<Box<Impairments>>,
    arrived: u64,
    dropped: u64,
    marks: Marks,
    /// Time of the next window edge, queue sample, deadline of the discipline or end of an interval
    /// of the circuit breaker: the only time that an arrival must compare with.
    next_due_s: f64,
    /// What is measured within the window.
    pub metrics: LinkMetrics,
    /// Hash of arrivals and their outcome.
    pub hash: TraceHash,
}

/// The queue of a link, by when it decides.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "an indirection would cost each packet")]
pub enum LinkQueue {
    /// At arrival.
    Fifo(FifoQueue),
    /// At departure.
    Scheduled(Box<ScheduledQueue>),
}

impl LinkQueue {
    /// A queue that decides at arrival, with the random stream of its discipline.
    pub fn fifo(discipline: Discipline, random: RandomStream) -> Self {
        Self::Fifo(FifoQueue::new(discipline, random))
    }

    /// A queue that decides at departure.
    pub fn scheduled(discipline: cwndlab_queues::ScheduledQueue<RoutedPacket>) -> Self {
        Self::Scheduled(Box::new(ScheduledQueue::new(discipline)))
    }
}

/// What becomes of a packet at a link with a FIFO queue, and its flags, which the link may have
/// changed.
#[derive(Clone, Copy, Debug)]
pub enum Transit {
    /// It arrives at the other end.
    Forwarded(Times, Flags),
    /// It is dropped by the queue or lost on the way.
    Dropped(Flags),
}

/// A packet at the entrance of the queue.
struct Entering {
    /// Whether an impairment drops it.
    is_lost: bool,
    /// Its size on the link.
    size_bytes: u32,
    /// Its flags as the queue sees them: in a tunnel those of the outer header.
    outer: Flags,
    /// The flags that it has kept: in a tunnel those of the inner header.
    flags: Flags,
}

impl Link {
    /// An idle link.
    pub fn new(
        line: Line,
        mut queue: LinkQueue,
        impairments: Impairments,
        metrics: LinkMetrics,
    ) -> Self {
        if let LinkQueue::Fifo(queue) = &mut queue {
            queue.is_impaired = !impairments.is_empty();
        }
        Self {
            line,
            queue,
            impairments: (!impairments.is_empty()).then(|| Box::new(impairments)),
            arrived: 0,
            dropped: 0,
            marks: Marks::default(),
            next_due_s: 0.0,
            metrics,
            hash: TraceHash::default(),
        }
    }

    /// A packet of `flow` arrives at a FIFO queue at `now_s`; its last transmission started at
    /// `tx_start_s`.
    ///
    /// Times are passed in registers, and departures are counted only when the count matters: each
    /// halves the cost of a packet.
    #[inline(always)]
    pub fn arrive(
        &mut self,
        now_s: f64,
        tx_start_s: f64,
        number: i64,
        size_bytes: u16,
        flow: FlowId,
        flags: Flags,
    ) -> Transit {
        let size_bytes = u32::from(size_bytes);
        let LinkQueue::Fifo(queue) = &mut self.queue else { return Transit::Dropped(flags) };
        let latest_start_s = queue.note_arrival(now_s, tx_start_s);
        if now_s >= self.next_due_s || !queue.accepts_for_certain(size_bytes) {
            let starts = (tx_start_s, latest_start_s);
            return self.arrive_slow_path(now_s, starts, number, size_bytes, flow, flags);
        }
        self.arrived += 1;
        self.hash.add(arrival(now_s, number, flow) ^ ACCEPTED);
        let times =
            queue.transmit(now_s, tx_start_s, size_bytes, &mut self.line, &mut self.metrics);
        queue.push_departure(size_bytes, times.tx_start_s, flags, false);
        Transit::Forwarded(times, flags)
    }

    /// The same if the packet may be impaired or dropped.
    #[inline(never)]
    fn arrive_slow_path(
        &mut self,
        now_s: f64,
        (tx_start_s, latest_start_s): (f64, f64),
        number: i64,
        size_bytes: u32,
        flow: FlowId,
        flags: Flags,
    ) -> Transit {
        if now_s >= self.next_due_s {
            self.run_due_samples(now_s);
        }
        self.arrived += 1;
        let Entering { is_lost, size_bytes, outer, mut flags } =
            self.impair(now_s, size_bytes, (flow, number), flags);
        let LinkQueue::Fifo(queue) = &mut self.queue else { return Transit::Dropped(flags) };
        let mut accepted = !is_lost;
        if accepted {
            let (is_accepted, is_marked) =
                queue.admit(now_s, latest_start_s, size_bytes, flow, outer);
            accepted = is_accepted;
            if is_marked {
                flags = mark(&mut self.marks, self.impairments.as_deref(), flags);
            }
        }
        self.hash.add(arrival(now_s, number, flow) ^ if accepted { ACCEPTED } else { 0 });
        if !accepted {
            self.dropped += 1;
            if let Some(impairments) = &mut self.impairments {
                impairments.note_loss();
                flags = impairments.release(flow, number, flags).1;
            }
            return Transit::Dropped(flags);
        }
        let times =
            queue.transmit(now_s, tx_start_s, size_bytes, &mut self.line, &mut self.metrics);
        let mut at_s = Some(times.at_s);
        if let Some(impairments) = &mut self.impairments {
            (at_s, flags) = impairments.after_transmission(times.at_s, (flow, number), flags);
        }
        queue.push_departure(size_bytes, times.tx_start_s, flags, at_s.is_none());
        match at_s {
            Some(at_s) => Transit::Forwarded(Times { at_s, ..times }, flags),
            None => Transit::Dropped(flags),
        }
    }

    /// Applies impairments in front of the queue.
    #[inline]
    fn impair(
        &mut self,
        now_s: f64,
        size_bytes: u32,
        packet: (FlowId, i64),
        flags: Flags,
    ) -> Entering {
        let Some(impairments) = &mut self.impairments else {
            return Entering { is_lost: false, size_bytes, outer: flags, flags };
        };
        let (size_bytes, seen) = impairments.encapsulate(size_bytes, flags);
        let (is_lost, outer) = impairments.before_queue(now_s, size_bytes, packet, seen);
        self.marks.count(seen, outer);
        Entering { is_lost, size_bytes, outer, flags: impairments.kept(flags, outer) }
    }

    /// A packet arrives at a scheduled queue. Returns whether the link is idle and a packet may
    /// leave, so that a transmission must start now. Dropped packets are fetched by
    /// [`Link::pop_drop`].
    #[inline(always)]
    pub fn enqueue(&mut self, mut routed: RoutedPacket) -> bool {
        let now_s = routed.packet.at_s;
        if now_s >= self.next_due_s {
            self.run_due_samples(now_s);
        }
        self.arrived += 1;
        let (flags, size_bytes) = (routed.packet.flags, u32::from(routed.packet.size_bytes));
        let packet = (routed.flow, routed.packet.number);
        let Entering { is_lost, size_bytes, outer, flags } =
            self.impair(now_s, size_bytes, packet, flags);
        routed.packet.flags = flags;
        let LinkQueue::Scheduled(queue) = &mut self.queue else { return false };
        self.hash.add(arrival(now_s, routed.packet.number, routed.flow));
        if is_lost {
            queue.drops.push(routed);
            return false;
        }
        queue.enqueue(routed, size_bytes, outer)
    }

    /// The link is free: a scheduled queue starts the next transmission. Returns the packet and its
    /// arrival time at the other end, seconds; none if it is lost on the way.
    #[inline(always)]
    pub fn start_transmission(&mut self, now_s: f64) -> Option<(RoutedPacket, Option<f64>)> {
        if now_s >= self.next_due_s {
            self.run_due_samples(now_s);
        }
        let LinkQueue::Scheduled(queue) = &mut self.queue else { return None };
        let item = queue.dequeue(now_s);
        let QueueItem { size_bytes, marked, enqueued_s, packet: mut routed, .. } = item?;
        if marked {
            let (marks, impairments) = (&mut self.marks, self.impairments.as_deref());
            routed.packet.flags = mark(marks, impairments, routed.packet.flags);
        }
        self.hash.add(arrival(now_s, routed.packet.number, routed.flow) ^ ACCEPTED);
        let (end_s, arrival_s) =
            self.line.transmitter.transmit(now_s, size_bytes, self.line.delay_s);
        let mut at_s = Some(arrival_s);
        if self.metrics.window.contains(enqueued_s) {
            if now_s > enqueued_s {
                self.metrics.waiting.add(now_s - enqueued_s);
            } else {
                self.metrics.waiting.add_zero();
            }
        }
        if let Some(impairments) = &mut self.impairments {
            let packet = (routed.flow, routed.packet.number);
            (at_s, routed.packet.flags) =
                impairments.after_transmission(arrival_s, packet, routed.packet.flags);
        }
        queue.serve(now_s, end_s, size_bytes, at_s.is_none());
        Some((routed, at_s))
    }

    /// Whether a scheduled queue just dropped packets.
    #[inline]
    pub fn has_drops(&self) -> bool {
        matches!(&self.queue, LinkQueue::Scheduled(queue) if !queue.drops.is_empty())
    }

    /// A packet that a scheduled queue just dropped, which is counted now.
    pub fn pop_drop(&mut self) -> Option<RoutedPacket> {
        let LinkQueue::Scheduled(queue) = &mut self.queue else { return None };
        let mut routed = queue.drops.pop()?;
        self.dropped += 1;
        if let Some(impairments) = &mut self.impairments {
            impairments.note_loss();
            let (flags, number) = (routed.packet.flags, routed.packet.number);
            routed.packet.flags = impairments.release(routed.flow, number, flags).1;
        }
        Some(routed)
    }

    /// Start of the transmission in progress or of the last one of a scheduled queue, seconds.
    pub fn service_start_s(&self) -> f64 {
        match &self.queue {
            LinkQueue::Fifo(_) => f64::INFINITY,
            LinkQueue::Scheduled(queue) => queue.tx_start_s,
        }
    }

    /// When a scheduled queue starts the next transmission, if packets wait for it, seconds.
    pub fn next_service_s(&self) -> f64 {
        match &self.queue {
            LinkQueue::Scheduled(queue) => queue.next_service_s(),
            LinkQueue::Fifo(_) => f64::INFINITY,
        }
    }

    /// When the last packet accepted so far, or the one in service of a scheduled queue, will have
    /// been transmitted, seconds.
    pub fn free_s(&self) -> f64 {
        match &self.queue {
            LinkQueue::Fifo(queue) => queue.free_s(),
            LinkQueue::Scheduled(queue) => queue.tx_end_s,
        }
    }

    /// Whether the queue exceeds the memory limit.
    pub fn overflowed(&self) -> bool {
        match &self.queue {
            LinkQueue::Fifo(queue) => queue.overflowed,
            LinkQueue::Scheduled(queue) => queue.overflowed,
        }
    }

    /// Processes what is due beside packets: intervals of the circuit breaker, edges of the
    /// measurement window, queue samples, deadlines of the discipline.
    #[cold]
    #[inline(never)]
    fn run_due_samples(&mut self, now_s: f64) {
        loop {
            let sample_s =
                self.metrics.sampler.as_ref().map_or(f64::INFINITY, QueueSampler::next_time_s);
            let deadline_s = match &self.queue {
                LinkQueue::Fifo(queue) => queue.next_update_s(),
                LinkQueue::Scheduled(_) => f64::INFINITY,
            };
            let breaker_s =
                self.impairments.as_ref().map_or(f64::INFINITY, |it| it.breaker_end_s());
            let next_time_s =
                self.metrics.next_window_edge_s.min(sample_s).min(deadline_s).min(breaker_s);
            if next_time_s > now_s {
                self.next_due_s = next_time_s;
                return;
            }
            if next_time_s == breaker_s {
                self.impairments
                    .iter_mut()
                    .filter_map(|it| it.breaker.as_mut())
                    .for_each(|it| it.end());
            } else if next_time_s == self.metrics.next_window_edge_s {
                self.depart_until(next_time_s);
                let counts = self.counts(next_time_s);
                self.metrics.pass_window_edge(counts);
            } else if next_time_s == sample_s {
                let (length, average, probability) = match &mut self.queue {
                    LinkQueue::Fifo(queue) => queue.sample(next_time_s),
                    LinkQueue::Scheduled(queue) => queue.sample(next_time_s),
                };
                if let Some(sampler) = &mut self.metrics.sampler {
                    sampler.samples.push(length as u32);
                    sampler.averages.extend(average);
                    sampler.probabilities.extend(probability);
                }
            } else if let LinkQueue::Fifo(queue) = &mut self.queue {
                queue.update(next_time_s);
            }
        }
    }

    /// Counts all departures up to now.
    fn depart_until(&mut self, now_s: f64) {
        if let LinkQueue::Fifo(queue) = &mut self.queue {
            queue.depart_until(now_s, f64::INFINITY);
        }
    }

    /// Counters at `now_s`; departures up to then must have been counted.
    pub fn counts(&self, now_s: f64) -> LinkCounts {
        let Departures { packets, bits, lost, waiting_area_s, backlog } = match &self.queue {
            LinkQueue::Fifo(queue) => {
                queue.departures(now_s, self.arrived - self.dropped, self.metrics.window.to_s)
            }
            LinkQueue::Scheduled(queue) => queue.departures(now_s),
        };
        LinkCounts {
            arrived: self.arrived,
            dropped: self.dropped + lost,
            marks: self.marks,
            breaker_triggers: self
                .impairments
                .as_ref()
                .and_then(|impairments| impairments.breaker.as_ref())
                .map_or(0, CircuitBreaker::triggers),
            departed: packets,
            departed_bits: bits,
            waiting_area_s,
            backlog,
        }
    }

    /// Updates counters and samples up to the end of the run.
    pub fn finish(&mut self, end_s: f64) {
        self.run_due_samples(end_s);
        self.depart_until(end_s);
    }

    /// Removes one packet that waits in a scheduled queue after the end of the run.
    pub fn drain_at_end(&mut self, now_s: f64) -> Option<RoutedPacket> {
        let LinkQueue::Scheduled(queue) = &mut self.queue else { return None };
        queue.drain(now_s)
    }
}

/// The queue of a link marks a packet; returns the flags that it keeps.
#[inline]
fn mark(marks: &mut Marks, impairments: Option<&Impairments>, flags: Flags) -> Flags {
    let outer = impairments.map_or(flags, |impairments| impairments.encapsulate(0, flags).1);
    marks.count(outer, outer.marked());
    impairments.map_or(outer.marked(), |impairments| impairments.kept(flags, outer.marked()))
}

/// What is hashed of a packet at a link.
#[inline(always)]
fn arrival(now_s: f64, number: i64, flow: FlowId) -> u64 {
    now_s.to_bits() ^ ((number as u64) << 20) ^ (u64::from(flow.number()) << 50)
}

/// What is added to that if the packet is accepted, or starts its transmission.
const ACCEPTED: u64 = 1 << 63;
