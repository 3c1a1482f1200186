//! Traces: what a run records beside its metrics. The tracer is a type parameter of the engine, so
//! that a run without traces pays nothing.

use super::account::FlowAccount;
use super::histogram::Histogram;
use super::shares::ShareRecord;
use super::window::MeasurementWindow;
use crate::id::{FlowId, Source};
use crate::packet::{Flags, Packet};
use cwndlab_rules::WindowRule;
use cwndlab_scenario::{Sampling, Scenario};
use cwndlab_tcp::{Ecn, EcnEcho, NEVER, SackBlocks, Sender, TcpConfig};

/// Event of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PacketEvent {
    /// Its sender sent it.
    Send = 0,
    /// It reached its receiver.
    Receive = 1,
    /// An ACK reached its sender.
    Ack = 2,
    /// It was dropped.
    Drop = 3,
    /// The retransmission timer expired (number: the first unacknowledged packet).
    Timeout = 4,
}

impl PacketEvent {
    /// Names of the events, by their numbers.
    pub const NAMES: [&str; 5] = ["send", "receive", "ack", "drop", "timeout"];
}

/// One row of the packet trace.
#[derive(Clone, Copy, Debug)]
pub struct PacketRow {
    /// Time, seconds.
    pub time_s: f64,
    /// Event.
    pub event: PacketEvent,
    /// Flow.
    pub flow: u32,
    /// Packet number of data, or cumulative acknowledgement number of an ACK.
    pub number: i64,
    /// Size on the wire, bytes.
    pub size_bytes: u32,
    /// Congestion window at the event, packets (NaN away from the sender).
    pub cwnd: f64,
    /// Slow start threshold at the event, packets (NaN away from the sender).
    pub ssthresh: f64,
    /// Whether it is a retransmission.
    pub retransmission: bool,
    /// ECN field.
    pub ecn: Ecn,
    /// Data: CWR.
    pub cwr: bool,
    /// ACK: ECN feedback.
    pub echo: EcnEcho,
    /// Data: CE. ACK: it reports a mark.
    pub marked: bool,
    /// Timestamp that an ACK echoes, seconds.
    pub echo_s: f64,
    /// Index of SACK blocks in the recorder, plus one; 0 for none.
    pub sack: u32,
    /// Number of the link that dropped it, or [`PacketRow::NO_LINK`].
    pub link: u32,
}

impl PacketRow {
    /// No link: it was not dropped, or not on a link.
    pub const NO_LINK: u32 = u32::MAX;
}

/// A row of the packet trace, without the fields that only the sender knows.
pub fn row(event: PacketEvent, flow: FlowId, packet: &Packet) -> PacketRow {
    PacketRow {
        time_s: packet.at_s,
        event,
        flow: flow.number(),
        number: packet.number,
        size_bytes: u32::from(packet.size_bytes),
        cwnd: f64::NAN,
        ssthresh: f64::NAN,
        retransmission: packet.flags.has(Flags::RETRANSMISSION),
        ecn: packet.flags.ecn(),
        cwr: packet.flags.has(Flags::CWR),
        echo: packet.flags.echo(),
        marked: packet.flags.is_ce() || packet.flags.echo() == EcnEcho::ECE,
        echo_s: if packet.sent_s < NEVER { packet.sent_s } else { f64::NAN },
        sack: 0,
        link: PacketRow::NO_LINK,
    }
}

/// One row of the window trace.
#[derive(Clone, Copy, Debug)]
pub struct WindowRow {
    /// Time, seconds.
    pub time_s: f64,
    /// Flow.
    pub flow: u32,
    /// Congestion window, packets.
    pub cwnd: f64,
    /// Slow start threshold, packets.
    pub ssthresh: f64,
    /// Smoothed round trip time, seconds.
    pub srtt_s: f64,
    /// RTT variation, seconds.
    pub rttvar_s: f64,
    /// Factor of exponential backoff.
    pub backoff: u32,
    /// Duplicate ACKs in a row.
    pub duplicate_acks: u32,
    /// Packets that are acknowledged cumulatively.
    pub acknowledged_packets: i64,
    /// Packets sent and not acknowledged.
    pub outstanding_packets: i64,
}

