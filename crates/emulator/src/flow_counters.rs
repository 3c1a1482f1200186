//! Per-flow packet counters and round-trip samples, taken on the wire as docs/metrics.md defines
//! them.

use crate::sequence::{ReceivedRanges, SequenceUnwrapper};
use crate::{PacketMeta, TcpSegment};
use cwndlab_sim::Fate;
use std::collections::VecDeque;

/// Counts of a flow's data packets; a SYN counts as a data packet without payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets sent, retransmissions included.
    pub sent: u64,
    /// Packets whose first byte had been sent before.
    pub retransmitted: u64,
    /// Packets dropped in the network, counted when they arrived at the link that dropped them.
    pub dropped: u64,
    /// Packets that arrived with at least one new byte.
    pub delivered: u64,
    /// New bytes that arrived.
    pub delivered_bytes: u64,
    /// Packets that arrived, duplicates included.
    pub arrived: u64,
    /// Those of them with a mark (CE).
    pub marked: u64,
}

/// A time series of sums in bins of equal length.
#[derive(Clone, Debug)]
pub struct RateBins {
    from_s: f64,
    bin_s: f64,
    /// The sum in each bin.
    pub sums: Vec<u64>,
}

impl RateBins {
    /// Makes `count` bins of `bin_s` seconds, the first of which begins at `from_s`.
    pub fn new(from_s: f64, bin_s: f64, count: usize) -> Self {
        Self { from_s, bin_s, sums: vec![0; count] }
    }

    fn add(&mut self, now_s: f64, amount: u64) {
        let bin = (now_s - self.from_s) / self.bin_s;
        if bin >= 0.0
            && let Some(sum) = self.sums.get_mut(bin as usize)
        {
            *sum += amount;
        }
    }
}

/// A segment that was sent and not yet acknowledged.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    end: u64,
    sent_s: f64,
    retransmitted: bool,
}

/// The counters of a flow.
#[derive(Clone, Debug)]
pub struct FlowCounters {
    window: [f64; 2],
    sent: SequenceUnwrapper,
    acknowledged: SequenceUnwrapper,
    highest: u64,
    arrived: ReceivedRanges,
    outstanding: VecDeque<Outstanding>,
    /// When a cumulative acknowledgement last advanced, seconds.
    progress_s: f64,
    /// Counts in the measuring window.
    pub measured: Counts,
    /// Counts of the whole run.
    pub total: Counts,
    /// Sum of the RTT samples in the measuring window, seconds.
    pub rtt_sum_s: f64,
    /// Number of RTT samples in the measuring window.
    pub rtt_count: u64,
    /// Smallest RTT sample of the whole run, seconds.
    pub rtt_least_s: f64,
    /// Packets with new bytes that arrived, in bins of the measuring window.
    pub packets: RateBins,
    /// New bytes that arrived, in bins of the whole run.
    pub bytes: Option<RateBins>,
}

impl FlowCounters {
    /// Makes zero counters for a measuring window [from, to), seconds.
    pub fn new(window: [f64; 2], packets: RateBins, bytes: Option<RateBins>) -> Self {
        Self {
            window,
            sent: SequenceUnwrapper::default(),
            acknowledged: SequenceUnwrapper::default(),
            highest: 0,
            arrived: ReceivedRanges::default(),
            outstanding: VecDeque::new(),
            progress_s: f64::NEG_INFINITY,
            measured: Counts::default(),
            total: Counts::default(),
            rtt_sum_s: 0.0,
            rtt_count: 0,
            rtt_least_s: f64::INFINITY,
            packets,
            bytes,
        }
    }

    fn count(&mut self, now_s: f64, change: impl Fn(&mut Counts)) {
        change(&mut self.total);
        if (self.window[0]..self.window[1]).contains(&now_s) {
            change(&mut self.measured);
        }
    }

    /// Counts a packet that the source sent; returns the position of its first byte, if it is data
    /// or a SYN.
    pub fn on_sent(&mut self, now_s: f64, meta: &PacketMeta) -> Option<u64> {
        let segment = data(meta)?;
        let begin = self.sent.position(segment.sequence)?;
        if segment.syn {
            // Acknowledgement numbers start from the same sequence number.
            self.acknowledged.position(segment.sequence);
        }
        let end = begin + length(segment);
        let retransmitted = begin < self.highest;
        if retransmitted {
            self.outstanding
                .iter_mut()
                .filter(|out| out.end > begin && out.end <= end)
                .for_each(|out| out.retransmitted = true);
        } else {
            self.outstanding.push_back(Outstanding { end, sent_s: now_s, retransmitted: false });
        }
        self.highest = self.highest.max(end);
        self.count(now_s, |counts| {
            counts.sent += 1;
            counts.retransmitted += u64::from(retransmitted);
        });
        Some(begin)
    }

    /// Counts a data packet that the network delivered, with a mark (CE) or without, or dropped.
    pub fn on_outcome(&mut self, at_s: f64, meta: &PacketMeta, fate: Fate, marked: bool) {
        let Some(segment) = data(meta) else { return };
        if fate == Fate::Dropped {
            return self.count(at_s, |counts| counts.dropped += 1);
        }
        // A SYN takes a sequence number but carries no payload.
        let position = self.sent.position(segment.sequence);
        let new = position.map_or(0, |begin| self.arrived.add(begin, begin + length(segment)));
        let bytes = new.min(u64::from(segment.payload_bytes));
        self.count(at_s, |counts| {
            counts.arrived += 1;
            counts.marked += u64::from(marked);
            counts.delivered += u64::from(bytes > 0);
            counts.delivered_bytes += bytes;
        });
        if bytes > 0 && (self.window[0]..self.window[1]).contains(&at_s) {
            self.packets.add(at_s, 1);
        }
        if let Some(bins) = &mut self.bytes {
            bins.add(at_s, bytes);
        }
    }

