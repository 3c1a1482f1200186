//! The one text form of a rule: `AIMD(1, 0.5)`, parsed and printed here and nowhere else.
//!
//! Values stand in order or as `name=value`; what is missing takes its default. Printed are the values in order, then the options
//! that differ from their defaults by name: `Bimodal(1, 0.5, 0.125, compare=scaled)`. Formulas are quoted and named.
//!
//! A text with a colon, `my_rules.py:Patient(3)`, names a rule from elsewhere: what it means, whoever reads the text knows.

use crate::registry::{Kind, Values};
use crate::{Arithmetic, FAMILIES, Family, Formula, Maker, Parameter, Rule};
use std::{fmt, str::FromStr};

/// A rule as written, checked.
#[derive(Clone)]
pub struct RuleSpec(Written);

#[derive(Clone)]
enum Written {
    /// A built-in rule: its family and its parameters.
    BuiltIn(BuiltIn),
    /// A rule from elsewhere.
    Own { text: String, maker: Maker },
}

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
            Written::Own { maker, .. } => Rule::Own(maker.make()),
        }
    }

    /// The text of a rule from elsewhere. Read from text alone it has no maker yet: [`own`](Self::own) gives it one.
    pub fn own_text(&self) -> Option<&str> {
        match &self.0 {
            Written::BuiltIn(_) => None,
            Written::Own { text, .. } => Some(text),
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

impl fmt::Display for RuleSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Written::BuiltIn(rule) => rule.fmt(f),
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
            (Written::Own { text: a, .. }, Written::Own { text: b, .. }) => a == b,
            _ => false,
        }
    }
}

enum Wrong {
    Value(String),
    Count(usize),
}

/// The text written for each parameter of the family.
fn assign<'a>(family: &Family, inside: &'a str) -> Result<Vec<Option<&'a str>>, Wrong> {
    let parts = split(inside).map_err(Wrong::Value)?;
    let mut written = vec![None; family.parameters.len()];
    for (index, part) in parts.iter().enumerate() {
        let (index, value) = match named(part) {
            Some((name, value)) => (place(family, name).map_err(Wrong::Value)?, value),
            None if parts[..index].iter().any(|part| named(part).is_some()) => {
                return Err(Wrong::Value(format!("\"{part}\" has no name, but stands after a value that has one")));
            }
            None => (index, *part),
        };
        match written.get_mut(index) {
            None => return Err(Wrong::Count(parts.len())),
            Some(Some(_)) => return Err(Wrong::Value(format!("{} is given twice", family.parameters[index].name))),
            Some(slot) => *slot = Some(value),
        }
    }
    Ok(written)
}

/// Splits at commas outside quotes.
fn split(inside: &str) -> Result<Vec<&str>, String> {
    if inside.trim().is_empty() {
        return Ok(Vec::new());
    }
    let mut quoted = false;
    let parts = inside
        .split(|character| {
            quoted ^= character == '"';
            character == ',' && !quoted
        })
        .map(str::trim)
        .collect();
    if inside.matches('"').count() % 2 == 1 { Err("a quotation mark is not closed".to_string()) } else { Ok(parts) }
}

fn named(part: &str) -> Option<(&str, &str)> {
    let (name, value) = part.split_once('=')?;
    (!name.contains('"')).then(|| (name.trim(), value.trim()))
}

fn place(family: &Family, name: &str) -> Result<usize, String> {
    let names = || family.parameters.iter().map(|parameter| parameter.name);
    names().position(|known| known == name).ok_or_else(|| match nearest(name, names()) {
        None => format!("{} has no parameters, but \"{name}\" is given", family.name),
        Some(near) => format!("parameter \"{name}\" is unknown, did you mean {near}? Parameters of {}: {}", family.name, joined(names())),
    })
}

fn formula(parameter: &Parameter, text: &str) -> Result<Formula, String> {
    let name = parameter.name;
    let Some(formula) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else {
        return Err(format!("{name} = {text} must stand in quotation marks: {name}=\"{text}\""));
    };
    formula.parse().map_err(|error| format!("{name} = \"{formula}\", {error}"))
}

fn number(parameter: &Parameter, text: &str) -> Result<f64, String> {
    let Parameter { name, allowed, meaning, kind, .. } = parameter;
    if let Kind::Choice(words) = kind {
        let place = words.iter().position(|word| word.eq_ignore_ascii_case(text));
        return place
            .map(|place| place as f64)
            .ok_or_else(|| format!("{name} = {text} is not allowed: {name} ({meaning}) must be {allowed}"));
    }
    let value: f64 = text.parse().map_err(|_| format!("\"{text}\" is not a number"))?;
    if value.is_finite() && (parameter.accepts)(value) {
        return Ok(value);
    }
    Err(format!("{name} = {value} is not allowed: {name} ({meaning}) must be {allowed}"))
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