/// A loss of a listed flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossRow {
    /// When the packet was dropped or the timer expired, seconds.
    pub time_s: f64,
    /// Flow.
    pub flow: u32,
    /// A retransmission timeout, not a dropped packet.
    pub is_timeout: bool,
}

/// Rows of the rule trace. Rules differ in what they report, so a row lists its columns.
#[derive(Debug, Default)]
pub struct RuleTrace {
    /// Phases by number, in order of appearance.
    pub phases: Vec<&'static str>,
    /// Columns by number, in order of appearance.
    pub columns: Vec<String>,
    /// Rows.
    pub rows: Vec<RuleRow>,
    /// Column and value, row after row.
    pub values: Vec<(u32, f64)>,
}

/// One row of the rule trace.
#[derive(Clone, Copy, Debug)]
pub struct RuleRow {
    /// Time, seconds.
    pub time_s: f64,
    /// Flow.
    pub flow: u32,
    /// Number of the phase.
    pub phase: u32,
    /// Index of its first value; its values end where those of the next row begin.
    pub first_value: usize,
}

impl RuleTrace {
    /// Numbers of the rows in order of time and flow; senders run ahead of each other.
    pub fn in_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        let key = |&number: &usize| (self.rows[number].time_s, self.rows[number].flow);
        order.sort_by(|a, b| key(a).0.total_cmp(&key(b).0).then(key(a).1.cmp(&key(b).1)));
        order
    }

    /// The values of a row: column and value.
    pub fn values_of(&self, row: usize) -> &[(u32, f64)] {
        let end = self.rows.get(row + 1).map_or(self.values.len(), |next| next.first_value);
        &self.values[self.rows[row].first_value..end]
    }

    fn record(&mut self, time_s: f64, flow: FlowId, sender: &Sender) {
        let phase = phase_of(sender);
        let number = self.phases.iter().position(|&known| known == phase).unwrap_or_else(|| {
            self.phases.push(phase);
            self.phases.len() - 1
        });
        let first_value = self.values.len();
        self.rows.push(RuleRow { time_s, flow: flow.number(), phase: number as u32, first_value });
        let Self { columns, values, .. } = self;
        sender.rule().state(&mut |name, value| {
            let column = columns.iter().position(|known| known == name).unwrap_or_else(|| {
                columns.push(name.to_string());
                columns.len() - 1
            });
            values.push((column as u32, value));
        });
    }
}

/// The rule's phase where it has phases, else the sender's.
fn phase_of(sender: &Sender) -> &'static str {
    sender.rule().phase().unwrap_or_else(|| sender.phase().name())
}

/// Receives the events of a run.
pub trait Tracer {
    /// Whether it receives any; the engine omits the calls otherwise.
    const ON: bool;
    /// Whether packets that are sent must be reported.
    fn records_packets(&self) -> bool {
        false
    }
    /// Whether packets that reach their receiver must be reported.
    fn records_deliveries(&self) -> bool {
        false
    }
    /// A packet event away from the sender.
    fn packet(&mut self, _row: PacketRow) {}
    /// An ACK reached its sender.
    fn ack(&mut self, _row: PacketRow, _sack: Option<&SackBlocks>) {}
    /// An ACK reached its sender, `rtt_s` after the transmission of the packet that triggered it.
    fn rtt(&mut self, _now_s: f64, _flow: FlowId, _rtt_s: f64) {}
    /// RTTs of a flow, if they are recorded.
    fn rtts(&self, _flow: FlowId) -> Option<&Histogram> {
        None
    }
    /// Goodput of the flows in bins, if starvation and convergence are measured.
    fn shares(&self) -> Option<&ShareRecord> {
        None
    }
    /// Accounts of the listed flows, if they are kept.
    fn accounts(&self) -> &[FlowAccount] {
        &[]
    }
    /// The sender of `flow` is about to process an event at `now_s`.
    fn before(&mut self, _now_s: f64, _flow: FlowId, _sender: &Sender, _config: &TcpConfig) {}
    /// The sender of `flow` has processed an event.
    fn after(&mut self, _now_s: f64, _flow: FlowId, _sender: &Sender, _config: &TcpConfig) {}
    /// A flow with endpoints of a transport stack, which is in this state, is about to process an
    /// event at `now_s`.
    fn stack_before(&mut self, _now_s: f64, _state: &WindowRow) {}
    /// It has processed an event, and is in this state.
    fn stack_after(&mut self, _state: &WindowRow) {}
    /// New data of `flow` arrived.
    fn goodput(&mut self, _now_s: f64, _flow: FlowId, _bits: u64) {}
    /// A packet of cross traffic, or of an arriving flow, reached its end.
    fn carried(&mut self, _now_s: f64, _flow: FlowId, _bits: u64) {}
    /// A slot for arriving flows of this group was added.
    fn slot(&mut self, _group: u32) {}
    /// A cross traffic source of this `[[cross]]` entry was added.
    fn source(&mut self, _line: u32) {}
    /// The run has ended.
    fn finish(&mut self) {}
    /// Whether the recorded rows exceed the memory limit.
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

/// When the state of flows is recorded.
#[derive(Debug, Default)]
struct Samples {
    sampling: Option<Sampling>,
    /// Number of samples taken of each flow, and the time of the next one, seconds; [`NEVER`]
    /// without an interval.
    taken: Vec<(u64, f64)>,
}

impl Samples {
    fn new(sampling: Option<Sampling>, flows: usize) -> Self {
        let first_s = if let Some(Sampling::Every(_)) = sampling { 0.0 } else { NEVER };
        Self { sampling, taken: vec![(0, first_s); flows] }
    }

