//! Settings of flows for their stacks, and whether these accept them.

use crate::build::StackFlowInfo;
use crate::random::stream::RandomStream;
use cwndlab_scenario::{FlowSpec, NetworkGraph, Scenario};
use cwndlab_stack::{Connection, FlowSettings, HEADER_BYTES, Stack};
use cwndlab_units::message::unknown;
use std::sync::Arc;

/// Bytes of the smallest full datagram (RFC 9000 section 14).
const LEAST_DATAGRAM_BYTES: u32 = 1200;
/// Windows and thresholds from this value on mean no limit.
const UNLIMITED_PACKETS: f64 = 1e8;
/// Bandwidth-delay products that a sender may buffer, and the bounds of that, bytes.
const BUFFERED_BDPS: f64 = 16.0;
const SEND_BUFFER_BYTES: [f64; 2] = [8e6, 2.5e8];

/// Checks that there are the stacks that a scenario names, and that they accept its flows.
///
/// # Errors
/// The first key that is wrong, and what is wrong with it.
pub fn check_stacks(scenario: &Scenario, stacks: &[Arc<dyn Stack>]) -> Result<(), String> {
    for (group, spec) in scenario.flows.iter().enumerate() {
        if spec.stack.is_some() {
            let info = StackFlowInfo { flow: 0, group, start_s: 0.0, stop_s: 0.0 };
            connection(scenario, &info, 0.0, &spec.name, stacks)?;
        }
    }
    Ok(())
}

/// Makes the connection of a flow.
pub fn connection(
    scenario: &Scenario,
    info: &StackFlowInfo,
    base_rtt_s: f64,
    name: &str,
    stacks: &[Arc<dyn Stack>],
) -> Result<Connection, String> {
    let spec = &scenario.flows[info.group];
    let key = |name: &str| format!("flows[{}].{name}", info.group);
    let wanted = spec.stack.as_deref().unwrap_or_default();
    let Some(stack) = stacks.iter().find(|stack| stack.name() == wanted) else {
        if stacks.is_empty() {
            return Err(format!(
                "{}: \"{wanted}\" cannot run here: expected flows without a transport stack",
                key("stack")
            ));
        }
        let names: Vec<&str> = stacks.iter().map(|stack| stack.name()).collect();
        return Err(unknown(key("stack"), wanted, &names));
    };
    let settings = settings(scenario, spec, base_rtt_s, name);
    stack.connection(&settings).map_err(|error| key(&error))
}

/// The settings of the flow of this name.
fn settings(scenario: &Scenario, spec: &FlowSpec, base_rtt_s: f64, name: &str) -> FlowSettings {
    let config = scenario.tcp_config(&spec.tcp);
    let limited = |packets: f64| (packets < UNLIMITED_PACKETS).then_some(packets);
    // A packet has the size on the wire of a simulated one.
    let datagram_bytes =
        config.wire_size(1).saturating_sub(u32::from(HEADER_BYTES)).max(LEAST_DATAGRAM_BYTES);
    let window_bytes = limited(config.limits.window)
        .map(|packets| (packets * f64::from(datagram_bytes)).min(1e9) as u32);
    let links = NetworkGraph::new(scenario).map(|graph| graph.links).unwrap_or_default();
    let largest_bps = links.iter().map(|link| link.rate.largest().bps() as f64).fold(0.0, f64::max);
    let wanted_bytes = BUFFERED_BDPS * largest_bps / 8.0 * base_rtt_s;
    let mut stream = RandomStream::new(scenario.seed, &format!("stack/{name}"));
    FlowSettings {
        rule: spec.rule.0.clone(),
        datagram_bytes: datagram_bytes as u16,
        initial_window_packets: config.limits.initial_window,
        initial_ssthresh_packets: limited(config.limits.initial_ssthresh),
        window_bytes,
        send_buffer_bytes: wanted_bytes.clamp(SEND_BUFFER_BYTES[0], SEND_BUFFER_BYTES[1]) as u64,
        seeds: std::array::from_fn(|_| std::array::from_fn(|_| (stream.uniform() * 256.0) as u8)),
    }
}
