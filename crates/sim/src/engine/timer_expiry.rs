//! Timer events: flows start and stop, the measurement window starts and ends, endpoint timers
//! expire.

use crate::endpoint::tcp::ack_options;
use crate::engine::state::Engine;
use crate::event::scheduler::{EventScheduler, NO_EVENT};
use crate::event::timers::TimerKind;
use crate::measure::trace::{PacketEvent, PacketRow, Tracer, row};
use crate::packet::{Flags, Packet};
use cwndlab_tcp::{Counters, NEVER};

impl<S: EventScheduler, T: Tracer> Engine<S, T> {
    /// Processes an expired timer. The deadline of a lazily re-armed timer may have moved since its
    /// entry was made.
    pub(crate) fn expire(&mut self, kind: TimerKind, flow: u32) {
        match kind {
            TimerKind::FlowStart => {
                self.add_frame(flow, self.senders[flow as usize].sender.data_end());
                self.start(flow);
                self.follow_concurrently(flow);
            }
            TimerKind::FlowArrival => self.on_arrival(flow),
            TimerKind::PageRequest => self.on_page_request(flow),
            TimerKind::Request => self.on_request(flow),
            TimerKind::AppStop => {
                let endpoint = &mut self.senders[flow as usize];
                // A connection that no object has opened has nothing to stop.
                if endpoint.sender.last_event_s() == NEVER {
                    return;
                }
                let is_busy = endpoint.finish_s == NEVER;
                if let Some(app) = &mut endpoint.app {
                    (app.stop_s, app.request_s) = (NEVER, NEVER);
                    app.transfer.iter_mut().for_each(|transfer| transfer.is_truncated = is_busy);
                }
                self.on_sender(flow, |sender, now_s, knobs, _| sender.stop(now_s, knobs));
            }
            TimerKind::WindowEdge => {
                self.measure();
                self.pass_edge();
            }
            TimerKind::Receiver => self.on_receiver_timer(flow),
            TimerKind::Retransmission => self.on_retransmission(flow),
            TimerKind::Pacing => self.on_pacing_timer(flow),
        }
    }

    /// A flow starts.
    pub(crate) fn start(&mut self, flow: u32) {
        self.on_sender(flow, |sender, now_s, knobs, wire| sender.start(now_s, knobs, wire));
    }

    /// Moves on to the next window edge. No sender may run ahead past an edge.
    fn pass_edge(&mut self) {
        let now_s = self.now_s;
        self.next_window_edge_s =
            self.window_edges_s.iter().copied().find(|&edge_s| edge_s > now_s).unwrap_or(NO_EVENT);
    }

    /// The measurement window starts or ends.
    fn measure(&mut self) {
        let now_s = self.now_s;
        if now_s == self.datapath.sinks.window.from_s {
            if now_s > 0.0 {
                self.counters_at_window_start =
                    self.senders.iter().map(|endpoint| endpoint.sender.counters(now_s)).collect();
            }
            return;
        }
        self.measure_groups();
        // If the run ends with the window and nothing else is due now, the counters stay what they
        // are and need no copy.
        let is_last = now_s == self.datapath.end_s
            && self.simultaneous.is_empty()
            && self.expired_timers.is_empty();
        let next_time_s =
            self.datapath.event_queues.scheduler.earliest().0.min(self.datapath.timers.first_s());
        if !is_last || next_time_s <= now_s {
            self.measured = (0..self.senders.len()).map(|flow| self.added(flow)).collect();
        }
    }

    /// Counter increments of a sender within the measurement window, which has ended.
    pub(crate) fn measured(&self, flow: usize) -> Counters {
        self.measured.get(flow).copied().unwrap_or_else(|| self.added(flow))
    }

    /// Counter increments of a sender since the measurement window started.
    pub(crate) fn added(&self, flow: usize) -> Counters {
        let counters_at_window_start =
            self.counters_at_window_start.get(flow).copied().unwrap_or_default();
        self.senders[flow].sender.counters(self.now_s).since(&counters_at_window_start)
    }

