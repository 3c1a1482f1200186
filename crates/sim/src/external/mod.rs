//! Network path: the links of a scenario for packets of external endpoints, without simulated ones.
//!
//! Links, queues, access links and cross traffic are those of a simulation (`build`), so that real
//! packets meet the conditions that simulated packets meet. The caller passes the time in:
//! crates/emulator drives a path by the wall clock.
//!
//! ```
//! use cwndlab_scenario::Scenario;
//! use cwndlab_sim::{Fate, ExternalPacket, NetworkPath};
//! let scenario = Scenario::from_toml(r#"
//!     duration = "10s"
//!     [dumbbell]
//!     rate = "1Mbit"
//!     delay = "20ms"
//!     [[flows]]
//!     rule = "AIMD(1, 0.5)"
//! "#).unwrap();
//! let mut path = NetworkPath::new(&scenario);
//! let mut arrivals = Vec::new();
//! let packet = ExternalPacket { size_bytes: 1250, ..ExternalPacket::default() };
//! path.inject(0.5, packet, &mut |outcome| arrivals.push(outcome));
//! path.advance(1.0, &mut |outcome| arrivals.push(outcome));
//! // 10 ms to transmit 10,000 bits at 1 Mbit/s, and 20 ms of propagation.
//! assert!((arrivals[0].at_s - 0.53).abs() < 1e-12 && arrivals[0].fate == Fate::Delivered);
//! ```

mod event_list;

use crate::build::{BuiltNetwork, Options, build};
use crate::event::scheduler::{HeadScheduler, WinnerTree};
use crate::event::timers::TimerKind;
use crate::network::link::{LOST, ServiceAction};
use crate::network::route::Stage;
use crate::packet::CROSS;
use crate::packet::Packet;
use crate::packet::{FlowIndices, RoutedPacket};
use crate::results::{CrossResult, FlowIdentity, LinkResult, cross_results, link_results};
use cwndlab_scenario::Scenario;
use cwndlab_tcp::Ecn;
use cwndlab_tcp::{Knobs, NEVER};
use event_list::{EventList, NetworkEvent};

/// A packet that the caller sends through a [`NetworkPath`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExternalPacket {
    /// Number that the caller gives it.
    pub token: u32,
    /// Its flow, by index in [`NetworkPath::flows`].
    pub flow: u32,
    /// Whether it travels in the reverse direction, from sink to source.
    pub reverse: bool,
    /// Size on the wire, bytes.
    pub size_bytes: u16,
    /// ECN field of the IP header.
    pub ecn: Ecn,
}

/// Fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It left the path at the other end.
    Delivered,
    /// A link dropped it.
    Dropped,
}

/// A packet that has left the path.
#[derive(Clone, Copy, Debug)]
pub struct PacketOutcome {
    /// The packet; a link may have set `ce`.
    pub packet: ExternalPacket,
    /// Arrival time at the other end, or at the link that dropped it, seconds.
    pub at_s: f64,
    /// Its fate.
    pub fate: Fate,
}

/// A listed flow, as the endpoints that the caller provides need to know it.
#[derive(Clone, Debug)]
pub struct ExternalFlow {
    /// Names of the flow.
    pub identity: FlowIdentity,
    /// Index of its `[[flows]]` entry.
    pub group: usize,
    /// Round trip propagation delay, seconds.
    pub base_rtt_s: f64,
    /// Start time, seconds; infinite for never.
    pub start_s: f64,
    /// Time at which its application stops, seconds; infinite for never.
    pub stop_s: f64,
    /// Knobs of its endpoints.
    pub knobs: Knobs,
}

/// The links of a scenario with the packets on them.
pub struct NetworkPath {
    network: BuiltNetwork<HeadScheduler<WinnerTree>, ()>,
    flows: Vec<ExternalFlow>,
    event_list: EventList,
    now_s: f64,
}

impl NetworkPath {
    /// An idle network at time 0, without the flows of `[[arrivals]]`.
    pub fn new(scenario: &Scenario) -> Self {
        let mut network =
            build::<HeadScheduler<WinnerTree>, ()>(scenario, Options { look_ahead: false }, ());
        let flows = flows(&mut network);
        let emissions: Vec<(u32, f64)> =
            network.sources.iter().enumerate().map(|(i, source)| (i as u32, source.1)).collect();
        let mut path = Self { network, flows, event_list: EventList::default(), now_s: 0.0 };
        for (source, at_s) in emissions {
            path.emit_at(at_s, 0.0, source);
        }
        path
    }

    /// The listed flows.
    pub fn flows(&self) -> &[ExternalFlow] {
        &self.flows
    }

    /// Time of the next event, seconds; infinite for never.
    pub fn next_event_s(&self) -> f64 {
        self.event_list.next_time_s()
    }

