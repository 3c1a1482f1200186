//! Routes: the stages of a packet, and how it enters each.

use crate::id::{HopId, LinkId};

/// A stage of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// An access link of the flow, by offset among the flow's access links.
    AccessLink(u32),
    /// A link with a FIFO queue, which decides at arrival.
    FifoLink(LinkId),
    /// A link with a scheduled queue, which decides at departure.
    ScheduledLink(LinkId),
    /// The receiver, or the end of a cross traffic route.
    Sink,
    /// The sender.
    Source,
}

impl Stage {
    /// Number of the link, if the stage is one.
    pub fn link(self) -> Option<LinkId> {
        match self {
            Self::FifoLink(link) | Self::ScheduledLink(link) => Some(link),
            Self::AccessLink(_) | Self::Sink | Self::Source => None,
        }
    }
}

/// How a packet enters a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// At once: the time of entry is known before, and nothing else decides about it.
    Immediate,
    /// When this station comes to it.
    Wait(u32),
    /// An ACK whose sender processes it with all others that are known, up to its own timers.
    Collect,
}

impl Entry {
    /// No station.
    pub const NO_STATION: u32 = u32::MAX;
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
    /// Whether the packet is data here, at the receiver included.
    pub is_data: bool,
    /// Whether the route begins here.
    pub is_first: bool,
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
    pub first: HopId,
    /// Number of the hop to the receiver.
    pub sink: HopId,
}

/// Hops of these stages. An access link that a packet enters at once is part of the hop to the
/// stage behind it.
pub fn hops(stages: &[(Stage, Entry)]) -> Vec<Hop> {
    let mut hops = Vec::with_capacity(stages.len());
    let (mut access_link, mut is_data) = (Hop::NO_ACCESS_LINK, true);
    for (index, &(stage, entry)) in stages.iter().enumerate() {
        let is_joined = access_link == Hop::NO_ACCESS_LINK
            && entry == Entry::Immediate
            && index + 1 < stages.len();
        match stage {
            Stage::AccessLink(offset) if is_joined => access_link = offset,
            _ => {
                let is_first = hops.is_empty();
                hops.push(Hop { access_link, entry, stage, is_data, is_first });
                access_link = Hop::NO_ACCESS_LINK;
                is_data &= stage != Stage::Sink;
            }
        }
    }
    hops
}
