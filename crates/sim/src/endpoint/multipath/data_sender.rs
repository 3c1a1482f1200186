//! The data of a connection at its sender: what was sent, what is to be sent again on another
//! subflow, and what is left.

use crate::measure::window::MeasurementWindow;
use cwndlab_scenario::Scheduler;
use std::collections::BTreeSet;

/// A number of packets that is never reached.
pub const WITHOUT_END: i64 = i64::MAX / 4;

/// Data at the sender. Data are numbered from 0, a number a packet.
#[derive(Debug)]
pub struct DataSender {
    scheduler: Scheduler,
    /// Packets of data in all.
    data_end: i64,
    /// Packets beyond DATA_ACK that the receiver has room for (RFC 8684 section 3.3.5).
    buffer: i64,
    /// The next data that no subflow has sent.
    next: i64,
    /// Redundant scheduler: the next data of each subflow.
    own_next: Vec<i64>,
    /// Data to be sent again: a subflow could not deliver them, or left.
    again: BTreeSet<i64>,
    /// Packets sent again on another subflow.
    reinjected: u64,
    /// DATA_ACK: all data below it has arrived.
    acknowledged: i64,
    /// When the DATA_ACK of all data arrived, seconds.
    finish_s: Option<f64>,
    /// Round robin: whose turn it is.
    turn: usize,
    /// Since when the receive buffer has kept back what a window allowed, seconds.
    blocked_since_s: Option<f64>,
    /// How long it has in the measurement window, seconds.
    blocked_s: f64,
}

impl DataSender {
    /// Data that nothing of was sent.
    pub fn new(
        scheduler: Scheduler,
        packets: Option<u64>,
        buffer: Option<u64>,
        subflows: usize,
    ) -> Self {
        let limit = |packets: Option<u64>| {
            packets.map_or(WITHOUT_END, |packets| (packets as i64).min(WITHOUT_END))
        };
        Self {
            scheduler,
            data_end: limit(packets),
            buffer: limit(buffer),
            next: 0,
            own_next: vec![0; subflows],
            again: BTreeSet::new(),
            reinjected: 0,
            acknowledged: 0,
            finish_s: None,
            turn: 0,
            blocked_since_s: None,
            blocked_s: 0.0,
        }
    }

    /// Whether there may be less data than windows allow. Otherwise each subflow sends what its
    /// window allows, and there is nothing to choose.
    pub fn is_limited(&self) -> bool {
        self.data_end < WITHOUT_END || self.buffer < WITHOUT_END
    }

    /// Packets left for a subflow to send.
    pub fn left(&self, subflow: usize) -> i64 {
        let end = self.data_end.min(self.acknowledged.saturating_add(self.buffer));
        match self.scheduler {
            Scheduler::Redundant => (end - self.own_next[subflow].max(self.acknowledged)).max(0),
            _ => self.again.len() as i64 + (end - self.next).max(0),
        }
    }

    /// The data that the next packet of a subflow carries.
    pub fn take(&mut self, subflow: usize) -> i64 {
        debug_assert!(self.left(subflow) > 0, "no data is left for subflow {subflow}");
        if self.scheduler == Scheduler::Redundant {
            let data = self.own_next[subflow].max(self.acknowledged);
            self.own_next[subflow] = data + 1;
            return data;
        }
        if let Some(data) = self.again.pop_first() {
            self.reinjected += 1;
            return data;
        }
        self.next += 1;
        self.next - 1
    }

    /// An ACK carries this DATA_ACK.
    pub fn acknowledge(&mut self, now_s: f64, data_ack: i64) {
        if data_ack > self.acknowledged {
            self.acknowledged = data_ack;
            self.finish_s = self.has_end_at(data_ack).then_some(now_s);
            self.again = self.again.split_off(&data_ack);
        }
    }

    /// Data that another subflow shall send. With the redundant scheduler each does anyway.
    pub fn send_again(&mut self, data: impl Iterator<Item = i64>) {
        if self.scheduler != Scheduler::Redundant {
            self.again.extend(data.filter(|&data| data >= self.acknowledged));
        }
    }