    /// Data packets of a flow that were acknowledged cumulatively within the measurement window, in
    /// which its sender `did` so much.
    pub(crate) fn acknowledged_packets(&self, flow: usize, did: &Counters) -> u64 {
        let syn = i64::from(self.knobs[self.senders[flow].knobs as usize].syn);
        let begin = self.counters_at_window_start.get(flow).map_or(0, |at| at.acknowledged);
        let data = |number: i64| (number - syn).max(0) as u64;
        data(begin + did.acknowledged) - data(begin)
    }

    /// A delayed ACK is due, or a SYN-ACK is repeated, unless a packet arrived meanwhile.
    fn on_receiver_timer(&mut self, flow: u32) {
        let (indices, time_s, datapath) =
            (self.senders[flow as usize].indices, self.now_s, &mut self.datapath);
        let sink = &mut datapath.sinks.receivers[flow as usize];
        if sink.receiver.deadline_s() != time_s {
            return;
        }
        // The ACK inherits the time at which the timer was armed, so that it precedes a packet that
        // arrives now and that packet's ACK.
        let tx_start_s = sink.receiver.armed_at_s();
        let knobs = &self.knobs[sink.knobs as usize];
        if let Some(ack) = sink.receiver.on_timer(knobs) {
            let deadline_s = sink.receiver.deadline_s();
            if deadline_s < NEVER {
                datapath.timers.push(deadline_s, TimerKind::Receiver, flow);
            }
            let options = ack_options(&ack, &sink.receiver, &mut datapath.options);
            let (number, sent_s, size_bytes) = (ack.ack, ack.sent_s, ack.size_bytes as u16);
            let flags = self.senders[flow as usize].flags.of_ack(ack.echo);
            let packet = Packet {
                at_s: time_s,
                tx_start_s,
                lead_s: 0.0,
                number,
                sent_s,
                size_bytes,
                flags,
                options,
            };
            let after = datapath.routes[indices.route as usize].sink + 1;
            if knobs.ack_division > 1 {
                datapath.sinks.divide_ack(flow, packet, &ack, &mut datapath.options);
                return datapath.send_divided_acks(flow, indices, after);
            }
            datapath.reach::<false>(flow, indices, after, packet);
        }
    }

    /// The pacing timer of a sender expires, unless the sender has sent meanwhile.
    fn on_pacing_timer(&mut self, flow: u32) {
        let endpoint = &mut self.senders[flow as usize];
        let Some(app) = endpoint.app.as_mut().filter(|app| app.pacing_entry_s == self.now_s) else {
            return;
        };
        app.pacing_entry_s = NEVER;
        let due_s = endpoint.sender.pacing_deadline_s();
        if due_s <= self.now_s {
            self.on_sender(flow, |sender, now_s, knobs, wire| {
                sender.on_pacing_timer(now_s, knobs, wire)
            });
        } else if due_s < NEVER {
            app.pacing_entry_s = due_s;
            self.datapath.timers.push(due_s, TimerKind::Pacing, flow);
        }
    }

    /// An entry of the retransmission timer comes up. If the deadline has moved, the timer is armed
    /// again.
    fn on_retransmission(&mut self, flow: u32) {
        let endpoint = &mut self.senders[flow as usize];
        if endpoint.rto_entry_s != self.now_s {
            return;
        }
        endpoint.rto_entry_s = NEVER;
        let deadline_s = endpoint.sender.deadline_s();
        if deadline_s > self.now_s {
            if deadline_s != NEVER {
                endpoint.rto_entry_s = deadline_s;
                self.datapath.timers.push(deadline_s, TimerKind::Retransmission, flow);
            }
            return;
        }
        let is_probing = endpoint.sender.timer_is_rack_or_tlp();
        self.on_sender(flow, |sender, now_s, knobs, wire| sender.on_timeout(now_s, knobs, wire));
        if T::ON && !is_probing {
            let sender = &self.senders[flow as usize].sender;
            let (at_s, number) = (self.now_s, sender.snd_una());
            let packet = Packet::sent(at_s, number, 0, Flags::default());
            let row = PacketRow {
                cwnd: sender.cwnd(),
                ssthresh: sender.ssthresh(),
                ..row(PacketEvent::Timeout, flow, &packet)
            };
            self.datapath.trace.packet(row);
        }
    }
}
