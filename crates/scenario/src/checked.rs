//! A scenario whose checks have passed.

use crate::{Resolver, Scenario, ScenarioError};
use serde::Serialize;
use std::ops::Deref;

/// A scenario whose checks have passed: its network builds without error.
///
/// ```
/// use cwndlab_scenario::Scenario;
/// let scenario = Scenario::from_toml(r#"
///     duration = "10s"
///     dumbbell = { rate = "1Mbit", delay = "20ms" }
///     flows = [{ rule = "AIMD(1, 0.5)" }]
/// "#).unwrap();
/// assert_eq!(scenario.with_seed(7).seed, 7);
/// let error = scenario.edited(|scenario| scenario.dumbbell = None).unwrap_err();
/// assert!(error.to_string().starts_with("dumbbell: a network is missing"));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct CheckedScenario(Scenario);

impl Deref for CheckedScenario {
    type Target = Scenario;

    fn deref(&self) -> &Scenario {
        &self.0
    }
}

impl CheckedScenario {
    /// The same with another seed.
    pub fn with_seed(&self, seed: u64) -> Self {
        Self(Scenario { seed, ..self.0.clone() })
    }

    /// Resolves rules anew: the new ones need what those that were checked need.
    ///
    /// # Errors
    /// A rule that cannot be resolved.
    pub fn resolve_rules(&mut self, source: &dyn Resolver) -> Result<(), ScenarioError> {
        self.0.resolve_rules(source)
    }

    /// The packets of a run are wanted, too.
    pub fn trace_packets(&mut self) {
        self.0.trace.packets = true;
    }

    /// The same with changes, checked again.
    ///
    /// # Errors
    /// What is wrong with the changed scenario.
    pub fn edited(&self, change: impl FnOnce(&mut Scenario)) -> Result<Self, ScenarioError> {
        let mut changed = self.0.clone();
        change(&mut changed);
        changed.checked()
    }
}

impl Scenario {
    /// Checks everything beyond types: ranges, references between tables, and sizes that would
    /// exhaust memory.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn checked(self) -> Result<CheckedScenario, ScenarioError> {
        self.check()?;
        Ok(CheckedScenario(self))
    }
}