    /// When the source received the acknowledgement of all `bytes` of the flow, seconds; none if it
    /// has not.
    pub fn acknowledged_s(&self, bytes: u64) -> Option<f64> {
        // The SYN takes position 0.
        (self.outstanding.is_empty() && bytes > 0 && self.highest > bytes)
            .then_some(self.progress_s)
    }

    /// Takes an RTT sample from an acknowledgement that reaches the source.
    pub fn on_acknowledgement(&mut self, at_s: f64, meta: &PacketMeta) {
        let Some(number) = meta.segment.and_then(|segment| segment.ack) else { return };
        let Some(upto) = self.acknowledged.position(number) else { return };
        let mut last = None;
        while let Some(&out) = self.outstanding.front().filter(|out| out.end <= upto) {
            last = Some(out);
            self.outstanding.pop_front();
        }
        if last.is_some() {
            self.progress_s = at_s;
        }
        // Karn's algorithm (RFC 6298 section 3): retransmitted segments give no RTT sample.
        let Some(out) = last.filter(|out| !out.retransmitted) else { return };
        let rtt_s = at_s - out.sent_s;
        self.rtt_least_s = self.rtt_least_s.min(rtt_s);
        if (self.window[0]..self.window[1]).contains(&at_s) {
            self.rtt_sum_s += rtt_s;
            self.rtt_count += 1;
        }
    }
}

/// The segment of a data packet or a SYN.
fn data(meta: &PacketMeta) -> Option<TcpSegment> {
    meta.segment.filter(|segment| segment.payload_bytes > 0 || segment.syn)
}

/// Sequence numbers that a segment takes.
fn length(segment: TcpSegment) -> u64 {
    u64::from(segment.payload_bytes) + u64::from(segment.syn)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(sequence: u32, payload_bytes: u32) -> PacketMeta {
        let segment = TcpSegment { sequence, payload_bytes, syn: payload_bytes == 0, ack: None };
        PacketMeta { segment: Some(segment), ..PacketMeta::default() }
    }

    fn acknowledgement(number: u32) -> PacketMeta {
        PacketMeta {
            segment: Some(TcpSegment { ack: Some(number), ..TcpSegment::default() }),
            ..PacketMeta::default()
        }
    }

    #[test]
    fn a_loss_and_its_retransmission_are_counted_as_in_a_simulation() {
        let mut counters = FlowCounters::new(
            [1.0, 9.0],
            RateBins::new(1.0, 1.0, 8),
            Some(RateBins::new(0.0, 5.0, 2)),
        );
        // The SYN is sent before the window. Of three segments in the window the second is lost and
        // retransmitted after the third has arrived.
        counters.on_sent(0.5, &segment(99, 0));
        counters.on_outcome(0.6, &segment(99, 0), Fate::Delivered, false);
        counters.on_acknowledgement(0.7, &acknowledgement(100));
        for (at_s, sequence) in [(2.0, 100), (2.1, 1100), (2.2, 2100)] {
            counters.on_sent(at_s, &segment(sequence, 1000));
        }
        counters.on_outcome(2.1, &segment(1100, 1000), Fate::Dropped, false);
        counters.on_outcome(2.5, &segment(100, 1000), Fate::Delivered, true);
        counters.on_outcome(2.7, &segment(2100, 1000), Fate::Delivered, false);
        counters.on_acknowledgement(3.0, &acknowledgement(1100));
        counters.on_acknowledgement(3.2, &acknowledgement(1100));
        counters.on_sent(4.0, &segment(1100, 1000));
        counters.on_outcome(4.5, &segment(1100, 1000), Fate::Delivered, false);
        counters.on_acknowledgement(5.0, &acknowledgement(3100));
        // A duplicate after the end of the window counts nothing new.
        counters.on_outcome(9.0, &segment(1100, 1000), Fate::Delivered, false);
        let measured = Counts {
            sent: 4,
            retransmitted: 1,
            dropped: 1,
            delivered: 3,
            delivered_bytes: 3000,
            arrived: 3,
            marked: 1,
        };
        assert_eq!(counters.measured, measured);
        assert_eq!(counters.total, Counts { sent: 5, arrived: 5, ..measured });
        // Samples in the window: 1.0 s (2.0 to 3.0) and, from the third segment, 2.8 s (2.2 to
        // 5.0). The SYN's 0.2 s lies before the window.
        assert_eq!((counters.rtt_count, counters.rtt_least_s), (2, 0.7 - 0.5));
        assert!((counters.rtt_sum_s - 3.8).abs() < 1e-12, "{}", counters.rtt_sum_s);
        assert_eq!(
            (counters.acknowledged_s(3000), counters.acknowledged_s(3001)),
            (Some(5.0), None)
        );
        assert_eq!(counters.packets.sums, [0, 2, 0, 1, 0, 0, 0, 0]);
        assert_eq!(counters.bytes.unwrap().sums, [3000, 0]);
    }
}
