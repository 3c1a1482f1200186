//! A link: losses, a queue, a serialiser, a delay.
//!
//! Departures of a first-in first-out queue are known at arrival, so a packet costs one event here: the backlog is the list of
//! departures that lie ahead. Departures at the instant of an arrival come first.

use crate::hash::TraceHash;
use crate::histogram::Histogram;
use crate::packet::Packet;
use crate::random::Stream;
use crate::rate::Serializer;
use cwndlab_queues::{Admission, Arrival, Backlog, Decision, Discipline};
use std::collections::VecDeque;
use std::ops::Range;

/// A window of time [from, to) in which metrics count.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Begin, nanoseconds.
    pub from_ns: u64,
    /// End, nanoseconds.
    pub to_ns: u64,
}

impl Window {
    /// Whether a moment lies in it.
    #[inline]
    pub fn contains(&self, time_ns: u64) -> bool {
        self.from_ns <= time_ns && time_ns < self.to_ns
    }

    /// How much of [begin, end] lies in it, nanoseconds.
    #[inline]
    fn overlap(&self, begin_ns: u64, end_ns: u64) -> u64 {
        end_ns.min(self.to_ns).saturating_sub(begin_ns.max(self.from_ns))
    }

    /// Its length, seconds.
    pub fn seconds(&self) -> f64 {
        (self.to_ns - self.from_ns) as f64 * 1e-9
    }
}

/// Losses beside the queue's.
#[derive(Clone, Debug)]
pub struct Loss {
    /// Flows it concerns; all when absent.
    pub flows: Option<Range<u32>>,
    /// Which packets.
    pub kind: LossKind,
}

/// Which packets are lost.
#[derive(Clone, Debug)]
pub enum LossKind {
    /// Each with this probability, before the queue or after transmission.
    Bernoulli { p: f64, stream: Stream, after_queue: bool },
    /// These, by arrival number from 0; sorted.
    List { packets: Vec<u64>, seen: u64, next: usize },
}

impl Loss {
    fn strikes(&mut self, flow: u32, after: bool) -> bool {
        if self.flows.as_ref().is_some_and(|flows| !flows.contains(&flow)) {
            return false;
        }
        match &mut self.kind {
            LossKind::Bernoulli { p, stream, after_queue } => *after_queue == after && stream.uniform() < *p,
            LossKind::List { packets, seen, next } => {
                if after {
                    return false;
                }
                let hit = packets.get(*next) == Some(seen);
                *seen += 1;
                *next += usize::from(hit);
                hit
            }
        }
    }
}

/// Sums over a run, for metrics. Those named `total_` run from start to end, the others over the measuring window.
#[derive(Clone, Debug, Default)]
pub struct LinkSums {
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets lost, by the queue or beside it.
    pub dropped: u64,
    /// Packets that left.
    pub departed: u64,
    /// Bits that left.
    pub departed_bits: u64,
    /// Sum of waiting times within the window, packet nanoseconds.
    pub waiting_area_ns: u128,
    /// Sum of waiting times of packets that arrived in the window.
    pub waiting_sum_ns: u128,
    /// Packets that were accepted in the window.
    pub accepted: u64,
    /// Their waiting times.
    pub waiting: Histogram,
    /// Arrived, from start to end.
    pub total_arrived: u64,
    /// Lost, from start to end.
    pub total_dropped: u64,
    /// Left, from start to end.
    pub total_departed: u64,
}

#[derive(Clone, Copy, Debug)]
struct Departure {
    at_ns: u64,
    size_bytes: u32,
    lost: bool,
}

/// Queue length at regular times.
#[derive(Clone, Debug)]
pub struct QueueSampler {
    /// Time between samples.
    pub every_ns: u64,
    next_ns: u64,
    /// Packets waiting or in service, one value per sample.
    pub samples: Vec<u32>,
}

impl QueueSampler {
    /// Samples at 0, `every_ns`, ...
    pub fn new(every_ns: u64) -> Self {
        Self { every_ns, next_ns: 0, samples: Vec::new() }
    }
}

/// A one-way link.
#[derive(Clone, Debug)]
pub struct Link {
    serializer: Serializer,
    delay_ns: u64,
    discipline: Discipline,
    losses: Vec<Loss>,
    backlog: VecDeque<Departure>,
    backlog_bytes: u64,
    free_ns: u64,
    window: Window,
    /// Metrics.
    pub sums: LinkSums,
    /// Trace of the queue.
    pub sampler: Option<QueueSampler>,
    /// Hash of arrivals and what became of them.
    pub hash: TraceHash,
}

