//! Packets that wait for an event: streams of one flow each, and inboxes that several flows share.

use crate::event_scheduler::{EventScheduler, NO_EVENT};
use crate::packet::Packet;
use crate::ring_buffer::RingBuffer;

/// Where a flow is in the tables.
#[derive(Clone, Copy, Debug)]
pub struct FlowIndices {
    /// Its route.
    pub route: u32,
    /// First of its streams.
    pub first_fifo: u32,
    /// First of its pipes.
    pub first_access_link: u32,
}

/// What the head of a stream is due for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// An acknowledgement reaches the sender.
    Ack,
    /// The same, at a sender that may run ahead: nothing it sends meets others' packets at once.
    AckLookahead,
    /// A packet enters this stage of its route.
    EnterStage(u32),
    /// A source of cross traffic has a packet ready.
    CrossSend,
    /// A transmission ends on this link, whose queue owns its packets.
    TransmissionEnd(u32),
    /// Packets enter a link through this inbox.
    MergeBatch(u32),
}

/// Packets on their way to one stage of one flow.
#[derive(Debug)]
pub struct PacketFifo<L> {
    /// What the stream knows of the packets.
    pub lane: L,
    /// Flow, or number of TCP flows plus number of the cross source.
    pub flow: u32,
    /// What happens at its head.
    pub event: EventKind,
    /// Where the flow is in the tables.
    pub indices: FlowIndices,
}

impl<L: Default> PacketFifo<L> {
    /// No packets yet.
    pub fn new(flow: u32, event: EventKind, indices: FlowIndices) -> Self {
        Self { lane: L::default(), flow, event, indices }
    }
}

/// All packets that wait for an event, and which comes first.
#[derive(Debug)]
pub struct EventQueues<S: EventScheduler> {
    /// One for each stage of a flow where packets wait.
    pub fifos: Vec<PacketFifo<S::FifoState>>,
    /// Their packets.
    pub scheduler: S,
    /// Packets in all of them, and in inboxes.
    pub packets: u64,
}

impl<S: EventScheduler> EventQueues<S> {
    /// Takes the first packet of the stream that is due first.
    #[inline(always)]
    pub fn pop(&mut self, fifo: u32) -> Packet {
        self.packets -= 1;
        self.scheduler.pop(fifo, &mut self.fifos[fifo as usize].lane)
    }

    /// The same, before [`EventScheduler::reschedule`]; none where the stream has none that it knows of.
    #[inline(always)]
    pub fn pop_unscheduled(&mut self, fifo: u32) -> Option<Packet> {
        let packet = self.scheduler.pop_unscheduled(fifo, &mut self.fifos[fifo as usize].lane)?;
        self.packets -= 1;
        Some(packet)
    }

    /// When the next is due that may be taken ahead, seconds.
    #[inline(always)]
    pub fn next_time_s(&self, fifo: u32) -> f64 {
        self.scheduler.next_time_s(&self.fifos[fifo as usize].lane)
    }

    /// Adds a packet; times of one stream never decrease.
    #[inline(always)]
    pub fn push(&mut self, fifo: u32, packet: Packet) {
        self.packets += 1;
        self.scheduler.push(fifo, &mut self.fifos[fifo as usize].lane, packet);
    }

    /// Adds a packet where packets may have overtaken each other: behind all that arrive no later.
    pub fn insert(&mut self, fifo: u32, packet: Packet) {
        self.packets += 1;
        self.scheduler.insert(fifo, &mut self.fifos[fifo as usize].lane, packet);
    }
}

/// Packets of several flows on their way to one link, in order of (time, when they were set in motion, flow, stage).
///
/// Every packet that will still be put here arrives at least `lookahead_s` after it is put here: that is how far the stages before
/// delay it. So when the first is due, all that arrive within the lead can be handled in one go.
///
/// Packets come through doors, one for each link before this: those of one door are nearly in order, those of different doors are not at all.
#[derive(Debug)]
pub struct MergeQueue {
    ports: Vec<InputQueue>,
    /// The door of the first packet, and when that is due, seconds; [`NO_EVENT`] when there is none.
    first: usize,
    first_s: f64,
    /// Lead, seconds.
    pub lookahead_s: f64,
    /// The stream that schedules its first packet.
    pub fifo: u32,
}

