//! Per-flow state: endpoints, its place among streams and pipes, and sums for metrics.

use crate::hash::TraceHash;
use crate::link::Window;
use crate::rate::Serializer;
use cwndlab_tcp::{Counters, Receiver, Sender};

/// A TCP flow.
#[derive(Clone, Debug)]
pub struct TcpFlow {
    /// Sender.
    pub sender: Sender,
    /// Receiver.
    pub receiver: Receiver,
    /// Where it is in the tables.
    pub place: Place,
    /// Index of its knobs.
    pub knobs: u32,
    /// Earliest pending entry of its retransmission timer.
    pub armed_s: f64,
    /// Sums.
    pub sums: FlowSums,
    /// Hash of what it sent.
    pub hash: TraceHash,
}

/// A source of constant-bit-rate packets.
#[derive(Clone, Debug)]
pub struct CrossFlow {
    /// When the next packet is complete.
    pub serializer: Serializer,
    /// Bytes on the wire.
    pub size_bytes: u16,
    /// Where it is in the tables.
    pub place: Place,
    /// Number of the next packet.
    pub next: i64,
    /// When it stops, seconds.
    pub stop_s: f64,
}

/// Indices into the tables of the engine.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its route.
    pub route: u32,
    /// First of its streams.
    pub first_stream: u32,
    /// First of its pipes.
    pub first_pipe: u32,
}

/// Sums over a run. Those named `total_` run from start to end, the others over the measuring window.
#[derive(Clone, Debug, Default)]
pub struct FlowSums {
    /// New data packets that reached the receiver.
    pub delivered: u64,
    /// Data packets lost.
    pub dropped: u64,
    /// Data packets that reached the receiver, again or anew.
    pub total_delivered: u64,
    /// Data packets lost.
    pub total_dropped: u64,
    /// Data packets on their way when the run ended.
    pub in_flight: u64,
    /// Sender's counters at the begin and the end of the window.
    pub at_begin: Counters,
    /// Sender's counters at the end of the window.
    pub at_end: Counters,
    /// When everything was acknowledged.
    pub finish_s: Option<f64>,
    /// Goodput in bins.
    pub bins: Bins,
}

/// Mean and variance of packets per bin, in one pass.
#[derive(Clone, Debug, Default)]
pub struct Bins {
    index: u64,
    count: u64,
    sum: f64,
    sum_of_squares: f64,
}

impl Bins {
    /// One packet in the window, at `now_s`, with bins of `bin_s`; times never decrease.
    #[inline]
    pub fn add(&mut self, now_s: f64, window: &Window, bin_s: f64) {
        let index = ((now_s - window.from_s) / bin_s) as u64;
        if index != self.index {
            self.close(index);
        }
        self.count += 1;
    }

    fn close(&mut self, next: u64) {
        let count = self.count as f64;
        self.sum += count;
        self.sum_of_squares += count * count;
        (self.index, self.count) = (next, 0);
    }

    /// Standard deviation over mean of the rate in whole bins of the window; none without packets or with a single bin.
    pub fn coefficient_of_variation(&self, window: &Window, bin_s: f64) -> Option<f64> {
        // A bin that the window's end cuts by rounding only still counts.
        let bins = (window.seconds() / bin_s + 1e-9) as u64;
        let mut done = self.clone();
        if done.index < bins {
            done.close(bins);
        }
        let mean = done.sum / bins as f64;
        let variance = done.sum_of_squares / bins as f64 - mean * mean;
        (bins > 1 && mean > 0.0).then(|| variance.max(0.0).sqrt() / mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variation_by_hand() {
        // Bins of 1 s over [0, 4): 1, 3, 0, 0 packets. Mean 1, variance (0 + 4 + 1 + 1)/4 = 1.5.
        let window = Window { from_s: 0.0, to_s: 4.0 };
        let mut bins = Bins::default();
        for time_s in [0.1, 1.0, 1.5, 1.999] {
            bins.add(time_s, &window, 1.0);
        }
        let cov = bins.coefficient_of_variation(&window, 1.0).unwrap();
        assert!((cov - 1.5f64.sqrt()).abs() < 1e-12, "{cov}");
    }
}
