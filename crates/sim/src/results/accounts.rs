//! Accounts of listed flows, where `trace.account` asks for them.

use super::mean::mean;
use crate::build::BuiltNetwork;
use crate::measure::account::{FlowAccount, FlowPhase, Mover};
use crate::measure::trace::Tracer;
use serde::{Deserialize, Serialize};

/// Bins of the measurement window in which the time by phase is told.
const BINS: usize = 120;

/// Name of the time in which a flow is not there.
const ABSENT: &str = "absent";

/// Account of one flow over the measurement window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Account {
    /// Name of the flow.
    pub flow: String,
    /// Its group.
    pub group: String,
    /// Its rule.
    pub rule: String,
    /// Start of the measurement window, seconds.
    pub from_s: f64,
    /// Its length, seconds.
    pub window_s: f64,
    /// Goodput, bit/s.
    pub goodput_bps: f64,
    /// Goodput of a flow that has its slowest link for itself, at the link's mean rate, bit/s.
    pub capacity_bps: f64,
    /// Payload of a full packet, bits.
    pub packet_bits: f64,
    /// What arrived within the window and the sender did not know by its end, less what arrived
    /// before it and the sender learned within, bits.
    pub edge_bits: f64,
    /// What it did in each phase, and last for how long it was absent: not yet started, or finished.
    pub phases: Vec<PhaseRow>,
    /// What moved cwnd.
    pub movements: Vec<MovementRow>,
    /// cwnd at the start of the window, or of a flow that starts within it; none for one that never
    /// did, packets.
    pub first_cwnd: Option<f64>,
    /// cwnd at the end of the window, packets.
    pub last_cwnd: f64,
    /// Propagation delay in both directions, seconds.
    pub base_rtt_s: f64,
    /// Mean RTT, seconds.
    pub mean_rtt_s: Option<f64>,
    /// Propagation delay in the direction of data, seconds.
    pub forward_delay_s: f64,
    /// Mean time from the transmission of a packet to its arrival, seconds.
    pub mean_one_way_s: Option<f64>,
    /// Mean number of its packets that wait in queues or are being transmitted in the direction of
    /// data (Little's law: arrivals within the window times what each waited).
    pub queued_packets: f64,
    /// Packets sent, retransmissions included.
    pub sent_packets: u64,
    /// Packets dropped.
    pub dropped_packets: u64,
    /// Packets dropped by link.
    pub dropped_by_link: Vec<LinkDrops>,
    /// Time by phase in equal bins of the window, in the order of `phases` less absence, seconds.
    pub bins_s: Vec<Vec<f64>>,
}

/// What a flow did in one of its phases.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "as in `PhaseAccount`")]
pub struct PhaseRow {
    pub phase: String,
    pub seconds: f64,
    pub delivered_packets: f64,
    pub sent_packets: u64,
    pub dropped_packets: u64,
    pub outstanding_packet_s: f64,
    pub cwnd_packet_s: f64,
}

/// By how much one thing moved cwnd.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "as in `Movement`")]
pub struct MovementRow {
    pub by: String,
    pub times: u64,
    pub packets: f64,
}

/// Packets of a flow that a link dropped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkDrops {
    /// Name of the link.
    pub link: String,
    /// Packets.
    pub packets: u64,
}

impl Account {
    /// The account of one of `flows` equal flows that would have their slowest link for themselves
    /// and keep it full from the start of the window to its end, without a queue: in each phase of
    /// this flow, its part of the packets that the link carries, each after the propagation delay.
    pub fn at_capacity(&self, flows: usize) -> Self {
        let capacity_bps = self.capacity_bps / flows as f64;
        let packets_per_s = capacity_bps / self.packet_bits;
        let full = |row: &PhaseRow| {
            let packets = row.seconds * packets_per_s;
            PhaseRow {
                phase: row.phase.clone(),
                seconds: row.seconds,
                delivered_packets: packets,
                outstanding_packet_s: packets * self.base_rtt_s,
                cwnd_packet_s: packets * self.base_rtt_s,
                ..PhaseRow::default()
            }
        };
        Self {
            flow: "capacity".into(),
            goodput_bps: capacity_bps,
            edge_bits: 0.0,
            phases: self.phases.iter().map(full).collect(),
            movements: Vec::new(),
            mean_rtt_s: Some(self.base_rtt_s),
            mean_one_way_s: Some(self.forward_delay_s),
            queued_packets: 0.0,
            dropped_packets: 0,
            dropped_by_link: Vec::new(),
            bins_s: Vec::new(),
            ..self.clone()
        }
    }
}