    /// Sends a packet into the path at `now_s`, which never decreases. `out` receives the packets
    /// that leave the path by then, and this one if it is dropped at once.
    pub fn inject(
        &mut self,
        now_s: f64,
        packet: ExternalPacket,
        out: &mut impl FnMut(PacketOutcome),
    ) {
        self.advance(now_s, out);
        let ExternalPacket { token, flow, reverse, size_bytes, ecn } = packet;
        let endpoint = &self.network.engine.senders[flow as usize];
        let (indices, flags) = (endpoint.indices, endpoint.flags.with_ecn(ecn));
        let sink = self.network.engine.datapath.routes[indices.route as usize].sink;
        let stage = if reverse { sink as u32 + 1 } else { 0 };
        let packet = Packet {
            at_s: self.now_s,
            tx_start_s: self.now_s,
            number: i64::from(token),
            sent_s: 0.0,
            size_bytes,
            flags,
            options: 0,
        };
        self.traverse_stage(RoutedPacket { packet, flow, stage, indices }, out);
    }

    /// Advances the time to `now_s`. `out` receives the packets that leave the path by then,
    /// deliveries in order of time.
    pub fn advance(&mut self, now_s: f64, out: &mut impl FnMut(PacketOutcome)) {
        while let Some((at_s, event)) = self.event_list.pop(now_s) {
            self.now_s = self.now_s.max(at_s);
            match event {
                NetworkEvent::EnterStage(routed) => self.traverse_stage(routed, out),
                NetworkEvent::StartTransmission(link) => self.start_transmission(link, at_s, out),
                NetworkEvent::CrossSend(source) => self.emit(source, at_s, out),
            }
        }
        self.now_s = self.now_s.max(now_s);
    }

    /// Ends the run at `end_s` and updates all counters. Returns the number of packets in flight.
    pub fn finish(&mut self, end_s: f64) -> usize {
        self.advance(end_s, &mut |_| {});
        self.network.engine.now_s = end_s;
        self.network.engine.datapath.links.iter_mut().for_each(|link| link.finish(end_s));
        self.event_list.packets()
    }

    /// Whether a queue exceeds the memory limit.
    pub fn has_overflowed(&self) -> bool {
        self.network.engine.datapath.links.iter().any(|link| link.overflowed)
    }

    /// Results of the links, after [`NetworkPath::finish`].
    pub fn links(&self) -> Vec<LinkResult> {
        link_results(&self.network, &[])
    }

    /// Results of cross traffic, after [`NetworkPath::finish`].
    pub fn cross(&self, scenario: &Scenario) -> Vec<CrossResult> {
        cross_results(&self.network, scenario)
    }

    /// Sampling interval (seconds) and queue length samples (packets) of each link, if the scenario
    /// traces queues.
    pub fn queue_samples(&self) -> Vec<(f64, &[u32])> {
        let samplers =
            self.network.engine.datapath.links.iter().filter_map(|link| link.sampler.as_ref());
        samplers.map(|sampler| (sampler.every_s, sampler.samples.as_slice())).collect()
    }

    fn emit_at(&mut self, at_s: f64, tx_start_s: f64, source: u32) {
        if at_s.is_finite() {
            self.event_list.put(at_s, tx_start_s, NetworkEvent::CrossSend(source));
        }
    }

    /// A packet traverses one stage.
    fn traverse_stage(&mut self, routed: RoutedPacket, out: &mut impl FnMut(PacketOutcome)) {
        let RoutedPacket { mut packet, flow, stage, indices } = routed;
        let datapath = &mut self.network.engine.datapath;
        let entered_s = packet.at_s;
        match datapath.routes[indices.route as usize].stages[stage as usize].0 {
            Stage::AccessLink(offset) => {
                (packet.at_s, packet.tx_start_s) = datapath.access_links.transmit(
                    indices.first_access_link + offset,
                    packet.at_s,
                    packet.size_bytes,
                );
            }
            Stage::Link(link) => {
                let Packet { at_s, tx_start_s, number, size_bytes, .. } = packet;
                let passed = datapath.links[link as usize].arrive(
                    at_s,
                    tx_start_s,
                    number,
                    size_bytes,
                    flow,
                    &mut packet.flags,
                );
                (packet.at_s, packet.tx_start_s) = passed.unwrap_or((LOST, at_s));
            }
            Stage::Queue(link) => return self.enqueue_at_link(link, routed, out),
            Stage::Sink | Stage::Source => return self.deliver(routed, out),
        }
        if packet.at_s == LOST {
            return self.drop_packet(
                RoutedPacket { packet: Packet { at_s: entered_s, ..packet }, ..routed },
                out,
            );
        }
        self.event_list.put(
            packet.at_s,
            packet.tx_start_s,
            NetworkEvent::EnterStage(RoutedPacket { packet, flow, stage: stage + 1, indices }),
        );
    }

