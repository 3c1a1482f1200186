//! Impairments of a link: loss, marks, listed packets, outages, a token bucket marker, a policer,
//! jitter and ECN mangling, all apart from its queue.

use crate::id::FlowId;
use crate::network::impairment::jitter::Jitter;
use crate::network::impairment::listed_packets::{ListedFate, ListedPackets};
use crate::network::impairment::loss_model::{LossModel, LossOutcome};
use crate::network::impairment::marker::TokenBucketMarker;
use crate::network::impairment::policer::{Policed, Policer};
use crate::packet::Flags;
use crate::rate::outages::Outages;
use cwndlab_scenario::EcnMangling;
use cwndlab_tcp::Ecn;

/// Impairments of a link.
#[derive(Clone, Debug, Default)]
pub struct Impairments {
    /// Losses and marks.
    pub losses: Vec<LossModel>,
    /// Packets to drop or hold back.
    pub listed: Option<ListedPackets>,
    /// Outages.
    pub outages: Option<Outages>,
    /// Sets the priority of packets.
    pub marker: Option<TokenBucketMarker>,
    /// What it does to the ECN field.
    pub ecn_mangling: Option<EcnMangling>,
    /// Drops or marks packets beyond a rate.
    pub policer: Option<Policer>,
    /// Jitter of the delay.
    pub jitter: Option<Jitter>,
    /// Latest arrival time at the other end so far, if jitter must not reorder packets.
    pub last_s: f64,
}

impl Impairments {
    /// Whether there is no impairment.
    pub fn is_empty(&self) -> bool {
        self.losses.is_empty()
            && self.listed.is_none()
            && self.outages.is_none()
            && self.ecn_mangling.is_none()
            && self.marker.is_none()
            && self.policer.is_none()
            && self.jitter.is_none()
    }

    /// Applies impairments in front of the queue; returns whether the packet is dropped, and its
    /// flags.
    pub fn before_queue(
        &mut self,
        now_s: f64,
        size_bytes: u32,
        (flow, number): (FlowId, i64),
        mut flags: Flags,
    ) -> (bool, Flags) {
        if let Some(marker) = &mut self.marker {
            flags = flags.with_priority(marker.priority(now_s, size_bytes));
        }
        let mut lost = self.outages.as_ref().is_some_and(|outages| outages.drops_arrivals(now_s));
        for loss in &mut self.losses {
            match loss.apply(now_s, flow.number(), false) {
                LossOutcome::Pass => {}
                LossOutcome::Drop => lost = true,
                LossOutcome::Mark if flags.is_ect() => flags = flags.marked(),
                LossOutcome::Mark => {}
            }
        }
        if let Some(listed) = self.listed.as_mut().filter(|_| !flags.has(Flags::HANDSHAKE_ACK)) {
            let fate = listed.arrive(flow.number(), number);
            lost |= fate == Some(ListedFate::Dropped);
            flags = flags.with(Flags::HELD, matches!(fate, Some(ListedFate::Held(_))));
        }
        if let Some(policer) = self.policer.as_mut().filter(|_| !lost) {
            match policer.police(now_s, size_bytes) {
                Policed::Pass => {}
                Policed::Mark if flags.is_ect() => flags = flags.marked(),
                Policed::Mark | Policed::Drop => lost = true,
            }
        }
        (lost, if lost { self.release(flow, number, flags).1 } else { flags })
    }

    /// Applies impairments after transmission to a packet that would arrive at `at_s`; returns its
    /// arrival time, none if it is dropped, and its header bits.
    pub fn after_transmission(
        &mut self,
        at_s: f64,
        (flow, number): (FlowId, i64),
        flags: Flags,
    ) -> (Option<f64>, Flags) {
        let (hold_s, flags) = self.release(flow, number, self.mangle(flags));
        // Every loss model counts the packet, even behind one that drops it.
        let lost = self.losses.iter_mut().fold(false, |lost, loss| {
            (loss.apply(at_s, flow.number(), true) == LossOutcome::Drop) | lost
        });
        ((!lost).then(|| self.delay(at_s) + hold_s), flags)
    }

    /// A packet leaves the link, or was lost on it; returns for how long it is held back, seconds,
    /// and its flags elsewhere.
    pub fn release(&mut self, flow: FlowId, number: i64, flags: Flags) -> (f64, Flags) {
        match self.listed.as_mut().filter(|_| flags.has(Flags::HELD)) {
            Some(listed) => (listed.release(flow.number(), number), flags.without(Flags::HELD)),
            None => (0.0, flags),
        }
    }

    /// Header bits of a packet as it leaves the link.
    fn mangle(&self, flags: Flags) -> Flags {
        match self.ecn_mangling {
            Some(EcnMangling::Bleach) => flags.without_ecn(),
            Some(EcnMangling::ClearCe) if flags.is_ce() => flags.without_ecn().with_ecn(Ecn::Ect0),
            Some(EcnMangling::MarkAll) if flags.is_ect() => flags.marked(),
            _ => flags,
        }
    }

    fn delay(&mut self, at_s: f64) -> f64 {
        let Some(jitter) = &mut self.jitter else { return at_s };
        let late_s = at_s + jitter.next(at_s);
        if jitter.reorders() {
            return late_s;
        }
        self.last_s = self.last_s.max(late_s);
        self.last_s
    }
}
