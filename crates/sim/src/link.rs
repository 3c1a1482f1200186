//! A link: losses, a queue, a serialiser, a delay.
//!
//! Departures of a first-in first-out queue are known at arrival, so a packet costs one event here: the backlog is the list of
//! departures that lie ahead. Where a departure and an arrival coincide, the one that was set in motion first comes first: the arriving
//! packet when its transmission on the link before began, the departing one when its own did. That is ns-2's order of insertion, and in
//! slow start it decides drops: packets arrive in pairs, the first of each exactly when a packet leaves.

use crate::hash::TraceHash;
use crate::histogram::Histogram;
use crate::loss::{Loss, Strike};
use crate::rate::Serializer;
use cwndlab_queues::{Admission, Arrival, Backlog, Decision, Discipline};
use std::collections::VecDeque;

/// The arrival time of a packet that does not arrive.
pub const LOST: f64 = f64::INFINITY;

/// Packets in one queue beyond which a run is stopped: about 1.5 GiB.
const MOST_BACKLOG: usize = 50_000_000;

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

    /// Its length, seconds.
    pub fn seconds(&self) -> f64 {
        self.to_s - self.from_s
    }
}

/// Counts since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkCounts {
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets lost, by the queue or beside it.
    pub dropped: u64,
    /// Packets that left.
    pub departed: u64,
    /// Bits that left.
    pub departed_bits: u64,
    /// Integral over time of the number of packets waiting, packet seconds.
    pub waiting_area_s: f64,
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
    arrived: u64,
    dropped: u64,
    accepted_bytes: u64,
    /// Sum of waiting times of all packets accepted, seconds.
    waited_s: f64,
    /// Packets lost after transmission.
    lost: u64,
    window: Window,
    /// The next edge of the window.
    next_mark_s: f64,
    /// The next moment with something to do beside packets: arrivals need compare with it only.
    next_look_s: f64,
    /// Departures that may lie uncounted.
    patience: u64,
    /// Whether the queue outgrew the memory meant for it.
    pub overflowed: bool,
    measuring: bool,
    /// Waiting times of packets that arrived in the window.
    pub waiting: Histogram,
    /// Counts at the edges of the window.
    pub at_begin: LinkCounts,
    /// Counts at its end.
    pub at_end: LinkCounts,
    /// Trace of the queue.
    pub sampler: Option<QueueSampler>,
    /// Hash of arrivals and what became of them.
    pub hash: TraceHash,
}

impl Link {
    /// An idle link.
    pub fn new(
        serializer: Serializer,
        delay_s: f64,
        discipline: Discipline,
        losses: Vec<Loss>,
        window: Window,
        sampler: Option<QueueSampler>,
    ) -> Self {
        Self {
            serializer,
            delay_s,
            discipline,
            losses,
            backlog: VecDeque::new(),
            backlog_bytes: 0,
            free_s: 0.0,
            arrived: 0,
            dropped: 0,
            accepted_bytes: 0,
            waited_s: 0.0,
            lost: 0,
            window,
            next_mark_s: window.from_s,
            next_look_s: 0.0,
            patience: 64,
            overflowed: false,
            measuring: false,
            waiting: Histogram::default(),
            at_begin: LinkCounts::default(),
            at_end: LinkCounts::default(),
            sampler,
            hash: TraceHash::default(),
        }
    }

    /// Packet `number` of `flow` arrives at `now`, after a transmission that began at `since`. Returns when it reaches the other end
    /// ([`LOST`] if it does not) and when its transmission here begins.
    ///
    /// Times go in and out in registers, and departures are counted only when the count matters: both halve the cost of a packet.
    #[inline]
    pub fn arrive(&mut self, now: f64, since: f64, number: i64, size_bytes: u16, flow: u32) -> (f64, f64) {
        if now >= self.next_look_s {
            self.look(now);
        }
        self.arrived += 1;
        let size = u32::from(size_bytes);
        let (struck, lost) = if self.losses.is_empty() { (false, false) } else { self.strike(flow) };
        let most = Backlog { packets: self.backlog.len() as u64, bytes: self.backlog_bytes, ..Backlog::default() };
        let crowded = most.packets >= self.patience || !self.discipline.surely_accepts(size, &most);
        let accepted = !struck && (!crowded || self.admit(now, since, size, flow));
        self.hash.add(now.to_bits() ^ ((number as u64) << 20) ^ (u64::from(flow) << 50) ^ (u64::from(accepted) << 63));
        if !accepted {
            self.dropped += 1;
            return (LOST, now);
        }
        let start = if self.free_s > now { self.free_s } else { now };
        let (end, transmission) = self.serializer.finish(start, size);
        self.free_s = end;
        if start > now {
            self.waited_s += start - now;
            if self.measuring {
                self.waiting.add(start - now);
            }
        } else if self.measuring {
            self.waiting.add_zero();
        }
        self.backlog.push_back(Departure { at_s: end, since_s: start, size_bytes: size, lost });
        self.backlog_bytes += u64::from(size);
        self.accepted_bytes += u64::from(size);
        // In ns-2's order of operations (LinkDelay::recv).
        (if lost { LOST } else { start + (transmission + self.delay_s) }, start)
    }

