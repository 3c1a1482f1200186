//! The network of a scenario without its endpoints: packets come from outside, at times that the caller tells, and leave again.
//!
//! Links, queues, flows' own links and cross traffic are those that a simulation has (`build`), so that real packets meet what simulated
//! ones would. Nothing here looks at a clock: crates/emulator brings one.
//!
//! ```
//! use cwndlab_sim::{Fate, Parcel, Passage, scenario::Scenario};
//! let scenario = Scenario::from_toml(r#"
//!     duration = "10s"
//!     [dumbbell]
//!     rate = "1Mbit"
//!     delay = "20ms"
//!     [[flows]]
//!     rule = "AIMD(1, 0.5)"
//! "#).unwrap();
//! let mut passage = Passage::new(&scenario);
//! let mut arrivals = Vec::new();
//! passage.enter(0.5, Parcel { size_bytes: 1250, ..Parcel::default() }, &mut |outcome| arrivals.push(outcome));
//! passage.advance(1.0, &mut |outcome| arrivals.push(outcome));
//! // 10 ms to transmit 10,000 bits at 1 Mbit/s, and 20 ms on the way.
//! assert!((arrivals[0].at_s - 0.53).abs() < 1e-12 && arrivals[0].fate == Fate::Arrives);
//! ```

mod agenda;

use crate::build::{Network, Options, build};
use crate::link::{LOST, Then};
use crate::packet::{Flags, Packet};
use crate::results::{CrossResult, LinkResult, Member, cross_results, link_results};
use crate::scenario::Scenario;
use crate::scheduler::{Heads, WinnerTree};
use crate::streams::{Place, Waiting};
use crate::timers::Kind;
use crate::transit::{CROSS, Stage};
use agenda::{Act, Agenda};
use cwndlab_tcp::{Knobs, NEVER};

/// A packet on its way through a [`Passage`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parcel {
    /// The caller's own number for it.
    pub token: u32,
    /// Number of its flow, as in [`Passage::flows`].
    pub flow: u32,
    /// Whether it goes back, from sink to source.
    pub back: bool,
    /// Bytes on the wire.
    pub size_bytes: u16,
    /// Whether it may be marked instead of lost (ECT, RFC 3168).
    pub capable: bool,
    /// Whether it is marked (CE).
    pub marked: bool,
}

/// How a parcel's way ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// At the other side.
    Arrives,
    /// On a link.
    Lost,
}

/// A parcel whose way has ended.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// The parcel, with the mark that it may have got.
    pub parcel: Parcel,
    /// When it arrives, or when it arrived at the link that lost it, seconds.
    pub at_s: f64,
    /// How.
    pub fate: Fate,
}

/// A listed flow, as far as whoever plays its endpoints must know it.
#[derive(Clone, Debug)]
pub struct Plays {
    /// Which it is.
    pub member: Member,
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
pub struct Passage {
    network: Network<Heads<WinnerTree>, ()>,
    plays: Vec<Plays>,
    agenda: Agenda,
    now_s: f64,
}

impl Passage {
    /// An idle network at time 0. Flows that arrive (`[[arrivals]]`) are not played: they have no place in it.
    pub fn new(scenario: &Scenario) -> Self {
        let mut network = build::<Heads<WinnerTree>, ()>(scenario, Options { look_ahead: false }, ());
        let plays = plays(&mut network);
        let emissions: Vec<(u32, f64)> = network.sources.iter().enumerate().map(|(i, source)| (i as u32, source.1)).collect();
        let mut passage = Self { network, plays, agenda: Agenda::default(), now_s: 0.0 };
        for (source, at_s) in emissions {
            passage.emit_at(at_s, 0.0, source);
        }
        passage
    }

    /// The listed flows.
    pub fn flows(&self) -> &[Plays] {
        &self.plays
    }

    /// When something is due next, seconds; infinite for never.
    pub fn next_due_s(&self) -> f64 {
        self.agenda.next_s()
    }

