//! Metrics of a link: counters and queue samples.

use crate::measure::histogram::Histogram;
use crate::measure::window::MeasurementWindow;
use crate::packet::Flags;

/// Packets marked (CE), by the service that their ECN field asks for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Marks {
    /// Packets with ECT(1), of L4S flows.
    pub l4s: u64,
    /// Packets with ECT(0), of classic flows.
    pub classic: u64,
}

impl Marks {
    /// Counts a packet whose flags change, if this marks it.
    #[inline]
    pub fn count(&mut self, old: Flags, new: Flags) {
        if new.is_ce() && !old.is_ce() {
            *(if old.is_l4s() { &mut self.l4s } else { &mut self.classic }) += 1;
        }
    }
}

/// Counters since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkCounts {
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets dropped by the queue or by impairments.
    pub dropped: u64,
    /// Packets marked.
    pub marks: Marks,
    /// How often the circuit breaker has been triggered.
    pub breaker_triggers: u64,
    /// Packets departed.
    pub departed: u64,
    /// Bits departed.
    pub departed_bits: u64,
    /// Time integral of the number of waiting packets, until the end of the window, packet seconds.
    pub waiting_area_s: f64,
    /// Packets that wait or are in service.
    pub backlog: u64,
}

/// What has left the queue of a link.
#[derive(Clone, Copy, Debug)]
pub struct Departures {
    /// Packets departed, without those lost.
    pub packets: u64,
    /// Bits departed.
    pub bits: u64,
    /// Packets lost after transmission.
    pub lost: u64,
    /// Time integral of the number of waiting packets, packet seconds.
    pub waiting_area_s: f64,
    /// Packets that wait or are in service.
    pub backlog: u64,
}

/// Samples of the queue length at a regular interval.
#[derive(Clone, Debug)]
pub struct QueueSampler {
    /// Sampling interval, seconds.
    pub every_s: f64,
    /// Packets that wait or are in service, per sample.
    pub samples: Vec<u32>,
    /// Average queue of the discipline, packets, per sample; empty if it keeps none.
    pub averages: Vec<f64>,
    /// Drop probability of the discipline, per sample; empty if it has none.
    pub probabilities: Vec<f64>,
}

impl QueueSampler {
    /// Samples at 0, `every_s`, ...
    pub fn new(every_s: f64) -> Self {
        Self { every_s, samples: Vec::new(), averages: Vec::new(), probabilities: Vec::new() }
    }

    /// Time of the next sample, seconds.
    pub fn next_time_s(&self) -> f64 {
        self.samples.len() as f64 * self.every_s
    }
}

/// What a link measures within the measurement window.
#[derive(Clone, Debug)]
pub struct LinkMetrics {
    /// The window.
    pub window: MeasurementWindow,
    /// The next edge of the window, seconds.
    pub next_window_edge_s: f64,
    /// Whether the window has started and not ended.
    pub measuring: bool,
    /// Queueing delays of packets that arrived in the window.
    pub waiting: Histogram,
    /// Counters at the start of the window.
    pub counts_at_window_start: LinkCounts,
    /// Counters at its end.
    pub counts_at_window_end: LinkCounts,
    /// Queue trace.
    pub sampler: Option<QueueSampler>,
}

impl LinkMetrics {
    /// Metrics before the start of a window.
    pub fn new(window: MeasurementWindow, sampler: Option<QueueSampler>) -> Self {
        Self {
            window,
            next_window_edge_s: window.from_s,
            measuring: false,
            waiting: Histogram::default(),
            counts_at_window_start: LinkCounts::default(),
            counts_at_window_end: LinkCounts::default(),
            sampler,
        }
    }

    /// The measurement window starts or ends, with these counters.
    pub fn pass_window_edge(&mut self, counts: LinkCounts) {
        if self.next_window_edge_s == self.window.from_s {
            self.counts_at_window_start = counts;
            (self.measuring, self.next_window_edge_s) = (true, self.window.to_s);
        } else {
            self.counts_at_window_end = counts;
            (self.measuring, self.next_window_edge_s) = (false, f64::INFINITY);
        }
    }
}
