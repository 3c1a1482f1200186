//! Accounts of listed flows, where `trace.account` asks for them.

use super::mean::mean;
use crate::build::{BuiltNetwork, GroupInfo, LinkInfo};
use crate::measure::account::{CwndCause, CwndChanges, FlowAccount, FlowPhase, PhaseAccount};
use crate::measure::trace::Tracer;
use crate::measure::window::MeasurementWindow;
use crate::rate::piecewise::PiecewiseRate;
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
    /// Goodput of a flow that has its slowest link for itself, bit/s. The slowest is the one with
    /// the smallest mean rate, that of its shaper or policer if that is smaller.
    pub capacity_bps: f64,
    /// Payload of a full packet, bits.
    pub packet_bits: f64,
    /// What arrived within the window and the sender did not know by its end, less what arrived
    /// before it and the sender learned within, bits.
    pub edge_bits: f64,
    /// What it did in each phase, and last for how long it was absent: not yet started, or finished.
    pub phases: Vec<PhaseRow>,
    /// Packets of which an ACK makes growth take note: 2 where ACKs are delayed and growth counts
    /// ACKs, not what they acknowledge (b of Padhye et al. 1998).
    pub packets_per_growth: u32,
    /// Changes of cwnd by cause.
    pub cwnd_changes: Vec<CwndChangeRow>,
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

/// What a flow did in one of its phases, or its absence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseRow {
    /// The phase.
    pub phase: String,
    /// Payload that the flow's slowest link could carry meanwhile, bits.
    pub capacity_bits: f64,
    /// What it did.
    #[serde(flatten)]
    pub did: PhaseAccount,
}

