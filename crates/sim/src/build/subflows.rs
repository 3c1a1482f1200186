//! Builds connections over several paths: a group of flows for each of their subflows.

use super::network_plan::{FlowGroup, NetworkPlan};
use crate::endpoint::multipath::data_receiver::DataReceiver;
use crate::endpoint::multipath::data_sender::DataSender;
use crate::endpoint::multipath::{MultipathConnection, ReceivingSubflow, Subflow, SubflowId};
use crate::engine::state::Engine;
use crate::id::FlowId;
use crate::measure::trace::Tracer;
use cwndlab_scenario::instance;
use cwndlab_tcp::{NEVER, TcpConfig};
use cwndlab_units::Time;

/// The subflows that the flows of a group are.
#[derive(Clone, Copy)]
pub(super) struct GroupOfSubflows {
    /// Connection of the first.
    first: u32,
    /// Number of each in its connection.
    number: u32,
    /// First packet with data.
    first_packet: i64,
}

impl NetworkPlan<'_> {
    /// The subflows that the flows of a group are, if they are any; adds their connections with the
    /// first group of these.
    pub(super) fn add_subflows<T: Tracer>(
        &self,
        group: &FlowGroup,
        config: &TcpConfig,
        is_coupled: bool,
        engine: &mut Engine<T>,
    ) -> Option<GroupOfSubflows> {
        let (spec, place) = (&group.spec, group.spec.place.as_ref()?);
        let connections = &mut engine.network.receivers.connections;
        if place.number == 0 {
            let subflows = self.scenario.flows.iter().filter(|flow| {
                flow.place.as_ref().is_some_and(|other| other.connection == place.connection)
            });
            let subflows = subflows.count();
            connections.extend((0..spec.count).map(|i| MultipathConnection {
                name: instance(&place.connection, i, spec.count),
                subflows: Vec::with_capacity(subflows),
                is_coupled,
                stop_s: place.stop.map_or(NEVER, Time::seconds),
                sender: DataSender::new(
                    spec.scheduler,
                    spec.packets,
                    spec.connection_buffer,
                    subflows,
                ),
                receiver: DataReceiver::new(subflows),
            }));
        }
        Some(GroupOfSubflows {
            first: connections.len() as u32 - spec.count as u32,
            number: place.number as u32,
            first_packet: config.handshake.syn.into(),
        })
    }
}

impl GroupOfSubflows {
    /// Adds the `i`-th flow of the group to its connection; returns its place there, and the
    /// packets that it may send before it learns of others, if they are limited.
    pub(super) fn of_flow<T: Tracer>(
        self,
        i: u32,
        flow: u32,
        engine: &mut Engine<T>,
    ) -> (ReceivingSubflow, Option<u64>) {
        let id = SubflowId { connection: self.first + i, number: self.number };
        let connection = &mut engine.network.receivers.connections[id.connection as usize];
        connection.subflows.push(Subflow::new(FlowId::new(flow), self.first_packet));
        let is_limited = connection.sender.is_limited();
        let packets = is_limited.then(|| connection.sender.left(self.number as usize) as u64);
        (ReceivingSubflow { id, data_ack: is_limited.then_some(0) }, packets)
    }
}