    /// A packet comes from outside at `now_s`, which never decreases from call to call. `out` gets what is due by then, and the packet
    /// itself if it is lost at once.
    pub fn enter(&mut self, now_s: f64, parcel: Parcel, out: &mut impl FnMut(Outcome)) {
        self.advance(now_s, out);
        let Parcel { token, flow, back, size_bytes, capable, marked } = parcel;
        let host = &self.network.engine.hosts[flow as usize];
        let (place, flags) = (host.place, host.flags.with(Flags::ECT, capable).with(Flags::CE, marked));
        let sink = self.network.engine.transit.routes[place.route as usize].sink;
        let stage = if back { sink as u32 + 1 } else { 0 };
        let packet = Packet { at_s: self.now_s, since_s: self.now_s, number: i64::from(token), sent_s: 0.0, size_bytes, flags, options: 0 };
        self.carry(Waiting { packet, flow, stage, place }, out);
    }

    /// Time passes: `out` gets every packet whose way ends by `now_s`, arrivals in order of time.
    pub fn advance(&mut self, now_s: f64, out: &mut impl FnMut(Outcome)) {
        while let Some((at_s, act)) = self.agenda.pop(now_s) {
            self.now_s = self.now_s.max(at_s);
            match act {
                Act::Enter(waiting) => self.carry(waiting, out),
                Act::Serve(link) => self.serve(link, at_s, out),
                Act::Emit(source) => self.emit(source, at_s, out),
            }
        }
        self.now_s = self.now_s.max(now_s);
    }

    /// The run is over: counts are brought up to `end_s`. Returns the packets that are still on their way.
    pub fn finish(&mut self, end_s: f64) -> usize {
        self.advance(end_s, &mut |_| {});
        self.network.engine.now_s = end_s;
        self.network.engine.transit.links.iter_mut().for_each(|link| link.finish(end_s));
        self.agenda.packets()
    }

    /// Whether a queue outgrew the memory meant for it.
    pub fn has_overflowed(&self) -> bool {
        self.network.engine.transit.links.iter().any(|link| link.overflowed)
    }

    /// What the links did; after [`Passage::finish`].
    pub fn links(&self) -> Vec<LinkResult> {
        link_results(&self.network, &[])
    }

    /// What cross traffic did; after [`Passage::finish`].
    pub fn cross(&self, scenario: &Scenario) -> Vec<CrossResult> {
        cross_results(&self.network, scenario)
    }

    /// Interval and samples of each link's queue, where the scenario traces them.
    pub fn queues(&self) -> Vec<(f64, &[u32])> {
        let samplers = self.network.engine.transit.links.iter().filter_map(|link| link.sampler.as_ref());
        samplers.map(|sampler| (sampler.every_s, sampler.samples.as_slice())).collect()
    }

    fn emit_at(&mut self, at_s: f64, since_s: f64, source: u32) {
        if at_s.is_finite() {
            self.agenda.put(at_s, since_s, Act::Emit(source));
        }
    }

    /// Takes a packet through one stage.
    fn carry(&mut self, waiting: Waiting, out: &mut impl FnMut(Outcome)) {
        let Waiting { mut packet, flow, stage, place } = waiting;
        let transit = &mut self.network.engine.transit;
        let entered_s = packet.at_s;
        match transit.routes[place.route as usize].stages[stage as usize].0 {
            Stage::Pipe(offset) => {
                (packet.at_s, packet.since_s) = transit.pipes.pass(place.first_pipe + offset, packet.at_s, packet.size_bytes);
            }
            Stage::Link(link) => {
                let Packet { at_s, since_s, number, size_bytes, .. } = packet;
                let passed = transit.links[link as usize].arrive(at_s, since_s, number, size_bytes, flow, &mut packet.flags);
                (packet.at_s, packet.since_s) = passed.unwrap_or((LOST, at_s));
            }
            Stage::Queue(link) => return self.join(link, waiting, out),
            Stage::Sink | Stage::Source => return self.end(waiting, out),
        }
        if packet.at_s == LOST {
            return self.lose(Waiting { packet: Packet { at_s: entered_s, ..packet }, ..waiting }, out);
        }
        self.agenda.put(packet.at_s, packet.since_s, Act::Enter(Waiting { packet, flow, stage: stage + 1, place }));
    }

    /// A packet reaches a queue that owns its packets.
    fn join(&mut self, index: u32, waiting: Waiting, out: &mut impl FnMut(Outcome)) {
        let now_s = waiting.packet.at_s;
        let then = self.network.engine.transit.links[index as usize].offer(waiting);
        self.bury(index, out);
        match then {
            Then::Nothing => {}
            Then::Serve => self.serve(index, now_s, out),
            Then::Wait(until_s) => self.agenda.put(until_s, now_s, Act::Serve(index)),
        }
    }

