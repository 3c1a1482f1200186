//! Per-flow state: the two ends of a TCP flow, cross traffic, and sums for metrics.

use crate::arrivals::ActiveTransfer;
use crate::event_queues::FlowIndices;
use crate::link::MeasurementWindow;
use crate::packet::Flags;
use crate::trace_hash::TraceHash;
use cwndlab_tcp::{NEVER, Receiver, Sender};

/// The sending end of a TCP flow.
#[derive(Clone, Debug)]
pub struct SenderEndpoint {
    /// Sender.
    pub sender: Sender,
    /// Where the flow is in the tables.
    pub indices: FlowIndices,
    /// Index of its knobs.
    pub knobs: u32,
    /// Header of its packets: the priority.
    pub flags: Flags,
    /// Earliest pending entry of its retransmission timer, seconds.
    pub rto_entry_s: f64,
    /// Hash of what it sent.
    pub hash: TraceHash,
    /// When everything was acknowledged, seconds, or [`NEVER`].
    pub finish_s: f64,
    /// What is due to it beside acknowledgements; none where it only sends from its start on.
    pub app: Option<Box<ApplicationState>>,
}

/// What is due to a sender beside acknowledgements and its retransmission timer.
#[derive(Clone, Debug)]
pub struct ApplicationState {
    /// When its application stops, seconds.
    pub stop_s: f64,
    /// When the next request reaches it, seconds.
    pub request_s: f64,
    /// Earliest pending entry of its pacing, seconds.
    pub pacing_entry_s: f64,
    /// What it is to do, where it is not to send without end.
    pub transfer: Option<ActiveTransfer>,
}

impl ApplicationState {
    /// For a sender that stops then and has this to do; none where there is nothing to note.
    pub fn of(sender: &Sender, stop_s: f64, transfer: Option<ActiveTransfer>) -> Option<Box<Self>> {
        let is_needed = stop_s < NEVER || transfer.is_some() || sender.is_paced();
        is_needed
            .then(|| Box::new(Self { stop_s, request_s: NEVER, pacing_entry_s: NEVER, transfer }))
    }

    /// Whether nothing of it is due up to `at_s`, and nobody waits for the end of what it is to do; its pacing is due at `pacing_s`.
    pub fn is_idle_until(&self, at_s: f64, pacing_s: f64) -> bool {
        self.transfer.is_none() && at_s < self.stop_s.min(self.request_s).min(pacing_s)
    }
}

impl SenderEndpoint {
    /// What it is to do, where it is not to send without end.
    pub fn transfer(&self) -> Option<&ActiveTransfer> {
        self.app.as_ref()?.transfer.as_ref()
    }

    /// Whether everything was acknowledged just now.
    pub fn is_over(&self) -> bool {
        self.finish_s == NEVER && self.sender.deadline_s() == NEVER && self.sender.is_finished()
    }

    /// When everything was acknowledged, seconds.
    pub fn finish_s(&self) -> Option<f64> {
        Some(self.finish_s).filter(|&finish_s| finish_s < NEVER)
    }
}

/// The receiving end of a TCP flow. Sums named `total_` run from start to end, the others over the measuring window.
#[derive(Clone, Debug)]
pub struct ReceiverEndpoint {
    /// Receiver.
    pub receiver: Receiver,
    /// Index of its knobs.
    pub knobs: u32,
    /// New data packets that arrived.
    pub delivered: u64,
    /// Bytes of data packets that arrived, again or anew, the SYN's too.
    pub arrived_bytes: u64,
    /// Data packets lost on the way.
    pub dropped: u64,
    /// Data packets that arrived, again or anew.
    pub total_delivered: u64,
    /// Data packets lost on the way.
    pub total_dropped: u64,
    /// Data packets on their way when the run ended.
    pub in_flight: u32,
    /// Goodput in bins.
    pub bins: GoodputBins,
}

impl ReceiverEndpoint {
    /// Nothing has arrived.
    pub fn new(receiver: Receiver, knobs: u32, bins: GoodputBins) -> Self {
        Self {
            receiver,
            knobs,
            delivered: 0,
            arrived_bytes: 0,
            dropped: 0,
            total_delivered: 0,
            total_dropped: 0,
            in_flight: 0,
            bins,
        }
    }

    /// As new, in the place of one whose flow is over. The bins stay: they run on with the time.
    pub fn renew(&mut self, sack: bool) {
        let mut receiver = std::mem::replace(&mut self.receiver, Receiver::new(sack));
        receiver.renew(sack);
        *self = Self::new(receiver, self.knobs, GoodputBins { before: 0, ..self.bins });
    }

    /// Acknowledgements sent.
    pub fn acks(&self) -> u64 {
        self.total_delivered - self.receiver.unanswered()
    }
}

/// What a slot must know of lost packets to tell when nothing is left of its flow.
#[derive(Clone, Copy, Debug)]
pub struct SlotLosses {
    /// Acknowledgements lost.
    pub acks: u64,
    /// When a packet of the flow was lost last, seconds.
    pub last_s: f64,
}

impl SlotLosses {
    /// None.
    pub const NONE: Self = Self { acks: 0, last_s: f64::NEG_INFINITY };
}

/// Mean and variance of packets per bin of the measuring window, in one pass over their running number.
#[derive(Clone, Copy, Debug, Default)]
pub struct GoodputBins {
    /// Packets before the current bin, and where that ends.
    before: u64,
    until_s: f64,
    closed: u64,
    sum_of_squares: f64,
}

impl GoodputBins {
    /// Bins from `from_s` on, `bin_s` long.
    pub fn new(from_s: f64, bin_s: f64) -> Self {
        Self { until_s: from_s + bin_s, ..Self::default() }
    }

    /// One packet in the window, after `before` others; times never decrease.
    #[inline]
    pub fn add(&mut self, now_s: f64, before: u64, window: &MeasurementWindow, bin_s: f64) {
        while now_s >= self.until_s {
            self.close(before, window, bin_s);
        }
    }

    #[cold]
    fn close(&mut self, before: u64, window: &MeasurementWindow, bin_s: f64) {
        let count = (before - self.before) as f64;
        self.before = before;
        self.sum_of_squares += count * count;
        self.closed += 1;
        self.until_s = window.from_s + (self.closed + 1) as f64 * bin_s;
    }

    /// Standard deviation over mean of the rate in whole bins of the window, in which there were `packets`; none without packets or with a
    /// single bin.
    pub fn coefficient_of_variation(
        &self,
        packets: u64,
        window: &MeasurementWindow,
        bin_s: f64,
    ) -> Option<f64> {
        // A bin that the window's end cuts by rounding only still counts.
        let bins = (window.seconds() / bin_s + 1e-9) as u64;
        let mut done = *self;
        if done.closed < bins {
            done.close(packets, window, bin_s);
        }
        let mean = done.before as f64 / bins as f64;
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
        let window = MeasurementWindow { from_s: 0.0, to_s: 4.0 };
        let mut bins = GoodputBins::new(0.0, 1.0);
        for (before, time_s) in [0.1, 1.0, 1.5, 1.999].into_iter().enumerate() {
            bins.add(time_s, before as u64, &window, 1.0);
        }
        let cov = bins.coefficient_of_variation(4, &window, 1.0).unwrap();
        assert!((cov - 1.5f64.sqrt()).abs() < 1e-12, "{cov}");
    }
}
