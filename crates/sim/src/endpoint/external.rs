//! External endpoints: packets that enter and leave the network from outside the engine: those of
//! all flows in live runs, those of some flows where transport stacks run in simulated time.

use crate::id::FlowId;
use crate::packet::Packet;
use cwndlab_tcp::Ecn;

/// A packet that the caller sends through a network path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExternalPacket {
    /// Number that the caller gives it.
    pub token: u32,
    /// Its flow, by index in [`crate::NetworkPath::flows`].
    pub flow: u32,
    /// Number of the packet, as simulated runs number data; none without data.
    pub number: Option<u64>,
    /// Whether it travels in the reverse direction, from sink to source.
    pub reverse: bool,
    /// Size on the wire, bytes.
    pub size_bytes: u16,
    /// ECN field of the IP header.
    pub ecn: Ecn,
}

/// Fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It left the path at the other end.
    Delivered,
    /// A link dropped it.
    Dropped,
}

/// A packet that has left the path.
#[derive(Clone, Copy, Debug)]
pub struct PacketOutcome {
    /// The packet; a link may have marked it.
    pub packet: ExternalPacket,
    /// When it arrived at the other end or was dropped, seconds.
    pub at_s: f64,
    /// Its fate.
    pub fate: Fate,
}

/// What external endpoints have received, and what was dropped on the way, in order of events.
#[derive(Debug, Default)]
pub struct ExternalEndpoints {
    /// Packets that have left the network and are still to be fetched.
    pub outcomes: Vec<PacketOutcome>,
    /// Whether the endpoints of each flow are external; none: those of all flows are, in a live
    /// run.
    flows: Option<Vec<bool>>,
}

impl ExternalEndpoints {
    /// The endpoints of all flows, in a live run.
    pub fn of_all_flows() -> Self {
        Self::default()
    }

    /// The endpoints of some flows of a simulation: whether those of each are external.
    pub fn of_flows(flows: Vec<bool>) -> Self {
        Self { outcomes: Vec::new(), flows: Some(flows) }
    }

    /// Whether the endpoints of a flow are external.
    pub fn hold(&self, flow: FlowId) -> bool {
        let of = |flows: &Vec<bool>| flows.get(flow.index()).is_some_and(|&is_held| is_held);
        self.flows.as_ref().is_none_or(of)
    }

    /// Whether those of all flows are, in a live run.
    pub fn is_live(&self) -> bool {
        self.flows.is_none()
    }

    /// A packet of `flow` leaves the network at its own time.
    pub fn leave(&mut self, flow: FlowId, reverse: bool, packet: &Packet, fate: Fate) {
        let &Packet { at_s, number, size_bytes, flags, options, .. } = packet;
        let packet = ExternalPacket {
            token: options,
            flow: flow.number(),
            number: u64::try_from(number).ok(),
            reverse,
            size_bytes,
            ecn: flags.ecn(),
        };
        self.outcomes.push(PacketOutcome { packet, at_s, fate });
    }
}