/// Changes of cwnd by one cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CwndChangeRow {
    /// The cause.
    pub cause: String,
    /// The changes.
    #[serde(flatten)]
    pub changes: CwndChanges,
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
    /// this flow, its part of what the link carries meanwhile, each packet after the propagation
    /// delay.
    pub fn at_capacity(&self, flows: usize) -> Self {
        let full = |row: &PhaseRow| {
            let packets = row.capacity_bits / flows as f64 / self.packet_bits;
            let did = PhaseAccount {
                seconds: row.did.seconds,
                delivered_packets: packets,
                outstanding_packet_s: packets * self.base_rtt_s,
                ..PhaseAccount::default()
            };
            PhaseRow { did, ..row.clone() }
        };
        Self {
            flow: "capacity".into(),
            goodput_bps: self.capacity_bps / flows as f64,
            edge_bits: 0.0,
            phases: self.phases.iter().map(full).collect(),
            cwnd_changes: Vec::new(),
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
    let kept = built.engine.network.trace.accounts().iter().enumerate();
    kept.filter_map(|(flow, kept)| account(built, flow, kept)).collect()
}

fn account<T: Tracer>(built: &BuiltNetwork<T>, flow: usize, kept: &FlowAccount) -> Option<Account> {
    let BuiltNetwork { engine, flows, links, .. } = built;
    let (group, number) = flows.of(flow as u32)?;
    let (endpoint, sink) = (&engine.senders[flow], &engine.network.receivers.list[flow]);
    let config = &engine.config[endpoint.config as usize];
    let window = &engine.network.receivers.window;
    let packet_bits = f64::from(config.segment.packet_size) * 8.0;
    let delivered_bits = sink.delivered_bytes(config) as f64 * 8.0;
    let finish_s = if endpoint.has_finished() { endpoint.finish_s } else { f64::INFINITY };
    let end_s = engine.now_s.min(finish_s.max(window.from_s));
    let mut phases =
        phases(kept, window.seconds(), (window.to_s.min(engine.now_s) - end_s).max(0.0));
    let known_packets: f64 = phases.iter().map(|row| row.did.delivered_packets).sum();
    let payload = packet_bits / 8.0 / f64::from(config.wire_size_of(config.segment.packet_size));
    let (mean_bps, rate) = slowest_rate(group, links, window)?;
    let capacity_bps = mean_bps * payload;
    let mut absent_bits = capacity_bps * window.seconds();
    let bits = rate.bits(kept.phases_until(end_s).map(|(start_s, stop_s, _)| (start_s, stop_s)));
    for ((.., phase), bits) in kept.phases_until(end_s).zip(bits) {
        phases[phase as usize].capacity_bits += bits * payload;
        absent_bits -= bits * payload;
    }
    // What is left of the sum by rounding is nothing that the link carried.
    let was_absent = phases.last().is_some_and(|row| row.did.seconds > 0.0);
    phases.last_mut()?.capacity_bits = if was_absent { absent_bits.max(0.0) } else { 0.0 };
    let has_delayed_acks = config.receiver.delayed_ack && !config.growth.grow_by_packets;
    let did = engine.measured(flow);
    let forward_delay_s = flows.forward_delays_s.get(flow).copied().unwrap_or(0.0);
    let waited_s = kept.one_way_sum_s - forward_delay_s * kept.one_way_count as f64;
    let drops = links.iter().enumerate().map(|(number, link)| LinkDrops {
        link: link.name.clone(),
        packets: kept.drops_of(number as u32),
    });
    let changes = |(cause, name): (CwndCause, &str)| CwndChangeRow {
        cause: name.into(),
        changes: kept.cwnd_changes[cause as usize],
    };
    let bins_s = kept.time_in_bins(BINS, end_s);
    Some(Account {
        flow: group.instance(number.into()),
        group: group.name.clone(),
        rule: group.rule.clone(),
        from_s: window.from_s,
        window_s: window.seconds(),
        goodput_bps: delivered_bits / window.seconds(),
        capacity_bps,
        packet_bits,
        edge_bits: delivered_bits - known_packets * packet_bits,
        phases,
        packets_per_growth: if has_delayed_acks { 2 } else { 1 },
        cwnd_changes: CwndCause::ALL.into_iter().map(changes).collect(),
        first_cwnd: kept.first_cwnd,
        last_cwnd: kept.last_cwnd,
        base_rtt_s: flows.base_rtts_s[flow],
        mean_rtt_s: mean(did.rtt_sum_s, did.rtt_count),
        forward_delay_s,
        mean_one_way_s: mean(kept.one_way_sum_s, kept.one_way_count),
        queued_packets: waited_s.max(0.0) / window.seconds(),
        sent_packets: did.sent,
        dropped_packets: sink.dropped,
        dropped_by_link: drops.filter(|drops| drops.packets > 0).collect(),
        bins_s: bins_s.into_iter().map(|bin| bin.to_vec()).collect(),
    })
}

/// Mean rate of the slowest of the links that data of a group crosses, those of its hosts included,
/// and its rate.
fn slowest_rate(
    group: &GroupInfo,
    links: &[LinkInfo],
    window: &MeasurementWindow,
) -> Option<(f64, PiecewiseRate)> {
    let rates = group.links.iter().filter_map(|&link| links[link as usize].rate.clone());
    let rates = rates.chain(group.access_bps.map(PiecewiseRate::constant));
    let means = rates.map(|rate| (rate.clone().mean_bps(window.from_s, window.to_s), rate));
    means.min_by(|a, b| a.0.total_cmp(&b.0))
}

/// What a flow did in each phase, and for how long it was absent. A flow that is done is not limited:
/// `done_s` of its time in the window come behind its completion.
fn phases(kept: &FlowAccount, window_s: f64, done_s: f64) -> Vec<PhaseRow> {
    let mut rows: Vec<PhaseRow> = FlowPhase::ALL
        .into_iter()
        .map(|(phase, name)| {
            let mut did = kept.phases[phase as usize];
            let done_s = if phase == FlowPhase::Application { done_s } else { 0.0 };
            // Taking a wait for an RTO away leaves rounding.
            did.seconds = (did.seconds - done_s).max(0.0);
            PhaseRow { phase: name.into(), capacity_bits: 0.0, did }
        })
        .collect();
    let absent_s = window_s - rows.iter().map(|row| row.did.seconds).sum::<f64>();
    // What is left of the sum by rounding is no absence.
    let seconds = if absent_s > 1e-9 * window_s { absent_s } else { 0.0 };
    let did = PhaseAccount { seconds, ..PhaseAccount::default() };
    rows.push(PhaseRow { phase: ABSENT.into(), capacity_bits: 0.0, did });
    rows
}
