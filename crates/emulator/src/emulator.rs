//! The emulator core: the network path of a scenario, packet buffers and per-flow counters, without
//! clock or socket.

use crate::{FlowCounters, PacketMeta, RateBins, packet_number};
use cwndlab_scenario::CheckedScenario;
use cwndlab_sim::{Ecn, ExternalPacket, Fate, NetworkPath, PacketOutcome};
use std::collections::VecDeque;

/// Bytes that all buffers together may take.
const MOST_MEMORY: usize = 2 << 30;

/// A packet that has crossed the network and is due at its destination.
#[derive(Clone, Copy, Debug)]
pub struct DuePacket {
    /// The packet's buffer, which the caller frees.
    pub token: u32,
    /// Its flow.
    pub flow: u32,
    /// Length of the packet in the buffer, bytes.
    pub length: usize,
    /// When the packet was due, seconds.
    pub due_s: f64,
    /// Whether the packet goes to the source, as acknowledgements do.
    pub back: bool,
    /// Whether the network marked the packet (CE).
    pub mark: bool,
}

/// The packet in a buffer.
#[derive(Clone, Copy, Debug, Default)]
struct BufferedPacket {
    length: usize,
    meta: PacketMeta,
}

/// The network of a scenario with real packets; times are seconds since the run began.
pub struct Emulator {
    network_path: NetworkPath,
    flow_counters: Vec<FlowCounters>,
    largest: usize,
    buffers: Vec<Box<[u8]>>,
    packets: Vec<BufferedPacket>,
    free: Vec<u32>,
    due: VecDeque<PacketOutcome>,
    outcomes: Vec<PacketOutcome>,
    /// Data packets that were dropped, and when, seconds; none where nobody asks.
    drops: Option<Vec<(f64, PacketMeta)>>,
}

impl Emulator {
    /// Makes an idle network at time 0, for packets of at most `largest` bytes.
    pub fn new(scenario: &CheckedScenario, largest: usize) -> Self {
        let network_path = NetworkPath::new(scenario);
        let [from_s, to_s] = scenario.window().map(|time| time.seconds());
        let bin_s = scenario.rate_bin.seconds();
        let whole_bins = ((to_s - from_s) / bin_s + 1e-9) as usize;
        let trace_bins = scenario.trace.rate.map(|bin| {
            RateBins::new(
                0.0,
                bin.seconds(),
                (scenario.duration.seconds() / bin.seconds()).ceil() as usize,
            )
        });
        let counters =
            FlowCounters::new([from_s, to_s], RateBins::new(from_s, bin_s, whole_bins), trace_bins);
        let flow_counters = vec![counters; network_path.flows().len()];
        Self {
            network_path,
            flow_counters,
            largest,
            buffers: Vec::new(),
            packets: Vec::new(),
            free: Vec::new(),
            due: VecDeque::new(),
            outcomes: Vec::new(),
            drops: None,
        }
    }

    /// Keeps the data packets that are dropped from now on for [`Emulator::take_drops`].
    pub fn record_drops(&mut self) {
        self.drops = Some(Vec::new());
    }

