//! Sender events: ACKs and timers of a sender.
//!
//! A sender processes all ACKs that are known at once, merged with its own timers: between two of
//! its ACKs nothing but these timers can reach it. The code path of an ordinary ACK is inlined into
//! one function, [`Engine::run_ack`]; rare cases are calls.

use crate::endpoint::tcp::SenderEndpoint;
use crate::engine::event_loop::LONGEST_RUN;
use crate::engine::sender_output::{
    Cause, MAX_SEGMENTS_PER_EVENT, NO_EVENT, SenderOutput, send, send_handshake_ack,
};
use crate::engine::state::Engine;
use crate::event::timers::TimerKind;
use crate::id::FlowId;
use crate::measure::trace::{PacketEvent, PacketRow, Tracer, row};
use crate::network::Network;
use crate::packet::{Flags, Packet};
use cwndlab_tcp::{AckSegment, DataSegment, NEVER, SackBlocks, Sender, TcpConfig};

impl<T: Tracer> Engine<T> {
    /// Senders process the ACKs that are known and were not processed at once, or part of them: a
    /// flow alone on its links adds as many as it takes.
    pub(crate) fn run_acks(&mut self, mut limit_s: f64) {
        for _ in 0..LONGEST_RUN {
            let Some((flow, ack)) = self.network.acks.pop_front() else { return };
            self.run_ack(flow, ack, &mut limit_s);
        }
    }

    /// An ACK reaches its sender, with nothing left in between. The sender processes it at once,
    /// merged with its own timers, if it comes before `limit_s`: nothing else can reach it before,
    /// and no other sender depends on it.
    #[inline(always)]
    pub(crate) fn run_ack(&mut self, flow: FlowId, ack: Packet, limit_s: &mut f64) {
        self.processed += 1;
        let Self { senders, network, config, .. } = self;
        let endpoint = &mut senders[flow.index()];
        let is_next = ack.at_s < *limit_s && ack.at_s < endpoint.first_timer_s();
        let config = &config[endpoint.config as usize];
        if !is_next || deliver_ack(endpoint, network, config, flow, ack) {
            // A copy: what a call takes lies in memory, the original need not.
            self.run_notable_ack(flow, Packet { ..ack }, *limit_s, is_next);
            *limit_s = self.limit_s();
        }
    }

    /// The rest of an ACK that was delivered (`is_done`) and has completed its sender, put its rule
    /// at fault or armed a timer for now, or one that comes behind a timer of its sender or behind
    /// the limit.
    #[cold]
    #[inline(never)]
    fn run_notable_ack(&mut self, flow: FlowId, ack: Packet, limit_s: f64, is_done: bool) {
        if is_done {
            self.note_completion_or_fault(flow, ack.at_s);
        } else if !self.deliver_between_timers(flow, ack, limit_s) {
            return self.held_acks.push((flow, ack));
        }
        self.expire_own_timers(flow, ack.at_s, (ack.at_s, (ack.tx_start_s, ack.tie_break_s)));
    }

    /// The timers that precede an ACK expire, and the ACK is delivered; returns false if it has to
    /// wait.
    fn deliver_between_timers(&mut self, flow: FlowId, ack: Packet, limit_s: f64) -> bool {
        let mut last = NO_EVENT;
        loop {
            let (at_s, armed_s, _) = self.first_own_timer(flow);
            // Of both at one instant, the one that was scheduled first precedes.
            let precedes = at_s < ack.at_s || at_s == ack.at_s && armed_s <= ack.tx_start_s;
            if !precedes || at_s >= limit_s || self.senders[flow.index()].sender.is_faulty() {
                break;
            }
            last = self.expire_own_timer(flow, last);
        }
        if ack.at_s >= limit_s || self.limit_s() <= ack.at_s {
            return false;
        }
        let endpoint = &mut self.senders[flow.index()];
        let config = &self.config[endpoint.config as usize];
        if deliver_ack(endpoint, &mut self.network, config, flow, ack) {
            self.note_completion_or_fault(flow, ack.at_s);
        }
        true
    }

    /// The limit has moved: ACKs that waited for that are due like all others.
    pub(crate) fn release_acks(&mut self) {
        let acks = &mut self.network.acks;
        while let Some(ack) = acks.pop_front() {
            self.held_acks.push(ack);
        }
        self.held_acks.drain(..).for_each(|ack| acks.push_back(ack));
    }

    /// An ACK reaches its sender, which processes ACKs in order of time with others.
    #[inline(never)]
    pub(crate) fn on_ack(&mut self, flow: FlowId, packet: Packet) {
        if self.network.is_external(flow) {
            return self.network.leave(flow, true, &packet);
        }
        self.cause = (packet.tx_start_s, packet.tie_break_s);
        let subflow = self.subflow(flow);
        if let Some(id) = subflow {
            if let Some(data_ack) = self.network.options.data_ack(packet.options) {
                self.on_data_ack(id, data_ack);
            }
            self.tell_siblings(id);
        }
        let endpoint = &mut self.senders[flow.index()];
        if deliver_ack(
            endpoint,
            &mut self.network,
            &self.config[endpoint.config as usize],
            flow,
            packet,
        ) {
            self.note_completion_or_fault(flow, packet.at_s);
        }
        let last = (packet.at_s, (packet.tx_start_s, packet.tie_break_s));
        self.expire_own_timers(flow, packet.at_s, last);
        if let Some(id) = subflow {
            self.now_s = packet.at_s;
            self.settle_connection(id);
        }
    }

