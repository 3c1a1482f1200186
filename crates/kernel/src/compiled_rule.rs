//! Compilation of a rule: the BPF program that runs it, and the program's data.

use crate::sampling::{Q32, Q44};
use crate::surface::{Axis, Surface};
use crate::table::Table;
use crate::{Accuracy, KernelError};
use cwndlab_rules::{Arithmetic, Bimodal, Compare, KernelProgram, MrAimd, RuleSpec, WindowRule};
use cwndlab_units::message::invalid;

/// A program of this crate: bpf/NAME.bpf.c.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Rules without memory, by a table over the window.
    Table,
    /// Formulas in window and RTT, or window and queueing delay, by a table over both.
    Surface,
    /// Bimodal congestion avoidance.
    Bimodal,
    /// Multi-rate AIMD.
    MrAimd,
}

impl Program {
    /// Its name in answers, and in `/proc/cwndlab_NAME` of user-mode Linux.
    pub fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Surface => "surface",
            Self::Bimodal => "bimodal",
            Self::MrAimd => "mraimd",
        }
    }
}

/// A rule compiled for the kernel.
///
/// ```
/// use cwndlab_kernel::{CompiledRule, Program};
/// let plan = CompiledRule::new(&"GAIMD(0.31, 0.875)".parse().unwrap()).unwrap();
/// assert_eq!(plan.program, Program::Table);
/// assert!(plan.accuracy.growth_share < 1e-4);
/// let refused = CompiledRule::new(&"CUBIC".parse().unwrap()).unwrap_err().to_string();
/// assert!(refused.starts_with("rule \"CUBIC"));
/// ```
#[derive(Clone, Debug)]
pub struct CompiledRule {
    /// The program.
    pub program: Program,
    /// The error of the program's arithmetic against the rule.
    pub accuracy: Accuracy,
    /// Whether a cut in slow start halves the window instead of asking the rule.
    pub halves_in_slow_start: bool,
    /// The bytes of the struct with the rule.
    pub data: Vec<u8>,
}

impl CompiledRule {
    /// Chooses the program and computes its data from the rule.
    ///
    /// # Errors
    /// [`KernelError::Rule`] if the rule cannot run in the kernel; the message lists the rules that
    /// can.
    pub fn new(spec: &RuleSpec) -> Result<Self, KernelError> {
        let (program, data, accuracy) = match spec.kernel_program().map_err(KernelError::Rule)? {
            KernelProgram::Table => table(spec)?,
            KernelProgram::RoundTripTable => surface(spec, Axis::RoundTrip)?,
            KernelProgram::QueueingDelayTable => surface(spec, Axis::QueueingDelay)?,
            KernelProgram::Bimodal(rule) => {
                (Program::Bimodal, bimodal(spec, &rule)?, Accuracy::default())
            }
            KernelProgram::MrAimd(rule) => {
                (Program::MrAimd, mraimd(spec, &rule)?, Accuracy::default())
            }
        };
        let halves_in_slow_start = spec.build(Arithmetic::Plain).needs().halves_in_slow_start;
        Ok(Self { program, accuracy, halves_in_slow_start, data })
    }
}

fn table(spec: &RuleSpec) -> Result<(Program, Vec<u8>, Accuracy), KernelError> {
    let table = Table::of(spec)?;
    Ok((Program::Table, table.bytes(), table.accuracy(spec)?))
}

fn surface(spec: &RuleSpec, axis: Axis) -> Result<(Program, Vec<u8>, Accuracy), KernelError> {
    let surface = Surface::of(spec, axis)?;
    Ok((Program::Surface, surface.bytes(), surface.accuracy(spec)?))
}

/// A parameter in fixed point, if it is in the range that the program supports.
fn parameter(
    spec: &RuleSpec,
    name: &str,
    value: f64,
    one: f64,
    range: std::ops::RangeInclusive<f64>,
) -> Result<u64, KernelError> {
    if range.contains(&value) {
        return Ok((value * one).round() as u64);
    }
    let (least, most) = range.into_inner();
    Err(KernelError::Rule(format!(
        "rule \"{spec}\" cannot run in the kernel: {}",
        invalid(name, value, format!("a number from {least} to {most}"))
    )))
}

/// Packets per round trip, at most 2^15: the program's products stay below 64 bits (bpf/fixed.h,
/// over_window).
const GROWTH: std::ops::RangeInclusive<f64> = 0.0..=32768.0;
/// Below 1/2000 the inverse of a share does not fit the fixed-point format.
const SHARE: std::ops::RangeInclusive<f64> = 0.0005..=1.0;

fn words(words: impl IntoIterator<Item = u64>) -> Vec<u8> {
    words.into_iter().flat_map(u64::to_ne_bytes).collect()
}

/// The bytes of `struct bimodal`.
fn bimodal(spec: &RuleSpec, rule: &Bimodal) -> Result<Vec<u8>, KernelError> {
    Ok(words([
        parameter(spec, "alpha times weight", rule.increment, Q44, GROWTH)?,
        parameter(spec, "beta", rule.beta, Q32, SHARE)?,
        (Q32 / rule.beta).round() as u64,
        parameter(spec, "epsilon", rule.epsilon, Q32, 0.0..=1.0)?,
        parameter(spec, "band", rule.band, Q32, 0.0..=1.0)?,
        u64::from(rule.compare == Compare::Scaled),
    ]))
}

/// The bytes of `struct mraimd`.
fn mraimd(spec: &RuleSpec, rule: &MrAimd) -> Result<Vec<u8>, KernelError> {
    Ok(words([
        parameter(spec, "a0", rule.increase_factor(), Q44, GROWTH)?,
        parameter(spec, "a'", rule.acceleration, Q44, 0.0..=256.0)?,
        parameter(spec, "a'_ecn", rule.acceleration_marked, Q44, 0.0..=256.0)?,
        parameter(spec, "b", rule.b, Q32, 0.0..=1.0)?,
        parameter(spec, "reset", rule.reset, Q44, GROWTH)?,
        u64::from(rule.calm),
    ]))
}