/// Accounts of the listed flows; none where they were not kept.
pub fn accounts<T: Tracer>(built: &BuiltNetwork<T>) -> Vec<Account> {
    let BuiltNetwork { engine, flows, links, .. } = built;
    let network = &engine.network;
    let window = &network.receivers.window;
    let end_s = engine.now_s;
    let account = |(flow, kept): (usize, &FlowAccount)| {
        let (group, number) = flows.of(flow as u32)?;
        let (endpoint, sink) = (&engine.senders[flow], &network.receivers.list[flow]);
        let config = &engine.config[endpoint.config as usize];
        let packet_bits = f64::from(config.segment.packet_size) * 8.0;
        let delivered_bits = sink.delivered_bytes(config) as f64 * 8.0;
        let finish_s = if endpoint.has_finished() { endpoint.finish_s } else { f64::INFINITY };
        let finish_s = finish_s.max(window.from_s);
        let mut phases: Vec<PhaseRow> = FlowPhase::ALL
            .into_iter()
            .map(|(phase, name)| {
                let row = kept.phases[phase as usize];
                // Idle after completion does not count: a flow that is done is not limited.
                let idle_s = match phase {
                    FlowPhase::Application => (window.to_s.min(end_s) - finish_s).max(0.0),
                    _ => 0.0,
                };
                PhaseRow {
                    phase: name.into(),
                    // Taking a wait for an RTO away leaves rounding.
                    seconds: (row.seconds - idle_s).max(0.0),
                    delivered_packets: row.delivered_packets as f64,
                    sent_packets: row.sent_packets,
                    dropped_packets: row.dropped_packets,
                    outstanding_packet_s: row.outstanding_packet_s,
                    cwnd_packet_s: row.cwnd_packet_s,
                }
            })
            .collect();
        let delivered: f64 = phases.iter().map(|row| row.delivered_packets).sum();
        let there_s: f64 = phases.iter().map(|row| row.seconds).sum();
        let absent_s = window.seconds() - there_s;
        phases.push(PhaseRow {
            phase: ABSENT.into(),
            // What is left of the sum by rounding is no absence.
            seconds: if absent_s > 1e-9 * window.seconds() { absent_s } else { 0.0 },
            ..PhaseRow::default()
        });
        let rates = group.links.iter().map(|&link| links[link as usize].rate_bps);
        let slowest_bps =
            rates.chain(group.access_bps.map(|bps| bps as f64)).fold(f64::INFINITY, f64::min);
        let payload =
            packet_bits / 8.0 / f64::from(config.wire_size_of(config.segment.packet_size));
        let did = engine.measured(flow);
        let forward_delay_s = flows.forward_delays_s[flow];
        let waited_s = kept.one_way_sum_s - forward_delay_s * kept.one_way_count as f64;
        let drops = (links.iter().enumerate())
            .map(|(number, link)| LinkDrops {
                link: link.name.clone(),
                packets: kept.drops_of(number as u32),
            })
            .filter(|drops| drops.packets > 0);
        Some(Account {
            flow: group.instance(number.into()),
            group: group.name.clone(),
            rule: group.rule.clone(),
            from_s: window.from_s,
            window_s: window.seconds(),
            goodput_bps: delivered_bits / window.seconds(),
            capacity_bps: slowest_bps * payload,
            packet_bits,
            edge_bits: delivered_bits - delivered * packet_bits,
            phases,
            movements: Mover::ALL
                .into_iter()
                .map(|(mover, name)| {
                    let moved = kept.movements[mover as usize];
                    MovementRow { by: name.into(), times: moved.times, packets: moved.packets }
                })
                .collect(),
            first_cwnd: kept.first_cwnd,
            last_cwnd: kept.last_cwnd,
            base_rtt_s: flows.base_rtts_s[flow],
            mean_rtt_s: mean(did.rtt_sum_s, did.rtt_count),
            forward_delay_s,
            mean_one_way_s: mean(kept.one_way_sum_s, kept.one_way_count),
            queued_packets: waited_s.max(0.0) / window.seconds(),
            sent_packets: did.sent,
            dropped_packets: sink.dropped,
            dropped_by_link: drops.collect(),
            bins_s: (kept.time_in_bins(BINS, end_s.min(finish_s)).into_iter())
                .map(|bin| bin.to_vec())
                .collect(),
        })
    };
    network.trace.accounts().iter().enumerate().filter_map(account).collect()
}