impl Link {
    /// An idle link.
    pub fn new(serializer: Serializer, delay_ns: u64, discipline: Discipline, losses: Vec<Loss>, window: Window, sampler: Option<QueueSampler>) -> Self {
        Self {
            serializer,
            delay_ns,
            discipline,
            losses,
            backlog: VecDeque::new(),
            backlog_bytes: 0,
            free_ns: 0,
            window,
            sums: LinkSums::default(),
            sampler,
            hash: TraceHash::default(),
        }
    }

    /// A packet arrives. Returns when it reaches the other end, or nothing if it is lost.
    #[inline]
    pub fn arrive(&mut self, packet: &Packet, flow: u32) -> Option<u64> {
        let now = packet.at_ns;
        if self.sampler.is_some() {
            self.sample_until(now);
        }
        self.depart_until(now);
        let measured = self.window.contains(now);
        self.sums.total_arrived += 1;
        self.sums.arrived += u64::from(measured);
        let struck = !self.losses.is_empty() && self.losses.iter_mut().fold(false, |struck, loss| loss.strikes(flow, false) | struck);
        let size = u32::from(packet.size_bytes);
        let accepted = !struck && self.admit(now, size, flow);
        self.hash.add(now ^ ((packet.number as u64) << 20) ^ (u64::from(flow) << 50) ^ (u64::from(accepted) << 63));
        if !accepted {
            self.sums.total_dropped += 1;
            self.sums.dropped += u64::from(measured);
            return None;
        }
        let start = now.max(self.free_ns);
        self.free_ns = self.serializer.finish(start, size);
        self.sums.waiting_area_ns += u128::from(self.window.overlap(now, start));
        if measured {
            self.sums.accepted += 1;
            self.sums.waiting_sum_ns += u128::from(start - now);
            self.sums.waiting.add(start - now);
        }
        let lost = !self.losses.is_empty() && self.losses.iter_mut().fold(false, |struck, loss| loss.strikes(flow, true) | struck);
        self.backlog.push_back(Departure { at_ns: self.free_ns, size_bytes: size, lost });
        self.backlog_bytes += u64::from(size);
        (!lost).then_some(self.free_ns + self.delay_ns)
    }

    #[inline]
    fn admit(&mut self, now_ns: u64, size_bytes: u32, flow: u32) -> bool {
        let backlog = Backlog {
            packets: self.backlog.len() as u64,
            bytes: self.backlog_bytes,
            in_service_bytes: self.backlog.front().map_or(0, |first| u64::from(first.size_bytes)),
        };
        self.discipline.admit(&Arrival { now_ns, size_bytes, flow }, &backlog) == Decision::Accept
    }

    #[inline]
    fn depart_until(&mut self, now_ns: u64) {
        while let Some(first) = self.backlog.front().copied().filter(|first| first.at_ns <= now_ns) {
            self.backlog.pop_front();
            self.backlog_bytes -= u64::from(first.size_bytes);
            let measured = u64::from(self.window.contains(first.at_ns));
            self.sums.departed_bits += measured * 8 * u64::from(first.size_bytes);
            if first.lost {
                self.sums.total_dropped += 1;
                self.sums.dropped += measured;
            } else {
                self.sums.total_departed += 1;
                self.sums.departed += measured;
            }
        }
    }

    #[cold]
    fn sample_until(&mut self, now_ns: u64) {
        let Some(mut sampler) = self.sampler.take() else { return };
        while sampler.next_ns <= now_ns {
            self.depart_until(sampler.next_ns);
            sampler.samples.push(self.backlog.len() as u32);
            sampler.next_ns += sampler.every_ns;
        }
        self.sampler = Some(sampler);
    }

    /// Brings counts and samples up to the end of the run.
    pub fn finish(&mut self, end_ns: u64) {
        self.sample_until(end_ns);
        self.depart_until(end_ns);
    }

    /// Packets waiting or in service.
    pub fn backlog(&self) -> usize {
        self.backlog.len()
    }

    /// Name of the discipline.
    pub fn discipline(&self) -> &'static str {
        match self.discipline {
            Discipline::DropTail(_) => "drop-tail",
        }
    }
}

/// A flow's own link: no loss, no limit, no metrics; arithmetic only.
#[derive(Clone, Debug)]
pub struct Pipe {
    serializer: Serializer,
    free_ns: u64,
    delay_ns: u64,
}

impl Pipe {
    /// An idle pipe; without a rate it only delays.
    pub fn new(rate_bps: Option<u64>, delay_ns: u64) -> Self {
        Self { serializer: rate_bps.map_or(Serializer::Instant, Serializer::constant), free_ns: 0, delay_ns }
    }

    /// When a packet that enters now reaches the other end.
    #[inline]
    pub fn pass(&mut self, now_ns: u64, size_bytes: u32) -> u64 {
        self.free_ns = self.serializer.finish(now_ns.max(self.free_ns), size_bytes);
        self.free_ns + self.delay_ns
    }
}
