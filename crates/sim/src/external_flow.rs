//! Listed flows whose endpoints are outside the simulation.

use crate::build::BuiltNetwork;
use crate::event::timers::TimerKind;
use crate::results::FlowIdentity;
use cwndlab_tcp::{NEVER, TcpConfig};

/// A listed flow, as the endpoints that the caller provides need to know it.
#[derive(Clone, Debug)]
pub struct ExternalFlow {
    /// Names of the flow.
    pub identity: FlowIdentity,
    /// Index of its `[[flows]]` entry.
    pub group: usize,
    /// Round trip propagation delay, seconds.
    pub base_rtt_s: f64,
    /// Start time, seconds; infinite for never.
    pub start_s: f64,
    /// Time at which its application stops, seconds; infinite for never.
    pub stop_s: f64,
    /// Settings of its endpoints.
    pub config: TcpConfig,
}

/// The listed flows of a network. Their start and stop times are in its timers, which have no other
/// use here.
pub fn external_flows(network: &mut BuiltNetwork<()>) -> Vec<ExternalFlow> {
    let engine = &mut network.engine;
    let mut times = vec![(NEVER, NEVER); network.flows.base_rtts_s.len()];
    let senders = engine.network.stations.senders() as usize;
    while let Some((at_s, kind, flow)) = engine.network.stations.take_timer(senders) {
        match (kind, times.get_mut(flow as usize)) {
            (TimerKind::FlowStart, Some(times)) => times.0 = at_s,
            (TimerKind::AppStop, Some(times)) => times.1 = at_s,
            _ => {}
        }
    }
    engine.network.stations.settle(senders);
    let flow_of = |(flow, (start_s, stop_s)): (usize, (f64, f64))| {
        let (group, number) = network.flows.of(flow as u32)?;
        let config = engine.senders[flow].config as usize;
        Some(ExternalFlow {
            identity: FlowIdentity::new(group, number),
            group: config,
            base_rtt_s: network.flows.base_rtts_s[flow],
            start_s,
            stop_s,
            config: engine.config[config].clone(),
        })
    };
    times.into_iter().enumerate().filter_map(flow_of).collect()
}
