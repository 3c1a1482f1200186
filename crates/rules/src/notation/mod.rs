//! Text form of rules: parses and prints `AIMD(1, 0.5)`.
//!
//! Values are positional or `name=value`; missing ones take their defaults. A rule prints its
//! values in order, then by name the options that differ from their defaults: `Bimodal(1, 0.5,
//! 0.125, compare=scaled)`. Formulas are quoted and named.
//!
//! `kernel:cubic` names a congestion control of the Linux kernel, for runs with real flows; a
//! simulation runs its counterpart among the rules, if it has one.
//!
//! `Reno` is `NewReno`: they differ in loss recovery, which is not part of a rule.
//!
//! `quinn:cubic` names a congestion controller of quinn, for flows with `stack = "quinn"`.
//!
//! Any other text with a colon, such as `my_rules.py:Patient(3)`, names a custom rule, which the
//! caller resolves.

mod other_files;
mod values;

use crate::rule::KERNEL_MODELS;
use crate::{
    Arithmetic, CustomRuleFactory, FAMILIES, Family, Formula, ParameterKind, ParameterValues, Rule,
};
use cwndlab_units::message;
use std::{fmt, str::FromStr};
use values::{AssignError, assign, formula, number};

/// A checked rule specification.
#[derive(Clone)]
pub struct RuleSpec(RuleSource);

#[derive(Clone)]
enum RuleSource {
    /// A built-in rule: its family and parameters.
    BuiltIn(BuiltIn),
    /// A congestion control of the Linux kernel, and its counterpart in simulations.
    Kernel { name: String, counterpart: Option<BuiltIn> },
    /// A congestion controller of quinn's own.
    Quinn(&'static str),
    /// A custom rule.
    Custom { text: String, factory: CustomRuleFactory },
}

/// Further names of families.
const OTHER_NAMES: &[(&str, &str)] = &[("Reno", "NewReno")];

/// Prefix of the kernel's congestion controls.
const KERNEL: &str = "kernel:";

/// Further congestion controls of Linux with their counterparts, whose parameters are Linux's
/// defaults.
const COUNTERPARTS: [(&str, &str); 8] = [
    ("bic", "BIC"),
    ("westwood", "Westwood"),
    ("highspeed", "HighSpeed"),
    ("htcp", "HTCP"),
    ("hybla", "Hybla(0.025)"),
    ("vegas", "Vegas(2, 4)"),
    ("scalable", "Scalable(0.01, 0.125)"),
    ("illinois", "Illinois"),
];
/// Longest name of a congestion control (TCP_CA_NAME_MAX of linux/tcp.h, less its end).
const LONGEST_NAME: usize = 15;
/// Why a simulation cannot run a congestion control without a counterpart.
const NO_MODEL: &str = "has no model in the simulator: run it with the kernel (--home linux)";

/// Prefix of quinn's congestion controllers, and their names. Its BBR draws random numbers of the
/// system, which no seed reaches.
const QUINN: &str = "quinn:";
const QUINN_CONTROLLERS: [&str; 2] = ["newreno", "cubic"];
/// Why an endpoint other than quinn's cannot run one.
const QUINN_ONLY: &str = "is quinn's own: it needs `stack = \"quinn\"`";

#[derive(Clone)]
struct BuiltIn {
    family: &'static Family,
    numbers: Vec<f64>,
    formulas: Vec<Formula>,
}

/// Why a rule cannot be parsed; the message names the rule, the parameter, the value and what is
/// expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError(String);

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RuleError {}

impl RuleSpec {
    /// A custom rule under the text that names it.
    pub fn custom(text: impl Into<String>, factory: CustomRuleFactory) -> Self {
        Self(RuleSource::Custom { text: text.into(), factory })
    }

