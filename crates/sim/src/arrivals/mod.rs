//! Finite TCP flows that arrive one after the other, and requests on connections that stay.
//!
//! A flow that arrives takes the place of one that is over, if nothing of that one is left in the network: so memory grows with the number
//! of flows at a time, not with all that ever were.

mod slots;

use crate::endpoints::ReceiverEndpoint;
use crate::event_queues::EventKind;
use crate::packet::Flags;
use crate::random_stream::RandomStream;
use crate::random_variable::RandomVariable;
use cwndlab_rules::Rule;
use cwndlab_tcp::{Counters, Recovery};
use std::collections::VecDeque;

/// A transfer that is complete: a flow that arrived, or a response.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// Number of its group.
    pub group: u32,
    /// When it began, seconds.
    pub start_s: f64,
    /// Data packets.
    pub packets: u64,
    /// Until everything was acknowledged, seconds.
    pub fct_s: f64,
    /// That over a base round trip and the time its bits take on the slowest link of its way.
    pub slowdown: f64,
}

/// A flow's own link before its delay is drawn: rate, least and most delay (seconds).
pub type AccessLinkRange = (Option<u64>, f64, f64);

/// What every flow of a group is made of.
#[derive(Clone, Debug)]
pub struct FlowTemplate {
    /// Its route.
    pub route: u32,
    /// What its streams are due for.
    pub event_kinds: Vec<EventKind>,
    /// Its pipes in order; those of one number have the same delay.
    pub access_links: Vec<(usize, AccessLinkRange)>,
    /// Index of its knobs.
    pub knobs: u32,
    /// Rule, in its first state.
    pub rule: Rule,
    /// Recovery.
    pub recovery: Recovery,
    /// Header of its packets.
    pub flags: Flags,
    /// Offset of its timer within a tick, seconds.
    pub timer_phase_s: f64,
    /// Round trip of propagation delays that are not drawn, seconds.
    pub base_rtt_s: f64,
    /// Seconds a data packet takes on the slowest link of its way.
    pub bottleneck_tx_s: f64,
}

/// When flows arrive.
#[derive(Clone, Debug)]
pub struct ArrivalProcess {
    /// In units of the mean gap: exponential, or 1.
    pub unit: RandomVariable,
    /// Length and mean gap of each phase, seconds; the first follows the last.
    pub phases: Vec<(f64, f64)>,
    /// The present phase, and when it ends.
    pub phase: usize,
    /// Seconds.
    pub until_s: f64,
    /// No arrivals from then on, seconds.
    pub stop_s: f64,
}

impl ArrivalProcess {
    /// From these phases on, beginning at `start_s`.
    pub fn new(unit: RandomVariable, phases: Vec<(f64, f64)>, start_s: f64, stop_s: f64) -> Self {
        let until_s = start_s + phases[0].0;
        Self { unit, phases, phase: 0, until_s, stop_s }
    }

    /// The arrival after `now_s`, if it is before the stop: the process runs faster or slower as the mean gap changes, so that none is forgotten at a change.
    pub fn next_time_s(&mut self, mut now_s: f64) -> Option<f64> {
        let mut units = self.unit.next();
        loop {
            let gap_s = self.phases[self.phase].1;
            let next_time_s = now_s + units * gap_s;
            if next_time_s <= self.until_s || now_s >= self.stop_s {
                return Some(next_time_s).filter(|&next_time_s| next_time_s < self.stop_s);
            }
            units -= (self.until_s - now_s) / gap_s;
            now_s = self.until_s;
            self.phase = (self.phase + 1) % self.phases.len();
            self.until_s += self.phases[self.phase].0;
        }
    }
}

/// A group of flows that arrive.
#[derive(Clone, Debug)]
pub struct ArrivalGroup {
    /// What they are made of.
    pub template: FlowTemplate,
    /// When.
    pub process: ArrivalProcess,
    /// Packets of each.
    pub size: RandomVariable,
    /// Draws of delays.
    pub delays: RandomStream,
    /// Slots of flows that are over, by when (bits of a double that is not negative) and number; in order.
    pub retired: VecDeque<(u64, u32)>,
    /// Sums over the measuring window.
    pub counters: GroupCounters,
}

/// Sums over the measuring window.
#[derive(Clone, Copy, Debug, Default)]
pub struct GroupCounters {
    /// Flows that arrived.
    pub arrived: u64,
    /// Data packets sent.
    pub sent: u64,
    /// Sent again.
    pub retransmitted: u64,
    /// Time-outs.
    pub timeouts: u64,
    /// New data packets that arrived.
    pub delivered: u64,
    /// Data packets lost.
    pub dropped: u64,
    /// Bytes of data packets that arrived, again or anew, SYNs too.
    pub arrived_bytes: u64,
}

impl GroupCounters {
    /// Adds what a sender did.
    pub fn add_sent(&mut self, added: &Counters) {
        self.sent += added.sent;
        self.retransmitted += added.retransmitted;
        self.timeouts += u64::from(added.timeouts);
    }

    /// Adds what reached a receiver.
    pub fn add_received(&mut self, sink: &ReceiverEndpoint) {
        self.delivered += sink.delivered;
        self.dropped += sink.dropped;
        self.arrived_bytes += sink.arrived_bytes;
    }
}

/// What a flow is to do, where it is not to send without end.
#[derive(Clone, Debug)]
pub struct ActiveTransfer {
    /// Number of its group among those of transfers.
    pub group: u32,
    /// When the present transfer began, seconds.
    pub start_s: f64,
    /// Its data packets.
    pub packets: u64,
    /// Base round trip, seconds.
    pub base_rtt_s: f64,
    /// Seconds a data packet takes on the slowest link of its way.
    pub bottleneck_tx_s: f64,
    /// Size of responses and time to think, where it answers requests.
    pub requests: Option<(RandomVariable, RandomVariable)>,
    /// Whether the flow stopped in the middle of it: it will not be complete, whatever is acknowledged.
    pub is_truncated: bool,
}

/// A number of packets from a draw: whole, at least one.
pub fn whole_packets(packets: f64) -> u64 {
    packets.round().clamp(1.0, 1e12) as u64
}
