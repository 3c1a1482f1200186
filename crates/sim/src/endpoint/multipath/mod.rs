//! A connection over several paths, by the model of RFC 8684 without its options on the wire: one
//! sequence of data, which subflows carry under sequence numbers of their own.

pub mod data_receiver;
pub mod data_sender;
pub mod mapping;

use crate::id::FlowId;
use crate::measure::window::MeasurementWindow;
use data_receiver::DataReceiver;
use data_sender::DataSender;
use mapping::Mapping;

/// Which subflow of which connection.
#[derive(Clone, Copy, Debug)]
pub struct SubflowId {
    /// Number of the connection.
    pub connection: u32,
    /// Number of the subflow in it.
    pub number: u32,
}

/// What a receiver knows of the connection of its subflow.
#[derive(Clone, Copy, Debug)]
pub struct ReceivingSubflow {
    /// Which subflow it is.
    pub id: SubflowId,
    /// DATA_ACK of its ACKs; none where the sender needs none.
    pub data_ack: Option<i64>,
}

/// A subflow.
#[derive(Debug)]
pub struct Subflow {
    /// Its flow.
    pub flow: FlowId,
    /// First of its packets that carries data: with a handshake the second.
    pub first: i64,
    /// Which data its packets carry.
    pub mapping: Mapping,
    /// Packets below this one were given to other subflows, if they were not acknowledged.
    reinjected_end: i64,
    /// It has left the connection.
    pub has_left: bool,
    /// Reductions of its window so far.
    reductions: u32,
    /// Its first unacknowledged packet at the last reduction but one, and at the last.
    reduced_at: [i64; 2],
}

impl Subflow {
    /// A subflow that has sent nothing.
    pub fn new(flow: FlowId, first: i64) -> Self {
        Self {
            flow,
            first,
            mapping: Mapping::default(),
            reinjected_end: first,
            has_left: false,
            reductions: 0,
            reduced_at: [first; 2],
        }
    }

    /// Notes how often its window was reduced, at the first unacknowledged packet. A reduction
    /// before anything is acknowledged since the last one is of the same loss.
    pub fn note_reductions(&mut self, reductions: u32, snd_una: i64) {
        if reductions != self.reductions && snd_una > self.reduced_at[1] {
            self.reduced_at = [self.reduced_at[1], snd_una];
        }
        self.reductions = reductions;
    }

    /// As `Sibling::loss_interval_packets`.
    pub fn loss_interval_packets(&self, snd_una: i64) -> f64 {
        let [before, last] = self.reduced_at;
        (last - before).max(snd_una - last).max(0) as f64
    }
}

/// A connection.
#[derive(Debug)]
pub struct MultipathConnection {
    /// Its name.
    pub name: String,
    /// Subflows in order.
    pub subflows: Vec<Subflow>,
    /// Its rule couples them.
    pub is_coupled: bool,
    /// When its application stops, seconds: from then on it sends nothing again on other subflows.
    pub stop_s: f64,
    /// Data at the sender.
    pub sender: DataSender,
    /// Data at the receiver.
    pub receiver: DataReceiver,
}

impl MultipathConnection {
    /// A subflow has sent new packets, all below `end`: they carry the data that come next.
    pub fn note_sent(&mut self, number: usize, end: i64) {
        let subflow = &mut self.subflows[number];
        while subflow.mapping.end().max(subflow.first) < end {
            let data = self.sender.take(number);
            subflow.mapping.add(subflow.mapping.end().max(subflow.first), data);
        }
    }

    /// What a subflow has not delivered, up to `snd_una`, is to be sent on another, each packet
    /// once: the other one repairs its own losses.
    pub fn reinject(&mut self, number: usize, snd_una: i64) {
        let subflow = &mut self.subflows[number];
        let (from, end) = (snd_una.max(subflow.reinjected_end), subflow.mapping.end());
        subflow.reinjected_end = end.max(from);
        self.sender.send_again(subflow.mapping.data(from, end));
    }

    /// A subflow has received all packets below `end` in order, from `from` on just now. Returns
    /// the data that is expected next.
    pub fn receive(
        &mut self,
        number: usize,
        (from, end): (i64, i64),
        at_s: f64,
        window: &MeasurementWindow,
    ) -> i64 {
        for data in self.subflows[number].mapping.data(from, end) {
            self.receiver.receive(at_s, number, data, window);
        }
        self.receiver.expected()
    }
}
