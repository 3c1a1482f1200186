//! What can be recorded beside the metrics. The engine is generic over it, so that a run without traces pays nothing.

use crate::datapath::CROSS;
use crate::scenario::{Sampling, Scenario};
use cwndlab_tcp::{Knobs, SackBlocks, Sender};

/// What happened to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PacketEvent {
    /// The sender put it on the wire.
    Send = 0,
    /// It reached the receiver.
    Receive = 1,
    /// An acknowledgement reached the sender.
    Ack = 2,
    /// It was lost.
    Drop = 3,
    /// The retransmission timer expired (number: the first packet not acknowledged).
    Timeout = 4,
}

/// The bits of RFC 3168.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnBits {
    /// The sender understands marks (ECT).
    pub ect: bool,
    /// A router marked it (CE).
    pub ce: bool,
    /// Data: the sender has reduced its window (CWR).
    pub cwr: bool,
    /// Acknowledgement: a marked packet was seen (ECE).
    pub ece: bool,
}

/// One row of the packet trace.
#[derive(Clone, Copy, Debug)]
pub struct PacketRow {
    /// When, seconds.
    pub time_s: f64,
    /// What.
    pub event: PacketEvent,
    /// Flow.
    pub flow: u32,
    /// Packet number, or cumulative acknowledgement.
    pub number: i64,
    /// Bytes on the wire.
    pub size_bytes: u32,
    /// Window at the event, packets (NaN away from the sender).
    pub cwnd: f64,
    /// Threshold at the event, packets (NaN away from the sender).
    pub ssthresh: f64,
    /// Sent before.
    pub retransmission: bool,
    /// What its header says about congestion.
    pub ecn: EcnBits,
    /// Timestamp that an acknowledgement echoes, seconds.
    pub echo_s: f64,
    /// Index of SACK blocks in the recorder, plus one.
    pub sack: u32,
}

/// One row of the window trace.
#[derive(Clone, Copy, Debug)]
pub struct WindowRow {
    /// When, seconds.
    pub time_s: f64,
    /// Flow.
    pub flow: u32,
    /// Window, packets.
    pub cwnd: f64,
    /// Threshold, packets.
    pub ssthresh: f64,
    /// Smoothed round trip, seconds.
    pub srtt_s: f64,
}

/// Receives what happens, if it wants to.
pub trait Tracer {
    /// Whether it wants anything; the engine skips the calls otherwise.
    const ON: bool;
    /// A packet event away from the sender.
    fn packet(&mut self, _row: PacketRow) {}
    /// An acknowledgement reached the sender.
    fn ack(&mut self, _row: PacketRow, _sack: Option<&SackBlocks>) {}
    /// The sender of `flow` is about to take an event at `now_s`.
    fn before(&mut self, _now_s: f64, _flow: u32, _sender: &Sender, _knobs: &Knobs) {}
    /// The sender of `flow` took an event.
    fn after(&mut self, _now_s: f64, _flow: u32, _sender: &Sender, _knobs: &Knobs) {}
    /// New data of `flow` arrived.
    fn goodput(&mut self, _now_s: f64, _flow: u32, _bits: u64) {}
    /// A packet of cross traffic, or of a flow that is not listed, reached its end.
    fn carried(&mut self, _now_s: f64, _flow: u32, _bits: u64) {}
    /// There is one more slot for flows that arrive, of this group.
    fn slot(&mut self, _group: u32) {}
    /// There is one more cross source, of this line of the scenario.
    fn source(&mut self, _line: u32) {}
    /// Whether the tables grew beyond what memory is meant for.
    fn overflowed(&self) -> bool {
        false
    }
}

/// Records nothing.
impl Tracer for () {
    const ON: bool = false;
}

fn add(bins: &mut Vec<u64>, index: usize, bits: u64) {
    if index >= bins.len() {
        bins.resize(index + 1, 0);
    }
    bins[index] += bits;
}

/// Rows beyond which a run is stopped: about 5 GiB.
const MAX_ROWS: usize = 80_000_000;

/// Records what a scenario asks for.
#[derive(Debug, Default)]
pub struct TraceRecorder {
    packets_wanted: bool,
    sampling: Option<Sampling>,
    /// Samples taken, per flow.
    samples: Vec<u64>,
    rate_bin_s: Option<f64>,
    /// Packet events.
    pub packets: Vec<PacketRow>,
    /// SACK blocks of recorded acknowledgements.
    pub sacks: Vec<SackBlocks>,
    /// Windows.
    pub windows: Vec<WindowRow>,
    /// Bits of new data per flow and bin.
    pub rates: Vec<Vec<u64>>,
    /// Bits that each group of cross traffic or arrivals carried, per bin.
    pub carried: Vec<Vec<u64>>,
    /// Group of each cross source, and of each arriving flow by its slot.
    pub groups: TrafficGroups,
}

