//! Impairments of a link: loss, marks, listed packets, outages, a token bucket marker, a policer, a
//! circuit breaker, jitter, ECN mangling and a tunnel, all apart from its queue.

use crate::id::FlowId;
use crate::network::impairment::circuit_breaker::CircuitBreaker;
use crate::network::impairment::jitter::Jitter;
use crate::network::impairment::listed_packets::{ListedFate, ListedPackets};
use crate::network::impairment::loss_model::{LossModel, LossOutcome};
use crate::network::impairment::marker::TokenBucketMarker;
use crate::network::impairment::policer::{Policed, Policer};
use crate::network::impairment::tunnel::Tunnel;
use crate::packet::Flags;
use crate::rate::outages::Outages;
use cwndlab_scenario::{EcnMangling, LinkSpec};
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
    /// The tunnel that it is in.
    pub tunnel: Option<Tunnel>,
    /// Drops or marks packets beyond a rate.
    pub policer: Option<Policer>,
    /// Stops its traffic after persistent heavy loss.
    pub breaker: Option<CircuitBreaker>,
    /// Jitter of the delay.
    pub jitter: Option<Jitter>,
    /// Latest arrival time at the other end so far, if jitter must not reorder packets.
    pub last_s: f64,
}

impl Impairments {
    /// Those of a link of a checked scenario that its table alone describes, without those that
    /// need flows or random numbers.
    pub fn of_link(link: &LinkSpec) -> Self {
        Self {
            ecn_mangling: link.ecn_mangling,
            marker: link.marker.map(|marker| TokenBucketMarker::new(&marker)),
            tunnel: link.tunnel.map(|tunnel| Tunnel::new(&tunnel)),
            policer: link.policer.map(|policer| Policer::new(&policer)),
            breaker: link.circuit_breaker.map(|breaker| CircuitBreaker::new(&breaker)),
            ..Self::default()
        }
    }

    /// Whether there is no impairment.
    pub fn is_empty(&self) -> bool {
        self.losses.is_empty()
            && self.listed.is_none()
            && self.outages.is_none()
            && self.ecn_mangling.is_none()
            && self.tunnel.is_none()
            && self.marker.is_none()
            && self.policer.is_none()
            && self.breaker.is_none()
            && self.jitter.is_none()
    }

    /// A packet enters the tunnel, if there is one; returns its size and its flags on the link.
    pub fn encapsulate(&self, size_bytes: u32, flags: Flags) -> (u32, Flags) {
        match self.tunnel {
            Some(tunnel) => (tunnel.size_bytes(size_bytes), tunnel.outer(flags)),
            None => (size_bytes, flags),
        }
    }

    /// The flags to keep of a packet that has these `outer` ones on the link.
    pub fn kept(&self, before: Flags, outer: Flags) -> Flags {
        self.tunnel.map_or(outer, |tunnel| tunnel.inner(before, outer))
    }

    /// Applies impairments in front of the queue; returns whether the packet is dropped, and its
    /// flags. Size and flags are those on the link.
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
        lost |= self.breaker.as_mut().is_some_and(CircuitBreaker::arrive);
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
        let outer = self.mangle(self.encapsulate(0, flags).1);
        let left = self.tunnel.map_or(Some(outer), |tunnel| tunnel.decapsulate(flags, outer.ecn()));
        let (hold_s, flags) = self.release(flow, number, left.unwrap_or(flags));
        // Every loss model counts the packet, even behind one that drops it.
        let lost = self.losses.iter_mut().fold(left.is_none(), |lost, loss| {
            (loss.apply(at_s, flow.number(), true) == LossOutcome::Drop) | lost
        });
        if lost {
            self.note_loss();
        }
        ((!lost).then(|| self.delay(at_s) + hold_s), flags)
    }

    /// A packet was lost on the link.
    pub fn note_loss(&mut self) {
        if let Some(breaker) = &mut self.breaker {
            breaker.lose();
        }
    }

    /// When an interval or a pause of the circuit breaker ends, seconds.
    pub fn breaker_end_s(&self) -> f64 {
        self.breaker.as_ref().map_or(f64::INFINITY, CircuitBreaker::end_s)
    }

    /// A packet leaves the link, or was lost on it; returns for how long it is held back, seconds,
    /// and its flags elsewhere.
    pub fn release(&mut self, flow: FlowId, number: i64, flags: Flags) -> (f64, Flags) {
        let flags = flags.without(Flags::OUTER_CE);
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
