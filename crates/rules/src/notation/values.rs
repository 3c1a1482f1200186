//! What stands between the parentheses of a rule: values in order, then by name.

use super::{joined, nearest};
use crate::registry::Kind;
use crate::{Family, Formula, Parameter};

/// What is wrong with the values of a rule: one of them, or how many there are.
pub(super) enum Wrong {
    Value(String),
    Count(usize),
}

/// The text written for each parameter of the family.
pub(super) fn assign<'a>(family: &Family, inside: &'a str) -> Result<Vec<Option<&'a str>>, Wrong> {
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

pub(super) fn formula(parameter: &Parameter, text: &str) -> Result<Formula, String> {
    let name = parameter.name;
    let Some(formula) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else {
        return Err(format!("{name} = {text} must stand in quotation marks: {name}=\"{text}\""));
    };
    formula.parse().map_err(|error| format!("{name} = \"{formula}\", {error}"))
}

pub(super) fn number(parameter: &Parameter, text: &str) -> Result<f64, String> {
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
