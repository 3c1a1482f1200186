//! Arriving flows: finite TCP flows of an arrival process, and request-response transfers on
//! persistent connections.
//!
//! An arriving flow reuses the slot of a completed one, once none of its packets is left in the
//! network: memory grows with the number of concurrent flows, not with all that ever arrived.

use crate::endpoint::tcp::ReceiverEndpoint;
use crate::event::queues::EventKind;
use crate::packet::Flags;
use crate::random::stream::RandomStream;
use crate::random::variable::RandomVariable;
use cwndlab_rules::Rule;
use cwndlab_tcp::{Counters, Recovery};
use std::collections::VecDeque;

/// Rate, and least and greatest delay (seconds) of an access link whose delay is drawn.
pub type AccessLinkRange = (Option<u64>, f64, f64);

/// What all flows of a group have in common.
#[derive(Clone, Debug)]
pub struct FlowTemplate {
    /// Its route.
    pub route: u32,
    /// Events of its FIFOs.
    pub event_kinds: Vec<EventKind>,
    /// Its access links in order; those of one number have the same delay.
    pub access_links: Vec<(usize, AccessLinkRange)>,
    /// Index of its knobs.
    pub knobs: u32,
    /// Rule, in its initial state.
    pub rule: Rule,
    /// Loss recovery.
    pub recovery: Recovery,
    /// Header bits of its packets.
    pub flags: Flags,
    /// Offset of its timers within a tick, seconds.
    pub timer_phase_s: f64,
    /// Round trip propagation delay without the drawn delays, seconds.
    pub base_rtt_s: f64,
    /// Transmission time of a data packet on the bottleneck, seconds.
    pub bottleneck_tx_s: f64,
}

/// Arrival process: Poisson or regular, with a mean gap per phase.
#[derive(Clone, Debug)]
pub struct ArrivalProcess {
    /// Gap in units of the mean gap: exponential, or 1.
    pub unit: RandomVariable,
    /// Length and mean gap of each phase, seconds; the phases repeat.
    pub phases: Vec<(f64, f64)>,
    /// Index of the current phase.
    pub phase: usize,
    /// End of the current phase, seconds.
    pub until_s: f64,
    /// End of the process, seconds.
    pub stop_s: f64,
}

impl ArrivalProcess {
    /// A process with these phases from `start_s` on.
    pub fn new(unit: RandomVariable, phases: Vec<(f64, f64)>, start_s: f64, stop_s: f64) -> Self {
        let until_s = start_s + phases[0].0;
        Self { unit, phases, phase: 0, until_s, stop_s }
    }

    /// The arrival after `now_s`, if it precedes the stop. A gap that spans phases is rescaled at
    /// their boundaries, which keeps the process memoryless.
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

/// A group of arriving flows.
#[derive(Clone, Debug)]
pub struct ArrivalGroup {
    /// What they have in common.
    pub template: FlowTemplate,
    /// Their arrival process.
    pub process: ArrivalProcess,
    /// Data packets of a flow.
    pub size: RandomVariable,
    /// Random stream of their access delays.
    pub delays: RandomStream,
    /// Slots of completed flows, sorted by completion time (as bits of a non-negative double) and
    /// number.
    pub retired: VecDeque<(u64, u32)>,
    /// Counters over the measurement window.
    pub counters: GroupCounters,
}

/// Counters over the measurement window.
#[derive(Clone, Copy, Debug, Default)]
pub struct GroupCounters {
    /// Flows that arrived.
    pub arrived: u64,
    /// Data packets sent.
    pub sent: u64,
    /// Data packets retransmitted.
    pub retransmitted: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// New data packets delivered.
    pub delivered: u64,
    /// Data packets dropped.
    pub dropped: u64,
    /// Bytes of data packets delivered, duplicates and SYNs included.
    pub arrived_bytes: u64,
}

impl GroupCounters {
    /// Adds the counters of a sender.
    pub fn add_sent(&mut self, added: &Counters) {
        self.sent += added.sent;
        self.retransmitted += added.retransmitted;
        self.timeouts += u64::from(added.timeouts);
    }

    /// Adds the counters of a receiver.
    pub fn add_received(&mut self, sink: &ReceiverEndpoint) {
        self.delivered += sink.delivered;
        self.dropped += sink.dropped;
        self.arrived_bytes += sink.arrived_bytes;
    }
}

/// An integer number of packets, at least one, from a draw.
pub fn whole_packets(packets: f64) -> u64 {
    packets.round().clamp(1.0, 1e12) as u64
}
