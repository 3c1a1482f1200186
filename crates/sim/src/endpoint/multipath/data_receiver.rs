//! The data of a connection at its receiver, which puts them in order.

use crate::measure::window::MeasurementWindow;
use cwndlab_tcp::SequenceSet;

/// Data at the receiver.
#[derive(Debug)]
pub struct DataReceiver {
    /// The next data expected.
    expected: i64,
    /// Data that wait for others before them.
    waiting: SequenceSet,
    /// How many, and since when any, seconds.
    held: u64,
    held_since_s: f64,
    /// Counts of the measurement window: data that came for the first time, by subflow; those that
    /// came before others that precede them; those that came again.
    new: Vec<u64>,
    early: u64,
    duplicates: u64,
    /// Time of the measurement window in which data waited, seconds.
    held_s: f64,
    /// Most packets that waited at once, over the whole run.
    most_held: u64,
    /// When new data came last, seconds.
    received_s: f64,
}

impl DataReceiver {
    /// A receiver of so many subflows that has received nothing.
    pub fn new(subflows: usize) -> Self {
        Self {
            expected: 0,
            waiting: SequenceSet::default(),
            held: 0,
            held_since_s: 0.0,
            new: vec![0; subflows],
            early: 0,
            duplicates: 0,
            held_s: 0.0,
            most_held: 0,
            received_s: 0.0,
        }
    }

    /// A subflow delivers a packet of data.
    pub fn receive(&mut self, at_s: f64, subflow: usize, data: i64, window: &MeasurementWindow) {
        let inside = u64::from(window.contains(at_s));
        if data < self.expected || !self.waiting.insert(data) {
            self.duplicates += inside;
            return;
        }
        self.received_s = at_s;
        self.new[subflow] += inside;
        if data > self.expected {
            self.early += inside;
            if self.held == 0 {
                self.held_since_s = at_s;
            }
            self.held += 1;
            self.most_held = self.most_held.max(self.held);
            return;
        }
        let expected = self.waiting.first_missing(data);
        let released = (expected - data - 1) as u64;
        self.expected = expected;
        self.waiting.advance(expected);
        self.held -= released;
        if released > 0 {
            self.held_s += window.overlap_s(self.held_since_s, at_s);
            self.held_since_s = at_s;
        }
    }

    /// The next data expected: DATA_ACK.
    pub fn expected(&self) -> i64 {
        self.expected
    }

    /// New packets in the measurement window, by subflow.
    pub fn new_packets(&self) -> &[u64] {
        &self.new
    }

    /// Packets in the measurement window that came before others that precede them.
    pub fn early_packets(&self) -> u64 {
        self.early
    }

    /// Packets in the measurement window that came again.
    pub fn duplicate_packets(&self) -> u64 {
        self.duplicates
    }

    /// Most packets that waited for others at once.
    pub fn most_held_packets(&self) -> u64 {
        self.most_held
    }

    /// Time of the measurement window up to now in which data waited for others, seconds.
    pub fn held_s(&self, now_s: f64, window: &MeasurementWindow) -> f64 {
        let is_held = self.held > 0;
        self.held_s + if is_held { window.overlap_s(self.held_since_s, now_s) } else { 0.0 }
    }

    /// When new data came last, seconds.
    pub fn received_s(&self) -> f64 {
        self.received_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Data 1 and 2 wait from 1 s to 3 s for data 0, which comes once more.
    #[test]
    fn data_wait_for_what_precedes_them() {
        let window = MeasurementWindow { from_s: 0.0, to_s: 10.0 };
        let mut receiver = DataReceiver::new(2);
        for (at_s, subflow, data) in [(1.0, 1, 1), (2.0, 1, 2), (3.0, 0, 0), (4.0, 1, 0)] {
            receiver.receive(at_s, subflow, data, &window);
        }
        assert_eq!((receiver.expected(), receiver.new_packets()), (3, &[1, 2][..]));
        assert_eq!([receiver.early_packets(), receiver.duplicate_packets()], [2, 1]);
        assert_eq!((receiver.most_held_packets(), receiver.held_s(9.0, &window)), (2, 2.0));
    }

    /// Data 2 waits on, until data 1 comes.
    #[test]
    fn part_of_what_waits_may_wait_on() {
        let window = MeasurementWindow { from_s: 0.0, to_s: 10.0 };
        let mut receiver = DataReceiver::new(1);
        for (at_s, data) in [(1.0, 1), (2.0, 3), (4.0, 0)] {
            receiver.receive(at_s, 0, data, &window);
        }
        assert_eq!((receiver.expected(), receiver.held_s(6.0, &window)), (2, 5.0));
        receiver.receive(6.0, 0, 2, &window);
        assert_eq!((receiver.expected(), receiver.held_s(9.0, &window)), (4, 5.0));
    }
}