    /// Time of the next sample of a flow, if it is due, seconds; counts it.
    #[inline]
    fn next_s(&mut self, flow: FlowId, now_s: f64) -> Option<f64> {
        let (taken, next_s) = self.taken.get_mut(flow.index())?;
        let time_s = *next_s;
        if time_s > now_s {
            return None;
        }
        let Some(Sampling::Every(every)) = self.sampling else { return None };
        *taken += 1;
        *next_s = *taken as f64 * every.seconds();
        Some(time_s)
    }
}

/// Rows beyond which a run stops: about 5 GiB.
const MAX_ROWS: usize = 80_000_000;

/// Records the traces that a scenario asks for.
#[derive(Debug, Default)]
pub struct TraceRecorder {
    packets_wanted: bool,
    losses_wanted: bool,
    window_samples: Samples,
    rule_samples: Samples,
    /// Phase of each flow in its last row of the rule trace.
    phases: Vec<&'static str>,
    rate_bin_s: Option<f64>,
    /// RTTs of each flow within the measurement window; empty unless wanted.
    rtts: Vec<Histogram>,
    /// Goodput of each flow in bins, if starvation and convergence are measured.
    share_record: Option<ShareRecord>,
    /// Account of each flow; empty unless wanted.
    accounts: Vec<FlowAccount>,
    measured: MeasurementWindow,
    /// Packet events.
    pub packets: Vec<PacketRow>,
    /// SACK blocks of the recorded ACKs.
    pub sacks: Vec<SackBlocks>,
    /// Window rows.
    pub windows: Vec<WindowRow>,
    /// Losses, where windows are recorded.
    pub losses: Vec<LossRow>,
    /// Rule rows.
    pub rules: RuleTrace,
    /// Bits of new data per flow and bin.
    pub rates: Vec<Vec<u64>>,
    /// Bits that each group of cross traffic or arriving flows delivered, per bin.
    pub carried: Vec<Vec<u64>>,
    /// Group of each cross traffic source, and of each slot for arriving flows.
    pub groups: TrafficGroups,
}

/// Group numbers of traffic that is not a listed flow.
#[derive(Debug, Default)]
pub struct TrafficGroups {
    /// Number of `[[cross]]` entries; groups of arriving flows are numbered after them.
    pub lines: u32,
    /// Group of each cross traffic source.
    pub cross: Vec<u32>,
    /// Group of each slot for arriving flows.
    pub slots: Vec<u32>,
}

impl TraceRecorder {
    /// A recorder for a scenario.
    pub fn new(scenario: &Scenario) -> Self {
        let flows = scenario.flows.iter().map(|flow| flow.count as usize).sum();
        let (lines, arrivals) = (scenario.cross.len(), scenario.arrivals.len());
        let [from_s, to_s] = scenario.window().map(|time| time.seconds());
        let measured = MeasurementWindow { from_s, to_s };
        let accounts = if scenario.trace.account { flows } else { 0 };
        Self {
            packets_wanted: scenario.trace.packets,
            losses_wanted: scenario.trace.cwnd.is_some(),
            window_samples: Samples::new(scenario.trace.cwnd, flows),
            rule_samples: Samples::new(scenario.trace.rule, flows),
            phases: vec![""; flows],
            rate_bin_s: scenario.trace.rate.map(|bin| bin.seconds()),
            rtts: if scenario.trace.rtt { vec![Histogram::default(); flows] } else { Vec::new() },
            share_record: scenario
                .trace
                .shares
                .then(|| ShareRecord::new(scenario.shares.bin.seconds(), flows)),
            accounts: vec![FlowAccount::new(measured); accounts],
            measured,
            rates: vec![Vec::new(); flows],
            carried: vec![Vec::new(); lines + arrivals],
            groups: TrafficGroups { lines: lines as u32, ..TrafficGroups::default() },
            ..Self::default()
        }
    }

