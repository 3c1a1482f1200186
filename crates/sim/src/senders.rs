//! What happens to senders: acknowledgements mostly, and many of them at a time where nobody can tell.
//!
//! Everything that an acknowledgement passes is laid out in line in one function, [`Engine::on_acks`]; what is rare is called.

use crate::engine::Engine;
use crate::flow::Host;
use crate::packet::{AckOptions, Flags, Packet};
use crate::scheduler::{EMPTY, Scheduler};
use crate::streams::Place;
use crate::timers::Kind;
use crate::trace::{PacketEvent, PacketRow, Trace};
use crate::transit::{Transit, row};
use crate::wire::{MOST_AT_ONCE, Wire};
use cwndlab_tcp::{AckSegment, Knobs, NEVER, SackBlocks, Sender};

/// So many things due at one moment are looked through for those of one flow.
const FEW_TIED: usize = 8;

/// Something that happens to a sender. A function will do; what happens with every packet implements it, so that it is laid out in line.
trait Happening<S: Scheduler, T: Trace> {
    fn happen(self, sender: &mut Sender, now_s: f64, knobs: &Knobs, wire: &mut Wire<'_, S, T>);
}

impl<S: Scheduler, T: Trace, F: FnOnce(&mut Sender, f64, &Knobs, &mut Wire<'_, S, T>)> Happening<S, T> for F {
    fn happen(self, sender: &mut Sender, now_s: f64, knobs: &Knobs, wire: &mut Wire<'_, S, T>) {
        self(sender, now_s, knobs, wire);
    }
}

/// An acknowledgement arrived, with the blocks that it carries.
struct Arrived<'a> {
    ack: AckSegment,
    sack: Option<&'a SackBlocks>,
}

impl<S: Scheduler, T: Trace> Happening<S, T> for Arrived<'_> {
    #[inline(always)]
    fn happen(self, sender: &mut Sender, now_s: f64, knobs: &Knobs, wire: &mut Wire<'_, S, T>) {
        sender.on_ack(now_s, self.ack, self.sack, knobs, wire);
    }
}

impl<S: Scheduler, T: Trace> Engine<S, T> {
    /// An acknowledgement is due at a sender whose segments meet others' packets only later, by an event. The acknowledgements behind it can be
    /// handled with it: nobody else can tell when a sender did its sums. Its own timer, the edges of the measuring window and the lead
    /// of the inbox that its segments go to set the limit.
    #[inline(always)]
    pub(crate) fn on_acks(&mut self, stream: u32, flow: u32, place: Place) {
        let Self { hosts, transit, knobs, now_s, .. } = self;
        let host = &mut hosts[flow as usize];
        let knobs = &knobs[host.knobs as usize];
        let stop_s = host.agenda.as_ref().map_or(NEVER, |agenda| agenda.stop_s);
        let limit_s = self.next_edge_s.min(*now_s + transit.routes[place.route as usize].ahead_s).min(stop_s);
        let (mut next_s, mut is_notable) = (EMPTY, false);
        while let Some(packet) = transit.streams.pop_ahead(stream) {
            *now_s = packet.at_s;
            is_notable = acknowledge(host, transit, knobs, flow, packet);
            next_s = transit.streams.next_s(stream);
            if is_notable
                || next_s >= limit_s
                || next_s >= host.sender.deadline_s()
                || host.agenda.as_ref().is_some_and(|agenda| next_s >= agenda.request_s || next_s >= host.sender.pacing_deadline_s())
            {
                break;
            }
        }
        transit.streams.scheduler.go_on(stream, next_s);
        if is_notable {
            self.take_note(flow, self.now_s);
        }
    }

    /// An acknowledgement is on its way to its sender, and will meet nothing before. Where nothing else happens to that sender until then, it may
    /// be handled now: nobody can tell, as long as what the sender sends meets others' packets only by an event.
    #[inline(always)]
    pub(crate) fn on_ack_early(&mut self, stream: u32, flow: u32, packet: Packet) {
        let Self { hosts, transit, knobs, next_edge_s, .. } = self;
        let host = &mut hosts[flow as usize];
        let pending = &transit.streams.all[stream as usize];
        let is_next = !T::ON
            && transit.streams.scheduler.is_empty(&pending.lane)
            && packet.at_s < *next_edge_s
            && packet.at_s < host.sender.deadline_s()
            && !host.sender.is_faulty()
            && host.agenda.as_ref().is_none_or(|agenda| agenda.is_idle_until(packet.at_s, host.sender.pacing_deadline_s()));
        if !is_next {
            return transit.streams.push(stream, packet);
        }
        let at_s = packet.at_s;
        if acknowledge(host, transit, &knobs[host.knobs as usize], flow, packet) {
            self.take_note(flow, at_s);
        }
    }

