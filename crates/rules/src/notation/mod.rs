//! The one text form of a rule: `AIMD(1, 0.5)`, parsed and printed here and nowhere else.
//!
//! Values stand in order or as `name=value`; what is missing takes its default. Printed are the values in order, then the options
//! that differ from their defaults by name: `Bimodal(1, 0.5, 0.125, compare=scaled)`. Formulas are quoted and named.
//!
//! `kernel:cubic` is an algorithm of the Linux kernel, for runs with real flows; simulated it is the rule here that does the same.
//!
//! Any other text with a colon, `my_rules.py:Patient(3)`, names a rule from elsewhere: what it means, whoever reads the text knows.

mod values;

use crate::registry::{Kind, Values};
use crate::{Arithmetic, FAMILIES, Family, Formula, Maker, Rule};
use std::{fmt, str::FromStr};
use values::{Wrong, assign, formula, number};

/// A rule as written, checked.
#[derive(Clone)]
pub struct RuleSpec(Written);

#[derive(Clone)]
enum Written {
    /// A built-in rule: its family and its parameters.
    BuiltIn(BuiltIn),
    /// An algorithm of the Linux kernel, and the rule that stands for it in simulations.
    Kernel { name: &'static str, counterpart: BuiltIn },
    /// A rule from elsewhere.
    Own { text: String, maker: Maker },
}

/// What a text that names one of the kernel's algorithms begins with.
const KERNEL: &str = "kernel:";

/// Algorithms that Linux brings, each with the rule here that does the same: Reno is RFC 5681, CUBIC RFC 9438, BBR the first version.
const KERNEL_ALGORITHMS: [(&str, &str); 3] = [("reno", "AIMD(1, 0.5)"), ("cubic", "CUBIC"), ("bbr", "BBR1")];

#[derive(Clone)]
struct BuiltIn {
    family: &'static Family,
    numbers: Vec<f64>,
    formulas: Vec<Formula>,
}

/// Why a rule could not be read; the message names the rule, the parameter, the value and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError(String);

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RuleError {}

impl RuleSpec {
    /// A rule from elsewhere, under the text that names it.
    pub fn own(text: impl Into<String>, maker: Maker) -> Self {
        Self(Written::Own { text: text.into(), maker })
    }

    /// The rule's state for one flow.
    pub fn build(&self, arithmetic: Arithmetic) -> Rule {
        match &self.0 {
            Written::BuiltIn(rule) => (rule.family.build)(&rule.values(arithmetic)),
            Written::Kernel { counterpart, .. } => (counterpart.family.build)(&counterpart.values(arithmetic)),
            Written::Own { maker, .. } => Rule::Own(maker.make()),
        }
    }

    /// The text of a rule from elsewhere. Read from text alone it has no maker yet: [`own`](Self::own) gives it one.
    pub fn own_text(&self) -> Option<&str> {
        match &self.0 {
            Written::BuiltIn(_) | Written::Kernel { .. } => None,
            Written::Own { text, .. } => Some(text),
        }
    }

    /// The name of the kernel's algorithm, where it is one.
    ///
    /// ```
    /// use cwndlab_rules::RuleSpec;
    /// assert_eq!("kernel:cubic".parse::<RuleSpec>().unwrap().kernel_name(), Some("cubic"));
    /// assert_eq!("CUBIC".parse::<RuleSpec>().unwrap().kernel_name(), None);
    /// ```
    pub fn kernel_name(&self) -> Option<&'static str> {
        match &self.0 {
            Written::Kernel { name, .. } => Some(name),
            Written::BuiltIn(_) | Written::Own { .. } => None,
        }
    }
}

impl BuiltIn {
    fn values(&self, arithmetic: Arithmetic) -> Values<'_> {
        Values { numbers: &self.numbers, formulas: &self.formulas, arithmetic }
    }
}

impl FromStr for RuleSpec {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let text = text.trim();
        if let Some(name) = text.strip_prefix(KERNEL) {
            return kernel(text, name);
        }
        if text.contains(':') {
            return Ok(Self::own(text, Maker::default()));
        }
        let (name, inside) = match text.split_once('(') {
            None => (text, ""),
            Some((name, rest)) => match rest.strip_suffix(')') {
                Some(inside) => (name.trim(), inside),
                None => return Err(RuleError(format!("rule \"{text}\" has no closing parenthesis: write a rule such as AIMD(1, 0.5)"))),
            },
        };
        let family = FAMILIES.iter().find(|family| family.name.eq_ignore_ascii_case(name)).ok_or_else(|| unknown(name))?;
        let in_rule = |wrong: String| RuleError(format!("rule \"{text}\": {wrong}"));
        let written = assign(family, inside).map_err(|wrong| match wrong {
            Wrong::Value(wrong) => in_rule(wrong),
            Wrong::Count(count) => wrong_count(text, family, count),
        })?;
        let (mut numbers, mut formulas) = (Vec::new(), Vec::new());
        for (parameter, value) in family.parameters.iter().zip(&written) {
            match (parameter.kind, value, parameter.default) {
                (Kind::Formula, Some(value), _) => formulas.push(formula(parameter, value).map_err(in_rule)?),
                (_, Some(value), _) => numbers.push(number(parameter, value).map_err(in_rule)?),
                (_, None, Some(default)) => numbers.push(default),
                (_, None, None) => return Err(wrong_count(text, family, written.iter().flatten().count())),
            }
        }
        let rule = BuiltIn { family, numbers, formulas };
        match (family.check)(&rule.values(Arithmetic::Plain)) {
            Some(wrong) => Err(in_rule(wrong.to_string())),
            None => Ok(Self(Written::BuiltIn(rule))),
        }
    }
}

