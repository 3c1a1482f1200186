//! An account of a flow: what it did in each of its phases, and why its congestion window changed.
//!
//! An event belongs to the phase before it: the ACK that ends recovery belongs to recovery.
//! Packets count as delivered once an ACK or a SACK block says so (without SACK, once a
//! duplicate ACK does): a cumulative ACK alone would give all of a recovery to its end. An account
//! adds up: times to the time that the flow was there, changes of cwnd to its difference between the
//! ends of the window.

use super::window::MeasurementWindow;
use cwndlab_tcp::{Limit, Sender, TcpConfig};
use serde::{Deserialize, Serialize};

/// Phases of a flow. A flow limited by cwnd and one limited by pacing are in the same phase, so that
/// rules that pace and rules that do not can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowPhase {
    /// A retransmission timeout ([`Limit::Timeout`]), and the wait for it: from the last event
    /// before it expires.
    Timeout,
    /// Recovery ([`Limit::Recovery`]).
    Recovery,
    /// Nothing to send ([`Limit::Application`]).
    Application,
    /// The receiver's window is full ([`Limit::Receiver`]).
    Receiver,
    /// Slow start, or the rule's own startup: limited by cwnd or pacing.
    SlowStart,
    /// After slow start: limited by cwnd or pacing.
    Growth,
}

impl FlowPhase {
    /// All, with their names, in order of precedence.
    pub const ALL: [(Self, &str); 6] = [
        (Self::Timeout, "timeout"),
        (Self::Recovery, "recovery"),
        (Self::Application, "application"),
        (Self::Receiver, "receiver"),
        (Self::SlowStart, "slow_start"),
        (Self::Growth, "growth"),
    ];

    fn of(limit: Limit, is_slow_start: bool) -> Self {
        match limit {
            Limit::Timeout => Self::Timeout,
            Limit::Recovery => Self::Recovery,
            Limit::Application => Self::Application,
            Limit::Receiver => Self::Receiver,
            Limit::Pacing | Limit::SlowStart | Limit::Cwnd if is_slow_start => Self::SlowStart,
            Limit::Pacing | Limit::SlowStart | Limit::Cwnd => Self::Growth,
        }
    }
}

/// What a flow did in one of its phases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseAccount {
    /// Time, seconds.
    pub seconds: f64,
    /// Packets of which the sender learned that they were delivered.
    pub delivered_packets: f64,
    /// Data packets sent, retransmissions included.
    pub sent_packets: u64,
    /// Packets dropped.
    pub dropped_packets: u64,
    /// Integral of the packets sent and not known to be delivered, packet seconds.
    pub outstanding_packet_s: f64,
}

impl PhaseAccount {
    /// Adds time in which packets were outstanding, or takes it away.
    fn add(&mut self, seconds: f64, outstanding: i64) {
        self.seconds += seconds;
        self.outstanding_packet_s += seconds * outstanding as f64;
    }
}

/// Why cwnd changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CwndCause {
    /// Slow start raises it.
    SlowStart,
    /// The rule raises it after slow start.
    Growth,
    /// Losses found by duplicate ACKs, SACK or RACK, until they are repaired.
    Loss,
    /// ECN feedback.
    Ecn,
    /// A retransmission timeout.
    Timeout,
    /// A reduction is undone.
    Undo,
    /// Cwnd validation after the application paused (RFC 7661).
    Idle,
    /// The rule lowers it on its own: on delay, on a rate, for a probe.
    Rule,
}

impl CwndCause {
    /// All, with their names.
    pub const ALL: [(Self, &str); 8] = [
        (Self::SlowStart, "slow_start"),
        (Self::Growth, "growth"),
        (Self::Loss, "loss"),
        (Self::Ecn, "ecn"),
        (Self::Timeout, "timeout"),
        (Self::Undo, "undo"),
        (Self::Idle, "idle"),
        (Self::Rule, "rule"),
    ];
}

/// What senders count, timeouts first.
const COUNTED: [CwndCause; 4] =
    [CwndCause::Timeout, CwndCause::Loss, CwndCause::Ecn, CwndCause::Undo];

/// Changes of cwnd by one cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CwndChanges {
    /// Number of reductions, or of undone ones; for any other cause, of events that changed cwnd.
    pub times: u64,
    /// Sum of the changes, packets.
    pub packets: f64,
    /// Sum of cwnd before each of its reductions, or after each of its undone ones, packets: what
    /// the changes are a share of. 0 for causes that raise it.
    pub of_packets: f64,
}

/// State of a sender between two events.
#[derive(Clone, Copy, Debug)]
struct State {
    phase: Option<FlowPhase>,
    is_connected: bool,
    cwnd: f64,
    is_slow_start: bool,
    is_reducing: bool,
    has_rule_taken_mark: bool,
    delivered: i64,
    outstanding: i64,
    sent: u64,
    /// In the order of [`COUNTED`].
    reductions: [u32; COUNTED.len()],
}