    /// It begins its next transmission.
    fn serve(&mut self, index: u32, now_s: f64, out: &mut impl FnMut(Outcome)) {
        let served = self.network.engine.transit.links[index as usize].serve(now_s);
        self.bury(index, out);
        let Some((waiting, at_s, free_s)) = served else { return };
        if let Some(free_s) = free_s {
            self.agenda.put(free_s, now_s, Act::Serve(index));
        }
        if at_s == LOST {
            return self.lose(waiting, out);
        }
        let packet = Packet { at_s, since_s: now_s, ..waiting.packet };
        self.agenda.put(at_s, now_s, Act::Enter(Waiting { packet, stage: waiting.stage + 1, ..waiting }));
    }

    /// Sees to the packets that a queue has just lost.
    fn bury(&mut self, index: u32, out: &mut impl FnMut(Outcome)) {
        while let Some(waiting) = self.network.engine.transit.links[index as usize].casualty() {
            self.lose(waiting, out);
        }
    }

    fn lose(&mut self, waiting: Waiting, out: &mut impl FnMut(Outcome)) {
        if waiting.flow >= CROSS {
            let transit = &mut self.network.engine.transit;
            transit.cross[(waiting.flow & !CROSS) as usize].dropped += u64::from(transit.window.contains(waiting.packet.at_s));
            return;
        }
        out(self.outcome(&waiting, Fate::Lost));
    }

    fn end(&mut self, waiting: Waiting, out: &mut impl FnMut(Outcome)) {
        if waiting.flow >= CROSS {
            return self.network.engine.transit.end_cross(waiting.flow, waiting.packet.at_s, waiting.packet.size_bytes);
        }
        out(self.outcome(&waiting, Fate::Arrives));
    }

    fn outcome(&self, waiting: &Waiting, fate: Fate) -> Outcome {
        let Waiting { packet, flow, stage, place } = waiting;
        let parcel = Parcel {
            token: packet.number as u32,
            flow: *flow,
            back: *stage as usize > self.network.engine.transit.routes[place.route as usize].sink,
            size_bytes: packet.size_bytes,
            capable: packet.flags.has(Flags::ECT),
            marked: packet.flags.has(Flags::CE),
        };
        Outcome { parcel, at_s: packet.at_s, fate }
    }

    /// A source of cross traffic sends.
    fn emit(&mut self, index: u32, now_s: f64, out: &mut impl FnMut(Outcome)) {
        let engine = &mut self.network.engine;
        let source = &mut engine.cross[index as usize];
        let packet = Packet {
            at_s: now_s,
            since_s: source.last_s,
            number: source.next,
            sent_s: now_s,
            size_bytes: source.size_bytes,
            flags: source.flags,
            options: 0,
        };
        let next_s = source.send(now_s, &engine.transit.window);
        let place: Place = self.network.sources[index as usize].0;
        self.emit_at(next_s, now_s, index);
        self.carry(Waiting { packet, flow: CROSS + index, stage: 0, place }, out);
    }
}

/// The listed flows of a network that was built. Its timers say when they start and stop; nobody else asks them here.
fn plays(network: &mut Network<Heads<WinnerTree>, ()>) -> Vec<Plays> {
    let engine = &mut network.engine;
    let mut times = vec![(NEVER, NEVER); network.flows.base_rtts_s.len()];
    while let Some((at_s, kind, flow)) = engine.transit.timers.pop() {
        match (kind, times.get_mut(flow as usize)) {
            (Kind::Start, Some(times)) => times.0 = at_s,
            (Kind::Stop, Some(times)) => times.1 = at_s,
            _ => {}
        }
    }
    let play = |(flow, (start_s, stop_s)): (usize, (f64, f64))| {
        let (group, number) = network.flows.of(flow as u32)?;
        let knobs = engine.hosts[flow].knobs as usize;
        Some(Plays {
            member: Member::new(group, number),
            group: knobs,
            base_rtt_s: network.flows.base_rtts_s[flow],
            start_s,
            stop_s,
            knobs: engine.knobs[knobs].clone(),
        })
    };
    times.into_iter().enumerate().filter_map(play).collect()
}
