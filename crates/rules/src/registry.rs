//! Every rule by name: its parameters, what they mean, and how it is built. Parsing, help and docs all read this table.

use crate::{Arithmetic, Linear, Rule};

/// One number between the parentheses of a rule's name.
#[derive(Debug)]
pub struct Parameter {
    /// As the papers call it.
    pub name: &'static str,
    /// What it does, with its unit.
    pub meaning: &'static str,
    /// What is allowed, in words.
    pub allowed: &'static str,
    /// Whether a value is allowed.
    pub accepts: fn(f64) -> bool,
    /// Value when the rule is written without parentheses.
    pub default: Option<f64>,
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
    pub check: fn(&[f64]) -> Option<&'static str>,
    /// Builds the rule.
    pub build: fn(&[f64], Arithmetic) -> Rule,
}

/// The largest parameter that still means something.
const HUGE: f64 = 1e6;

const fn parameter(name: &'static str, meaning: &'static str, allowed: &'static str, accepts: fn(f64) -> bool) -> Parameter {
    Parameter { name, meaning, allowed, accepts, default: None }
}

const fn or(parameter: Parameter, default: f64) -> Parameter {
    Parameter { default: Some(default), ..parameter }
}

const ADD: Parameter = parameter("a", "packets added per round trip", "above 0, at most 1e6", |x| x > 0.0 && x <= HUGE);
const TIMES: Parameter = parameter("m", "factor per round trip", "above 1, at most 1e6", |x| x > 1.0 && x <= HUGE);
const FACTOR: Parameter = parameter("b", "factor on loss", "between 0 and 1, both excluded", |x| x > 0.0 && x < 1.0);
const SUBTRACT: Parameter = parameter("d", "packets subtracted on loss", "above 0, at most 1e6", |x| x > 0.0 && x <= HUGE);

const fn fine(_: &[f64]) -> Option<&'static str> {
    None
}

fn linear(ai: f64, bi: f64, ad: f64, bd: f64, arithmetic: Arithmetic) -> Rule {
    Rule::Linear(Linear { ai, bi, ad, bd, arithmetic })
}

/// Every built-in family.
pub const FAMILIES: &[Family] = &[
    Family {
        name: "AIMD",
        summary: "add a per round trip, multiply by b on loss",
        source: "Chiu and Jain 1989; Akella et al. 2002, section 2; AIMD(1, 0.5) is RFC 5681",
        example: "AIMD(1, 0.5)",
        parameters: &[or(ADD, 1.0), or(FACTOR, 0.5)],
        check: fine,
        build: |p, arithmetic| linear(p[0], 1.0, 0.0, p[1], arithmetic),
    },
    Family {
        name: "AIAD",
        summary: "add a per round trip, subtract d on loss",
        source: "Chiu and Jain 1989; Akella et al. 2002, section 2",
        example: "AIAD(1, 3)",
        parameters: &[ADD, SUBTRACT],
        check: fine,
        build: |p, arithmetic| linear(p[0], 1.0, -p[1], 1.0, arithmetic),
    },
    Family {
        name: "MIMD",
        summary: "multiply by m per round trip, multiply by b on loss",
        source: "Chiu and Jain 1989; Akella et al. 2002, section 2",
        example: "MIMD(1.125, 0.8)",
        parameters: &[TIMES, FACTOR],
        check: fine,
        build: |p, arithmetic| linear(0.0, p[0], 0.0, p[1], arithmetic),
    },
    Family {
        name: "MIAD",
        summary: "multiply by m per round trip, subtract d on loss",
        source: "Chiu and Jain 1989; Akella et al. 2002, section 2",
        example: "MIAD(1.125, 3)",
        parameters: &[TIMES, SUBTRACT],
        check: fine,
        build: |p, arithmetic| linear(0.0, p[0], -p[1], 1.0, arithmetic),
    },
    Family {
        name: "AIMAD",
        summary: "add a per round trip, multiply by b and subtract d on loss",
        source: "Akella et al. 2002, section 5; AIMAD = Linear(1, 1, -1, 0.9)",
        example: "AIMAD(1, 1, 0.9)",
        parameters: &[or(ADD, 1.0), or(SUBTRACT, 1.0), or(FACTOR, 0.9)],
        check: fine,
        build: |p, arithmetic| linear(p[0], 1.0, -p[1], p[2], arithmetic),
    },
    Family {
        name: "MAIMD",
        summary: "add a and multiply by m per round trip, multiply by b on loss",
        source: "Akella et al. 2002, section 5; MAIMD = Linear(1, 1.1, 0, 0.8)",
        example: "MAIMD(1, 1.1, 0.8)",
        parameters: &[or(ADD, 1.0), or(TIMES, 1.1), or(FACTOR, 0.8)],
        check: fine,
        build: |p, arithmetic| linear(p[0], p[1], 0.0, p[2], arithmetic),
    },
    Family {
        name: "Linear",
        summary: "w <- ai + bi w per round trip, w <- ad + bd w on loss",
        source: "Chiu and Jain 1989; Akella et al. 2002, section 2",
        example: "Linear(1, 1, -1, 0.9)",
        parameters: &[
            parameter("ai", "packets added per round trip", "from 0 to 1e6", |x| (0.0..=HUGE).contains(&x)),
            parameter("bi", "factor per round trip", "from 1 to 1e6", |x| (1.0..=HUGE).contains(&x)),
            parameter("ad", "packets added on loss (negative: subtracted)", "from -1e6 to 0", |x| (-HUGE..=0.0).contains(&x)),
            parameter("bd", "factor on loss", "above 0, at most 1", |x| x > 0.0 && x <= 1.0),
        ],
        check: |p| match p {
            [0.0, 1.0, ..] => Some("it never grows: ai above 0 or bi above 1"),
            [_, _, 0.0, 1.0] => Some("it never shrinks: ad below 0 or bd below 1"),
            _ => None,
        },
        build: |p, arithmetic| linear(p[0], p[1], p[2], p[3], arithmetic),
    },
];
