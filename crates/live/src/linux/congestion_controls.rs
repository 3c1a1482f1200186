//! Congestion controls of the flows: the kernel's, or rules that are registered for the run.

use super::clock::Clock;
use super::plan::initial_ssthresh;
use crate::events::Failure;
use cwndlab_kernel::{BuiltIn, Hits, KernelError, LoadOptions};
use cwndlab_rules::RuleSpec;
use cwndlab_scenario::{FlowSpec, Scenario};
use serde::Serialize;

/// The congestion controls of a run; dropping the value unregisters its rules.
pub struct CongestionControls {
    /// Names of the congestion controls, one for each entry of the scenario's flows.
    pub names: Vec<String>,
    registered: Vec<(String, Registered)>,
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
    pub fn new(scenario: &Scenario, clock: Clock) -> Result<Self, Failure> {
        let (mut names, mut registered) = (Vec::new(), Vec::new());
        for (i, flow) in scenario.flows.iter().enumerate() {
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
            let refused = |why: String| Failure::refused(format!("flows[{i}].rule: {why}"));
            let rule = Registered::new(&flow.rule.0, &name, &options, clock).map_err(refused)?;
            registered.push((flow.rule.0.to_string(), rule));
            names.push(name);
        }
        Ok(Self { names, registered })
    }

    /// Counters of the registered rules.
    pub fn report(&self) -> Result<Vec<RuleReport>, Failure> {
        let report = |(rule, registered): &(String, Registered)| {
            let failed = |error| Failure::broken("rule in the kernel", error);
            Ok(RuleReport {
                rule: rule.clone(),
                name: registered.name().to_string(),
                skipped_callbacks: registered.report().map_err(failed)?.skipped_callbacks(),
            })
        };
        self.registered.iter().map(report).collect()
    }
}

/// A congestion control that the kernel does not have.
pub fn unknown(algorithm: &str, error: &std::io::Error) -> Failure {
    let available = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")
        .unwrap_or_default();
    let named = |name: &str| format!("kernel:{name}");
    let known: Vec<String> = available.split_whitespace().map(named).collect();
    let why = match error.kind() {
        std::io::ErrorKind::NotFound => {
            cwndlab_units::message::unknown_value(&named(algorithm), &known)
        }
        _ => format!("{}: {error}; this kernel has {}", named(algorithm), known.join(", ")),
    };
    Failure::refused(format!("rule: {why}"))
}

/// A rule in the kernel of the run.
enum Registered {
    /// By a program that is built into a kernel in virtual time.
    BuiltIn(BuiltIn),
    /// By BPF.
    #[cfg(feature = "kernel")]
    Bpf(cwndlab_kernel::Registered),
}

impl Registered {
    fn new(
        rule: &RuleSpec,
        name: &str,
        options: &LoadOptions,
        clock: Clock,
    ) -> Result<Self, String> {
        let registered = match clock {
            Clock::Virtual => BuiltIn::register(rule, name, options).map(Self::BuiltIn),
            #[cfg(feature = "kernel")]
            Clock::Real => cwndlab_kernel::Registered::load(rule, name, options).map(Self::Bpf),
            #[cfg(not(feature = "kernel"))]
            Clock::Real => {
                return Err(format!(
                    "{rule} needs rules in the kernel, which this program was built without: \
                     install clang, libelf-dev and zlib1g-dev and run `make live` again, or use \
                     kernel:reno, kernel:cubic or kernel:bbr"
                ));
            }
        };
        registered.map_err(|error| error.to_string())
    }

    fn name(&self) -> &str {
        match self {
            Self::BuiltIn(rule) => rule.name(),
            #[cfg(feature = "kernel")]
            Self::Bpf(rule) => rule.name(),
        }
    }

    fn report(&self) -> Result<Hits, KernelError> {
        match self {
            Self::BuiltIn(rule) => rule.report(),
            #[cfg(feature = "kernel")]
            Self::Bpf(rule) => rule.report(),
        }
    }
}
