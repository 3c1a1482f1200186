//! Network path: the network of a scenario for packets of external endpoints, without simulated
//! ones.
//!
//! Links, queues, access links, cross traffic and the engine are those of a simulation, so that
//! real packets meet the conditions that simulated packets meet. The caller passes the time in:
//! crates/emulator drives a path by the wall clock.
//!
//! ```
//! use cwndlab_scenario::Scenario;
//! use cwndlab_sim::{Fate, ExternalPacket, NetworkPath};
//! let scenario = Scenario::from_toml(r#"
//!     duration = "10s"
//!     [dumbbell]
//!     rate = "1Mbit"
//!     delay = "20ms"
//!     [[flows]]
//!     rule = "AIMD(1, 0.5)"
//! "#).unwrap();
//! let mut path = NetworkPath::new(&scenario);
//! let mut arrivals = Vec::new();
//! let packet = ExternalPacket { size_bytes: 1250, ..ExternalPacket::default() };
//! path.inject(0.5, packet, &mut |outcome| arrivals.push(outcome));
//! path.advance(1.0, &mut |outcome| arrivals.push(outcome));
//! // 10 ms to transmit 10,000 bits at 1 Mbit/s, and 20 ms of propagation.
//! assert!((arrivals[0].at_s - 0.53).abs() < 1e-12 && arrivals[0].fate == Fate::Delivered);
//! ```

use crate::build::{BuiltNetwork, Options, build};
use crate::endpoint::external::{ExternalEndpoints, ExternalPacket, PacketOutcome};
use crate::external_flow::{ExternalFlow, external_flows};
use crate::results::{CrossResult, LinkResult, cross_results, link_results};
use cwndlab_scenario::{CheckedScenario, Scenario};

type Built = BuiltNetwork<()>;

/// The links of a scenario with the packets on them.
pub struct NetworkPath {
    built: Built,
    flows: Vec<ExternalFlow>,
}

impl NetworkPath {
    /// An idle network at time 0, without the flows of `[[arrivals]]`.
    pub fn new(scenario: &CheckedScenario) -> Self {
        let mut built: Built = build(scenario, Options { look_ahead: false }, ());
        let flows = external_flows(&mut built);
        let network = &mut built.engine.network;
        network.receivers.list = Vec::new();
        network.external = Some(ExternalEndpoints::of_all_flows());
        // The caller decides when the run ends.
        network.end_s = f64::MAX;
        Self { built, flows }
    }

    /// The listed flows.
    pub fn flows(&self) -> &[ExternalFlow] {
        &self.flows
    }

    /// Time of the next event, seconds; infinite for never.
    pub fn next_event_s(&self) -> f64 {
        self.built.engine.network.stations.first_s()
    }

    /// Sends a packet into the path at `now_s`, which never decreases. `out` receives the packets
    /// that leave the path by then, and this one if it is dropped at once.
    pub fn inject(
        &mut self,
        now_s: f64,
        packet: ExternalPacket,
        out: &mut impl FnMut(PacketOutcome),
    ) {
        self.advance(now_s, out);
        self.built.engine.inject(packet);
        self.advance(now_s, out);
    }

    /// Advances the time to `now_s`. `out` receives the packets that leave the path by then,
    /// deliveries in order of time.
    pub fn advance(&mut self, now_s: f64, out: &mut impl FnMut(PacketOutcome)) {
        // `has_overflowed` reports the only error that there can be without simulated senders.
        let _ = self.built.engine.advance_to(now_s);
        self.fetch(out);
    }

    fn fetch(&mut self, out: &mut impl FnMut(PacketOutcome)) {
        if let Some(external) = &mut self.built.engine.network.external {
            external.outcomes.drain(..).for_each(out);
        }
    }

    /// Ends the run at `end_s` and updates all counters. Returns the number of packets in flight.
    pub fn finish(&mut self, end_s: f64) -> usize {
        self.advance(end_s, &mut |_| {});
        let network = &mut self.built.engine.network;
        network.links.iter_mut().for_each(|link| link.finish(end_s));
        network.stations.packets() as usize
    }

    /// Whether a queue exceeds the memory limit.
    pub fn has_overflowed(&self) -> bool {
        self.built.engine.network.links.iter().any(|link| link.overflowed())
    }

    /// Results of the links, after [`NetworkPath::finish`].
    pub fn links(&self) -> Vec<LinkResult> {
        link_results(&self.built, &[])
    }

    /// Results of cross traffic, after [`NetworkPath::finish`].
    pub fn cross(&self, scenario: &Scenario) -> Vec<CrossResult> {
        cross_results(&self.built, scenario)
    }

    /// Sampling interval (seconds) and queue length samples (packets) of each link, if the scenario
    /// traces queues.
    pub fn queue_samples(&self) -> Vec<(f64, &[u32])> {
        let samplers =
            self.built.engine.network.links.iter().filter_map(|link| link.metrics.sampler.as_ref());
        samplers.map(|sampler| (sampler.every_s, sampler.samples.as_slice())).collect()
    }
}
