//! What was recorded of a run.

use crate::endpoint::transfer::Transfer;
use crate::measure::trace::TraceRecorder;
use crate::network::link::QueueSampler;

/// Traces of a run, and the names behind their indices.
#[derive(Debug)]
pub struct Traces<'a> {
    /// Recorded rows, if the scenario asks for any.
    pub recorder: Option<&'a TraceRecorder>,
    /// Samples of the queue of each link.
    pub queues: Vec<&'a QueueSampler>,
    /// End of simulated time, seconds: the last bin of the rate trace may be shorter.
    pub end_s: f64,
    /// Rate that cross traffic leaves available on each link per bin of the rate trace, bit/s.
    pub available: Vec<&'a [f64]>,
    /// Completed transfers and the names of their groups; none if the scenario has no transfers.
    pub transfers: Option<(&'a [Transfer], &'a [String])>,
}