    /// Whether a packet is lost before the queue, or after it.
    #[cold]
    fn strike(&mut self, flow: u32) -> (bool, bool) {
        let before = self.losses.iter_mut().fold(false, |struck, loss| (loss.strikes(flow, false) == Strike::Lost) | struck);
        (before, !before && self.losses.iter_mut().fold(false, |struck, loss| (loss.strikes(flow, true) == Strike::Lost) | struck))
    }

    /// Counts what has departed, and asks the discipline.
    #[inline(never)]
    fn admit(&mut self, now_s: f64, since_s: f64, size_bytes: u32, flow: u32) -> bool {
        self.depart_until(now_s, since_s);
        self.patience = (2 * self.backlog.len() as u64).clamp(64, MOST_BACKLOG as u64);
        if self.backlog.len() >= MOST_BACKLOG {
            self.overflowed = true;
            return false;
        }
        let backlog = Backlog {
            packets: self.backlog.len() as u64,
            bytes: self.backlog_bytes,
            in_service_bytes: self.backlog.front().map_or(0, |first| u64::from(first.size_bytes)),
            ..Backlog::default()
        };
        let arrival = Arrival { now_s, size_bytes, flow, ecn: false, priority: 1 };
        self.discipline.admit(&arrival, &backlog, &mut || 0.5) == Decision::Accept
    }

    fn depart_until(&mut self, now_s: f64, since_s: f64) {
        while let Some(first) = self.backlog.front() {
            if first.at_s > now_s || (first.at_s == now_s && first.since_s >= since_s) {
                return;
            }
            self.backlog_bytes -= u64::from(first.size_bytes);
            self.lost += u64::from(first.lost);
            self.backlog.pop_front();
        }
    }

    /// Something is due that is not a packet: an edge of the window, or a sample of the queue.
    #[cold]
    fn look(&mut self, now_s: f64) {
        if now_s >= self.next_mark_s {
            self.mark(now_s);
        }
        let next_sample_s = self.sample_until(now_s);
        self.next_look_s = self.next_mark_s.min(next_sample_s);
    }

    /// Counts at `now_s`, when what departs until then has departed.
    pub fn counts(&mut self, now_s: f64) -> LinkCounts {
        self.depart_until(now_s, f64::INFINITY);
        let still_waiting: f64 = self.backlog.iter().map(|packet| (packet.since_s - now_s).max(0.0)).sum();
        LinkCounts {
            arrived: self.arrived,
            dropped: self.dropped + self.lost,
            departed: self.arrived - self.dropped - self.lost - self.backlog.len() as u64,
            departed_bits: 8 * (self.accepted_bytes - self.backlog_bytes),
            waiting_area_s: self.waited_s - still_waiting,
        }
    }

    /// An edge of the window was passed.
    fn mark(&mut self, now_s: f64) {
        if !self.measuring && self.next_mark_s == self.window.from_s {
            self.at_begin = self.counts(self.window.from_s);
            (self.measuring, self.next_mark_s) = (true, self.window.to_s);
        }
        if now_s >= self.next_mark_s {
            self.at_end = self.counts(self.window.to_s);
            (self.measuring, self.next_mark_s) = (false, f64::INFINITY);
        }
    }

    /// Takes the samples due; returns when the next one is.
    fn sample_until(&mut self, now_s: f64) -> f64 {
        let Some(mut sampler) = self.sampler.take() else { return f64::INFINITY };
        loop {
            let next_s = sampler.samples.len() as f64 * sampler.every_s;
            if next_s > now_s {
                self.sampler = Some(sampler);
                return next_s;
            }
            self.depart_until(next_s, f64::INFINITY);
            sampler.samples.push(self.backlog.len() as u32);
        }
    }

    /// Brings counts and samples up to the end of the run.
    pub fn finish(&mut self, end_s: f64) {
        self.look(end_s);
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