fn kernel(text: &str, name: &str) -> Result<RuleSpec, RuleError> {
    let known = KERNEL_ALGORITHMS.iter().find(|(known, _)| *known == name.trim());
    let Some((name, counterpart)) = known else {
        let allowed = KERNEL_ALGORITHMS.map(|(known, _)| format!("{KERNEL}{known}")).join(", ");
        return Err(RuleError(format!("rule \"{text}\" is not known: allowed are {allowed}")));
    };
    match counterpart.parse()? {
        RuleSpec(Written::BuiltIn(counterpart)) => Ok(RuleSpec(Written::Kernel { name, counterpart })),
        other => Ok(other),
    }
}

impl fmt::Display for RuleSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Written::BuiltIn(rule) => rule.fmt(f),
            Written::Kernel { name, .. } => write!(f, "{KERNEL}{name}"),
            Written::Own { text, .. } => f.write_str(text),
        }
    }
}

impl fmt::Display for BuiltIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut numbers, mut formulas) = (self.numbers.iter(), self.formulas.iter());
        let mut written = Vec::new();
        for parameter in self.family.parameters {
            if parameter.kind == Kind::Formula {
                written.extend(formulas.next().map(|formula| format!("{}=\"{formula}\"", parameter.name)));
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
            (Written::BuiltIn(a), Written::BuiltIn(b)) => {
                a.family.name == b.family.name && a.numbers == b.numbers && a.formulas == b.formulas
            }
            (Written::Kernel { name: a, .. }, Written::Kernel { name: b, .. }) => a == b,
            (Written::Own { text: a, .. }, Written::Own { text: b, .. }) => a == b,
            _ => false,
        }
    }
}

fn wrong_count(text: &str, family: &Family, count: usize) -> RuleError {
    let (name, names, needed) = (family.name, joined(family.parameters.iter().map(|parameter| parameter.name)), family.parameters.len());
    let least = family.parameters.iter().filter(|parameter| parameter.default.is_none()).count();
    let needed = if least < needed { format!("{least} to {needed}") } else { needed.to_string() };
    RuleError(format!("rule \"{text}\" has {count} parameters, {name}({names}) needs {needed}, for example {}", family.example))
}

fn unknown(name: &str) -> RuleError {
    let names = || FAMILIES.iter().map(|family| family.name);
    let near = nearest(name, names()).unwrap_or_default();
    RuleError(format!("rule \"{name}\" is unknown, did you mean {near}? Rules: {}", joined(names())))
}

fn nearest<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let closeness = |name: &str| strsim::jaro_winkler(&typed.to_lowercase(), &name.to_lowercase());
    names.max_by(|a, b| closeness(a).total_cmp(&closeness(b)))
}

fn joined<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
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
            ("MAIMD", "MAIMD(1, 1.1, 0.8)"),
            ("Binomial(1, 0)", "Binomial(1, 0, 1, 0.5)"),
            ("Bimodal", "Bimodal(1, 0.5, 0.125)"),
            ("Bimodal(1, 0.5, 0.25, 2, scaled, 0.1)", "Bimodal(1, 0.5, 0.25, weight=2, compare=scaled, band=0.1)"),
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
    fn mistakes_are_named() {
        for (text, says) in [
            ("AIDM(1, 0.5)", "did you mean AIMD"),
            ("GAIM(0.31, 0.875)", "did you mean GAIMD"),
            ("AIAD(1)", "needs 2"),
            ("AIAD", "has 0 parameters"),
            ("AIMD(1, 0.5, 3)", "has 3 parameters, AIMD(a, b) needs 0 to 2"),
            ("AIMD(1, 1)", "b = 1 is not allowed"),
            ("GAIMD(1, 1)", "beta = 1 is not allowed: beta (factor on loss) must be between 0 and 1, both excluded"),
            ("Bimodal(1, 0.5, 0)", "epsilon = 0 is not allowed"),
            ("Bimodal(compare=both)", "compare = both is not allowed"),
            ("Binomial(-1, 0)", "k = -1 is not allowed"),
            ("Binomial(0, 1, 1, 1)", "beta must be below 1 where l is 1"),
            ("AIMD(1, 0.5", "closing parenthesis"),
            ("AIMD(1, x)", "\"x\" is not a number"),
            ("AIMD(1, c=0.5)", "did you mean"),
            ("AIMD(1, a=1)", "a is given twice"),
            ("AIMD(b=0.5, 1)", "\"1\" has no name"),
            ("MIMD(1, 0.5)", "above 1"),
            ("AIMD(nan, 0.5)", "a = NaN"),
            ("AIMD(1e300, 0.5)", "at most 1e6"),
            ("Linear(0, 1, -1, 0.9)", "never grows"),
            ("Linear(1, 1, 0, 1)", "never shrinks"),
            ("", "unknown"),
            ("Rule(inc=\"1\")", "has 1 parameters"),
            ("Rule(inc=1, dec=\"w/2\")", "inc = 1 must stand in quotation marks"),
            ("Rule(inc=\"1, dec=\"w/2\")", "quotation mark is not closed"),
            ("Rule(inc=\"1\", dec=\"w/\")", "dec = \"w/\", column 3: expected a number"),
            ("Rule(inc=\"1\", dec=\"2*w\")", "never shrinks"),
        ] {
            let error = text.parse::<RuleSpec>().unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
