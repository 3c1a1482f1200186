//! The one text form of a rule: `AIMD(1, 0.5)`, parsed and printed here and nowhere else.

use crate::{Arithmetic, FAMILIES, Family, Rule};
use std::{fmt, str::FromStr};

/// A rule as written: its family and its parameters, checked.
#[derive(Clone)]
pub struct RuleSpec {
    family: &'static Family,
    parameters: Vec<f64>,
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
    /// The rule's state for one flow.
    pub fn build(&self, arithmetic: Arithmetic) -> Rule {
        (self.family.build)(&self.parameters, arithmetic)
    }

    /// The family it belongs to.
    pub fn family(&self) -> &'static Family {
        self.family
    }
}

impl FromStr for RuleSpec {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let text = text.trim();
        let (name, arguments) = match text.split_once('(') {
            None => (text, None),
            Some((name, rest)) => match rest.strip_suffix(')') {
                Some(inside) => (name.trim(), Some(inside)),
                None => return Err(RuleError(format!("rule \"{text}\" has no closing parenthesis: write a rule such as AIMD(1, 0.5)"))),
            },
        };
        let family = FAMILIES.iter().find(|family| family.name.eq_ignore_ascii_case(name)).ok_or_else(|| unknown(name))?;
        let parameters = match arguments {
            None => defaults(family).ok_or_else(|| wrong_count(text, family, 0))?,
            Some(inside) => numbers(text, inside)?,
        };
        if parameters.len() != family.parameters.len() {
            return Err(wrong_count(text, family, parameters.len()));
        }
        for (parameter, &value) in family.parameters.iter().zip(&parameters) {
            if !(value.is_finite() && (parameter.accepts)(value)) {
                let (name, allowed, meaning) = (parameter.name, parameter.allowed, parameter.meaning);
                return Err(RuleError(format!("rule \"{text}\": {name} = {value} is not allowed: {name} ({meaning}) must be {allowed}")));
            }
        }
        match (family.check)(&parameters) {
            Some(wrong) => Err(RuleError(format!("rule \"{text}\": {wrong}"))),
            None => Ok(Self { family, parameters }),
        }
    }
}

impl fmt::Display for RuleSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters: Vec<String> = self.parameters.iter().map(f64::to_string).collect();
        write!(f, "{}({})", self.family.name, parameters.join(", "))
    }
}

impl fmt::Debug for RuleSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl PartialEq for RuleSpec {
    fn eq(&self, other: &Self) -> bool {
        self.family.name == other.family.name && self.parameters == other.parameters
    }
}

fn defaults(family: &Family) -> Option<Vec<f64>> {
    family.parameters.iter().map(|parameter| parameter.default).collect()
}

fn numbers(text: &str, inside: &str) -> Result<Vec<f64>, RuleError> {
    if inside.trim().is_empty() {
        return Ok(Vec::new());
    }
    let number = |part: &str| part.trim().parse().map_err(|_| RuleError(format!("rule \"{text}\": \"{}\" is not a number", part.trim())));
    inside.split(',').map(number).collect()
}

fn wrong_count(text: &str, family: &Family, count: usize) -> RuleError {
    let names: Vec<&str> = family.parameters.iter().map(|parameter| parameter.name).collect();
    let (name, names, needed) = (family.name, names.join(", "), family.parameters.len());
    RuleError(format!("rule \"{text}\" has {count} parameters, {name}({names}) needs {needed}, for example {}", family.example))
}

fn unknown(name: &str) -> RuleError {
    let nearest = FAMILIES
        .iter()
        .max_by(|a, b| closeness(name, a.name).total_cmp(&closeness(name, b.name)))
        .map(|family| family.name)
        .unwrap_or_default();
    let all: Vec<&str> = FAMILIES.iter().map(|family| family.name).collect();
    RuleError(format!("rule \"{name}\" is unknown, did you mean {nearest}? Rules: {}", all.join(", ")))
}

fn closeness(typed: &str, name: &str) -> f64 {
    strsim::jaro_winkler(&typed.to_lowercase(), &name.to_lowercase())
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
    fn bare_names_take_their_defaults_where_a_paper_gives_one() {
        assert_eq!("aimd".parse::<RuleSpec>().unwrap().to_string(), "AIMD(1, 0.5)");
        assert_eq!("MAIMD".parse::<RuleSpec>().unwrap().to_string(), "MAIMD(1, 1.1, 0.8)");
        assert!("AIAD".parse::<RuleSpec>().is_err());
    }

    #[test]
    fn mistakes_are_named() {
        for (text, says) in [
            ("AIDM(1, 0.5)", "did you mean AIMD"),
            ("AIMD(1)", "needs 2"),
            ("AIMD(1, 1)", "b = 1 is not allowed"),
            ("AIMD(1, 0.5", "closing parenthesis"),
            ("AIMD(1, x)", "\"x\" is not a number"),
            ("MIMD(1, 0.5)", "above 1"),
            ("AIMD(nan, 0.5)", "a = NaN"),
            ("AIMD(1e300, 0.5)", "at most 1e6"),
            ("Linear(0, 1, -1, 0.9)", "never grows"),
            ("Linear(1, 1, 0, 1)", "never shrinks"),
            ("", "unknown"),
        ] {
            let error = text.parse::<RuleSpec>().unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
