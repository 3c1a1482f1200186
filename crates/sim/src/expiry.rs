//! What is due by itself: flows start and stop, the measuring window begins and ends, timers of endpoints expire.

use crate::engine::Engine;
use crate::packet::{Flags, Packet};
use crate::scheduler::{EMPTY, Scheduler};
use crate::timers::Kind;
use crate::trace::{PacketEvent, PacketRow, Trace};
use crate::transit::{ack_options, row};
use cwndlab_tcp::{Counters, NEVER};

impl<S: Scheduler, T: Trace> Engine<S, T> {
    /// A timer expires, or its entry comes up.
    pub(crate) fn expire(&mut self, kind: Kind, flow: u32) {
        match kind {
            Kind::Start => self.start(flow),
            Kind::Arrive => self.on_arrival(flow),
            Kind::Request => self.on_request(flow),
            Kind::Stop => {
                let host = &mut self.hosts[flow as usize];
                let is_busy = host.finish_s == NEVER;
                if let Some(agenda) = &mut host.agenda {
                    (agenda.stop_s, agenda.request_s) = (NEVER, NEVER);
                    agenda.job.iter_mut().for_each(|job| job.is_cut = is_busy);
                }
                self.on_sender(flow, |sender, now_s, _, _| sender.stop(now_s));
            }
            Kind::Measure => {
                self.measure();
                self.pass_edge();
            }
            Kind::DelayedAck => self.on_delayed_ack(flow),
            Kind::Retransmission => self.on_retransmission(flow),
            Kind::Pace => self.on_pace(flow),
        }
    }

    /// A flow starts.
    pub(crate) fn start(&mut self, flow: u32) {
        self.on_sender(flow, |sender, now_s, knobs, wire| sender.start(now_s, knobs, wire));
    }

    /// A moment is over that no sender may pass ahead of time.
    fn pass_edge(&mut self) {
        let now_s = self.now_s;
        self.next_edge_s = self.edges_s.iter().copied().find(|&edge_s| edge_s > now_s).unwrap_or(EMPTY);
    }

    /// The measuring window begins or ends.
    fn measure(&mut self) {
        let now_s = self.now_s;
        if now_s == self.transit.window.from_s {
            if now_s > 0.0 {
                self.begun = self.hosts.iter().map(|host| host.sender.counters(now_s)).collect();
            }
            return;
        }
        self.measure_groups();
        // Where the run ends with the window, and nothing else is due at that very moment, the sums stay what they are: no need for a copy.
        let is_last = now_s == self.transit.end_s && self.tied.is_empty() && self.expiring.is_empty();
        let next_s = self.transit.streams.scheduler.first().0.min(self.transit.timers.first_s());
        if !is_last || next_s <= now_s {
            self.measured = (0..self.hosts.len()).map(|flow| self.added(flow)).collect();
        }
    }

    /// What a sender added to its sums within the measuring window, which is over.
    pub(crate) fn measured(&self, flow: usize) -> Counters {
        self.measured.get(flow).copied().unwrap_or_else(|| self.added(flow))
    }

    /// What a sender has added to its sums since the measuring window began.
    pub(crate) fn added(&self, flow: usize) -> Counters {
        let begun = self.begun.get(flow).copied().unwrap_or_default();
        self.hosts[flow].sender.counters(self.now_s).since(&begun)
    }

    fn on_delayed_ack(&mut self, flow: u32) {
        let (place, time_s, transit) = (self.hosts[flow as usize].place, self.now_s, &mut self.transit);
        let sink = &mut transit.sinks[flow as usize];
        if sink.receiver.deadline_s() != time_s {
            return;
        }
        // Set in motion when the timer was: so it stays before a packet that arrives at this moment, and before that one's acknowledgement.
        let since_s = sink.receiver.armed_at_s();
        if let Some(ack) = sink.receiver.on_timer(&self.knobs[sink.knobs as usize]) {
            let options = ack_options(&ack, &sink.receiver, &mut transit.options);
            let (number, sent_s, size_bytes) = (ack.ack, ack.sent_s, ack.size_bytes as u16);
            let flags = self.hosts[flow as usize].flags.with(Flags::ECE, ack.ece);
            let packet = Packet { at_s: time_s, since_s, number, sent_s, size_bytes, flags, options };
            let after = transit.routes[place.route as usize].sink + 1;
            transit.carry_on(flow, place, after, packet);
        }
    }

    /// A paced sender may go on, if it has not done so meanwhile.
    fn on_pace(&mut self, flow: u32) {
        let host = &mut self.hosts[flow as usize];
        let Some(agenda) = host.agenda.as_mut().filter(|agenda| agenda.paced_s == self.now_s) else { return };
        agenda.paced_s = NEVER;
        let due_s = host.sender.pacing_deadline_s();
        if due_s <= self.now_s {
            self.on_sender(flow, |sender, now_s, knobs, wire| sender.on_pacing_timer(now_s, knobs, wire));
        } else if due_s < NEVER {
            agenda.paced_s = due_s;
            self.transit.timers.push(due_s, Kind::Pace, flow);
        }
    }

    /// An entry of a retransmission timer came up; the deadline may have moved since it was made.
    fn on_retransmission(&mut self, flow: u32) {
        let host = &mut self.hosts[flow as usize];
        if host.armed_s != self.now_s {
            return;
        }
        host.armed_s = NEVER;
        let deadline_s = host.sender.deadline_s();
        if deadline_s > self.now_s {
            if deadline_s != NEVER {
                host.armed_s = deadline_s;
                self.transit.timers.push(deadline_s, Kind::Retransmission, flow);
            }
            return;
        }
        let is_probing = host.sender.timer_is_rack_or_tlp();
        self.on_sender(flow, |sender, now_s, knobs, wire| sender.on_timeout(now_s, knobs, wire));
        if T::ON && !is_probing {
            let sender = &self.hosts[flow as usize].sender;
            let (at_s, number) = (self.now_s, sender.snd_una());
            let packet = Packet { at_s, since_s: at_s, number, sent_s: at_s, size_bytes: 0, flags: Flags::default(), options: 0 };
            let row = PacketRow { cwnd: sender.cwnd(), ssthresh: sender.ssthresh(), ..row(PacketEvent::Timeout, flow, &packet) };
            self.transit.trace.packet(row);
        }
    }
}