    /// Bin length of `rates`, seconds.
    pub fn rate_bin_s(&self) -> Option<f64> {
        self.rate_bin_s
    }

    /// Window rows in order of time and flow; senders run ahead of each other.
    pub fn windows_in_order(&self) -> Vec<&WindowRow> {
        let mut rows: Vec<_> = self.windows.iter().collect();
        rows.sort_by(|a, b| a.time_s.total_cmp(&b.time_s).then(a.flow.cmp(&b.flow)));
        rows
    }

    /// Whether phase and state of rules are recorded.
    pub fn records_rules(&self) -> bool {
        self.rule_samples.sampling.is_some()
    }

    /// Whether it is a listed flow.
    fn lists(&self, flow: u32) -> bool {
        (flow as usize) < self.rates.len()
    }

    #[inline(never)]
    fn window(&mut self, time_s: f64, flow: FlowId, sender: &Sender, config: &TcpConfig) {
        self.windows.push(WindowRow {
            time_s,
            flow: flow.number(),
            cwnd: sender.cwnd(),
            ssthresh: sender.ssthresh(),
            srtt_s: sender.srtt_s(config),
            rttvar_s: sender.rttvar_s(config),
            backoff: sender.backoff(),
            duplicate_acks: sender.duplicate_acks(),
            acknowledged_packets: sender.snd_una(),
            outstanding_packets: sender.outstanding_packets(),
        });
    }
}

impl Tracer for TraceRecorder {
    const ON: bool = true;

    #[inline]
    fn records_packets(&self) -> bool {
        self.packets_wanted
    }

    #[inline]
    fn records_deliveries(&self) -> bool {
        self.packets_wanted
            || self.rate_bin_s.is_some()
            || self.share_record.is_some()
            || !self.accounts.is_empty()
    }

