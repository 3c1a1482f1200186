//! The network of a scenario without its endpoints: packets come from outside, at times that the caller tells, and leave again.
//!
//! Links, queues, flows' own links and cross traffic are those that a simulation has (`build`), so that real packets meet what simulated
//! ones would. Nothing here looks at a clock: crates/emulator brings one.
//!
//! ```
//! use cwndlab_sim::{Fate, ExternalPacket, NetworkPath, scenario::Scenario};
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
//! path.inject(0.5, ExternalPacket { size_bytes: 1250, ..ExternalPacket::default() }, &mut |outcome| arrivals.push(outcome));
//! path.advance(1.0, &mut |outcome| arrivals.push(outcome));
//! // 10 ms to transmit 10,000 bits at 1 Mbit/s, and 20 ms on the way.
//! assert!((arrivals[0].at_s - 0.53).abs() < 1e-12 && arrivals[0].fate == Fate::Delivered);
//! ```

mod event_list;

use crate::build::{BuiltNetwork, Options, build};
use crate::datapath::{CROSS, Stage};
use crate::event_queues::{FlowIndices, RoutedPacket};
use crate::event_scheduler::{HeadScheduler, WinnerTree};
use crate::link::{LOST, ServiceAction};
use crate::packet::{Flags, Packet};
use crate::results::{CrossResult, FlowIdentity, LinkResult, cross_results, link_results};
use crate::scenario::Scenario;
use crate::timers::TimerKind;
use cwndlab_tcp::{Knobs, NEVER};
use event_list::{EventList, NetworkEvent};

/// A packet on its way through a [`NetworkPath`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExternalPacket {
    /// The caller's own number for it.
    pub token: u32,
    /// Number of its flow, as in [`NetworkPath::flows`].
    pub flow: u32,
    /// Whether it goes back, from sink to source.
    pub reverse: bool,
    /// Bytes on the wire.
    pub size_bytes: u16,
    /// Whether it may be marked instead of lost (ECT, RFC 3168).
    pub ect: bool,
    /// Whether it is marked (CE).
    pub ce: bool,
}

/// How a parcel's way ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// At the other side.
    Delivered,
    /// On a link.
    Dropped,
}

/// A parcel whose way has ended.
#[derive(Clone, Copy, Debug)]
pub struct PacketOutcome {
    /// The parcel, with the mark that it may have got.
    pub packet: ExternalPacket,
    /// When it arrives, or when it arrived at the link that lost it, seconds.
    pub at_s: f64,
    /// How.
    pub fate: Fate,
}

/// A listed flow, as far as whoever plays its endpoints must know it.
#[derive(Clone, Debug)]
pub struct ExternalFlow {
    /// Which it is.
    pub identity: FlowIdentity,
    /// Entry of the scenario's flows.
    pub group: usize,
    /// Round trip of propagation delays, seconds.
    pub base_rtt_s: f64,
    /// When it starts, seconds; infinite for never.
    pub start_s: f64,
    /// When its application stops, seconds; infinite for never.
    pub stop_s: f64,
    /// Its endpoint's knobs.
    pub knobs: Knobs,
}

/// The links of a scenario, and the packets on them.
pub struct NetworkPath {
    network: BuiltNetwork<HeadScheduler<WinnerTree>, ()>,
    flows: Vec<ExternalFlow>,
    event_list: EventList,
    now_s: f64,
}

impl NetworkPath {
    /// An idle network at time 0. Flows that arrive (`[[arrivals]]`) are not played: they have no place in it.
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

    /// When something is due next, seconds; infinite for never.
    pub fn next_event_s(&self) -> f64 {
        self.event_list.next_time_s()
    }

    /// A packet comes from outside at `now_s`, which never decreases from call to call. `out` gets what is due by then, and the packet
    /// itself if it is lost at once.
    pub fn inject(
        &mut self,
        now_s: f64,
        packet: ExternalPacket,
        out: &mut impl FnMut(PacketOutcome),
    ) {
        self.advance(now_s, out);
        let ExternalPacket { token, flow, reverse, size_bytes, ect, ce } = packet;
        let endpoint = &self.network.engine.senders[flow as usize];
        let (indices, flags) =
            (endpoint.indices, endpoint.flags.with(Flags::ECT, ect).with(Flags::CE, ce));
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

    /// Time passes: `out` gets every packet whose way ends by `now_s`, arrivals in order of time.
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

    /// The run is over: counts are brought up to `end_s`. Returns the packets that are still on their way.
    pub fn finish(&mut self, end_s: f64) -> usize {
        self.advance(end_s, &mut |_| {});
        self.network.engine.now_s = end_s;
        self.network.engine.datapath.links.iter_mut().for_each(|link| link.finish(end_s));
        self.event_list.packets()
    }

    /// Whether a queue outgrew the memory meant for it.
    pub fn has_overflowed(&self) -> bool {
        self.network.engine.datapath.links.iter().any(|link| link.overflowed)
    }

    /// What the links did; after [`NetworkPath::finish`].
    pub fn links(&self) -> Vec<LinkResult> {
        link_results(&self.network, &[])
    }

    /// What cross traffic did; after [`NetworkPath::finish`].
    pub fn cross(&self, scenario: &Scenario) -> Vec<CrossResult> {
        cross_results(&self.network, scenario)
    }

    /// Interval and samples of each link's queue, where the scenario traces them.
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

    /// Takes a packet through one stage.
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

    /// A packet reaches a queue that owns its packets.
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

    /// It begins its next transmission.
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

    /// Sees to the packets that a queue has just lost.
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
            ect: flags.has(Flags::ECT),
            ce: flags.has(Flags::CE),
        };
        PacketOutcome { packet, at_s, fate }
    }

    /// A source of cross traffic sends.
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

/// The listed flows of a network that was built. Its timers say when they start and stop; nobody else asks them here.
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
