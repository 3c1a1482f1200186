//! Routes: the stages of a packet, and how it enters each.

use crate::event::merge_queue::InputPort;

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
    /// A sender that may process the ACK before its time; otherwise by an event, from a FIFO of the
    /// flow.
    RunAhead(u32),
}

/// A stage of a route, and how a packet reaches it.
#[derive(Clone, Copy, Debug)]
pub struct Hop {
    /// Access link in front, by offset among the flow's access links, or [`Hop::NO_ACCESS_LINK`].
    pub access_link: u32,
    /// How the packet enters the stage then.
    pub entry: Entry,
    /// The stage.
    pub stage: Stage,
}

impl Hop {
    /// No access link in front.
    pub const NO_ACCESS_LINK: u32 = u32::MAX;
}

/// Route of a data packet to the receiver and of its ACK back: hops in a row among those of all
/// routes.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// Number of its first hop.
    pub first: u32,
    /// Number of the hop to the receiver.
    pub sink: u32,
    /// Sender lookahead, seconds: 0 if segments of the sender reach a shared stage without an
    /// event.
    pub sender_lookahead_s: f64,
}

/// Hops of these stages. With `joins_access_links` an access link that a packet enters at once is
/// part of the hop to the stage behind it.
pub fn hops(stages: &[(Stage, Entry)], joins_access_links: bool) -> Vec<Hop> {
    let mut hops = Vec::with_capacity(stages.len());
    let mut access_link = Hop::NO_ACCESS_LINK;
    for (index, &(stage, entry)) in stages.iter().enumerate() {
        let is_joined = joins_access_links
            && access_link == Hop::NO_ACCESS_LINK
            && entry == Entry::Immediate
            && index + 1 < stages.len();
        match stage {
            Stage::AccessLink(offset) if is_joined => access_link = offset,
            _ => {
                hops.push(Hop { access_link, entry, stage });
                access_link = Hop::NO_ACCESS_LINK;
            }
        }
    }
    hops
}
