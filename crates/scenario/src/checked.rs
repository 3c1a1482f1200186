//! A scenario whose checks have passed.

use crate::{Resolver, Scenario, ScenarioError};
use serde::{Serialize, Serializer};
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
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedScenario {
    /// As it was written.
    written: Scenario,
    /// With each subflow as a flow, if there are any.
    flat: Option<Box<Scenario>>,
}

impl Deref for CheckedScenario {
    type Target = Scenario;

    /// The scenario that runs: subflows are flows.
    fn deref(&self) -> &Scenario {
        self.flat.as_deref().unwrap_or(&self.written)
    }
}

impl Serialize for CheckedScenario {
    /// As it was written.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.written.serialize(serializer)
    }
}

impl CheckedScenario {
    /// The same with another seed.
    pub fn with_seed(&self, seed: u64) -> Self {
        let mut other = self.clone();
        other.change(|scenario| scenario.seed = seed);
        other
    }

    /// Resolves rules anew: the new ones need what those that were checked need.
    ///
    /// # Errors
    /// A rule that cannot be resolved.
    pub fn resolve_rules(&mut self, source: &dyn Resolver) -> Result<(), ScenarioError> {
        self.written.resolve_rules(source)?;
        self.flat = self.written.with_subflows_as_flows().map(Box::new);
        Ok(())
    }

    /// The packets of a run are wanted, too.
    pub fn trace_packets(&mut self) {
        self.change(|scenario| scenario.trace.packets = true);
    }

    /// The same with changes, checked again.
    ///
    /// # Errors
    /// What is wrong with the changed scenario.
    pub fn edited(&self, change: impl FnOnce(&mut Scenario)) -> Result<Self, ScenarioError> {
        let mut changed = self.written.clone();
        change(&mut changed);
        changed.checked()
    }

    /// Changes what needs no check.
    fn change(&mut self, change: impl Fn(&mut Scenario)) {
        change(&mut self.written);
        self.flat.iter_mut().for_each(|flat| change(flat));
    }
}

impl Scenario {
    /// Checks everything beyond types: ranges, references between tables, and sizes that would
    /// exhaust memory.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn checked(self) -> Result<CheckedScenario, ScenarioError> {
        self.check_subflows()?;
        let flat = self.with_subflows_as_flows().map(Box::new);
        flat.as_deref().unwrap_or(&self).check()?;
        Ok(CheckedScenario { written: self, flat })
    }
}
