//! Measurements of the endpoints.

use crate::Cut;

/// A sample of a congestion window.
#[derive(Clone, Copy, Debug)]
pub struct WindowSample {
    /// Time, seconds.
    pub time_s: f64,
    /// Flow number.
    pub flow: u32,
    /// Congestion window, packets.
    pub cwnd: f64,
    /// Slow-start threshold, packets; none before the first cut.
    pub ssthresh: Option<f64>,
    /// Smoothed RTT, seconds.
    pub srtt_s: f64,
}

/// Measurements of a flow; sums are over the measuring window.
#[derive(Clone, Debug, Default)]
pub struct FlowReport {
    /// Stream bytes that arrived, without duplicates.
    pub measured_bytes: u64,
    /// Stream bytes that arrived in the whole run.
    pub total_bytes: u64,
    /// Stream bytes that arrived, in bins of the whole run.
    pub bins: Vec<u64>,
    /// Number of samples.
    pub samples: u64,
    /// Sum of the sampled windows, packets.
    pub cwnd_sum: f64,
    /// Number of RTT samples.
    pub rtt_samples: u64,
    /// Sum of the sampled smoothed RTTs, seconds.
    pub rtt_sum_s: f64,
    /// Packets declared lost before the measuring window begins, and before it ends.
    pub lost_packets: [u64; 2],
    /// Minimum RTT by quinn, seconds.
    pub min_rtt_s: Option<f64>,
    /// When data last arrived, seconds.
    pub last_s: Option<f64>,
    /// All cuts with their times in seconds.
    pub cuts: Vec<(f64, Cut)>,
    /// When all data was acknowledged, seconds.
    pub finish_s: Option<f64>,
    /// Whether the connection was established.
    pub has_connected: bool,
    /// Why the flow ended early: its connection failed, or one of its sockets was closed.
    pub failed: Option<String>,
    /// Why the flow's rule stopped.
    pub fault: Option<String>,
}

/// The measurements of a run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Measurements of each flow.
    pub seen: Vec<FlowReport>,
    /// The trace of windows.
    pub rows: Vec<WindowSample>,
    /// Datagrams that the endpoints' sockets dropped.
    pub dropped_datagrams: u64,
}

impl FlowReport {
    /// Records which sockets, the client's and the server's, were closed at the end. This replaces
    /// the errors that followed from it.
    pub(super) fn note_closed_sockets(&mut self, closed: [bool; 2]) {
        let whose = match closed {
            [false, false] => return,
            [true, false] => "the socket of its client was closed",
            [false, true] => "the socket of its server was closed",
            [true, true] => "the sockets of its client and its server were closed",
        };
        let last = self
            .last_s
            .map_or("no data arrived".into(), |at_s| format!("data last arrived at {at_s:.3} s"));
        self.failed = Some(format!("{whose} before the end of the run; {last}"));
    }
}
