//! Routes: the stages of a packet, and how it enters each.

use crate::event::merge_queue::InputPort;
use crate::network::fused_stages::{FusedFirstHop, FusedStages};

/// A stage of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// An access link of the flow, by offset among the flow's access links.
    AccessLink(u32),
    /// A link with an admission queue, which decides at arrival.
    Link(u32),
    /// A link with a scheduled queue, which decides at departure.
    Queue(u32),
    /// The receiver, or the end of a cross traffic route.
    Sink,
    /// The sender.
    Source,
}

impl Stage {
    /// Number of the link, if the stage is one.
    pub fn link(self) -> Option<u32> {
        match self {
            Self::Link(link) | Self::Queue(link) => Some(link),
            Self::AccessLink(_) | Self::Sink | Self::Source => None,
        }
    }
}

/// How a packet enters a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// At once: the time of entry is computed without an event.
    Immediate,
    /// By an event, from a FIFO of the flow (offset among the flow's FIFOs).
    Fifo(u32),
    /// The same behind a stage that may reorder packets.
    SortedFifo(u32),
    /// From a merge queue, which the packets of several flows share.
    Merge(InputPort),
}

/// Route of a data packet to the receiver and of its ACK back.
#[derive(Clone, Debug, Default)]
pub struct Route {
    /// Stages in order, and how a packet enters each.
    pub stages: Vec<(Stage, Entry)>,
    /// For each stage the fused stages that begin there, if they have the common shape.
    pub fused: Vec<Option<FusedStages>>,
    /// The first hop, if it is the access link alone.
    pub first_hop: Option<FusedFirstHop>,
    /// Index of the receiver among the stages.
    pub sink: usize,
    /// Sender lookahead, seconds: 0 if segments of the sender reach a shared stage without an
    /// event.
    pub sender_lookahead_s: f64,
}
