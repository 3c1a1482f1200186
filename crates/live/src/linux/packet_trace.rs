//! The packet trace of a run in virtual time, in the form of a simulated one's: what each flow sent
//! and received, and its window before each ACK.

use super::socket::TcpInfo;
use super::source::NO_THRESHOLD;
use cwndlab_emulator::{AckOptions, PacketMeta, SequenceUnwrapper, TcpSegment, packet_number};
use cwndlab_sim::{Ecn, PacketEvent};
use serde_json::{Value, json};

/// ssthresh of a flow that has none, packets, as in simulated runs.
const NO_SSTHRESH: f64 = 1e9;

/// One row. Packets are numbered as in simulated runs: the SYN is packet 0.
#[derive(Clone, Debug)]
struct Row {
    time_s: f64,
    event: PacketEvent,
    flow: u32,
    seq: i64,
    size_bytes: u16,
    /// cwnd and ssthresh before an ACK, packets.
    window: Option<(f64, f64)>,
    /// The receiver's window, bytes, delivery rate of the last sample, bytes/s, and minimum RTT,
    /// microseconds, before an ACK.
    measured: Option<(u32, u64, u32)>,
    retransmission: bool,
    marked: bool,
    /// Ranges of packets that an ACK reports as received.
    sack: Vec<(i64, i64)>,
}

/// Positions of a flow's data.
#[derive(Clone, Copy, Debug, Default)]
struct Positions {
    payload_bytes: u32,
    sent: SequenceUnwrapper,
    acknowledged: SequenceUnwrapper,
    /// Position behind the last byte that was sent.
    end: u64,
}

/// Records the packets of all flows.
#[derive(Debug)]
pub struct PacketTrace {
    flows: Vec<Positions>,
    rows: Vec<Row>,
}

impl PacketTrace {
    /// A trace of flows whose full packets carry so many bytes.
    pub fn new(payload_bytes: impl Iterator<Item = u32>) -> Self {
        let flow = |payload_bytes| Positions { payload_bytes, ..Positions::default() };
        Self { flows: payload_bytes.map(flow).collect(), rows: Vec::new() }
    }

    /// A data packet leaves its sender, or reaches its receiver.
    pub fn data(&mut self, time_s: f64, event: PacketEvent, meta: &PacketMeta) {
        let (Some(flow), Some(TcpSegment { sequence, payload_bytes, syn, .. })) =
            (self.flows.get_mut(meta.flow as usize), meta.segment)
        else {
            return;
        };
        // An ACK of the handshake or of the close.
        if !syn && payload_bytes == 0 {
            return;
        }
        let Some(position) = flow.sent.position(sequence) else { return };
        let is_sent = event == PacketEvent::Send;
        let retransmission = is_sent && position < flow.end;
        if is_sent {
            flow.end = flow.end.max(position + u64::from(payload_bytes) + u64::from(syn));
            // An ACK has the sequence numbers of what it acknowledges.
            flow.acknowledged.position(sequence);
        }
        self.rows.push(Row {
            time_s,
            event,
            flow: meta.flow,
            seq: flow.packets(position),
            size_bytes: meta.size_bytes,
            window: None,
            measured: None,
            retransmission,
            marked: meta.ecn == Ecn::Ce,
            sack: Vec::new(),
        });
    }

    /// An ACK reaches its sender, whose state is `info` before it.
    pub fn ack(
        &mut self,
        time_s: f64,
        meta: &PacketMeta,
        more: &AckOptions,
        info: Option<&TcpInfo>,
    ) {
        let (Some(flow), Some(ack)) =
            (self.flows.get_mut(meta.flow as usize), meta.segment.and_then(|segment| segment.ack))
        else {
            return;
        };
        let Some(position) = flow.acknowledged.position(ack) else { return };
        let numbered =
            |edge: u32| flow.acknowledged.clone().position(edge).map(|at| flow.packets(at));
        let sack =
            more.sack.iter().filter_map(|&(left, right)| Some((numbered(left)?, numbered(right)?)));
        let sack = sack.collect();
        let window = info.map(|info| {
            let ssthresh = info.snd_ssthresh;
            let has_one = ssthresh < NO_THRESHOLD;
            (f64::from(info.snd_cwnd), if has_one { f64::from(ssthresh) } else { NO_SSTHRESH })
        });
        self.rows.push(Row {
            time_s,
            event: PacketEvent::Ack,
            flow: meta.flow,
            seq: flow.packets(position) - 1,
            size_bytes: meta.size_bytes,
            window,
            measured: info.map(|info| (info.snd_wnd, info.delivery_rate, info.min_rtt)),
            retransmission: false,
            marked: more.ece,
            sack,
        });
    }