    /// Data packets dropped since the last call, and when, seconds.
    pub fn take_drops(&mut self) -> Vec<(f64, PacketMeta)> {
        self.drops.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The emulated network path.
    pub fn network_path(&self) -> &NetworkPath {
        &self.network_path
    }

    /// The counters of each flow.
    pub fn flow_counters(&self) -> &[FlowCounters] {
        &self.flow_counters
    }

    /// Allocates a buffer for a packet; none while packets in the network use all the memory
    /// allowed.
    pub fn allocate_buffer(&mut self) -> Option<u32> {
        if let Some(token) = self.free.pop() {
            return Some(token);
        }
        if (self.buffers.len() + 1) * self.largest > MOST_MEMORY {
            return None;
        }
        self.buffers.push(vec![0; self.largest].into());
        self.packets.push(BufferedPacket::default());
        Some(self.buffers.len() as u32 - 1)
    }

    /// The bytes of a buffer.
    pub fn buffer(&mut self, token: u32) -> &mut [u8] {
        &mut self.buffers[token as usize]
    }

    /// Frees a buffer.
    pub fn free_buffer(&mut self, token: u32) {
        self.free.push(token);
    }

    /// Injects a packet of `length` bytes from a flow's source, or from its sink (`back`), at
    /// `now_s`, which never decreases. Returns false and frees the buffer if the flow does not
    /// exist.
    pub fn inject(
        &mut self,
        now_s: f64,
        token: u32,
        length: usize,
        back: bool,
        meta: PacketMeta,
    ) -> bool {
        let Some(counters) = self.flow_counters.get_mut(meta.flow as usize) else {
            self.free_buffer(token);
            return false;
        };
        let position = if back { None } else { counters.on_sent(now_s, &meta) };
        let payload_bytes =
            self.network_path.flows()[meta.flow as usize].config.segment.packet_size;
        let number = position.map(|position| packet_number(position, payload_bytes));
        self.packets[token as usize] = BufferedPacket { length, meta };
        let PacketMeta { flow, size_bytes, ecn, .. } = meta;
        let outcomes = &mut self.outcomes;
        self.network_path.inject(
            now_s,
            ExternalPacket { token, flow, number, reverse: back, size_bytes, ecn },
            &mut |outcome| outcomes.push(outcome),
        );
        self.apply_outcomes();
        true
    }

    /// The time of the next due packet or network event, seconds; infinite if there is none.
    pub fn next_due_s(&self) -> f64 {
        self.due.front().map_or_else(|| self.network_path.next_event_s(), |outcome| outcome.at_s)
    }

    /// Returns the next packet that is due at its destination by `now_s`, in order of time. The
    /// caller frees its buffer.
    pub fn next_due(&mut self, now_s: f64) -> Option<DuePacket> {
        if self.due.is_empty() && self.network_path.next_event_s() <= now_s {
            let outcomes = &mut self.outcomes;
            self.network_path.advance(now_s, &mut |outcome| outcomes.push(outcome));
            self.apply_outcomes();
        }
        let PacketOutcome { packet, at_s, .. } = self.due.pop_front()?;
        let BufferedPacket { length, meta } = self.packets[packet.token as usize];
        Some(DuePacket {
            token: packet.token,
            flow: packet.flow,
            length,
            due_s: at_s,
            back: packet.reverse,
            mark: packet.ecn == Ecn::Ce && meta.ecn != Ecn::Ce,
        })
    }

    /// Applies packet outcomes to the flow counters, the due packets and the free buffers.
    fn apply_outcomes(&mut self) {
        for outcome in self.outcomes.drain(..) {
            let PacketOutcome { packet, at_s, fate } = outcome;
            let meta = self.packets[packet.token as usize].meta;
            let counters = &mut self.flow_counters[packet.flow as usize];
            match (packet.reverse, fate) {
                (false, _) => counters.on_outcome(at_s, &meta, fate, packet.ecn == Ecn::Ce),
                (true, Fate::Delivered) => counters.on_acknowledgement(at_s, &meta),
                (true, Fate::Dropped) => {}
            }
            match fate {
                Fate::Delivered => self.due.push_back(outcome),
                Fate::Dropped => {
                    self.free.push(packet.token);
                    let drops = self.drops.as_mut().filter(|_| !packet.reverse);
                    drops.into_iter().for_each(|drops| drops.push((at_s, meta)));
                }
            }
        }
    }

    /// Advances the network and all counters to the end of the run at `end_s`.
    pub fn finish(&mut self, end_s: f64) {
        let outcomes = &mut self.outcomes;
        self.network_path.advance(end_s, &mut |outcome| outcomes.push(outcome));
        self.apply_outcomes();
        self.network_path.finish(end_s);
    }
}
