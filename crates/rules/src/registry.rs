//! Every rule by name: its parameters, what they mean, and how it is built. Parsing, help and docs all read this table.
//!
//! Each rule's entry stands in the rule's own file; here is what an entry consists of, and the list.

use crate::*;
use std::ops::Index;

/// One value between the parentheses of a rule's name.
#[derive(Debug)]
pub struct Parameter {
    /// As the papers call it.
    pub name: &'static str,
    /// What it does, with its unit.
    pub meaning: &'static str,
    /// What is allowed, in words.
    pub allowed: &'static str,
    /// Whether a number is allowed.
    pub accepts: fn(f64) -> bool,
    /// Value where the rule is written without it. Of a choice: the place among its words.
    pub default: Option<f64>,
    /// What is written for it.
    pub kind: Kind,
    /// Not part of what the rule is usually called: printed as `name=value`, and only where it is not the default.
    pub option: bool,
}

/// What is written for a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number.
    Number,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A formula in quotes.
    Formula,
}

impl Parameter {
    /// The default as one would type it.
    pub fn default_text(&self) -> Option<String> {
        self.default.map(|value| self.text(value))
    }

    pub(crate) fn text(&self, value: f64) -> String {
        match self.kind {
            Kind::Choice(words) => words.get(value as usize).map_or_else(String::new, |word| (*word).to_string()),
            _ => value.to_string(),
        }
    }
}

/// A named family of rules.
#[derive(Debug)]
pub struct Family {
    /// Name before the parentheses.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Paper or RFC, with its section.
    pub source: &'static str,
    /// A rule as one would type it.
    pub example: &'static str,
    /// Its parameters, in order.
    pub parameters: &'static [Parameter],
    /// A condition over all parameters: what is wrong, if anything.
    pub check: fn(&Values) -> Option<&'static str>,
    /// Builds the rule.
    pub build: fn(&Values) -> Rule,
}

/// What a rule is built from: `values[i]` is parameter `i` where that is a number or a choice.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    /// Numbers and choices, in the order of the parameters.
    pub numbers: &'a [f64],
    /// Formulas, in the order of the parameters.
    pub formulas: &'a [Formula],
    /// Order of the arithmetic.
    pub arithmetic: Arithmetic,
}

impl Index<usize> for Values<'_> {
    type Output = f64;

    fn index(&self, index: usize) -> &f64 {
        &self.numbers[index]
    }
}

/// The largest parameter that still means something.
pub(crate) const HUGE: f64 = 1e6;

pub(crate) const fn parameter(name: &'static str, meaning: &'static str, allowed: &'static str, accepts: fn(f64) -> bool) -> Parameter {
    Parameter { name, meaning, allowed, accepts, default: None, kind: Kind::Number, option: false }
}

pub(crate) const fn or(parameter: Parameter, default: f64) -> Parameter {
    Parameter { default: Some(default), ..parameter }
}

pub(crate) const fn option(parameter: Parameter, default: f64) -> Parameter {
    Parameter { default: Some(default), option: true, ..parameter }
}

/// A positive number of packets, seconds and so on.
pub(crate) const fn positive(name: &'static str, meaning: &'static str) -> Parameter {
    parameter(name, meaning, "above 0, at most 1e6", |x| x > 0.0 && x <= HUGE)
}

/// A number that may be zero.
pub(crate) const fn not_negative(name: &'static str, meaning: &'static str) -> Parameter {
    parameter(name, meaning, "from 0 to 1e6", |x| (0.0..=HUGE).contains(&x))
}

/// A share or a factor that shrinks.
pub(crate) const fn fraction(name: &'static str, meaning: &'static str) -> Parameter {
    parameter(name, meaning, "between 0 and 1, both excluded", |x| x > 0.0 && x < 1.0)
}

/// One of some words; the first is the default.
pub(crate) const fn choice(name: &'static str, meaning: &'static str, allowed: &'static str, words: &'static [&'static str]) -> Parameter {
    Parameter { name, meaning, allowed, accepts: |_| true, default: Some(0.0), kind: Kind::Choice(words), option: true }
}

pub(crate) const fn fine(_: &Values) -> Option<&'static str> {
    None
}

/// Every built-in family.
pub const FAMILIES: &[Family] = &[
    linear::AIMD,
    linear::AIAD,
    linear::MIMD,
    linear::MIAD,
    linear::AIMAD,
    linear::MAIMD,
    linear::LINEAR,
    gaimd::FAMILY,
    binomial::FAMILY,
    binomial::IIAD,
    binomial::SQRT,
    bimodal::FAMILY,
    mraimd::FAMILY,
    linear::NEWRENO,
    cubic::FAMILY,
    dctcp::FAMILY,
    highspeed::FAMILY,
    scalable::FAMILY,
    westwood::FAMILY,
    vegas::FAMILY,
    htcp::FAMILY,
    illinois::FAMILY,
    bic::FAMILY,
    ledbat::FAMILY,
    bbr::BBR1,
    bbr::BBR3,
    formula::FAMILY,
];