    /// The columns.
    pub fn columns(&self) -> Value {
        let rows = &self.rows;
        let event = |row: &Row| PacketEvent::NAMES[row.event as usize];
        let cwnd = |row: &Row| row.window.map(|(cwnd, _)| cwnd);
        let ssthresh = |row: &Row| row.window.map(|(_, ssthresh)| ssthresh);
        let receiver_window = |row: &Row| row.measured.map(|(bytes, ..)| bytes);
        let rate = |row: &Row| row.measured.map(|(_, bytes_s, _)| bytes_s);
        let min_rtt = |row: &Row| row.measured.map(|(.., us)| us);
        json!({
            "time_s": rows.iter().map(|row| row.time_s).collect::<Vec<_>>(),
            "event": rows.iter().map(event).collect::<Vec<_>>(),
            "flow": rows.iter().map(|row| row.flow).collect::<Vec<_>>(),
            "seq": rows.iter().map(|row| row.seq).collect::<Vec<_>>(),
            "size_bytes": rows.iter().map(|row| row.size_bytes).collect::<Vec<_>>(),
            "cwnd_packets": rows.iter().map(cwnd).collect::<Vec<_>>(),
            "ssthresh_packets": rows.iter().map(ssthresh).collect::<Vec<_>>(),
            "retransmission": rows.iter().map(|row| row.retransmission).collect::<Vec<_>>(),
            "marked": rows.iter().map(|row| row.marked).collect::<Vec<_>>(),
            "sack": rows.iter().map(|row| &row.sack).collect::<Vec<_>>(),
            "receiver_window_bytes": rows.iter().map(receiver_window).collect::<Vec<_>>(),
            "delivery_rate_bytes_s": rows.iter().map(rate).collect::<Vec<_>>(),
            "min_rtt_us": rows.iter().map(min_rtt).collect::<Vec<_>>(),
        })
    }
}

impl Positions {
    fn packets(&self, position: u64) -> i64 {
        packet_number(position, self.payload_bytes) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(sequence: u32, payload_bytes: u32, syn: bool) -> PacketMeta {
        let segment = TcpSegment { sequence, payload_bytes, syn, ack: None };
        PacketMeta { flow: 0, size_bytes: 1500, ecn: Ecn::NotEct, segment: Some(segment) }
    }

    #[test]
    fn packets_are_numbered_as_in_simulated_runs() {
        let mut trace = PacketTrace::new([1000].into_iter());
        let first = u32::MAX - 500;
        trace.data(0.0, PacketEvent::Send, &packet(first, 0, true));
        trace.data(1.0, PacketEvent::Send, &packet(first.wrapping_add(1), 1000, false));
        trace.data(1.0, PacketEvent::Send, &packet(first.wrapping_add(1001), 1000, false));
        trace.data(2.0, PacketEvent::Send, &packet(first.wrapping_add(1), 1000, false));
        let mut ack = packet(7, 0, false);
        ack.segment =
            ack.segment.map(|of| TcpSegment { ack: Some(first.wrapping_add(2001)), ..of });
        let blocks = vec![(first.wrapping_add(3001), first.wrapping_add(5001))];
        trace.ack(3.0, &ack, &AckOptions { ece: true, sack: blocks }, None);
        let columns = trace.columns();
        assert_eq!(columns["seq"], json!([0, 1, 2, 1, 2]));
        assert_eq!(columns["retransmission"], json!([false, false, false, true, false]));
        assert_eq!(columns["sack"][4], json!([[4, 6]]));
        assert_eq!(columns["event"], json!(["send", "send", "send", "send", "ack"]));
    }
}
