//! Timers: flows start and stop, endpoint timers expire; and the edges of the measurement window.
//!
//! A timer is armed again lazily: its deadline may have moved since its entry was made, or the
//! sender may have processed it already, merged with its ACKs.

use crate::engine::sender_output::{Event, NO_EVENT, later_cause};
use crate::engine::state::Engine;
use crate::event::timers::TimerKind;
use crate::id::FlowId;
use crate::measure::trace::{PacketEvent, PacketRow, Tracer, row};
use crate::packet::{Flags, Packet};
use cwndlab_tcp::{Counters, LimitedTimes, NEVER};

impl<T: Tracer> Engine<T> {
    /// The first timer of a station comes up.
    pub(crate) fn on_timer(&mut self, station: usize) {
        let (timer, _) = self.first_timer(station);
        let (at_s, kind, owner) = timer;
        if at_s == NEVER {
            return;
        }
        self.network.stations.remove_timer(station, timer);
        let flow = FlowId::new(owner);
        (self.now_s, self.cause) = (at_s, (0.0, kind.tie_break_s()));
        self.processed += 1;
        let subflow = if kind.is_of_sender() { self.subflow(flow) } else { None };
        subflow.into_iter().for_each(|id| self.tell_siblings(id));
        let before = self.processed;
        match kind {
            TimerKind::FlowStart => {
                self.add_frame(flow, self.senders[flow.index()].sender.data_end());
                self.start(flow);
                self.follow_concurrently(flow);
            }
            TimerKind::FlowArrival => self.on_arrival(owner),
            TimerKind::PageRequest => self.on_page_request(owner),
            TimerKind::Receiver => {
                let endpoint = &self.senders[flow.index()];
                let sink = self.network.routes[endpoint.indices.route as usize].sink;
                let first_access_link = endpoint.indices.first_access_link;
                self.clear_entry(at_s, kind, flow);
                let receiver = &self.network.receivers.list[flow.index()];
                if receiver.receiver.deadline_s() == at_s {
                    self.network.expire_receiver(flow, first_access_link, sink);
                }
                self.network.arm_receiver(flow);
            }
            TimerKind::Request
            | TimerKind::Pacing
            | TimerKind::Retransmission
            | TimerKind::AppStop => {
                self.clear_entry(at_s, kind, flow);
                self.expire_own_timers(flow, at_s, NO_EVENT);
                self.arm_timers(flow);
            }
        }
        // Entries whose deadline has moved are no event.
        let is_event = self.processed > before || kind == TimerKind::FlowStart;
        if let Some(id) = subflow.filter(|_| is_event) {
            self.now_s = at_s;
            self.settle_connection(id);
        }
    }

    /// If the deadline of the first timer of a station has moved: arms the timer again, and returns
    /// true.
    pub(crate) fn renew_first_timer(&mut self, station: usize) -> bool {
        let Some((at_s, kind, owner)) = self.network.stations.list[station].timers.first() else {
            return false;
        };
        let (flow, index) = (FlowId::new(owner), owner as usize);
        let app = || self.senders[index].app.as_deref();
        let deadline_s = match kind {
            TimerKind::Receiver => self.network.receivers.list[index].receiver.deadline_s(),
            TimerKind::Retransmission => self.senders[index].sender.deadline_s(),
            TimerKind::Pacing => self.senders[index].sender.pacing_deadline_s(),
            TimerKind::Request => app().map_or(NEVER, |app| app.request_s),
            TimerKind::AppStop => app().map_or(NEVER, |app| app.stop_s),
            TimerKind::FlowStart | TimerKind::FlowArrival | TimerKind::PageRequest => at_s,
        };
        if deadline_s == at_s {
            return false;
        }
        self.network.stations.take_timer(station);
        self.network.stations.settle(station);
        if self.clear_entry(at_s, kind, flow) {
            match kind {
                TimerKind::Receiver => self.network.arm_receiver(flow),
                _ => self.arm_timers(flow),
            }
        }
        true
    }

