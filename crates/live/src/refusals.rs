//! What of a scenario no live run can have, whoever's flows it is to be.

use crate::events::Failure;
use cwndlab_sim::scenario::{KnobOverrides, ProfileName, Sampling, Scenario};
use cwndlab_tcp::Profile;

/// Refuses what stands under a key.
pub fn refuse<T>(key: &str, message: &str) -> Result<T, Failure> {
    Err(Failure::refused(format!("{key}: {message}")))
}

/// Who the endpoints are, as far as messages say it.
pub struct Endpoints {
    /// Whose they are: `Linux's`.
    pub whose: &'static str,
    /// Profiles whose packets they can have.
    pub profiles: &'static [ProfileName],
    /// What to do about a trace of packets.
    pub packets: &'static str,
    /// The shortest interval of looks at windows.
    pub shortest: &'static str,
}

impl Endpoints {
    /// Refuses what of the scenario as a whole cannot be had.
    pub fn whole(&self, scenario: &Scenario) -> Result<(), Failure> {
        let Self { whose, profiles, packets, shortest } = self;
        if !profiles.contains(&scenario.profile) {
            let allowed: Vec<String> = profiles
                .iter()
                .map(|&profile| format!("{:?}", Profile::from(profile).name()))
                .collect();
            let allowed = allowed.join(" or ");
            return refuse(
                "profile",
                &format!(
                    "describes simulated endpoints, a live run has {whose}: leave it out, or write {allowed}"
                ),
            );
        }
        if !scenario.arrivals.is_empty() {
            return refuse(
                "arrivals",
                "flows that arrive are not run live yet: list them under [[flows]] with start and packets",
            );
        }
        if let Some(i) = scenario.flows.iter().position(|flow| flow.responses.is_some()) {
            return refuse(
                &format!("flows[{i}].responses"),
                "requests and responses are not run live yet",
            );
        }
        if scenario.trace.packets {
            return refuse(
                "trace.packets",
                &format!("packets of a live run are not recorded: {packets}"),
            );
        }
        if scenario.trace.cwnd == Some(Sampling::All) {
            let message = format!(
                "\"all\" cannot be had, windows of a live run are sampled: write an interval of {shortest} or more"
            );
            return refuse("trace.cwnd", &message);
        }
        Ok(())
    }
}

/// Names of the knobs that are written under a key.
pub fn written(key: &str, knobs: &KnobOverrides) -> Result<Vec<String>, Failure> {
    let names = serde_json::to_value(knobs).map_err(|error| Failure::broken(key, error))?;
    Ok(names.as_object().into_iter().flat_map(|names| names.keys()).cloned().collect())
}