    /// The rule's state for one flow.
    pub fn build(&self, arithmetic: Arithmetic) -> Rule {
        match &self.0 {
            RuleSource::BuiltIn(rule) => (rule.family.build)(&rule.values(arithmetic)),
            RuleSource::Kernel { counterpart: Some(rule), .. } => {
                (rule.family.build)(&rule.values(arithmetic))
            }
            RuleSource::Kernel { counterpart: None, .. } => {
                Rule::Custom(CustomRuleFactory::missing(NO_MODEL).make())
            }
            RuleSource::Quinn(_) => Rule::Custom(CustomRuleFactory::missing(QUINN_ONLY).make()),
            RuleSource::Custom { factory, .. } => Rule::Custom(factory.make()),
        }
    }

    /// The text of a custom rule. A parsed one has no factory; [`custom`](Self::custom) gives it
    /// one.
    pub fn custom_text(&self) -> Option<&str> {
        match &self.0 {
            RuleSource::BuiltIn(_) | RuleSource::Kernel { .. } | RuleSource::Quinn(_) => None,
            RuleSource::Custom { text, .. } => Some(text),
        }
    }

    /// The name of the kernel's congestion control, if it is one.
    ///
    /// ```
    /// use cwndlab_rules::RuleSpec;
    /// assert_eq!("kernel:cubic".parse::<RuleSpec>().unwrap().kernel_name(), Some("cubic"));
    /// assert_eq!("CUBIC".parse::<RuleSpec>().unwrap().kernel_name(), None);
    /// ```
    pub fn kernel_name(&self) -> Option<&str> {
        match &self.0 {
            RuleSource::Kernel { name, .. } => Some(name),
            RuleSource::BuiltIn(_) | RuleSource::Quinn(_) | RuleSource::Custom { .. } => None,
        }
    }

    /// The name of quinn's congestion controller, if it is one.
    ///
    /// ```
    /// use cwndlab_rules::RuleSpec;
    /// assert_eq!("quinn:cubic".parse::<RuleSpec>().unwrap().quinn_name(), Some("cubic"));
    /// let message = "quinn:bbr".parse::<RuleSpec>().unwrap_err().to_string();
    /// assert!(message.contains("expected quinn:newreno or quinn:cubic"));
    /// ```
    pub fn quinn_name(&self) -> Option<&'static str> {
        if let RuleSource::Quinn(name) = self.0 { Some(name) } else { None }
    }
}

impl RuleSpec {
    /// The congestion controls of the kernel that a simulation can run.
    pub fn kernel_models() -> Vec<String> {
        let own = KERNEL_MODELS.iter().map(|family| family.name);
        let others = COUNTERPARTS.iter().map(|(name, _)| *name);
        own.chain(others).map(|name| format!("{KERNEL}{name}")).collect()
    }

    /// Whether a simulation can run it: all but congestion controls of the kernel without a
    /// counterpart.
    ///
    /// ```
    /// use cwndlab_rules::RuleSpec;
    /// assert!("kernel:vegas".parse::<RuleSpec>().unwrap().has_model());
    /// assert!(!"kernel:yeah".parse::<RuleSpec>().unwrap().has_model());
    /// ```
    pub fn has_model(&self) -> bool {
        !matches!(self.0, RuleSource::Kernel { counterpart: None, .. })
    }
}

impl BuiltIn {
    fn values(&self, arithmetic: Arithmetic) -> ParameterValues<'_> {
        ParameterValues { numbers: &self.numbers, formulas: &self.formulas, arithmetic }
    }
}

