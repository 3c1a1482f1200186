//! Packets that wait for an event: streams of one flow each, and inboxes that several flows share.

use crate::packet::Packet;
use crate::ring::Ring;
use crate::scheduler::Scheduler;

/// Where a flow is in the tables.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its route.
    pub route: u32,
    /// First of its streams.
    pub first_stream: u32,
    /// First of its pipes.
    pub first_pipe: u32,
}

/// What the head of a stream is due for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// An acknowledgement reaches the sender.
    Ack,
    /// The same, at a sender that may run ahead: nothing it sends meets others' packets at once.
    AckAhead,
    /// A packet enters this stage of its route.
    Enter(u32),
    /// A source of cross traffic has a packet ready.
    Emit,
    /// A transmission ends on this link, whose queue owns its packets.
    Depart(u32),
    /// Packets enter a link through this inbox.
    Batch(u32),
}

/// Packets on their way to one stage of one flow.
#[derive(Debug)]
pub struct Pending<L> {
    /// What the stream knows of the packets.
    pub lane: L,
    /// Flow, or number of TCP flows plus number of the cross source.
    pub flow: u32,
    /// What happens at its head.
    pub due: Due,
    /// Where the flow is in the tables.
    pub place: Place,
}

impl<L: Default> Pending<L> {
    /// No packets yet.
    pub fn new(flow: u32, due: Due, place: Place) -> Self {
        Self { lane: L::default(), flow, due, place }
    }
}

/// All packets that wait for an event, and which comes first.
#[derive(Debug)]
pub struct Streams<S: Scheduler> {
    /// One for each stage of a flow where packets wait.
    pub all: Vec<Pending<S::Lane>>,
    /// Their packets.
    pub scheduler: S,
    /// Packets in all of them, and in inboxes.
    pub packets: u64,
}

impl<S: Scheduler> Streams<S> {
    /// Takes the first packet of the stream that is due first.
    #[inline(always)]
    pub fn pop(&mut self, stream: u32) -> Packet {
        self.packets -= 1;
        self.scheduler.pop(stream, &mut self.all[stream as usize].lane)
    }

    /// The same, before [`Streams::go_on`]; none where the stream has none that it knows of.
    #[inline(always)]
    pub fn pop_ahead(&mut self, stream: u32) -> Option<Packet> {
        let packet = self.scheduler.pop_ahead(stream, &mut self.all[stream as usize].lane)?;
        self.packets -= 1;
        Some(packet)
    }

    /// When the next is due that may be taken ahead, seconds.
    #[inline(always)]
    pub fn next_s(&self, stream: u32) -> f64 {
        self.scheduler.next_s(&self.all[stream as usize].lane)
    }

    /// Adds a packet; times of one stream never decrease.
    #[inline(always)]
    pub fn push(&mut self, stream: u32, packet: Packet) {
        self.packets += 1;
        self.scheduler.push(stream, &mut self.all[stream as usize].lane, packet);
    }

    /// Adds a packet where packets may have overtaken each other: behind all that arrive no later.
    pub fn insert(&mut self, stream: u32, packet: Packet) {
        self.packets += 1;
        self.scheduler.insert(stream, &mut self.all[stream as usize].lane, packet);
    }
}

/// Packets of several flows on their way to one link, in order of (time, when they were set in motion, flow, stage).
///
/// Every packet that will still be put here arrives at least `lead_s` after it is put here: that is how far the stages before
/// delay it. So when the first is due, all that arrive within the lead can be handled in one go.
#[derive(Debug)]
pub struct Inbox {
    ring: Ring<Waiting>,
    /// No packet in it is later than this, seconds.
    last_s: f64,
    /// Lead, seconds.
    pub lead_s: f64,
    /// The stream that schedules its first packet.
    pub stream: u32,
}

/// A packet in an inbox.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// The packet.
    pub packet: Packet,
    /// Its flow.
    pub flow: u32,
    /// The stage it enters.
    pub stage: u32,
    /// Where its flow is in the tables.
    pub place: Place,
}

impl Inbox {
    /// Empty; `stream` schedules its first packet.
    pub fn new(lead_s: f64, stream: u32) -> Self {
        Self { ring: Ring::default(), last_s: f64::NEG_INFINITY, lead_s, stream }
    }

    /// Puts a packet in its place, which is nearly always the last; returns whether it is the first.
    #[inline(always)]
    pub fn put(&mut self, new: Waiting) -> bool {
        if new.packet.at_s > self.last_s {
            self.last_s = new.packet.at_s;
            self.ring.push_back(new);
            return self.ring.len() == 1;
        }
        self.insert(new)
    }

    #[inline(never)]
    fn insert(&mut self, new: Waiting) -> bool {
        let key = |waiting: &Waiting| (waiting.packet.at_s, waiting.packet.since_s, waiting.flow, waiting.stage);
        let new_key = key(&new);
        let index = self.ring.partition_point(|old| key(old) <= new_key);
        self.ring.insert(index, new);
        index == 0
    }

    /// When the first is due.
    #[inline]
    pub fn first_s(&self) -> Option<f64> {
        self.ring.front().map(|first| first.packet.at_s)
    }

    /// When the first was set in motion, and its flow.
    pub fn first(&self) -> Option<(f64, u32)> {
        self.ring.front().map(|first| (first.packet.since_s, first.flow))
    }

    /// Takes the first.
    #[inline]
    pub fn pop(&mut self) -> Option<Waiting> {
        self.ring.pop_front()
    }
}
