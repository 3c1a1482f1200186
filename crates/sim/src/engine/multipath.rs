//! Connections over several paths: what an event of one subflow means to the others.

use crate::endpoint::multipath::{MultipathConnection, SubflowId};
use crate::engine::state::Engine;
use crate::id::FlowId;
use crate::measure::trace::Tracer;
use cwndlab_rules::Sibling;
use cwndlab_scenario::Scheduler;
use cwndlab_tcp::{NEVER, Phase};

impl<T: Tracer> Engine<T> {
    /// Which subflow a flow is, if any.
    #[inline]
    pub(crate) fn subflow(&self, flow: FlowId) -> Option<SubflowId> {
        self.senders[flow.index()].app.as_ref()?.subflow
    }

    /// Before an event of a subflow: a coupled rule learns the state of all of its connection that
    /// send and have measured their RTT.
    pub(crate) fn tell_siblings(&mut self, id: SubflowId) {
        let connection = &self.network.receivers.connections[id.connection as usize];
        if !connection.is_coupled {
            return;
        }
        let mut own = None;
        self.siblings.clear();
        for (number, subflow) in connection.subflows.iter().enumerate() {
            let endpoint = &self.senders[subflow.flow.index()];
            let sender = &endpoint.sender;
            let srtt_s = sender.srtt_s(&self.config[endpoint.config as usize]);
            if subflow.has_left || srtt_s <= 0.0 {
                continue;
            }
            if number == id.number as usize {
                own = Some(self.siblings.len());
            }
            let loss_interval_packets = subflow.loss_interval_packets(sender.snd_una());
            // While losses are repaired, the window that this ends with (as MPTCP of Linux does).
            let is_repairing = sender.phase() == Phase::Recovery;
            let most = if is_repairing { sender.ssthresh() } else { f64::INFINITY };
            let cwnd = sender.cwnd().min(most);
            self.siblings.push(Sibling { cwnd, srtt_s, loss_interval_packets });
        }
        if let Some(own) = own {
            let flow = connection.subflows[id.number as usize].flow;
            self.senders[flow.index()].sender.tell_siblings(&self.siblings, own);
        }
    }

    /// After an event of a subflow: what it sent carries the data that came next, and the others
    /// may send what is left.
    pub(crate) fn settle_connection(&mut self, id: SubflowId) {
        self.note_sent(id);
        let connection = &mut self.network.receivers.connections[id.connection as usize];
        let subflow = &mut connection.subflows[id.number as usize];
        let sender = &self.senders[subflow.flow.index()].sender;
        subflow.note_reductions(sender.reductions(), sender.snd_una());
        subflow.mapping.forget_below(sender.snd_una());
        let has_left = subflow.has_left;
        if connection.sender.is_limited() {
            self.share_data(id.connection);
        }
        if has_left {
            self.note_finished(id);
        }
    }

    /// An ACK of a subflow carries this DATA_ACK.
    pub(crate) fn on_data_ack(&mut self, id: SubflowId, data_ack: i64) {
        let connection = &mut self.network.receivers.connections[id.connection as usize];
        connection.sender.acknowledge(self.now_s, data_ack);
        // Data that arrived by another subflow need not be sent here.
        if connection.sender.is_limited() && self.missing(id, self.left(id)) < 0 {
            self.offer(id, self.left(id));
        }
    }

    /// The retransmission timer of a subflow expired, or it leaves: what it has not delivered is
    /// sent on another subflow, if there is one.
    pub(crate) fn reinject(&mut self, id: SubflowId) {
        self.note_sent(id);
        let connection = &mut self.network.receivers.connections[id.connection as usize];
        let is_able = |number: usize| {
            let other = &connection.subflows[number];
            let sender = &self.senders[other.flow.index()].sender;
            number != id.number as usize && !other.has_left && sender.is_connected()
        };
        if self.now_s >= connection.stop_s || !(0..connection.subflows.len()).any(is_able) {
            return;
        }
        let flow = connection.subflows[id.number as usize].flow;
        connection.reinject(id.number as usize, self.senders[flow.index()].sender.snd_una());
    }

    /// A subflow leaves its connection.
    pub(crate) fn leave_connection(&mut self, id: SubflowId) {
        let connection = &mut self.network.receivers.connections[id.connection as usize];
        connection.subflows[id.number as usize].has_left = true;
        self.reinject(id);
    }

    /// Packets that a subflow has sent since carry the data that come next.
    fn note_sent(&mut self, id: SubflowId) {
        let connection = &mut self.network.receivers.connections[id.connection as usize];
        let flow = connection.subflows[id.number as usize].flow;
        let end = self.senders[flow.index()].sender.highest_sent() + 1;
        connection.note_sent(id.number as usize, end);
    }