impl State {
    fn of(sender: &Sender, config: &TcpConfig, now_s: f64) -> Self {
        let counters = sender.counters(now_s);
        let info = sender.tcp_info(config);
        let sacked = i64::from(info.sacked);
        let is_reducing = sender.is_reducing();
        // BBR, which has no ssthresh, has a phase of its own for it. During a reduction cwnd may be
        // below ssthresh for a round trip.
        let is_slow_start = match sender.rule().phase() {
            Some(phase) => phase == "Startup",
            None => !is_reducing && sender.cwnd() < sender.ssthresh(),
        };
        Self {
            phase: sender.limit().map(|limit| FlowPhase::of(limit, is_slow_start)),
            is_connected: !config.handshake.syn || sender.is_connected(),
            cwnd: sender.cwnd(),
            is_slow_start,
            is_reducing,
            has_rule_taken_mark: sender.has_rule_taken_mark(),
            // The SYN is not data.
            delivered: (sender.snd_una() - i64::from(config.handshake.syn)).max(0) + sacked,
            outstanding: (sender.outstanding_packets() - sacked).max(0),
            sent: counters.sent,
            reductions: [
                counters.timeouts,
                counters.fast_retransmits,
                counters.ecn_reductions,
                counters.undone_reductions,
            ],
        }
    }
}

/// Account of one flow, within the measurement window.
#[derive(Clone, Debug)]
pub struct FlowAccount {
    window: MeasurementWindow,
    since_s: f64,
    /// The event before the last one, and how long after it the last one came within the window,
    /// seconds.
    before_s: f64,
    waited_s: f64,
    state: Option<State>,
    /// Why the current reduction began.
    reduced_by: CwndCause,
    /// The rule took a mark, and has not reduced cwnd since.
    is_mark_pending: bool,
    /// In the order of [`FlowPhase::ALL`].
    pub phases: [PhaseAccount; FlowPhase::ALL.len()],
    /// In the order of [`CwndCause::ALL`].
    pub cwnd_changes: [CwndChanges; CwndCause::ALL.len()],
    /// cwnd at the start of the window, or of a flow that connects within it, packets.
    pub first_cwnd: Option<f64>,
    /// cwnd at the end of the window, packets.
    pub last_cwnd: f64,
    /// Sum of the times from the last transmission of packets to their arrival, seconds.
    pub one_way_sum_s: f64,
    /// Number of terms in [`Self::one_way_sum_s`].
    pub one_way_count: u64,
    /// When each phase began, seconds.
    phase_starts: Vec<(f64, FlowPhase)>,
    /// When packets were dropped, seconds, and on which link.
    drops: Vec<(f64, u32)>,
}

impl FlowAccount {
    /// An account of a flow that has not started.
    pub fn new(window: MeasurementWindow) -> Self {
        Self {
            window,
            since_s: 0.0,
            before_s: 0.0,
            waited_s: 0.0,
            state: None,
            reduced_by: CwndCause::Loss,
            is_mark_pending: false,
            phases: Default::default(),
            cwnd_changes: Default::default(),
            first_cwnd: None,
            last_cwnd: 0.0,
            one_way_sum_s: 0.0,
            one_way_count: 0,
            phase_starts: Vec::new(),
            drops: Vec::new(),
        }
    }

    /// The sender is about to process an event: counts the time since the last one.
    pub fn before(&mut self, now_s: f64, sender: &Sender, config: &TcpConfig) {
        let state = State::of(sender, config, now_s);
        if let Some(phase) = state.phase {
            let from_s = self.since_s.max(self.window.from_s);
            let seconds = (now_s.min(self.window.to_s) - from_s).max(0.0);
            self.waited_s = seconds;
            self.phases[phase as usize].add(seconds, state.outstanding);
            let was_there = self.since_s < self.window.to_s && now_s >= self.window.from_s;
            if was_there && state.is_connected {
                self.first_cwnd.get_or_insert(state.cwnd);
            }
        }
        self.before_s = self.since_s;
        self.since_s = now_s;
        self.state = Some(state);
    }

    /// The sender has processed an event: counts what it changed.
    pub fn after(&mut self, now_s: f64, sender: &Sender, config: &TcpConfig) {
        let Some(old) = self.state else { return };
        let new = State::of(sender, config, now_s);
        let counted = [0, 1, 2, 3].map(|index| new.reductions[index] - old.reductions[index]);
        let has_timed_out = counted[0] > 0;
        if let Some(phase) = old.phase.filter(|_| has_timed_out) {
            // The wait for the RTO is its cost.
            self.phases[phase as usize].add(-self.waited_s, old.outstanding);
            self.phases[FlowPhase::Timeout as usize].add(self.waited_s, old.outstanding);
            self.phase_starts.push((self.before_s, FlowPhase::Timeout));
        }
        if new.phase != old.phase || has_timed_out || self.phase_starts.is_empty() {
            self.phase_starts.extend(new.phase.map(|phase| (now_s, phase)));
        }
        let inside = self.window.contains(now_s);
        if inside || now_s < self.window.from_s {
            self.last_cwnd = new.cwnd;
        }
        let cause = self.cause(&old, &new, counted);
        if !inside {
            return;
        }
        let begins = new.is_connected && (old.phase.is_none() || !old.is_connected);
        if begins {
            self.first_cwnd = Some(new.cwnd);
        }
        // What a flow does as it starts, it does in its first phase.
        let Some(phase) = old.phase.or(new.phase) else { return };
        let account = &mut self.phases[phase as usize];
        account.delivered_packets += (new.delivered - old.delivered) as f64;
        account.sent_packets += new.sent - old.sent;
        for (cause, times) in COUNTED.into_iter().zip(counted) {
            let changes = &mut self.cwnd_changes[cause as usize];
            changes.times += u64::from(times);
            let of = if cause == CwndCause::Undo { new.cwnd } else { old.cwnd };
            changes.of_packets += f64::from(times) * of;
        }
        if !begins && old.phase.is_some() && new.cwnd != old.cwnd {
            let changes = &mut self.cwnd_changes[cause as usize];
            changes.packets += new.cwnd - old.cwnd;
            // What senders count was counted above; rules have reductions of their own.
            let is_own = !old.is_reducing && counted.iter().all(|&times| times == 0);
            changes.times += u64::from(is_own);
            if is_own && new.cwnd < old.cwnd {
                changes.of_packets += old.cwnd;
            }
        }
    }

