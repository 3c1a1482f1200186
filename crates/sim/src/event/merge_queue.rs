//! Merge queue: packets of several flows that wait to enter one link, processed in batches.

use crate::collections::ring_buffer::RingBuffer;
use crate::event::scheduler::NO_EVENT;
use crate::packet::RoutedPacket;

/// Packets of several flows that wait to enter one link, in order of (time, start of last
/// transmission, lead of its cause, flow, stage).
///
/// Lookahead (in the sense of conservative parallel simulation): every packet still to be inserted
/// arrives at least `lookahead_s` after its insertion, since the stages in front delay it that
/// long. When the head is due, all packets within the lookahead can therefore be processed in one
/// batch.
///
/// There is an input port for each link in front. Packets of one port are nearly in order; those of
/// different ports are not.
#[derive(Debug)]
pub struct MergeQueue {
    ports: Vec<InputQueue>,
    /// Port of the head, and its time, seconds; [`NO_EVENT`] if the queue is empty.
    first: usize,
    first_s: f64,
    /// Lookahead, seconds.
    pub lookahead_s: f64,
    /// Number of the FIFO that stands for this queue in the scheduler.
    pub fifo: u32,
}

/// Packets of one input port.
#[derive(Debug)]
struct InputQueue {
    ring: RingBuffer<RoutedPacket>,
    /// Latest time of its packets so far, seconds.
    last_s: f64,
}

/// An input port of a merge queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputPort {
    /// The merge queue.
    pub merge_queue: u32,
    /// Number of the port.
    pub port: u32,
}

impl InputQueue {
    /// Inserts a packet in order, nearly always at the end.
    #[inline(always)]
    fn put(&mut self, new: RoutedPacket) {
        let at_s = new.packet.at_s;
        self.ring.push_back(new);
        if at_s > self.last_s {
            self.last_s = at_s;
        } else {
            self.sort_in_last();
        }
    }

    /// Moves the last packet to its place.
    #[inline(never)]
    fn sort_in_last(&mut self) {
        let Some(key) = self.ring.iter().next_back().map(RoutedPacket::key) else { return };
        self.ring.move_last_behind(|old| old.key() <= key);
    }
}

impl MergeQueue {
    /// An empty queue; `fifo` stands for it in the scheduler.
    pub fn new(lookahead_s: f64, fifo: u32) -> Self {
        Self { ports: Vec::new(), first: 0, first_s: NO_EVENT, lookahead_s, fifo }
    }

    /// Sets the number of input ports.
    pub fn open(&mut self, ports: usize) {
        self.ports.resize_with(ports, || InputQueue {
            ring: RingBuffer::default(),
            last_s: f64::NEG_INFINITY,
        });
    }

    /// Inserts a packet at a port; returns whether it is earlier than all others, so that the queue
    /// must be rescheduled.
    #[inline(always)]
    pub fn put(&mut self, port: u32, new: RoutedPacket) -> bool {
        self.ports[port as usize].put(new);
        let first_s = self.first_s;
        if new.packet.at_s <= first_s {
            self.find_first();
        }
        new.packet.at_s < first_s
    }

    /// Finds the port of the head.
    #[inline]
    fn find_first(&mut self) {
        let mut first: Option<&RoutedPacket> = None;
        for (port, queue) in self.ports.iter().enumerate() {
            if let Some(head) = queue.ring.front()
                && first.is_none_or(|first| head.key() < first.key())
            {
                (self.first, first) = (port, Some(head));
            }
        }
        self.first_s = first.map_or(NO_EVENT, |first| first.packet.at_s);
    }

    /// Time of the head; [`NO_EVENT`] if the queue is empty.
    #[inline]
    pub fn first_s(&self) -> f64 {
        self.first_s
    }

    /// The head.
    pub fn first(&self) -> Option<&RoutedPacket> {
        self.ports.get(self.first)?.ring.front()
    }

    /// Removes the head.
    #[inline]
    pub fn pop(&mut self) -> Option<RoutedPacket> {
        let first = self.ports.get_mut(self.first)?.ring.pop_front();
        self.find_first();
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Flags, FlowIndices, Packet};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn a_merge_queue_is_sorted_over_its_ports(
            steps in prop::collection::vec((0u32..4, 0u8..20, 0u8..3, 0u32..5), 0..300),
        ) {
            let (mut merge_queue, mut sorted) =
                (MergeQueue::new(0.01, 0), Vec::<RoutedPacket>::new());
            merge_queue.open(3);
            for (port, at, since, flow) in steps {
                if port == 3 {
                    let first = (!sorted.is_empty()).then(|| sorted.remove(0));
                    prop_assert_eq!(
                        merge_queue.pop().map(|routed| routed.key()),
                        first.map(|routed| routed.key())
                    );
                } else {
                    let packet = Packet {
                        at_s: f64::from(at),
                        tx_start_s: f64::from(since),
                        lead_s: 0.0,
                        number: 0,
                        sent_s: 0.0,
                        size_bytes: 1000,
                        flags: Flags::default(),
                        options: 0,
                    };
                    let new = RoutedPacket {
                        packet,
                        flow,
                        stage: 0,
                        indices: FlowIndices { route: 0, first_fifo: 0, first_access_link: 0 },
                    };
                    let is_earlier =
                        sorted.first().is_none_or(|first| new.packet.at_s < first.packet.at_s);
                    prop_assert_eq!(merge_queue.put(port, new), is_earlier);
                    sorted.insert(sorted.partition_point(|old| old.key() <= new.key()), new);
                }
                prop_assert_eq!(
                    merge_queue.first_s(),
                    sorted.first().map_or(NO_EVENT, |first| first.packet.at_s)
                );
                prop_assert_eq!(
                    merge_queue.first().map(|routed| routed.key()),
                    sorted.first().map(|routed| routed.key())
                );
            }
        }
    }
}
