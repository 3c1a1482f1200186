//! Results of connections over several paths.

use crate::build::BuiltNetwork;
use crate::endpoint::multipath::MultipathConnection;
use crate::measure::trace::Tracer;
use serde::Serialize;

/// One connection, over the measurement window unless named `most_`.
#[derive(Clone, Debug, Serialize)]
#[allow(
    missing_docs,
    reason = "docs/metrics.md defines every field with its formula; names are the definition here"
)]
pub struct ConnectionResult {
    pub connection: String,
    pub rule: String,
    pub scheduler: &'static str,
    pub goodput_bps: f64,
    pub delivered_packets: u64,
    pub reinjected_packets: u64,
    pub duplicate_packets: u64,
    pub early_packets: u64,
    pub held_s: f64,
    pub most_held_packets: u64,
    pub blocked_s: f64,
    pub received_s: Option<f64>,
    pub finish_s: Option<f64>,
}

/// One subflow of a connection: what it contributed, over the measurement window.
#[derive(Clone, Debug, Serialize)]
#[allow(
    missing_docs,
    reason = "docs/metrics.md defines every field with its formula; names are the definition here"
)]
pub struct SubflowResult {
    pub connection: String,
    pub flow: String,
    pub first_packets: u64,
    pub goodput_bps: f64,
    pub share: Option<f64>,
}

/// Results of all connections, and of their subflows.
pub fn connection_results<T: Tracer>(
    built: &BuiltNetwork<T>,
) -> (Vec<ConnectionResult>, Vec<SubflowResult>) {
    let connections = &built.engine.network.receivers.connections;
    let subflows = connections.iter().flat_map(|connection| subflow_results(built, connection));
    let results = connections.iter().map(|connection| result(built, connection));
    (results.collect(), subflows.collect())
}

/// Payload of the packets of a connection, bits.
fn packet_bits<T: Tracer>(built: &BuiltNetwork<T>, connection: &MultipathConnection) -> f64 {
    let endpoint = &built.engine.senders[connection.subflows[0].flow.index()];
    let config = &built.engine.config[endpoint.config as usize];
    f64::from(config.segment.packet_size) * 8.0
}

fn result<T: Tracer>(
    built: &BuiltNetwork<T>,
    connection: &MultipathConnection,
) -> ConnectionResult {
    let engine = &built.engine;
    let window = &engine.network.receivers.window;
    let MultipathConnection { name, subflows, sender, receiver, .. } = connection;
    let delivered_packets = receiver.new_packets().iter().sum();
    let end_s = engine.network.end_s;
    let group = built.flows.of(subflows[0].flow.number()).map(|(group, _)| group);
    ConnectionResult {
        connection: name.clone(),
        rule: group.map_or_else(String::new, |group| group.rule.clone()),
        scheduler: sender.scheduler().name(),
        goodput_bps: delivered_packets as f64 * packet_bits(built, connection) / window.seconds(),
        delivered_packets,
        reinjected_packets: sender.reinjected(),
        duplicate_packets: receiver.duplicate_packets(),
        early_packets: receiver.early_packets(),
        held_s: receiver.held_s(end_s, window),
        most_held_packets: receiver.most_held_packets(),
        blocked_s: sender.blocked_s(end_s, window),
        received_s: sender.has_end_at(receiver.expected()).then(|| receiver.received_s()),
        finish_s: sender.finish_s(),
    }
}

fn subflow_results<'a, T: Tracer>(
    built: &'a BuiltNetwork<T>,
    connection: &'a MultipathConnection,
) -> impl Iterator<Item = SubflowResult> + 'a {
    let seconds = built.engine.network.receivers.window.seconds();
    let bits = packet_bits(built, connection);
    let all: u64 = connection.receiver.new_packets().iter().sum();
    connection.subflows.iter().zip(connection.receiver.new_packets()).map(move |(subflow, &own)| {
        let name = built.flows.of(subflow.flow.number());
        SubflowResult {
            connection: connection.name.clone(),
            flow: name.map_or_else(String::new, |(group, i)| group.instance(i.into())),
            first_packets: own,
            goodput_bps: own as f64 * bits / seconds,
            share: (all > 0).then(|| own as f64 / all as f64),
        }
    })
}