    /// A packet enters a stage of its route where something else is due, too: as [`Engine::advance`] has it in line, but nothing of its flow that
    /// is due now may be overtaken.
    #[inline(never)]
    pub(crate) fn on_enter(&mut self, flow: u32, place: Place, stage: usize, packet: Packet) {
        let Some((stream, ack)) = self.transit.enter(flow, place, stage, packet) else { return };
        // Of very many, each would look through all.
        let few = self.tied.len() + self.expiring.len() <= FEW_TIED;
        let waits = || self.tied.iter().any(|tied| tied.flow == flow) || self.expiring.iter().any(|timer| timer.2 == flow);
        if !few || ack.at_s <= self.now_s || waits() {
            return self.transit.streams.push(stream, ack);
        }
        self.on_ack_early(stream, flow, ack);
    }

    /// An acknowledgement reached its sender.
    #[inline(never)]
    pub(crate) fn on_ack(&mut self, flow: u32, packet: Packet) {
        let host = &mut self.hosts[flow as usize];
        if acknowledge(host, &mut self.transit, &self.knobs[host.knobs as usize], flow, packet) {
            self.take_note(flow, self.now_s);
        }
    }

    /// Lets a sender take an event, and keeps its timer.
    pub(crate) fn on_sender(&mut self, flow: u32, event: impl FnOnce(&mut Sender, f64, &Knobs, &mut Wire<'_, S, T>)) {
        let host = &mut self.hosts[flow as usize];
        if let_happen(host, &mut self.transit, &self.knobs[host.knobs as usize], flow, self.now_s, event) {
            self.take_note(flow, self.now_s);
        }
    }

    /// A sender has nothing more to do since `at_s`, or its rule gave an answer that is no window.
    #[cold]
    #[inline(never)]
    fn take_note(&mut self, flow: u32, at_s: f64) {
        let host = &mut self.hosts[flow as usize];
        if host.sender.is_faulty() && self.fault.is_none_or(|(fault_s, _)| at_s < fault_s) {
            self.fault = Some((at_s, flow));
        }
        if host.is_over() {
            host.finish_s = at_s;
            if host.job().is_some() {
                self.on_finished(flow);
            }
        }
    }
}

/// An acknowledgement arrives at a sender; returns whether that is to be taken note of.
#[inline(always)]
fn acknowledge<S: Scheduler, T: Trace>(host: &mut Host, transit: &mut Transit<S, T>, knobs: &Knobs, flow: u32, packet: Packet) -> bool {
    if packet.options > 0 {
        return acknowledge_selectively(host, transit, knobs, flow, packet);
    }
    hand_over(host, transit, knobs, flow, packet, packet.sent_s, None)
}

/// The same for one with more than the least that it can carry.
#[inline(never)]
fn acknowledge_selectively<S: Scheduler, T: Trace>(
    host: &mut Host,
    transit: &mut Transit<S, T>,
    knobs: &Knobs,
    flow: u32,
    packet: Packet,
) -> bool {
    let AckOptions { sack, echo_s } = transit.options.take(packet.options);
    hand_over(host, transit, knobs, flow, packet, echo_s, Some(&sack).filter(|sack| !sack.is_empty()))
}

#[inline(always)]
fn hand_over<S: Scheduler, T: Trace>(
    host: &mut Host,
    transit: &mut Transit<S, T>,
    knobs: &Knobs,
    flow: u32,
    packet: Packet,
    echo_s: f64,
    sack: Option<&SackBlocks>,
) -> bool {
    if T::ON {
        let (cwnd, ssthresh) = (host.sender.cwnd(), host.sender.ssthresh());
        transit.trace.ack(PacketRow { cwnd, ssthresh, echo_s, ..row(PacketEvent::Ack, flow, &packet) }, sack);
    }
    let Packet { number, sent_s, size_bytes, flags, .. } = packet;
    let ack = AckSegment { ack: number, sent_s, echo_s, ece: flags.has(Flags::ECE), size_bytes: u32::from(size_bytes) };
    let_happen(host, transit, knobs, flow, packet.at_s, Arrived { ack, sack })
}

/// Lets a sender take an event, and keeps its timer; returns whether it is over, or its rule at fault.
#[inline(always)]
fn let_happen<S: Scheduler, T: Trace>(
    host: &mut Host,
    transit: &mut Transit<S, T>,
    knobs: &Knobs,
    flow: u32,
    now_s: f64,
    event: impl Happening<S, T>,
) -> bool {
    let Host { sender, place, flags, armed_s, hash, agenda, .. } = host;
    if T::ON {
        transit.trace.before(now_s, flow, sender, knobs);
    }
    event.happen(sender, now_s, knobs, &mut Wire { transit, hash, flow, place, flags: *flags, now_s, left: MOST_AT_ONCE });
    if T::ON {
        transit.trace.after(now_s, flow, sender, knobs);
    }
    let deadline_s = sender.deadline_s();
    if deadline_s < *armed_s {
        *armed_s = deadline_s;
        transit.timers.push(deadline_s, Kind::Retransmission, flow);
    }
    if let Some(agenda) = agenda.as_mut().filter(|agenda| sender.pacing_deadline_s() < agenda.paced_s) {
        agenda.paced_s = sender.pacing_deadline_s();
        transit.timers.push(agenda.paced_s, Kind::Pace, flow);
    }
    host.sender.is_faulty() || (deadline_s == NEVER && host.is_over())
}