    /// Why cwnd changes from one state to the next, between which these reductions were counted.
    fn cause(&mut self, old: &State, new: &State, counted: [u32; COUNTED.len()]) -> CwndCause {
        if let Some(index) = counted.iter().position(|&times| times > 0) {
            self.reduced_by = COUNTED[index];
            return COUNTED[index];
        }
        if old.is_reducing {
            return self.reduced_by;
        }
        self.is_mark_pending |= new.has_rule_taken_mark;
        match (new.cwnd < old.cwnd, old.phase) {
            // Rules such as Prague reduce cwnd later than at a mark: once in a round trip.
            (true, _) if std::mem::take(&mut self.is_mark_pending) => CwndCause::Ecn,
            (true, Some(FlowPhase::Application)) => CwndCause::Idle,
            (true, _) => CwndCause::Rule,
            (false, _) if old.is_slow_start => CwndCause::SlowStart,
            (false, _) => CwndCause::Growth,
        }
    }

    /// A packet reached its receiver, so long after its transmission.
    pub fn received(&mut self, now_s: f64, one_way_s: f64) {
        if self.window.contains(now_s) {
            self.one_way_sum_s += one_way_s;
            self.one_way_count += 1;
        }
    }

    /// A packet was dropped on a link.
    pub fn dropped(&mut self, now_s: f64, link: u32) {
        if self.window.contains(now_s) {
            self.drops.push((now_s, link));
        }
    }

    /// The run has ended: assigns the drops to the phases of their flow. Senders run ahead of
    /// links, so that is not known before.
    pub fn finish(&mut self) {
        self.drops.sort_by(|a, b| a.0.total_cmp(&b.0));
        for &(at_s, _) in &self.drops {
            let next = self.phase_starts.partition_point(|&(since_s, _)| since_s <= at_s);
            if let Some(&(_, phase)) = self.phase_starts.get(next.saturating_sub(1)) {
                self.phases[phase as usize].dropped_packets += 1;
            }
        }
    }

    /// Packets dropped by link number.
    pub fn drops_of(&self, link: u32) -> u64 {
        self.drops.iter().filter(|&&(_, on)| on == link).count() as u64
    }

    /// Phases within the window, up to `end_s`: start and end of each, seconds, in order of time.
    pub fn phases_until(&self, end_s: f64) -> impl Iterator<Item = (f64, f64, FlowPhase)> {
        let MeasurementWindow { from_s, to_s } = self.window;
        let ends = self.phase_starts.iter().skip(1).map(|change| change.0).chain([end_s]);
        self.phase_starts.iter().zip(ends).map(move |(&(start_s, phase), stop_s)| {
            let (start_s, stop_s) = (start_s.max(from_s), stop_s.min(to_s).min(end_s));
            (start_s, stop_s.max(start_s), phase)
        })
    }

    /// Time by phase in equal bins of the window, up to `end_s`, seconds.
    pub fn time_in_bins(&self, bins: usize, end_s: f64) -> Vec<[f64; FlowPhase::ALL.len()]> {
        let MeasurementWindow { from_s, to_s } = self.window;
        let width_s = (to_s - from_s) / bins as f64;
        let mut shares = vec![[0.0; FlowPhase::ALL.len()]; bins];
        for (start_s, stop_s, phase) in self.phases_until(end_s) {
            let first = (((start_s - from_s) / width_s) as usize).min(bins - 1);
            let edge_s = |bin: usize| {
                if bin == bins { to_s } else { from_s + bin as f64 * width_s }
            };
            // Rounding may put an instant on an edge into the bin before or behind it.
            for (bin, share) in shares.iter_mut().enumerate().skip(first.saturating_sub(1)) {
                if edge_s(bin) >= stop_s {
                    break;
                }
                let inside_s = stop_s.min(edge_s(bin + 1)) - start_s.max(edge_s(bin));
                share[phase as usize] += inside_s.max(0.0);
            }
        }
        shares
    }
}
