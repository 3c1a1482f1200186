//! Sender events: ACK arrivals, processed in batches and ahead of time where the processing order
//! is unobservable.
//!
//! The code path of an ordinary ACK is inlined into one function, [`Engine::on_ack_batch`]; rare
//! cases are calls.

use crate::endpoint::tcp::SenderEndpoint;
use crate::engine::sender_output::{Cause, MAX_SEGMENTS_PER_EVENT, SenderOutput, send};
use crate::engine::state::Engine;
use crate::event::scheduler::{EventScheduler, NO_EVENT};
use crate::event::timers::TimerKind;
use crate::measure::trace::{PacketEvent, PacketRow, Tracer, row};
use crate::network::datapath::Datapath;
use crate::packet::{Flags, FlowIndices, Packet};
use cwndlab_tcp::{AckSegment, DataSegment, Knobs, NEVER, SackBlocks, Sender};

/// With more simultaneous events than this, no search for those of one flow takes place.
const MAX_TIES_SEARCHED: usize = 8;

/// ACKs processed together at most. Nothing else limits the batch of a flow that is alone, and
/// whoever runs the simulation waits for its end.
const LONGEST_BATCH: u32 = 256;

impl<S: EventScheduler, T: Tracer> Engine<S, T> {
    /// Processes an ACK at a sender with lookahead, together with the ACKs behind it in its FIFO.
    /// The processing order is unobservable because segments of this sender reach a shared stage
    /// only by an event. The batch ends before the sender's own timers, an edge of the measurement
    /// window, the lookahead of the merge queue that its segments enter, and [`LONGEST_BATCH`].
    #[inline(always)]
    pub(crate) fn on_ack_batch(&mut self, fifo: u32, flow: u32, indices: FlowIndices) {
        let Self { senders, datapath, knobs, now_s, .. } = self;
        let endpoint = &mut senders[flow as usize];
        let knobs = &knobs[endpoint.knobs as usize];
        let stop_s = endpoint.app.as_ref().map_or(NEVER, |app| app.stop_s);
        let limit_s = self
            .next_window_edge_s
            .min(*now_s + datapath.routes[indices.route as usize].sender_lookahead_s)
            .min(stop_s);
        let (mut next_time_s, mut is_notable) = (NO_EVENT, false);
        for _ in 0..LONGEST_BATCH {
            let Some(packet) = datapath.event_queues.pop_unscheduled(fifo) else { break };
            *now_s = packet.at_s;
            is_notable = deliver_ack(endpoint, datapath, knobs, flow, packet);
            next_time_s = datapath.event_queues.next_time_s(fifo);
            if is_notable
                || datapath.overflowed
                || next_time_s >= limit_s
                || next_time_s >= endpoint.sender.deadline_s()
                || endpoint.app.as_ref().is_some_and(|app| {
                    next_time_s >= app.request_s
                        || next_time_s >= endpoint.sender.pacing_deadline_s()
                })
            {
                break;
            }
        }
        datapath.event_queues.scheduler.reschedule(fifo, next_time_s);
        if is_notable {
            self.note_completion_or_fault(flow, self.now_s);
        }
    }

    /// Processes an ACK before its arrival time, if no stage lies between it and its sender,
    /// nothing else is due at that sender until then, and segments of the sender reach a shared
    /// stage only by an event: the processing order is unobservable then.
    #[inline(always)]
    pub(crate) fn on_ack_early(&mut self, fifo: u32, flow: u32, packet: Packet) {
        let Self { senders, datapath, knobs, next_window_edge_s, .. } = self;
        let endpoint = &mut senders[flow as usize];
        let pending = &datapath.event_queues.fifos[fifo as usize];
        let is_next = !datapath.trace.records_packets()
            && datapath.event_queues.scheduler.is_empty(&pending.state)
            && packet.at_s < *next_window_edge_s
            && packet.at_s < endpoint.sender.deadline_s()
            && !endpoint.sender.is_faulty()
            && endpoint.app.as_ref().is_none_or(|app| {
                app.is_idle_until(packet.at_s, endpoint.sender.pacing_deadline_s())
            });
        if !is_next {
            return datapath.event_queues.push(fifo, Packet { ..packet });
        }
        let at_s = packet.at_s;
        if deliver_ack(endpoint, datapath, &knobs[endpoint.knobs as usize], flow, packet) {
            self.note_completion_or_fault(flow, at_s);
        }
    }

