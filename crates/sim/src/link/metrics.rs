//! What is counted at a link.

/// A window of time [from, to) in which metrics count.
#[derive(Clone, Copy, Debug)]
pub struct MeasurementWindow {
    /// Begin, seconds.
    pub from_s: f64,
    /// End, seconds.
    pub to_s: f64,
}

impl MeasurementWindow {
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
    /// Packets marked "congestion experienced".
    pub marked: u64,
    /// Packets that left.
    pub departed: u64,
    /// Bits that left.
    pub departed_bits: u64,
    /// Integral over time of the number of packets waiting, until the end of the window, packet seconds.
    pub waiting_area_s: f64,
    /// Packets waiting or in service.
    pub backlog: u64,
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

    /// When the next one is due, seconds.
    pub fn next_time_s(&self) -> f64 {
        self.samples.len() as f64 * self.every_s
    }
}