impl FromStr for RuleSpec {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let text = text.trim();
        if let Some(name) = text.strip_prefix(KERNEL) {
            return kernel(text, name);
        }
        if let Some(name) = text.strip_prefix(QUINN) {
            return quinn(text, name);
        }
        if text.contains(':') {
            if let Some(instead) = other_files::instead_of_place(text) {
                return Err(RuleError(format!("rule: \"{text}\": {instead}")));
            }
            return Ok(Self::custom(text, CustomRuleFactory::default()));
        }
        let (name, inside) = match text.split_once('(') {
            None => (text, ""),
            Some((name, rest)) => match rest.strip_suffix(')') {
                Some(inside) => (name.trim(), inside),
                None => {
                    let expected = "a closing parenthesis, as in AIMD(1, 0.5)";
                    let value = format!("\"{text}\"");
                    return Err(RuleError(message::invalid("rule", value, expected)));
                }
            },
        };
        let is_named = |family: &str| family.eq_ignore_ascii_case(name);
        let other = OTHER_NAMES.iter().find(|(other, _)| is_named(other));
        let family = FAMILIES
            .iter()
            .find(|family| is_named(family.name) || other.is_some_and(|of| of.1 == family.name))
            .ok_or_else(|| unknown(name))?;
        let in_rule = |wrong: String| RuleError(format!("rule \"{text}\": {wrong}"));
        let written = assign(family, inside).map_err(|wrong| match wrong {
            AssignError::Value(wrong) => in_rule(wrong),
            AssignError::Count(count) => wrong_count(text, family, count),
        })?;
        let (mut numbers, mut formulas) = (Vec::new(), Vec::new());
        for (parameter, value) in family.parameters.iter().zip(&written) {
            match (parameter.kind, value, parameter.default) {
                (ParameterKind::Formula, Some(value), _) => {
                    formulas.push(formula(parameter, value).map_err(in_rule)?)
                }
                (_, Some(value), _) => numbers.push(number(parameter, value).map_err(in_rule)?),
                (_, None, Some(default)) => numbers.push(default),
                (_, None, None) => {
                    return Err(wrong_count(text, family, written.iter().flatten().count()));
                }
            }
        }
        let rule = BuiltIn { family, numbers, formulas };
        match (family.check)(&rule.values(Arithmetic::Plain)) {
            Some(wrong) => Err(in_rule(wrong.to_string())),
            None => Ok(Self(RuleSource::BuiltIn(rule))),
        }
    }
}

fn kernel(text: &str, name: &str) -> Result<RuleSpec, RuleError> {
    let name = name.trim().to_string();
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(is_allowed) {
        return Err(RuleError(message::unknown("rule", text, &RuleSpec::kernel_models())));
    }
    let known = COUNTERPARTS.iter().find(|(known, _)| *known == name);
    let own = KERNEL_MODELS.iter().find(|family| family.name == name);
    let own = own.map(|family| BuiltIn { family, numbers: Vec::new(), formulas: Vec::new() });
    let counterpart = own.or(match known.map(|(_, rule)| rule.parse()).transpose()? {
        Some(RuleSpec(RuleSource::BuiltIn(rule))) => Some(rule),
        _ => None,
    });
    Ok(RuleSpec(RuleSource::Kernel { name, counterpart }))
}

fn quinn(text: &str, name: &str) -> Result<RuleSpec, RuleError> {
    match QUINN_CONTROLLERS.into_iter().find(|known| *known == name.trim()) {
        Some(known) => Ok(RuleSpec(RuleSource::Quinn(known))),
        None if name.trim() == "bbr" => Err(RuleError(format!(
            "rule: \"{text}\" draws random numbers that no seed reaches: expected {}",
            message::one_of(&QUINN_CONTROLLERS.map(|known| format!("{QUINN}{known}")))
        ))),
        None => {
            let known = QUINN_CONTROLLERS.map(|known| format!("{QUINN}{known}"));
            Err(RuleError(message::unknown("rule", text, &known)))
        }
    }
}

impl fmt::Display for RuleSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            RuleSource::BuiltIn(rule) => rule.fmt(f),
            RuleSource::Kernel { name, .. } => write!(f, "{KERNEL}{name}"),
            RuleSource::Quinn(name) => write!(f, "{QUINN}{name}"),
            RuleSource::Custom { text, .. } => f.write_str(text),
        }
    }
}