    /// A packet enters a stage while other events are due at the same instant: like the inlined
    /// case of `Engine::process_batch`, but without overtaking an event of the same flow.
    #[inline(never)]
    pub(crate) fn on_enter(&mut self, flow: u32, indices: FlowIndices, stage: u32, packet: Packet) {
        let Some((fifo, ack)) = self.datapath.traverse(flow, indices, stage, packet) else {
            return;
        };
        // With very many simultaneous events each of them would search all others.
        let few = self.simultaneous.len() + self.expired_timers.len() <= MAX_TIES_SEARCHED;
        let waits = || {
            self.simultaneous.iter().any(|simultaneous| simultaneous.flow == flow)
                || self.expired_timers.iter().any(|timer| timer.2 == flow)
        };
        if !few || ack.at_s <= self.now_s || waits() {
            return self.datapath.event_queues.push(fifo, ack);
        }
        self.on_ack_early(fifo, flow, ack);
    }

    /// An ACK reaches its sender.
    #[inline(never)]
    pub(crate) fn on_ack(&mut self, flow: u32, packet: Packet) {
        if self.datapath.sinks.external.is_some() {
            let Datapath { sinks, trace, .. } = &mut self.datapath;
            return sinks.leave(flow, true, &packet, trace);
        }
        let endpoint = &mut self.senders[flow as usize];
        if deliver_ack(
            endpoint,
            &mut self.datapath,
            &self.knobs[endpoint.knobs as usize],
            flow,
            packet,
        ) {
            self.note_completion_or_fault(flow, self.now_s);
        }
    }