/// Groups of what is not listed as a flow.
#[derive(Debug, Default)]
pub struct TrafficGroups {
    /// Lines of cross traffic: groups of arrivals are numbered after them.
    pub lines: u32,
    /// Of each cross source.
    pub cross: Vec<u32>,
    /// Of each slot of an arriving flow.
    pub slots: Vec<u32>,
}

impl TraceRecorder {
    /// For a scenario.
    pub fn new(scenario: &Scenario) -> Self {
        let flows = scenario.flows.iter().map(|flow| flow.count as usize).sum();
        let (lines, arrivals) = (scenario.cross.len(), scenario.arrivals.len());
        Self {
            packets_wanted: scenario.trace.packets,
            sampling: scenario.trace.cwnd,
            samples: vec![0; flows],
            rate_bin_s: scenario.trace.rate.map(|bin| bin.seconds()),
            rates: vec![Vec::new(); flows],
            carried: vec![Vec::new(); lines + arrivals],
            groups: TrafficGroups { lines: lines as u32, ..TrafficGroups::default() },
            ..Self::default()
        }
    }

    /// Length of a bin of `rates`, seconds.
    pub fn rate_bin_s(&self) -> Option<f64> {
        self.rate_bin_s
    }

    /// Whether it is one of the scenario's flows, and not one of many that arrive.
    fn lists(&self, flow: u32) -> bool {
        (flow as usize) < self.rates.len()
    }

    fn window(&mut self, time_s: f64, flow: u32, sender: &Sender, knobs: &Knobs) {
        self.windows.push(WindowRow {
            time_s,
            flow,
            cwnd: sender.cwnd(),
            ssthresh: sender.ssthresh(),
            srtt_s: sender.srtt_s(knobs),
        });
    }
}

impl Tracer for TraceRecorder {
    const ON: bool = true;

    fn packet(&mut self, row: PacketRow) {
        if self.packets_wanted && self.lists(row.flow) {
            self.packets.push(row);
        }
    }

    fn ack(&mut self, mut row: PacketRow, sack: Option<&SackBlocks>) {
        if self.packets_wanted && self.lists(row.flow) {
            if let Some(sack) = sack {
                self.sacks.push(*sack);
                row.sack = self.sacks.len() as u32;
            }
            self.packets.push(row);
        }
    }

    /// The state that held at each sampling time since the last event.
    fn before(&mut self, now_s: f64, flow: u32, sender: &Sender, knobs: &Knobs) {
        if let Some(Sampling::Every(every)) = self.sampling.filter(|_| self.lists(flow)) {
            loop {
                let time_s = self.samples[flow as usize] as f64 * every.seconds();
                if time_s > now_s {
                    break;
                }
                self.window(time_s, flow, sender, knobs);
                self.samples[flow as usize] += 1;
            }
        }
    }

    fn after(&mut self, now_s: f64, flow: u32, sender: &Sender, knobs: &Knobs) {
        if self.sampling == Some(Sampling::All) && self.lists(flow) {
            self.window(now_s, flow, sender, knobs);
        }
    }

    fn goodput(&mut self, now_s: f64, flow: u32, bits: u64) {
        if let (Some(bin), true) = (self.rate_bin_s, self.lists(flow)) {
            add(&mut self.rates[flow as usize], (now_s / bin) as usize, bits);
        }
    }

    fn slot(&mut self, group: u32) {
        self.groups.slots.push(self.groups.lines + group);
    }

    fn source(&mut self, line: u32) {
        self.groups.cross.push(line);
    }

    fn carried(&mut self, now_s: f64, flow: u32, bits: u64) {
        let Some(bin) = self.rate_bin_s else { return };
        let group = match flow.checked_sub(CROSS) {
            Some(source) => self.groups.cross.get(source as usize),
            None => (flow as usize)
                .checked_sub(self.rates.len())
                .and_then(|slot| self.groups.slots.get(slot)),
        };
        if let Some(&group) = group {
            add(&mut self.carried[group as usize], (now_s / bin) as usize, bits);
        }
    }

    fn overflowed(&self) -> bool {
        self.packets.len() > MAX_ROWS || self.windows.len() > MAX_ROWS
    }
}