impl fmt::Display for BuiltIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut numbers, mut formulas) = (self.numbers.iter(), self.formulas.iter());
        let mut written = Vec::new();
        for parameter in self.family.parameters {
            if parameter.kind == ParameterKind::Formula {
                written.extend(
                    formulas.next().map(|formula| format!("{}=\"{formula}\"", parameter.name)),
                );
                continue;
            }
            let Some(&value) = numbers.next() else { continue };
            if !parameter.option {
                written.push(parameter.text(value));
            } else if parameter.default != Some(value) {
                written.push(format!("{}={}", parameter.name, parameter.text(value)));
            }
        }
        match written.is_empty() {
            true => f.write_str(self.family.name),
            false => write!(f, "{}({})", self.family.name, written.join(", ")),
        }
    }
}

impl fmt::Debug for RuleSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl PartialEq for RuleSpec {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (RuleSource::BuiltIn(a), RuleSource::BuiltIn(b)) => {
                a.family.name == b.family.name && a.numbers == b.numbers && a.formulas == b.formulas
            }
            (RuleSource::Kernel { name: a, .. }, RuleSource::Kernel { name: b, .. }) => a == b,
            (RuleSource::Quinn(a), RuleSource::Quinn(b)) => a == b,
            (RuleSource::Custom { text: a, .. }, RuleSource::Custom { text: b, .. }) => a == b,
            _ => false,
        }
    }
}

/// Says how many parameters the family takes.
fn wrong_count(text: &str, family: &Family, got: usize) -> RuleError {
    let Family { name, example, parameters, .. } = family;
    if parameters.is_empty() {
        return RuleError(format!("rule \"{text}\": {name} takes no parameters, got {got}"));
    }
    let names: Vec<&str> = parameters.iter().map(|parameter| parameter.name).collect();
    let least = parameters.iter().filter(|parameter| parameter.default.is_none()).count();
    let most = message::count(parameters.len(), "parameter");
    let takes = if least < parameters.len() { format!("{least} to {most}") } else { most };
    RuleError(format!(
        "rule \"{text}\": {name} takes {takes} ({}), got {got}; example: {example}",
        names.join(", ")
    ))
}