    /// Dispatches an event to a sender and arms its timers.
    pub(crate) fn on_sender(
        &mut self,
        flow: FlowId,
        event: impl FnOnce(&mut Sender, f64, &TcpConfig, &mut SenderOutput<'_, T>),
    ) {
        let endpoint = &mut self.senders[flow.index()];
        if dispatch(
            endpoint,
            &mut self.network,
            &self.config[endpoint.config as usize],
            flow,
            self.now_s,
            self.cause,
            event,
        ) {
            self.note_completion_or_fault(flow, self.now_s);
        }
    }

    /// Arms the timers of a sender.
    pub(crate) fn arm_timers(&mut self, flow: FlowId) {
        let (endpoint, now_s) = (&mut self.senders[flow.index()], self.now_s);
        arm_timers(endpoint, &mut self.network, flow, now_s);
    }

    /// Records that a sender has completed at `at_s`, or that its rule returned an invalid window.
    #[cold]
    #[inline(never)]
    fn note_completion_or_fault(&mut self, flow: FlowId, at_s: f64) {
        self.now_s = at_s;
        let endpoint = &mut self.senders[flow.index()];
        if endpoint.sender.is_faulty() && self.fault.is_none_or(|fault| (at_s, flow) < fault) {
            self.fault = Some((at_s, flow));
        }
        // A subflow without data is not finished while its connection has some.
        let is_subflow = endpoint.app.as_ref().is_some_and(|app| app.subflow.is_some());
        let is_over = !is_subflow && endpoint.is_over();
        if is_over {
            endpoint.finish_s = at_s;
        }
        if is_over && endpoint.transfer().is_some_and(|transfer| !transfer.is_frame()) {
            self.on_finished(flow);
        }
    }
}

/// Cause of the packets that a sender sends on an ACK.
#[inline(always)]
fn cause_of(ack: &Packet, config: &TcpConfig) -> Cause {
    if config.answers_last() { (ack.at_s, 0.0) } else { (ack.tx_start_s, ack.tie_break_s) }
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

/// Delivers an ACK to its sender; returns whether the sender has completed, its rule is at fault,
/// or a timer is due now.
#[inline(always)]
fn deliver_ack<T: Tracer>(
    endpoint: &mut SenderEndpoint,
    network: &mut Network<T>,
    config: &TcpConfig,
    flow: FlowId,
    packet: Packet,
) -> bool {
    let ack = ack_segment(&packet);
    if packet.options > 0 || !endpoint.sender.is_predicted(ack) {
        // A copy, as in `ArrivalQueue::push`: what a call takes lies in memory, the original need
        // not.
        return deliver_ack_slow_path(endpoint, network, config, flow, Packet { ..packet });
    }
    let now_s = packet.at_s;
    if network.trace.records_packets() {
        trace_ack(endpoint, network, config, flow, &packet, ack, None);
    }
    if T::ON {
        network.trace.rtt(now_s, flow, now_s - packet.sent_s);
        network.trace.before(now_s, flow, &endpoint.sender, config);
    }
    let cause = cause_of(&packet, config);
    let last = endpoint.sender.on_predicted_ack(now_s, ack, config);
    // Nearly every ACK releases one packet.
    if let Some(segment) = endpoint.sender.next_predicted_segment(now_s, last, config) {
        send(endpoint, network, flow, now_s, cause, &segment);
        if let Some(segment) = endpoint.sender.next_predicted_segment(now_s, last, config) {
            send_burst(endpoint, network, config, flow, (now_s, cause, last), segment);
        }
    }
    if T::ON {
        network.trace.after(now_s, flow, &endpoint.sender, config);
    }
    arm_timers(endpoint, network, flow, now_s)
}

/// The same for any ACK: with SACK blocks, a timestamp echo of its own or the AccECN option, or for
/// a sender that does not predict it.
#[inline(never)]
fn deliver_ack_slow_path<T: Tracer>(
    endpoint: &mut SenderEndpoint,
    network: &mut Network<T>,
    config: &TcpConfig,
    flow: FlowId,
    mut packet: Packet,
) -> bool {
    packet.at_s = network.access_links.host_jitter.noticed_s(packet.at_s);
    let (mut ack, mut sack, mut window_bytes) = (ack_segment(&packet), None, None);
    if packet.options > 0 {
        let options = network.options.remove(packet.options);
        (ack.echo_s, ack.echo, sack) = (options.echo_s, options.echo, Some(options.sack));
        window_bytes = options.window_bytes;
        if window_bytes.is_some() {
            endpoint.echoed_ms = endpoint.echoed_ms.max(options.left_ms);
            let is_syn_ack = packet.number == 0 && config.handshake.syn;
            if is_syn_ack && config.receiver.receive_buffer > 0 && !endpoint.sender.is_connected() {
                let cause = cause_of(&packet, config);
                send_handshake_ack(endpoint, network, flow, packet.at_s, cause, config);
            }
        }
    }
    let sack = sack.as_ref().filter(|sack| !sack.is_empty());
    let is_triggered = packet.sent_s < NEVER;
    if is_triggered {
        network.trace.rtt(packet.at_s, flow, packet.at_s - packet.sent_s);
    }
    if network.trace.records_packets() {
        trace_ack(endpoint, network, config, flow, &packet, ack, sack);
    }
    let cause = cause_of(&packet, config);
    let acks_part = packet.flags.has(Flags::ACKS_PART);
    dispatch(endpoint, network, config, flow, packet.at_s, cause, |sender, now_s, config, out| {
        if let Some(bytes) = window_bytes {
            sender.set_receiver_window(now_s, ack.ack, bytes, config);
        }
        if !is_triggered {
            sender.on_window_update(now_s, ack, sack, config, out);
        } else if acks_part {
            sender.on_ack_of_part(now_s, ack, sack, config, out);
        } else {
            sender.on_ack(now_s, ack, sack, config, out);
        }
    })
}

/// Sends this segment and those behind it, up to packet `last`.
#[inline(never)]
fn send_burst<T: Tracer>(
    endpoint: &mut SenderEndpoint,
    network: &mut Network<T>,
    config: &TcpConfig,
    flow: FlowId,
    (now_s, cause, last): (f64, Cause, i64),
    mut segment: DataSegment,
) {
    for _ in 1..MAX_SEGMENTS_PER_EVENT {
        send(endpoint, network, flow, now_s, cause, &segment);
        match endpoint.sender.next_predicted_segment(now_s, last, config) {
            Some(next) => segment = next,
            None => return,
        }
    }
    network.note_overflow(true);
}

fn trace_ack<T: Tracer>(
    endpoint: &SenderEndpoint,
    network: &mut Network<T>,
    config: &TcpConfig,
    flow: FlowId,
    packet: &Packet,
    ack: AckSegment,
    sack: Option<&SackBlocks>,
) {
    let sender = &endpoint.sender;
    let (cwnd, ssthresh) = (sender.cwnd(), sender.ssthresh());
    let (marked, echo_s, echo) = (sender.is_marked(ack, config), ack.echo_s, ack.echo);
    let row = row(PacketEvent::Ack, flow, packet);
    network.trace.ack(PacketRow { cwnd, ssthresh, echo_s, marked, echo, ..row }, sack);
}

/// Dispatches an event to a sender and arms its timers; returns whether the sender has completed or
/// its rule is at fault.
fn dispatch<T: Tracer>(
    endpoint: &mut SenderEndpoint,
    network: &mut Network<T>,
    config: &TcpConfig,
    flow: FlowId,
    now_s: f64,
    cause: Cause,
    event: impl FnOnce(&mut Sender, f64, &TcpConfig, &mut SenderOutput<'_, T>),
) -> bool {
    let SenderEndpoint { sender, indices, flags, echoed_ms, hash, .. } = endpoint;
    if T::ON {
        network.trace.before(now_s, flow, sender, config);
    }
    let left = MAX_SEGMENTS_PER_EVENT;
    let (flags, echoed_ms) = (*flags, *echoed_ms);
    let mut out =
        SenderOutput { network, hash, flow, indices, flags, echoed_ms, now_s, cause, left };
    event(sender, now_s, config, &mut out);
    if T::ON {
        network.trace.after(now_s, flow, sender, config);
    }
    arm_timers(endpoint, network, flow, now_s)
}

/// Arms the timers of a sender after an event at `now_s`; returns whether the sender has completed,
/// its rule is at fault, or a timer is due now.
#[inline(always)]
fn arm_timers<T: Tracer>(
    endpoint: &mut SenderEndpoint,
    network: &mut Network<T>,
    flow: FlowId,
    now_s: f64,
) -> bool {
    let SenderEndpoint { sender, rto_entry_s, app, .. } = endpoint;
    let deadline_s = sender.deadline_s();
    if deadline_s < *rto_entry_s {
        *rto_entry_s = deadline_s;
        network.stations.arm(deadline_s, TimerKind::Retransmission, flow.number());
    }
    if let Some(app) = app
        && sender.pacing_deadline_s() < app.pacing_entry_s
    {
        app.pacing_entry_s = sender.pacing_deadline_s();
        network.stations.arm(app.pacing_entry_s, TimerKind::Pacing, flow.number());
    }
    let is_due = app.is_some() && sender.pacing_deadline_s() <= now_s;
    is_due || endpoint.sender.is_faulty() || (deadline_s == NEVER && endpoint.is_over())
}