    /// Dispatches an event to a sender and arms its timers.
    pub(crate) fn on_sender(
        &mut self,
        flow: u32,
        event: impl FnOnce(&mut Sender, f64, &Knobs, &mut SenderOutput<'_, S, T>),
    ) {
        let endpoint = &mut self.senders[flow as usize];
        if dispatch(
            endpoint,
            &mut self.datapath,
            &self.knobs[endpoint.knobs as usize],
            flow,
            self.now_s,
            (self.armed_s, 0.0),
            event,
        ) {
            self.note_completion_or_fault(flow, self.now_s);
        }
    }

    /// Records that a sender has completed at `at_s`, or that its rule returned an invalid window.
    #[cold]
    #[inline(never)]
    fn note_completion_or_fault(&mut self, flow: u32, at_s: f64) {
        let endpoint = &mut self.senders[flow as usize];
        if endpoint.sender.is_faulty() && self.fault.is_none_or(|(fault_s, _)| at_s < fault_s) {
            self.fault = Some((at_s, flow));
            let halt_s = self.datapath.timers.halt_s().min(at_s);
            self.datapath.timers.halt_at(halt_s);
        }
        let is_over = endpoint.is_over();
        if is_over {
            endpoint.finish_s = at_s;
        }
        if is_over && endpoint.transfer().is_some_and(|transfer| !transfer.is_frame()) {
            self.on_finished(flow);
        }
    }
}

/// An ACK without options.
#[inline(always)]
fn ack_segment(packet: &Packet) -> AckSegment {
    AckSegment {
        ack: packet.number,
        sent_s: packet.sent_s,
        echo_s: packet.sent_s,
        echo: packet.flags.echo(),
        size_bytes: u32::from(packet.size_bytes),
    }
}

/// Delivers an ACK to its sender; returns whether the sender has completed or its rule is at fault.
#[inline(always)]
fn deliver_ack<S: EventScheduler, T: Tracer>(
    endpoint: &mut SenderEndpoint,
    datapath: &mut Datapath<S, T>,
    knobs: &Knobs,
    flow: u32,
    packet: Packet,
) -> bool {
    let ack = ack_segment(&packet);
    if packet.options > 0 || !endpoint.sender.is_steady(ack) {
        // A copy, as in `Datapath::reach`: what a call takes lies in memory, the original need not.
        return deliver_ack_slow_path(endpoint, datapath, knobs, flow, Packet { ..packet });
    }
    let now_s = packet.at_s;
    if datapath.trace.records_packets() {
        trace_ack(endpoint, datapath, knobs, flow, &packet, ack, None);
    }
    if T::ON {
        datapath.trace.rtt(now_s, flow, now_s - packet.sent_s);
        datapath.trace.before(now_s, flow, &endpoint.sender, knobs);
    }
    let cause = (packet.tx_start_s, packet.lead_s);
    let last = endpoint.sender.on_steady_ack(now_s, ack, knobs);
    // Nearly every ACK releases one packet.
    if let Some(segment) = endpoint.sender.next_steady_segment(now_s, last, knobs) {
        send(endpoint, datapath, flow, now_s, cause, &segment);
        if let Some(segment) = endpoint.sender.next_steady_segment(now_s, last, knobs) {
            send_burst(endpoint, datapath, knobs, flow, (now_s, cause, last), segment);
        }
    }
    if T::ON {
        datapath.trace.after(now_s, flow, &endpoint.sender, knobs);
    }
    arm_timers(endpoint, datapath, flow)
}

/// The same for any ACK: with SACK blocks, a timestamp echo of its own or the AccECN option, or for
/// a sender that is not in its steady state.
#[inline(never)]
fn deliver_ack_slow_path<S: EventScheduler, T: Tracer>(
    endpoint: &mut SenderEndpoint,
    datapath: &mut Datapath<S, T>,
    knobs: &Knobs,
    flow: u32,
    packet: Packet,
) -> bool {
    let (mut ack, mut sack) = (ack_segment(&packet), None);
    if packet.options > 0 {
        let options = datapath.options.remove(packet.options);
        (ack.echo_s, ack.echo, sack) = (options.echo_s, options.echo, Some(options.sack));
    }
    let sack = sack.as_ref().filter(|sack| !sack.is_empty());
    datapath.trace.rtt(packet.at_s, flow, packet.at_s - packet.sent_s);
    if datapath.trace.records_packets() {
        trace_ack(endpoint, datapath, knobs, flow, &packet, ack, sack);
    }
    let cause = (packet.tx_start_s, packet.lead_s);
    let acks_part = packet.flags.has(Flags::ACKS_PART);
    dispatch(endpoint, datapath, knobs, flow, packet.at_s, cause, |sender, now_s, knobs, out| {
        if acks_part {
            sender.on_ack_of_part(now_s, ack, sack, knobs, out);
        } else {
            sender.on_ack(now_s, ack, sack, knobs, out);
        }
    })
}

/// Sends this segment and those behind it, up to packet `last`.
#[inline(never)]
fn send_burst<S: EventScheduler, T: Tracer>(
    endpoint: &mut SenderEndpoint,
    datapath: &mut Datapath<S, T>,
    knobs: &Knobs,
    flow: u32,
    (now_s, cause, last): (f64, Cause, i64),
    mut segment: DataSegment,
) {
    for _ in 1..MAX_SEGMENTS_PER_EVENT {
        send(endpoint, datapath, flow, now_s, cause, &segment);
        match endpoint.sender.next_steady_segment(now_s, last, knobs) {
            Some(next) => segment = next,
            None => return,
        }
    }
    datapath.note_overflow(true);
}

fn trace_ack<S: EventScheduler, T: Tracer>(
    endpoint: &SenderEndpoint,
    datapath: &mut Datapath<S, T>,
    knobs: &Knobs,
    flow: u32,
    packet: &Packet,
    ack: AckSegment,
    sack: Option<&SackBlocks>,
) {
    let sender = &endpoint.sender;
    let (cwnd, ssthresh) = (sender.cwnd(), sender.ssthresh());
    let (marked, echo_s, echo) = (sender.is_marked(ack, knobs), ack.echo_s, ack.echo);
    let row = row(PacketEvent::Ack, flow, packet);
    datapath.trace.ack(PacketRow { cwnd, ssthresh, echo_s, marked, echo, ..row }, sack);
}

/// Dispatches an event to a sender and arms its timers; returns whether the sender has completed or
/// its rule is at fault.
fn dispatch<S: EventScheduler, T: Tracer>(
    endpoint: &mut SenderEndpoint,
    datapath: &mut Datapath<S, T>,
    knobs: &Knobs,
    flow: u32,
    now_s: f64,
    cause: Cause,
    event: impl FnOnce(&mut Sender, f64, &Knobs, &mut SenderOutput<'_, S, T>),
) -> bool {
    let SenderEndpoint { sender, indices, flags, hash, .. } = endpoint;
    if T::ON {
        datapath.trace.before(now_s, flow, sender, knobs);
    }
    let left = MAX_SEGMENTS_PER_EVENT;
    let mut out = SenderOutput { datapath, hash, flow, indices, flags: *flags, now_s, cause, left };
    event(sender, now_s, knobs, &mut out);
    if T::ON {
        datapath.trace.after(now_s, flow, sender, knobs);
    }
    arm_timers(endpoint, datapath, flow)
}

/// Arms the timers of a sender after an event; returns whether the sender has completed or its rule
/// is at fault.
#[inline(always)]
fn arm_timers<S: EventScheduler, T: Tracer>(
    endpoint: &mut SenderEndpoint,
    datapath: &mut Datapath<S, T>,
    flow: u32,
) -> bool {
    let SenderEndpoint { sender, rto_entry_s, app, .. } = endpoint;
    let deadline_s = sender.deadline_s();
    if deadline_s < *rto_entry_s {
        *rto_entry_s = deadline_s;
        datapath.timers.push(deadline_s, TimerKind::Retransmission, flow);
    }
    if let Some(app) = app
        && sender.pacing_deadline_s() < app.pacing_entry_s
    {
        app.pacing_entry_s = sender.pacing_deadline_s();
        datapath.timers.push(app.pacing_entry_s, TimerKind::Pacing, flow);
    }
    endpoint.sender.is_faulty() || (deadline_s == NEVER && endpoint.is_over())
}
