//! Congestion controls of the flows: the kernel's, or rules that are registered for the run.

#[cfg(feature = "kernel")]
use super::plan::initial_ssthresh;
use crate::events::Failure;
use cwndlab_scenario::{FlowSpec, Scenario};
use serde::Serialize;

/// The congestion controls of a run; dropping the value unregisters its rules.
pub struct CongestionControls {
    /// Names of the congestion controls, one for each entry of the scenario's flows.
    pub names: Vec<String>,
    #[cfg(feature = "kernel")]
    registered: Vec<(String, cwndlab_kernel::Registered)>,
}

/// Counters of a registered rule.
#[derive(Clone, Debug, Serialize)]
pub struct RuleReport {
    /// The rule.
    pub rule: String,
    /// Name of the congestion control.
    pub name: String,
    /// Callbacks that the kernel skipped; the guard repaired their effects.
    pub skipped_callbacks: u64,
}

impl CongestionControls {
    /// Finds or registers the congestion controls of the flows.
    #[cfg(not(feature = "kernel"))]
    pub fn new(scenario: &Scenario) -> Result<Self, Failure> {
        let name = |(i, flow): (usize, &FlowSpec)| match flow.rule.0.kernel_name() {
            Some(name) => Ok(name.to_string()),
            None => Err(Failure::refused(format!(
                "flows[{i}].rule: {} needs rules in the kernel, which this program was built \
                 without: install clang, libelf-dev and zlib1g-dev and run `make live` again, or \
                 use kernel:reno, kernel:cubic or kernel:bbr",
                flow.rule.0
            ))),
        };
        Ok(Self { names: scenario.flows.iter().enumerate().map(name).collect::<Result<_, _>>()? })
    }

    /// Counters of the registered rules.
    #[cfg(not(feature = "kernel"))]
    pub fn report(&self) -> Result<Vec<RuleReport>, Failure> {
        Ok(Vec::new())
    }

    /// Finds or registers the congestion controls of the flows.
    #[cfg(feature = "kernel")]
    pub fn new(scenario: &Scenario) -> Result<Self, Failure> {
        use cwndlab_kernel::{LoadOptions, Registered};
        let (mut names, mut registered) = (Vec::new(), Vec::<(String, Registered)>::new());
        for (i, flow) in scenario.flows.iter().enumerate() {
            let text = flow.rule.0.to_string();
            if let Some(name) = flow.rule.0.kernel_name() {
                names.push(name.to_string());
                continue;
            }
            let options = LoadOptions {
                initial_ssthresh: initial_ssthresh(scenario, flow),
                ..LoadOptions::default()
            };
            let same = |earlier: &FlowSpec| {
                earlier.rule == flow.rule
                    && initial_ssthresh(scenario, earlier) == options.initial_ssthresh
            };
            if let Some(known) = scenario.flows[..i].iter().position(same) {
                names.push(names[known].clone());
                continue;
            }
            let name = format!("cwndlab_{i}");
            let rule = Registered::load(&flow.rule.0, &name, &options)
                .map_err(|error| Failure::refused(format!("flows[{i}].rule: {error}")))?;
            registered.push((text, rule));
            names.push(name);
        }
        Ok(Self { names, registered })
    }

    /// Counters of the registered rules.
    #[cfg(feature = "kernel")]
    pub fn report(&self) -> Result<Vec<RuleReport>, Failure> {
        let report = |(rule, registered): &(String, cwndlab_kernel::Registered)| {
            let hits = registered
                .report()
                .map_err(|error| Failure::broken("rule in the kernel", error))?;
            Ok(RuleReport {
                rule: rule.clone(),
                name: registered.name().to_string(),
                skipped_callbacks: hits.skipped_callbacks(),
            })
        };
        self.registered.iter().map(report).collect()
    }
}