/// Says which rules there are.
fn unknown(name: &str) -> RuleError {
    if let Some(instead) = other_files::instead(name) {
        return RuleError(format!("rule: \"{name}\": {instead}"));
    }
    let families = FAMILIES.iter().map(|family| family.name);
    let names: Vec<&str> = families.chain(OTHER_NAMES.iter().map(|&(other, _)| other)).collect();
    RuleError(message::unknown("rule", name, &names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_reads_back_what_it_prints() {
        for family in FAMILIES {
            let spec: RuleSpec = family.example.parse().unwrap();
            assert_eq!(spec.to_string(), family.example);
            assert_eq!(spec.to_string().parse::<RuleSpec>().unwrap(), spec);
        }
    }

    #[test]
    fn missing_values_take_their_defaults_and_options_are_named() {
        for (typed, printed) in [
            ("aimd", "AIMD(1, 0.5)"),
            ("AIMD(2)", "AIMD(2, 0.5)"),
            ("AIMD(b=0.8)", "AIMD(1, 0.8)"),
            ("AIMD( b = 0.8 , a = 2 )", "AIMD(2, 0.8)"),
            ("reno", "NewReno"),
            ("MAIMD", "MAIMD(1, 1.1, 0.8)"),
            ("Binomial(1, 0)", "Binomial(1, 0, 1, 0.5)"),
            ("Bimodal", "Bimodal(1, 0.5, 0.125)"),
            (
                "Bimodal(1, 0.5, 0.25, 2, scaled, 0.1)",
                "Bimodal(1, 0.5, 0.25, weight=2, compare=scaled, band=0.1)",
            ),
            ("Bimodal(compare=FAIR)", "Bimodal(1, 0.5, 0.125)"),
            ("MRAIMD(reset=0.5)", "MRAIMD(1, 0.5, 0.005, 0.5, reset=0.5)"),
            ("MRAIMD(a'=0.25)", "MRAIMD(1, 0.25, 0.005, 0.5)"),
            ("rule(\"0.31\", dec = \"0.875 * w\")", "Rule(inc=\"0.31\", dec=\"0.875*w\")"),
            ("Rule(inc=\"min(1, w)\", dec=\"w/2\")", "Rule(inc=\"min(1, w)\", dec=\"w/2\")"),
        ] {
            assert_eq!(typed.parse::<RuleSpec>().unwrap().to_string(), printed, "{typed}");
        }
    }

    #[test]
    fn formulas_stand_in_either_kind_of_quotation_marks() {
        let double: RuleSpec = "Rule(inc=\"max(1, w/9)\", dec=\"w/2\")".parse().unwrap();
        for text in ["Rule(inc='max(1, w/9)', dec='w/2')", "Rule('max(1, w/9)', dec=\"w/2\")"] {
            let spec: RuleSpec = text.parse().unwrap();
            assert_eq!(spec.to_string(), double.to_string());
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, says) in [
            ("AIDM(1, 0.5)", "did you mean AIMD"),
            ("GAIM(0.31, 0.875)", "did you mean GAIMD"),
            ("Renoo", "did you mean Reno"),
            ("AIAD(1)", "AIAD takes 2 parameters (a, d), got 1; example: AIAD(1, 3)"),
            ("AIAD", "got 0"),
            ("AIMD(1, 0.5, 3)", "AIMD takes 0 to 2 parameters (a, b), got 3"),
            ("IIAD(1, 2, 3)", "got 3"),
            ("NewReno(1)", "NewReno takes no parameters, got 1"),
            ("AIMD(1, 1)", "rule \"AIMD(1, 1)\": b: 1 is not valid: expected a number"),
            (
                "GAIMD(1, 1)",
                "beta: 1 is not valid: expected a number between 0 and 1, both excluded (factor",
            ),
            ("Bimodal(1, 0.5, 0)", "epsilon: 0 is not valid: expected a number"),
            ("Bimodal(compare=both)", "compare: \"both\" is not known: expected fair or scaled"),
            ("Binomial(-1, 0)", "k: -1 is not valid: expected a number from 0 to 10"),
            ("Binomial(0, 1, 1, 1)", "beta must be below 1 if l is 1"),
            ("AIMD(1, 0.5", "closing parenthesis"),
            ("AIMD(1, x)", "b: \"x\" is not valid: expected a number between 0 and 1"),
            ("AIMD(1, c=0.5)", "parameter: \"c\" is not known: expected a or b"),
            ("AIMD(1, a=1)", "a is given twice"),
            ("AIMD(b=0.5, 1)", "\"1\" has no name"),
            ("MIMD(1, 0.5)", "above 1"),
            ("AIMD(nan, 0.5)", "a: NaN is not valid"),
            ("AIMD(1e300, 0.5)", "at most 1e6"),
            ("Linear(0, 1, -1, 0.9)", "never grows"),
            ("Linear(1, 1, 0, 1)", "never shrinks"),
            ("", "is not known"),
            ("Rule(inc=\"1\")", "Rule takes 2 parameters (inc, dec), got 1"),
            (
                "Rule(inc=1, dec=\"w/2\")",
                "inc: 1 is not valid: expected a formula in quotation marks: inc=\"1\"",
            ),
            ("Rule(inc=\"1, dec=\"w/2\")", "quotation mark is not closed"),
            ("Rule(inc='1, dec=\"w/2\")", "quotation mark is not closed"),
            (
                "Rule(inc=\"1\", dec=\"w/\")",
                "dec: \"w/\" is not valid: column 3: expected a number",
            ),
            ("Rule(inc=\"1\", dec=\"2*w\")", "never shrinks"),
        ] {
            let error = text.parse::<RuleSpec>().unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