    fn packet(&mut self, row: PacketRow) {
        if !self.lists(row.flow) {
            return;
        }
        let PacketRow { time_s, event, flow, .. } = row;
        if let Some(account) = self.accounts.get_mut(flow as usize) {
            match event {
                PacketEvent::Receive => account.received(time_s, time_s - row.echo_s),
                PacketEvent::Drop => account.dropped(time_s, row.link),
                PacketEvent::Send | PacketEvent::Ack | PacketEvent::Timeout => {}
            }
        }
        if self.losses_wanted && matches!(event, PacketEvent::Drop | PacketEvent::Timeout) {
            let is_timeout = event == PacketEvent::Timeout;
            self.losses.push(LossRow { time_s, flow, is_timeout });
        }
        if self.packets_wanted {
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

    fn rtt(&mut self, now_s: f64, flow: FlowId, rtt_s: f64) {
        if let (Some(rtts), true) = (self.rtts.get_mut(flow.index()), self.measured.contains(now_s))
        {
            rtts.add(rtt_s);
        }
    }

    fn rtts(&self, flow: FlowId) -> Option<&Histogram> {
        self.rtts.get(flow.index())
    }

    fn shares(&self) -> Option<&ShareRecord> {
        self.share_record.as_ref()
    }

    fn accounts(&self) -> &[FlowAccount] {
        &self.accounts
    }

    /// Records the state that has held at each sampling time since the last event.
    #[inline]
    fn before(&mut self, now_s: f64, flow: FlowId, sender: &Sender, config: &TcpConfig) {
        if let Some(record) = &mut self.share_record {
            record.note_start(now_s, flow.number());
        }
        if let Some(account) = self.accounts.get_mut(flow.index()) {
            account.before(now_s, sender, config);
        }
        while let Some(time_s) = self.window_samples.next_s(flow, now_s) {
            self.window(time_s, flow, sender, config);
        }
        while let Some(time_s) = self.rule_samples.next_s(flow, now_s) {
            self.rules.record(time_s, flow, sender);
        }
    }

    #[inline]
    fn after(&mut self, now_s: f64, flow: FlowId, sender: &Sender, config: &TcpConfig) {
        if let Some(account) = self.accounts.get_mut(flow.index()) {
            account.after(now_s, sender, config);
        }
        if self.window_samples.sampling == Some(Sampling::All) && self.lists(flow.number()) {
            self.window(now_s, flow, sender, config);
        }
        let sampling = self.rule_samples.sampling;
        if sampling.is_some() && self.lists(flow.number()) {
            let phase = phase_of(sender);
            let has_changed = std::mem::replace(&mut self.phases[flow.index()], phase) != phase;
            if has_changed || sampling == Some(Sampling::All) {
                self.rules.record(now_s, flow, sender);
            }
        }
    }

    fn stack_before(&mut self, now_s: f64, state: &WindowRow) {
        while let Some(time_s) = self.window_samples.next_s(FlowId::new(state.flow), now_s) {
            self.windows.push(WindowRow { time_s, ..*state });
        }
    }

    fn stack_after(&mut self, state: &WindowRow) {
        if self.window_samples.sampling == Some(Sampling::All) {
            self.windows.push(*state);
        }
    }

    fn goodput(&mut self, now_s: f64, flow: FlowId, bits: u64) {
        if let Some(record) = &mut self.share_record {
            record.add(now_s, flow.number(), bits);
        }
        if let (Some(bin), true) = (self.rate_bin_s, self.lists(flow.number())) {
            add(&mut self.rates[flow.index()], (now_s / bin) as usize, bits);
        }
    }

    fn slot(&mut self, group: u32) {
        self.groups.slots.push(self.groups.lines + group);
    }

    fn source(&mut self, line: u32) {
        self.groups.cross.push(line);
    }

    fn carried(&mut self, now_s: f64, flow: FlowId, bits: u64) {
        let Some(bin) = self.rate_bin_s else { return };
        let group = match flow.source() {
            Source::Cross(number) => self.groups.cross.get(number),
            Source::Flow(number) => {
                number.checked_sub(self.rates.len()).and_then(|slot| self.groups.slots.get(slot))
            }
        };
        if let Some(&group) = group {
            add(&mut self.carried[group as usize], (now_s / bin) as usize, bits);
        }
    }

    /// Sorts the rows by time and flow: stations and senders run ahead of each other. At one instant
    /// a sender's rows come first, then drops, then arrivals at the receiver.
    fn finish(&mut self) {
        self.accounts.iter_mut().for_each(FlowAccount::finish);
        let place = |event: PacketEvent| match event {
            PacketEvent::Send | PacketEvent::Ack | PacketEvent::Timeout => 0,
            PacketEvent::Drop => 1,
            PacketEvent::Receive => 2,
        };
        let key = |row: &PacketRow| (row.flow, place(row.event));
        self.packets.sort_by(|a, b| a.time_s.total_cmp(&b.time_s).then(key(a).cmp(&key(b))));
        let key = |row: &LossRow| (row.flow, row.is_timeout);
        self.losses.sort_by(|a, b| a.time_s.total_cmp(&b.time_s).then(key(a).cmp(&key(b))));
    }

    fn overflowed(&self) -> bool {
        self.packets.len() > MAX_ROWS
            || self.windows.len() + self.losses.len() > MAX_ROWS
            || self.rules.rows.len() + self.rules.values.len() > MAX_ROWS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_events_of_packets_have_the_names_of_their_column() {
        let column = cwndlab_columns::trace_column("packets", "event").unwrap();
        assert_eq!(column.values, PacketEvent::NAMES);
    }
}