    /// A packet reaches a scheduled queue.
    fn enqueue_at_link(
        &mut self,
        index: u32,
        routed: RoutedPacket,
        out: &mut impl FnMut(PacketOutcome),
    ) {
        let now_s = routed.packet.at_s;
        let then = self.network.engine.datapath.links[index as usize].enqueue(routed);
        self.drain_drops(index, out);
        match then {
            ServiceAction::None => {}
            ServiceAction::StartTransmission => self.start_transmission(index, now_s, out),
            ServiceAction::ScheduleAt(until_s) => {
                self.event_list.put(until_s, now_s, NetworkEvent::StartTransmission(index))
            }
        }
    }

    /// The link starts its next transmission.
    fn start_transmission(&mut self, index: u32, now_s: f64, out: &mut impl FnMut(PacketOutcome)) {
        let served = self.network.engine.datapath.links[index as usize].start_transmission(now_s);
        self.drain_drops(index, out);
        let Some((routed, at_s, free_s)) = served else { return };
        if let Some(free_s) = free_s {
            self.event_list.put(free_s, now_s, NetworkEvent::StartTransmission(index));
        }
        if at_s == LOST {
            return self.drop_packet(routed, out);
        }
        let packet = Packet { at_s, tx_start_s: now_s, ..routed.packet };
        self.event_list.put(
            at_s,
            now_s,
            NetworkEvent::EnterStage(RoutedPacket { packet, stage: routed.stage + 1, ..routed }),
        );
    }

    /// Reports the packets that a queue just dropped.
    fn drain_drops(&mut self, index: u32, out: &mut impl FnMut(PacketOutcome)) {
        while let Some(routed) = self.network.engine.datapath.links[index as usize].pop_drop() {
            self.drop_packet(routed, out);
        }
    }

    fn drop_packet(&mut self, routed: RoutedPacket, out: &mut impl FnMut(PacketOutcome)) {
        if routed.flow >= CROSS {
            let datapath = &mut self.network.engine.datapath;
            datapath.cross[(routed.flow & !CROSS) as usize].dropped +=
                u64::from(datapath.window.contains(routed.packet.at_s));
            return;
        }
        out(self.outcome(&routed, Fate::Dropped));
    }

    fn deliver(&mut self, routed: RoutedPacket, out: &mut impl FnMut(PacketOutcome)) {
        if routed.flow >= CROSS {
            return self.network.engine.datapath.end_cross(
                routed.flow,
                routed.packet.at_s,
                routed.packet.size_bytes,
            );
        }
        out(self.outcome(&routed, Fate::Delivered));
    }

    fn outcome(&self, routed: &RoutedPacket, fate: Fate) -> PacketOutcome {
        let RoutedPacket {
            packet: Packet { at_s, number, size_bytes, flags, .. },
            flow,
            stage,
            indices,
        } = *routed;
        let packet = ExternalPacket {
            token: number as u32,
            flow,
            reverse: stage as usize
                > self.network.engine.datapath.routes[indices.route as usize].sink,
            size_bytes,
            ecn: flags.ecn(),
        };
        PacketOutcome { packet, at_s, fate }
    }

    /// A cross traffic source sends a packet.
    fn emit(&mut self, index: u32, now_s: f64, out: &mut impl FnMut(PacketOutcome)) {
        let engine = &mut self.network.engine;
        let source = &mut engine.cross[index as usize];
        let packet = Packet {
            at_s: now_s,
            tx_start_s: source.last_s,
            number: source.next,
            sent_s: now_s,
            size_bytes: source.size_bytes,
            flags: source.flags,
            options: 0,
        };
        let next_time_s = source.send(now_s, &engine.datapath.window);
        let indices: FlowIndices = self.network.sources[index as usize].0;
        self.emit_at(next_time_s, now_s, index);
        self.traverse_stage(RoutedPacket { packet, flow: CROSS + index, stage: 0, indices }, out);
    }
}

/// The listed flows of a network. Their start and stop times are in its timers, which have no other
/// use here.
fn flows(network: &mut BuiltNetwork<HeadScheduler<WinnerTree>, ()>) -> Vec<ExternalFlow> {
    let engine = &mut network.engine;
    let mut times = vec![(NEVER, NEVER); network.flows.base_rtts_s.len()];
    while let Some((at_s, kind, flow)) = engine.datapath.timers.pop() {
        match (kind, times.get_mut(flow as usize)) {
            (TimerKind::FlowStart, Some(times)) => times.0 = at_s,
            (TimerKind::AppStop, Some(times)) => times.1 = at_s,
            _ => {}
        }
    }
    let flow_of = |(flow, (start_s, stop_s)): (usize, (f64, f64))| {
        let (group, number) = network.flows.of(flow as u32)?;
        let knobs = engine.senders[flow].knobs as usize;
        Some(ExternalFlow {
            identity: FlowIdentity::new(group, number),
            group: knobs,
            base_rtt_s: network.flows.base_rtts_s[flow],
            start_s,
            stop_s,
            knobs: engine.knobs[knobs].clone(),
        })
    };
    times.into_iter().enumerate().filter_map(flow_of).collect()
}