    /// An entry of a lazily armed timer has come up; returns whether it was the earliest one of that
    /// timer: the timer has none now.
    fn clear_entry(&mut self, at_s: f64, kind: TimerKind, flow: FlowId) -> bool {
        let endpoint = &mut self.senders[flow.index()];
        let entry_s = match (kind, &mut endpoint.app) {
            (TimerKind::Retransmission, _) => &mut endpoint.rto_entry_s,
            (TimerKind::Pacing, Some(app)) => &mut app.pacing_entry_s,
            (TimerKind::Receiver, _) => {
                &mut self.network.receivers.list[flow.index()].timer_entry_s
            }
            _ => return false,
        };
        let is_earliest = *entry_s == at_s;
        if is_earliest {
            *entry_s = NEVER;
        }
        is_earliest
    }

    /// The first timer of a sender: its time and when it was armed, seconds, and its kind.
    pub(crate) fn first_own_timer(&self, flow: FlowId) -> (f64, f64, TimerKind) {
        let endpoint = &self.senders[flow.index()];
        let sender = &endpoint.sender;
        let mut first = (sender.deadline_s(), sender.armed_at_s(), TimerKind::Retransmission);
        if let Some(app) = &endpoint.app {
            for (at_s, kind) in [
                (app.request_s, TimerKind::Request),
                (sender.pacing_deadline_s(), TimerKind::Pacing),
                (app.stop_s, TimerKind::AppStop),
            ] {
                if (at_s, 0.0, kind) < first {
                    first = (at_s, 0.0, kind);
                }
            }
        }
        first
    }

    /// All timers of a sender that are due by `until_s` expire. `last`: its event before.
    #[inline(always)]
    pub(crate) fn expire_own_timers(&mut self, flow: FlowId, until_s: f64, mut last: Event) {
        while self.senders[flow.index()].first_timer_s() <= until_s
            && !self.senders[flow.index()].sender.is_faulty()
        {
            last = self.expire_own_timer(flow, last);
        }
    }

    /// The first timer of a sender expires. Its packets come after those of the event before at the
    /// same instant, even if it was armed earlier. Returns the event.
    #[cold]
    #[inline(never)]
    pub(crate) fn expire_own_timer(&mut self, flow: FlowId, last: Event) -> Event {
        let (at_s, armed_s, kind) = self.first_own_timer(flow);
        self.processed += 1;
        self.cause = later_cause(at_s, (armed_s, kind.tie_break_s()), last);
        self.now_s = at_s;
        match kind {
            TimerKind::Request => self.on_request(flow),
            TimerKind::Pacing => self.on_sender(flow, |sender, now_s, config, wire| {
                sender.on_pacing_timer(now_s, config, wire)
            }),
            TimerKind::AppStop => self.on_stop(flow),
            _ => self.on_retransmission(flow),
        }
        (at_s, self.cause)
    }

    /// The application of a flow stops.
    fn on_stop(&mut self, flow: FlowId) {
        let endpoint = &mut self.senders[flow.index()];
        let has_started = endpoint.sender.last_event_s() != NEVER;
        let is_busy = endpoint.finish_s == NEVER;
        if let Some(app) = &mut endpoint.app {
            app.stop_s = NEVER;
            // A connection that no object has opened has nothing to stop.
            if !has_started {
                return;
            }
            app.request_s = NEVER;
            app.transfer.iter_mut().for_each(|transfer| transfer.is_truncated = is_busy);
        }
        self.on_sender(flow, |sender, now_s, config, _| sender.stop(now_s, config));
        if let Some(id) = self.subflow(flow) {
            self.leave_connection(id);
        }
    }

    /// A flow starts.
    pub(crate) fn start(&mut self, flow: FlowId) {
        self.on_sender(flow, |sender, now_s, config, wire| sender.start(now_s, config, wire));
    }

    /// Moves on to the next window edge; ACKs behind it are held until then.
    pub(crate) fn pass_edge(&mut self) {
        let now_s = self.now_s;
        self.next_window_edge_s =
            self.window_edges_s.iter().copied().find(|&edge_s| edge_s > now_s).unwrap_or(NEVER);
    }

