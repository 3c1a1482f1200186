//! Errors for settings of a scenario that no live run supports.

use crate::events::Failure;
use cwndlab_scenario::{KnobOverrides, ProfileName, Sampling, Scenario};
use cwndlab_tcp::Profile;
use cwndlab_units::message::one_of;

/// Returns an error for a key of the scenario.
pub fn unsupported<T>(key: &str, message: &str) -> Result<T, Failure> {
    Err(Failure::refused(format!("{key}: {message}")))
}

/// The kind of endpoints, for checks and messages.
pub struct EndpointKind {
    /// Owner of the endpoints in messages, such as `Linux's`.
    pub owner: &'static str,
    /// Supported profiles.
    pub profiles: &'static [ProfileName],
    /// Advice for scenarios with a packet trace; none where packets are recorded.
    pub packet_trace_advice: Option<&'static str>,
    /// Shortest interval between samples of windows.
    pub shortest: &'static str,
}

impl EndpointKind {
    /// Refuses a scenario with a setting that these endpoints do not support.
    pub fn check(&self, scenario: &Scenario) -> Result<(), Failure> {
        let Self { owner, profiles, packet_trace_advice, shortest } = self;
        if !profiles.contains(&scenario.profile) {
            let known: Vec<String> = profiles
                .iter()
                .map(|&profile| format!("{:?}", Profile::from(profile).name()))
                .collect();
            let message = format!(
                "describes simulated endpoints, and a live run has {owner}: leave it out, or \
                 use {}",
                one_of(&known)
            );
            return unsupported("profile", &message);
        }
        if !scenario.arrivals.is_empty() {
            return unsupported(
                "arrivals",
                "live runs do not support arrivals: list flows under [[flows]] with start and \
                 packets",
            );
        }
        if let Some(i) = scenario.flows.iter().position(|flow| flow.stack.is_some()) {
            let message = format!("runs in the simulator, and a live run has {owner} endpoints");
            return unsupported(&format!("flows[{i}].stack"), &message);
        }
        if let Some(flow) = scenario.flows.iter().find(|flow| flow.place.is_some()) {
            return unsupported(
                &format!("flows[{}].subflows", flow.entry.unwrap_or_default()),
                "live runs do not support connections over several paths",
            );
        }
        if let Some(i) = scenario.flows.iter().position(|flow| flow.responses.is_some()) {
            return unsupported(
                &format!("flows[{i}].responses"),
                "live runs do not support requests and responses",
            );
        }
        if let Some(i) = scenario.flows.iter().position(|flow| flow.frames.is_some()) {
            return unsupported(
                &format!("flows[{i}].frames"),
                "live runs do not support media frames",
            );
        }
        if let Some(i) = scenario.flows.iter().position(|flow| flow.reader.is_some()) {
            return unsupported(
                &format!("flows[{i}].reader"),
                "the receivers of live runs read at once",
            );
        }
        if let Some(i) = scenario.flows.iter().position(|flow| flow.page.is_some()) {
            return unsupported(&format!("flows[{i}].page"), "live runs do not support web pages");
        }
        if let Some(i) = scenario.flows.iter().position(|flow| flow.video.is_some()) {
            return unsupported(
                &format!("flows[{i}].video"),
                "live runs do not support adaptive video",
            );
        }
        Self::check_links(scenario)?;
        if let Some(advice) = packet_trace_advice
            && scenario.trace.packets
        {
            let message = format!("live runs do not record packets: {advice}");
            return unsupported("trace.packets", &message);
        }
        if scenario.trace.rtt {
            return unsupported("trace.rtt", "live runs do not measure percentiles of the RTT");
        }
        if scenario.trace.shares {
            return unsupported(
                "trace.shares",
                "live runs do not measure starvation and convergence",
            );
        }
        if scenario.trace.account {
            return unsupported("trace.account", "live runs keep no accounts of flows");
        }
        if scenario.trace.solo {
            return unsupported("trace.solo", "a live run runs no group of flows alone");
        }
        if scenario.trace.rule.is_some() {
            return unsupported(
                "trace.rule",
                "live runs do not record the state of rules: leave it out",
            );
        }
        if scenario.trace.cwnd == Some(Sampling::All) {
            let message = format!(
                "a live run samples windows and does not record \"all\" changes: use an interval \
                 of {shortest} or more"
            );
            return unsupported("trace.cwnd", &message);
        }
        Ok(())
    }

    /// Refuses links with what only simulated links do.
    fn check_links(scenario: &Scenario) -> Result<(), Failure> {
        let dumbbell = scenario.dumbbell.iter().map(|link| {
            let options = (link.ecn_mangling, link.tunnel, link.circuit_breaker);
            ("dumbbell".into(), options)
        });
        let links = scenario.links.iter().enumerate().map(|(i, link)| {
            let options = (link.ecn_mangling, link.tunnel, link.circuit_breaker);
            (format!("links[{i}]"), options)
        });
        for (key, (mangling, tunnel, breaker)) in dumbbell.chain(links) {
            let options = [
                (
                    mangling.is_some(),
                    "ecn_mangling",
                    "live runs mark packets and change no ECN field otherwise",
                ),
                (tunnel.is_some(), "tunnel", "live runs do not support tunnels"),
                (breaker.is_some(), "circuit_breaker", "live runs do not support circuit breakers"),
            ];
            if let Some((_, name, message)) = options.into_iter().find(|(is_set, ..)| *is_set) {
                return unsupported(&format!("{key}.{name}"), message);
            }
        }
        Ok(())
    }
}

/// Names of the knobs that the scenario sets under a key.
pub fn written(key: &str, knobs: &KnobOverrides) -> Result<Vec<String>, Failure> {
    let names = serde_json::to_value(knobs).map_err(|error| Failure::broken(key, error))?;
    Ok(names.as_object().into_iter().flat_map(|names| names.keys()).cloned().collect())
}
