//! The entry of a rule family: name, parameters, source and constructor, which parser, help and
//! docs read. Each rule's file has its entry.

use crate::{Arithmetic, Formula};
use std::ops::Index;

/// A parameter of a rule family.
#[derive(Debug)]
pub struct Parameter {
    /// Name, as in the papers.
    pub name: &'static str,
    /// Meaning, with its unit.
    pub meaning: &'static str,
    /// What values are valid, in words.
    pub expected: &'static str,
    /// Whether a number is valid.
    pub accepts: fn(f64) -> bool,
    /// Default value; of a choice, the index of the word.
    pub default: Option<f64>,
    /// How the value is written.
    pub kind: ParameterKind,
    /// Whether it is optional: printed as `name=value`, and only where it is not the default.
    pub option: bool,
}

/// How the value of a parameter is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// A number.
    Number,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A formula in quotes.
    Formula,
}

impl Parameter {
    /// The default as a user types it.
    pub fn default_text(&self) -> Option<String> {
        self.default.map(|value| self.text(value))
    }

    pub(crate) fn text(&self, value: f64) -> String {
        match self.kind {
            ParameterKind::Choice(words) => {
                words.get(value as usize).map_or_else(String::new, |word| (*word).to_string())
            }
            _ => value.to_string(),
        }
    }
}

/// A named family of rules; `R` is what holds one of its rules.
#[derive(Clone, Copy, Debug)]
pub struct FamilyOf<R> {
    /// Name before the parentheses.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Paper or RFC, with its section.
    pub source: &'static str,
    /// A rule as a user types it.
    pub example: &'static str,
    /// Whether it is in use on today's Internet, so that today's endpoints are what it runs on.
    pub deployed: bool,
    /// Its parameters, in order.
    pub parameters: &'static [Parameter],
    /// A condition over all parameters: what is wrong, if anything.
    pub check: fn(&ParameterValues) -> Option<&'static str>,
    /// Builds the rule.
    pub build: fn(&ParameterValues) -> R,
}

impl<R> FamilyOf<R> {
    /// The family with its rules held otherwise.
    pub(crate) const fn built_by<Q>(&self, build: fn(&ParameterValues) -> Q) -> FamilyOf<Q> {
        FamilyOf {
            name: self.name,
            summary: self.summary,
            source: self.source,
            example: self.example,
            deployed: self.deployed,
            parameters: self.parameters,
            check: self.check,
            build,
        }
    }
}

/// Parameter values of a rule: `values[i]` is parameter `i` where that is a number or a choice.
#[derive(Clone, Copy, Debug)]
pub struct ParameterValues<'a> {
    /// Numbers and choices, in the order of the parameters.
    pub numbers: &'a [f64],
    /// Formulas, in the order of the parameters.
    pub formulas: &'a [Formula],
    /// Order of the arithmetic.
    pub arithmetic: Arithmetic,
}

impl Index<usize> for ParameterValues<'_> {
    type Output = f64;

    fn index(&self, index: usize) -> &f64 {
        &self.numbers[index]
    }
}

/// Largest meaningful parameter.
pub(crate) const MAX_PARAMETER: f64 = 1e6;

pub(crate) const fn parameter(
    name: &'static str,
    meaning: &'static str,
    expected: &'static str,
    accepts: fn(f64) -> bool,
) -> Parameter {
    Parameter {
        name,
        meaning,
        expected,
        accepts,
        default: None,
        kind: ParameterKind::Number,
        option: false,
    }
}

pub(crate) const fn with_default(parameter: Parameter, default: f64) -> Parameter {
    Parameter { default: Some(default), ..parameter }
}

pub(crate) const fn option(parameter: Parameter, default: f64) -> Parameter {
    Parameter { default: Some(default), option: true, ..parameter }
}

/// A positive number.
pub(crate) const fn positive(name: &'static str, meaning: &'static str) -> Parameter {
    parameter(name, meaning, "above 0, at most 1e6", |x| x > 0.0 && x <= MAX_PARAMETER)
}

/// A number that may be zero.
pub(crate) const fn not_negative(name: &'static str, meaning: &'static str) -> Parameter {
    parameter(name, meaning, "from 0 to 1e6", |x| (0.0..=MAX_PARAMETER).contains(&x))
}

/// A fraction between 0 and 1.
pub(crate) const fn fraction(name: &'static str, meaning: &'static str) -> Parameter {
    parameter(name, meaning, "between 0 and 1, both excluded", |x| x > 0.0 && x < 1.0)
}

/// One of some words; the first is the default.
pub(crate) const fn choice(
    name: &'static str,
    meaning: &'static str,
    expected: &'static str,
    words: &'static [&'static str],
) -> Parameter {
    Parameter {
        name,
        meaning,
        expected,
        accepts: |_| true,
        default: Some(0.0),
        kind: ParameterKind::Choice(words),
        option: true,
    }
}

pub(crate) const fn no_check(_: &ParameterValues) -> Option<&'static str> {
    None
}
