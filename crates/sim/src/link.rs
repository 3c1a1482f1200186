//! A link: losses, a queue, a serialiser, a delay.
//!
//! Departures of a first-in first-out queue are known at arrival, so a packet costs one event here: the backlog is the list of
//! departures that lie ahead. Where a departure and an arrival coincide, the one that was set in motion first comes first: the arriving
//! packet when its transmission on the link before began, the departing one when its own did. That is ns-2's order of insertion, and in
//! slow start it decides drops: packets arrive in pairs, the first of each exactly when a packet leaves.

use crate::hash::TraceHash;
use crate::histogram::Histogram;
use crate::packet::Packet;
use crate::random::Stream;
use crate::rate::{Constant, Serializer};
use cwndlab_queues::{Admission, Arrival, Backlog, Decision, Discipline};
use std::collections::VecDeque;
use std::ops::Range;

/// A window of time [from, to) in which metrics count.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Begin, seconds.
    pub from_s: f64,
    /// End, seconds.
    pub to_s: f64,
}

impl Window {
    /// Whether a moment lies in it.
    #[inline]
    pub fn contains(&self, time_s: f64) -> bool {
        self.from_s <= time_s && time_s < self.to_s
    }

    /// How much of [begin, end] lies in it, seconds.
    #[inline]
    fn overlap(&self, begin_s: f64, end_s: f64) -> f64 {
        (end_s.min(self.to_s) - begin_s.max(self.from_s)).max(0.0)
    }

    /// Its length, seconds.
    pub fn seconds(&self) -> f64 {
        self.to_s - self.from_s
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
    /// Sum of waiting times within the window, packet seconds.
    pub waiting_area_s: f64,
    /// Waiting times of packets that arrived in the window.
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
    at_s: f64,
    /// When its transmission began.
    since_s: f64,
    size_bytes: u32,
    lost: bool,
}

/// Queue length at regular times.
#[derive(Clone, Debug)]
pub struct QueueSampler {
    /// Time between samples, seconds.
    pub every_s: f64,
    /// Packets waiting or in service, one value per sample.
    pub samples: Vec<u32>,
}

impl QueueSampler {
    /// Samples at 0, `every_s`, ...
    pub fn new(every_s: f64) -> Self {
        Self { every_s, samples: Vec::new() }
    }
}

/// A one-way link.
#[derive(Clone, Debug)]
pub struct Link {
    serializer: Serializer,
    delay_s: f64,
    discipline: Discipline,
    losses: Vec<Loss>,
    backlog: VecDeque<Departure>,
    backlog_bytes: u64,
    free_s: f64,
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
    pub fn new(serializer: Serializer, delay_s: f64, discipline: Discipline, losses: Vec<Loss>, window: Window, sampler: Option<QueueSampler>) -> Self {
        Self {
            serializer,
            delay_s,
            discipline,
            losses,
            backlog: VecDeque::new(),
            backlog_bytes: 0,
            free_s: 0.0,
            window,
            sums: LinkSums::default(),
            sampler,
            hash: TraceHash::default(),
        }
    }

    /// A packet arrives. Unless it is lost, sets when it reaches the other end, and returns true.
    #[inline]
    pub fn arrive(&mut self, packet: &mut Packet, flow: u32) -> bool {
        let now = packet.at_s;
        if self.sampler.is_some() {
            self.sample_until(now);
        }
        self.depart_until(now, packet.since_s);
        let measured = self.window.contains(now);
        self.sums.total_arrived += 1;
        self.sums.arrived += u64::from(measured);
        let size = u32::from(packet.size_bytes);
        let (struck, lost) = if self.losses.is_empty() { (false, false) } else { self.strike(flow) };
        let accepted = !struck && self.admit(now, size, flow);
        self.hash.add(now.to_bits() ^ ((packet.number as u64) << 20) ^ (u64::from(flow) << 50) ^ (u64::from(accepted) << 63));
        if !accepted {
            self.sums.total_dropped += 1;
            self.sums.dropped += u64::from(measured);
            return false;
        }
        let start = now.max(self.free_s);
        let (end, transmission) = self.serializer.finish(start, size);
        self.free_s = end;
        if start > now {
            self.sums.waiting_area_s += self.window.overlap(now, start);
        }
        if measured {
            self.sums.waiting.add(start - now);
        }
        self.backlog.push_back(Departure { at_s: end, since_s: start, size_bytes: size, lost });
        self.backlog_bytes += u64::from(size);
        // In ns-2's order of operations (LinkDelay::recv).
        packet.at_s = start + (transmission + self.delay_s);
        packet.since_s = start;
        !lost
    }

    /// Whether a packet is lost before the queue, or after it.
    #[cold]
    fn strike(&mut self, flow: u32) -> (bool, bool) {
        let before = self.losses.iter_mut().fold(false, |struck, loss| loss.strikes(flow, false) | struck);
        (before, !before && self.losses.iter_mut().fold(false, |struck, loss| loss.strikes(flow, true) | struck))
    }

    #[inline]
    fn admit(&mut self, now_s: f64, size_bytes: u32, flow: u32) -> bool {
        let backlog = Backlog {
            packets: self.backlog.len() as u64,
            bytes: self.backlog_bytes,
            in_service_bytes: self.backlog.front().map_or(0, |first| u64::from(first.size_bytes)),
        };
        self.discipline.admit(&Arrival { now_s, size_bytes, flow }, &backlog) == Decision::Accept
    }

    #[inline]
    fn depart_until(&mut self, now_s: f64, since_s: f64) {
        while let Some(first) = self.backlog.front() {
            if first.at_s > now_s || (first.at_s == now_s && first.since_s >= since_s) {
                return;
            }
            let (size, lost) = (u64::from(first.size_bytes), u64::from(first.lost));
            let measured = u64::from(self.window.contains(first.at_s));
            self.backlog_bytes -= size;
            self.sums.departed_bits += measured * size * 8;
            self.sums.total_departed += 1 - lost;
            self.sums.departed += measured * (1 - lost);
            self.sums.total_dropped += lost;
            self.sums.dropped += measured * lost;
            self.backlog.pop_front();
        }
    }

    #[cold]
    fn sample_until(&mut self, now_s: f64) {
        let Some(mut sampler) = self.sampler.take() else { return };
        loop {
            let next_s = sampler.samples.len() as f64 * sampler.every_s;
            if next_s > now_s {
                break;
            }
            self.depart_until(next_s, f64::INFINITY);
            sampler.samples.push(self.backlog.len() as u32);
        }
        self.sampler = Some(sampler);
    }

    /// Brings counts and samples up to the end of the run.
    pub fn finish(&mut self, end_s: f64) {
        self.sample_until(end_s);
        self.depart_until(end_s, f64::INFINITY);
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
    serializer: Option<Constant>,
    free_s: f64,
    delay_s: f64,
}

impl Pipe {
    /// An idle pipe; without a rate it only delays.
    pub fn new(rate_bps: Option<u64>, delay_s: f64) -> Self {
        Self { serializer: rate_bps.map(Constant::new), free_s: 0.0, delay_s }
    }

    /// A packet enters: sets when it reaches the other end.
    #[inline]
    pub fn pass(&mut self, packet: &mut Packet) {
        match &mut self.serializer {
            Some(serializer) => {
                let start = packet.at_s.max(self.free_s);
                let transmission = serializer.transmission_s(u32::from(packet.size_bytes));
                self.free_s = start + transmission;
                packet.at_s = start + (transmission + self.delay_s);
                packet.since_s = start;
            }
            None => {
                packet.since_s = packet.at_s;
                packet.at_s += self.delay_s;
            }
        }
    }
}
