//! FIFOs of packets that wait for an event, one per flow and stage.

use crate::event::scheduler::EventScheduler;
use crate::packet::{FlowIndices, Packet};

/// What happens when the head of a FIFO is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// An ACK reaches its sender.
    Ack,
    /// The same at a sender with lookahead: its segments reach a shared stage only by an event.
    AckLookahead,
    /// A packet enters this stage of its route.
    EnterStage(u32),
    /// A cross traffic source sends a packet.
    CrossSend,
    /// A transmission ends on this link, which has a scheduled queue.
    TransmissionEnd(u32),
    /// Packets enter a link from this merge queue.
    MergeBatch(u32),
}

/// Packets of one flow that wait to enter one stage.
#[derive(Debug)]
pub struct PacketFifo<S> {
    /// State that the scheduler keeps per FIFO.
    pub state: S,
    /// Flow, or `CROSS` plus the number of the cross traffic source.
    pub flow: u32,
    /// What happens when its head is due.
    pub event: EventKind,
    /// Indices of the flow in the tables of the datapath.
    pub indices: FlowIndices,
}

impl<S: Default> PacketFifo<S> {
    /// An empty FIFO.
    pub fn new(flow: u32, event: EventKind, indices: FlowIndices) -> Self {
        Self { state: S::default(), flow, event, indices }
    }
}

/// All packets that wait for an event.
#[derive(Debug)]
pub struct EventQueues<S: EventScheduler> {
    /// One FIFO for each stage of a flow where packets wait.
    pub fifos: Vec<PacketFifo<S::FifoState>>,
    /// The event scheduler, which stores the packets.
    pub scheduler: S,
    /// Packets in all FIFOs and merge queues.
    pub packets: u64,
}

impl<S: EventScheduler> Default for EventQueues<S> {
    fn default() -> Self {
        Self { fifos: Vec::new(), scheduler: S::new(1, 0.0), packets: 0 }
    }
}

impl<S: EventScheduler> EventQueues<S> {
    /// Removes the first packet of the FIFO that is due first.
    #[inline(always)]
    pub fn pop(&mut self, fifo: u32) -> Packet {
        self.packets -= 1;
        self.scheduler.pop(fifo, &mut self.fifos[fifo as usize].state)
    }

    /// The same without rescheduling, which [`EventScheduler::reschedule`] does later; none if the
    /// scheduler knows of no further packet.
    #[inline(always)]
    pub fn pop_unscheduled(&mut self, fifo: u32) -> Option<Packet> {
        let packet = self.scheduler.pop_unscheduled(fifo, &mut self.fifos[fifo as usize].state)?;
        self.packets -= 1;
        Some(packet)
    }

    /// Time of the next packet that `pop_unscheduled` would take, seconds.
    #[inline(always)]
    pub fn next_time_s(&self, fifo: u32) -> f64 {
        self.scheduler.next_time_s(&self.fifos[fifo as usize].state)
    }

    /// Appends a packet; times within a FIFO never decrease.
    #[inline(always)]
    pub fn push(&mut self, fifo: u32, packet: Packet) {
        self.packets += 1;
        self.scheduler.push(fifo, &mut self.fifos[fifo as usize].state, packet);
    }

    /// Moves the packet that was pushed last behind all that arrive no later: for a FIFO behind a
    /// stage that reorders.
    ///
    /// It takes no packet: what a call takes lies in memory, and every packet of the caller would,
    /// also the many that are only pushed.
    #[inline(never)]
    pub fn sort_in_last(&mut self, fifo: u32) {
        self.scheduler.sort_in_last(fifo, &mut self.fifos[fifo as usize].state);
    }
}