    /// Whether all data was given to subflows.
    pub fn is_all_sent(&self) -> bool {
        self.again.is_empty()
            && self.next.max(self.own_next.iter().copied().max().unwrap_or(0)) >= self.data_end
    }

    /// Whether this is the end of the data.
    pub fn has_end_at(&self, data: i64) -> bool {
        data >= self.data_end
    }

    /// When the DATA_ACK of all data arrived, seconds.
    pub fn finish_s(&self) -> Option<f64> {
        self.finish_s
    }

    /// Which scheduler chooses.
    pub fn scheduler(&self) -> Scheduler {
        self.scheduler
    }

    /// Round robin: whose turn it is.
    pub fn turn(&self) -> usize {
        self.turn
    }

    /// Round robin: it is the turn of this subflow.
    pub fn set_turn(&mut self, subflow: usize) {
        self.turn = subflow;
    }

    /// What the receive buffer does now: `has_room` tells whether a window allows more.
    pub fn note_blocked(&mut self, now_s: f64, has_room: bool, window: &MeasurementWindow) {
        let next = match self.scheduler {
            Scheduler::Redundant => self.own_next.iter().copied().min().unwrap_or(0),
            _ => self.next,
        };
        let is_full = self.again.is_empty()
            && next >= self.acknowledged.saturating_add(self.buffer)
            && next < self.data_end;
        match (self.blocked_since_s, is_full && has_room) {
            (None, true) => self.blocked_since_s = Some(now_s),
            (Some(since_s), false) => {
                self.blocked_s += window.overlap_s(since_s, now_s);
                self.blocked_since_s = None;
            }
            _ => {}
        }
    }

    /// Time of the measurement window in which the receive buffer kept back what a window allowed,
    /// up to now, seconds.
    pub fn blocked_s(&self, now_s: f64, window: &MeasurementWindow) -> f64 {
        let last_s = self.blocked_since_s.map_or(0.0, |since_s| window.overlap_s(since_s, now_s));
        self.blocked_s + last_s
    }

    /// Packets sent again on another subflow.
    pub fn reinjected(&self) -> u64 {
        self.reinjected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six packets, a buffer of four: four may go, and the other two once two have arrived.
    #[test]
    fn the_buffer_limits_what_is_left() {
        let mut sender = DataSender::new(Scheduler::MinRtt, Some(6), Some(4), 2);
        assert!(sender.is_limited());
        assert_eq!([sender.left(0), sender.take(0), sender.take(1)], [4, 0, 1]);
        assert_eq!([sender.take(1), sender.take(0), sender.left(0)], [2, 3, 0]);
        sender.acknowledge(1.0, 2);
        assert_eq!(sender.left(1), 2);
        // Data 2 and 3 were lost with subflow 1; data below DATA_ACK are not sent again.
        sender.send_again([1, 2, 3].into_iter());
        assert_eq!([sender.left(0), sender.take(0), sender.take(0)], [4, 2, 3]);
        assert_eq!((sender.take(0), sender.reinjected(), sender.is_all_sent()), (4, 2, false));
    }

    /// Each subflow has the data from the start, without what has arrived.
    #[test]
    fn redundant_subflows_send_all() {
        let mut sender = DataSender::new(Scheduler::Redundant, Some(5), None, 2);
        assert_eq!([sender.take(0), sender.take(0), sender.take(1)], [0, 1, 0]);
        sender.acknowledge(1.0, 2);
        assert_eq!([sender.left(0), sender.left(1), sender.take(1)], [3, 3, 2]);
    }

    /// Blocked from 1 s to 4 s, of which the window from 2 s on has two seconds.
    #[test]
    fn time_of_a_full_buffer_is_counted_in_the_window() {
        let window = MeasurementWindow { from_s: 2.0, to_s: 10.0 };
        let mut sender = DataSender::new(Scheduler::MinRtt, None, Some(1), 1);
        sender.take(0);
        sender.note_blocked(0.5, false, &window);
        sender.note_blocked(1.0, true, &window);
        assert_eq!(sender.blocked_s(3.0, &window), 1.0);
        sender.acknowledge(4.0, 1);
        sender.note_blocked(4.0, true, &window);
        assert_eq!(sender.blocked_s(9.0, &window), 2.0);
    }
}