    /// The measurement window starts or ends.
    pub(crate) fn measure(&mut self) {
        let now_s = self.now_s;
        if now_s == self.network.receivers.window.from_s {
            if now_s > 0.0 {
                self.counters_at_window_start =
                    self.senders.iter().map(|endpoint| endpoint.sender.counters(now_s)).collect();
                self.limited_times_s[0] = self.limited_times_now_s();
            }
            return;
        }
        self.measure_groups();
        // If the run ends with the window and nothing else is due now, the counters stay what they
        // are and need no copy.
        let is_last = now_s == self.network.end_s && self.held_acks.is_empty();
        if !is_last || self.network.stations.first_s() <= now_s {
            self.measured = (0..self.senders.len()).map(|flow| self.added(flow)).collect();
            self.limited_times_s[1] = self.limited_times_now_s();
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

    /// Time of the listed flows up to now by what limited them.
    fn limited_times_now_s(&self) -> Vec<LimitedTimes> {
        let listed = self.senders[..self.listed_flows].iter();
        listed.map(|endpoint| endpoint.sender.limited_times_s(self.now_s)).collect()
    }

    /// Time of a listed flow within the measurement window by what limited it.
    pub(crate) fn limited_times_s(&self, flow: usize) -> LimitedTimes {
        let [starts, ends] = &self.limited_times_s;
        let start = starts.get(flow).copied().unwrap_or_default();
        let now = || self.senders[flow].sender.limited_times_s(self.now_s);
        let end = ends.get(flow).copied().unwrap_or_else(now);
        std::array::from_fn(|limit| end[limit] - start[limit])
    }

    /// Data packets of a flow that were acknowledged cumulatively within the measurement window, in
    /// which its sender `did` so much.
    pub(crate) fn acknowledged_packets(&self, flow: usize, did: &Counters) -> u64 {
        let syn = i64::from(self.config[self.senders[flow].config as usize].handshake.syn);
        let begin = self.counters_at_window_start.get(flow).map_or(0, |at| at.acknowledged);
        let data = |number: i64| (number - syn).max(0) as u64;
        data(begin + did.acknowledged) - data(begin)
    }

    /// When a timer that is due at `at_s` was armed, seconds. Starts and stops precede everything;
    /// so do entries whose deadline has moved, because they are only armed again.
    pub(crate) fn armed_at_s(&self, at_s: f64, kind: TimerKind, flow: FlowId) -> f64 {
        let (deadline_s, armed_at_s) = match kind {
            TimerKind::Receiver => {
                let receiver = &self.network.receivers.list[flow.index()].receiver;
                (receiver.deadline_s(), receiver.armed_at_s())
            }
            TimerKind::Retransmission => {
                let sender = &self.senders[flow.index()].sender;
                (sender.deadline_s(), sender.armed_at_s())
            }
            TimerKind::FlowStart
            | TimerKind::Pacing
            | TimerKind::FlowArrival
            | TimerKind::PageRequest
            | TimerKind::Request
            | TimerKind::AppStop => return 0.0,
        };
        if deadline_s == at_s { armed_at_s } else { 0.0 }
    }

    /// The retransmission timer of a sender expires.
    fn on_retransmission(&mut self, flow: FlowId) {
        let endpoint = &self.senders[flow.index()];
        let is_rto = endpoint.sender.timer_is_rto();
        self.on_sender(flow, |sender, now_s, config, wire| {
            sender.on_retransmission_timer(now_s, config, wire)
        });
        if let (true, Some(id)) = (is_rto, self.subflow(flow)) {
            self.reinject(id);
        }
        if T::ON && is_rto {
            let sender = &self.senders[flow.index()].sender;
            let (at_s, number) = (self.now_s, sender.snd_una());
            let packet = Packet::sent(at_s, number, 0, Flags::default());
            let row = PacketRow {
                cwnd: sender.cwnd(),
                ssthresh: sender.ssthresh(),
                ..row(PacketEvent::Timeout, flow, &packet)
            };
            self.network.trace.packet(row);
        }
    }
}