    /// Lets the subflows of a connection send what is left, in the order of its scheduler.
    fn share_data(&mut self, connection: u32) {
        let subflows = self.connection(connection).subflows.len();
        let of = |number: usize| SubflowId { connection, number: number as u32 };
        match self.connection(connection).sender.scheduler() {
            Scheduler::RoundRobin => {
                let (mut number, mut idle) = (self.connection(connection).sender.turn(), 0);
                while idle < subflows {
                    let most = self.left(of(number)).min(1);
                    let sends = self.offer(of(number), most);
                    number = (number + 1) % subflows;
                    idle = if sends { 0 } else { idle + 1 };
                    if sends {
                        let all = &mut self.network.receivers.connections;
                        all[connection as usize].sender.set_turn(number);
                    }
                }
            }
            _ => {
                for number in self.by_rtt(connection) {
                    self.offer(of(number), self.left(of(number)));
                }
            }
        }
        let mut has_room = false;
        for number in 0..subflows {
            self.offer(of(number), self.left(of(number)));
            has_room |= self.has_room(of(number));
        }
        let now_s = self.now_s;
        let window = self.network.receivers.window;
        let data = &mut self.network.receivers.connections[connection as usize].sender;
        data.note_blocked(now_s, has_room, &window);
        if data.is_all_sent() {
            (0..subflows).for_each(|number| self.note_finished(of(number)));
        }
    }

    fn connection(&self, connection: u32) -> &MultipathConnection {
        &self.network.receivers.connections[connection as usize]
    }

    fn flow_of(&self, id: SubflowId) -> FlowId {
        self.connection(id.connection).subflows[id.number as usize].flow
    }

    /// Packets left for a subflow; none once it has left.
    fn left(&self, id: SubflowId) -> i64 {
        let connection = self.connection(id.connection);
        let number = id.number as usize;
        if connection.subflows[number].has_left { 0 } else { connection.sender.left(number) }
    }

    /// Subflows by smoothed RTT; those that have not measured it come last.
    fn by_rtt(&self, connection: u32) -> Vec<usize> {
        let srtt_s = |number: usize| {
            let endpoint = &self.senders[self.connection(connection).subflows[number].flow.index()];
            let srtt_s = endpoint.sender.srtt_s(&self.config[endpoint.config as usize]);
            if srtt_s > 0.0 { srtt_s } else { NEVER }
        };
        let mut numbers: Vec<usize> = (0..self.connection(connection).subflows.len()).collect();
        numbers.sort_by(|&a, &b| srtt_s(a).total_cmp(&srtt_s(b)));
        numbers
    }

    /// Whether the window of a subflow allows more than it has sent.
    fn has_room(&self, id: SubflowId) -> bool {
        let connection = self.connection(id.connection);
        let sender = &self.senders[self.flow_of(id).index()].sender;
        let is_able = sender.is_connected() && !connection.subflows[id.number as usize].has_left;
        is_able && sender.outstanding_packets() < sender.cwnd() as i64
    }

    /// How many packets its sender has too few, if so many shall be left beyond those that it has
    /// sent.
    fn missing(&self, id: SubflowId, packets: i64) -> i64 {
        let first = self.connection(id.connection).subflows[id.number as usize].first;
        let sender = &self.senders[self.flow_of(id).index()].sender;
        (sender.highest_sent() + 1).max(first) + packets - sender.data_end()
    }

    /// Leaves a subflow so many packets beyond those that it has sent; returns whether it sent any.
    fn offer(&mut self, id: SubflowId, packets: i64) -> bool {
        let (flow, more) = (self.flow_of(id), self.missing(id, packets));
        if more == 0 {
            return false;
        }
        let endpoint = &mut self.senders[flow.index()];
        let sent = endpoint.sender.highest_sent();
        if more > 0 {
            endpoint.finish_s = NEVER;
        }
        self.on_sender(flow, |sender, now_s, config, out| match u64::try_from(more) {
            Ok(more) => sender.supply(now_s, more, config, out),
            Err(_) => sender.withdraw(now_s, more.unsigned_abs()),
        });
        self.note_sent(id);
        self.senders[flow.index()].sender.highest_sent() > sent
    }

    /// A subflow that gets no more data is finished once it has delivered what it sent.
    fn note_finished(&mut self, id: SubflowId) {
        let (flow, now_s) = (self.flow_of(id), self.now_s);
        let endpoint = &mut self.senders[flow.index()];
        if endpoint.finish_s == NEVER && endpoint.sender.is_connected() && endpoint.is_over() {
            endpoint.finish_s = now_s;
        }
    }
}