/// What came through one door.
#[derive(Debug)]
struct InputQueue {
    ring: RingBuffer<RoutedPacket>,
    /// No packet in it is later than this, seconds.
    last_s: f64,
}

/// A packet in an inbox.
#[derive(Clone, Copy, Debug)]
pub struct RoutedPacket {
    /// The packet.
    pub packet: Packet,
    /// Its flow.
    pub flow: u32,
    /// The stage it enters.
    pub stage: u32,
    /// Where its flow is in the tables.
    pub indices: FlowIndices,
}

impl RoutedPacket {
    /// What they are in order of.
    #[inline(always)]
    fn key(&self) -> (f64, f64, u32, u32) {
        (self.packet.at_s, self.packet.tx_start_s, self.flow, self.stage)
    }
}

/// A way into an inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputPort {
    /// The inbox.
    pub merge_queue: u32,
    /// Which of its doors.
    pub port: u32,
}

impl InputQueue {
    /// Puts a packet in its place, which is nearly always the last.
    #[inline(always)]
    fn put(&mut self, new: RoutedPacket) {
        if new.packet.at_s > self.last_s {
            self.last_s = new.packet.at_s;
            self.ring.push_back(new);
        } else {
            self.insert(new);
        }
    }

    #[inline(never)]
    fn insert(&mut self, new: RoutedPacket) {
        let index = self.ring.partition_point(|old| old.key() <= new.key());
        self.ring.insert(index, new);
    }
}

impl MergeQueue {
    /// Empty; `fifo` schedules its first packet.
    pub fn new(lookahead_s: f64, fifo: u32) -> Self {
        Self { ports: Vec::new(), first: 0, first_s: NO_EVENT, lookahead_s, fifo }
    }

    /// So many doors.
    pub fn open(&mut self, ports: usize) {
        self.ports.resize_with(ports, || InputQueue {
            ring: RingBuffer::default(),
            last_s: f64::NEG_INFINITY,
        });
    }

    /// Puts a packet behind a door; returns whether it is earlier than all others, so that the inbox is due earlier.
    #[inline(always)]
    pub fn put(&mut self, port: u32, new: RoutedPacket) -> bool {
        self.ports[port as usize].put(new);
        let first_s = self.first_s;
        if new.packet.at_s <= first_s {
            self.find_first();
        }
        new.packet.at_s < first_s
    }

    /// Which door has the first, and when that is due.
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

    /// When the first is due; [`NO_EVENT`] when there is none.
    #[inline]
    pub fn first_s(&self) -> f64 {
        self.first_s
    }

    /// When the first was set in motion, and its flow.
    pub fn first(&self) -> Option<(f64, u32)> {
        let first = self.ports.get(self.first)?.ring.front()?;
        Some((first.packet.tx_start_s, first.flow))
    }

    /// Takes the first.
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
    use crate::packet::Flags;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn an_inbox_is_in_order_whatever_its_doors(steps in prop::collection::vec((0u32..4, 0u8..20, 0u8..3, 0u32..5), 0..300)) {
            let (mut merge_queue, mut sorted) = (MergeQueue::new(0.01, 0), Vec::<RoutedPacket>::new());
            merge_queue.open(3);
            for (port, at, since, flow) in steps {
                if port == 3 {
                    let first = (!sorted.is_empty()).then(|| sorted.remove(0));
                    prop_assert_eq!(merge_queue.pop().map(|routed| routed.key()), first.map(|routed| routed.key()));
                } else {
                    let packet = Packet {
                        at_s: f64::from(at),
                        tx_start_s: f64::from(since),
                        number: 0,
                        sent_s: 0.0,
                        size_bytes: 1000,
                        flags: Flags::default(),
                        options: 0,
                    };
                    let new = RoutedPacket { packet, flow, stage: 0, indices: FlowIndices { route: 0, first_fifo: 0, first_access_link: 0 } };
                    let is_earlier = sorted.first().is_none_or(|first| new.packet.at_s < first.packet.at_s);
                    prop_assert_eq!(merge_queue.put(port, new), is_earlier);
                    sorted.insert(sorted.partition_point(|old| old.key() <= new.key()), new);
                }
                prop_assert_eq!(merge_queue.first_s(), sorted.first().map_or(NO_EVENT, |first| first.packet.at_s));
                prop_assert_eq!(merge_queue.first(), sorted.first().map(|first| (first.packet.tx_start_s, first.flow)));
            }
        }
    }
}
