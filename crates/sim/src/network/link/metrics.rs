//! Metrics of a link: counters and queue samples.

/// Counters since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkCounts {
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets dropped by the queue or by impairments.
    pub dropped: u64,
    /// Packets marked (CE).
    pub marked: u64,
    /// Packets departed.
    pub departed: u64,
    /// Bits departed.
    pub departed_bits: u64,
    /// Time integral of the number of waiting packets, until the end of the window, packet seconds.
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
}

impl QueueSampler {
    /// Samples at 0, `every_s`, ...
    pub fn new(every_s: f64) -> Self {
        Self { every_s, samples: Vec::new() }
    }

    /// Time of the next sample, seconds.
    pub fn next_time_s(&self) -> f64 {
        self.samples.len() as f64 * self.every_s
    }
}
