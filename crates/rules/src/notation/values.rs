//! Parameters in parentheses: assigns positional and named values and parses them.

use crate::{Family, Formula, Parameter, ParameterKind};
use cwndlab_units::message;

/// Quotation marks of formulas: one kind inside, the other around the rule in a shell.
const QUOTES: [char; 2] = ['"', '\''];

/// What is wrong with the values: one of them, or their number.
pub(super) enum AssignError {
    Value(String),
    Count(usize),
}

/// Assigns the text of each value to a parameter of the family.
pub(super) fn assign<'a>(
    family: &Family,
    inside: &'a str,
) -> Result<Vec<Option<&'a str>>, AssignError> {
    let parts = split(inside).map_err(AssignError::Value)?;
    let mut written = vec![None; family.parameters.len()];
    for (index, part) in parts.iter().enumerate() {
        let (index, value) = match named(part) {
            Some((name, value)) => (index_of(family, name).map_err(AssignError::Value)?, value),
            None if parts[..index].iter().any(|part| named(part).is_some()) => {
                return Err(AssignError::Value(format!(
                    "\"{part}\" has no name, but follows a named value"
                )));
            }
            None => (index, *part),
        };
        match written.get_mut(index) {
            None => return Err(AssignError::Count(parts.len())),
            Some(Some(_)) => {
                return Err(AssignError::Value(format!(
                    "{} is given twice",
                    family.parameters[index].name
                )));
            }
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
    // The quotation mark that is open, and whether a value begins: a name may contain a mark (a').
    let (mut open, mut begins) = (None, true);
    let parts = inside
        .split(|character: char| {
            match open {
                None if character == '"' || begins && character == '\'' => open = Some(character),
                Some(mark) if mark == character => open = None,
                _ => {}
            }
            begins = matches!(character, ',' | '=') || begins && character.is_whitespace();
            character == ',' && open.is_none()
        })
        .map(str::trim)
        .collect();
    match open {
        Some(_) => Err("a quotation mark is not closed".to_string()),
        None => Ok(parts),
    }
}

fn named(part: &str) -> Option<(&str, &str)> {
    let (name, value) = part.split_once('=')?;
    (!name.trim_start().starts_with(QUOTES)).then(|| (name.trim(), value.trim()))
}

/// Index of the parameter called `name`.
fn index_of(family: &Family, name: &str) -> Result<usize, String> {
    let names: Vec<&str> = family.parameters.iter().map(|parameter| parameter.name).collect();
    names.iter().position(|known| *known == name).ok_or_else(|| {
        if names.is_empty() {
            format!("{} takes no parameters, got {name}", family.name)
        } else {
            message::unknown("parameter", name, &names)
        }
    })
}

/// Parses the formula of a parameter.
pub(super) fn formula(parameter: &Parameter, text: &str) -> Result<Formula, String> {
    let name = parameter.name;
    let within = |mark: char| text.strip_prefix(mark).and_then(|text| text.strip_suffix(mark));
    let Some(formula) = QUOTES.into_iter().find_map(within) else {
        let expected = format!("a formula in quotation marks: {name}=\"{text}\"");
        return Err(message::invalid(name, text, expected));
    };
    formula.parse().map_err(|error| format!("{name}: \"{formula}\" is not valid: {error}"))
}

/// Parses the number or the choice of a parameter.
pub(super) fn number(parameter: &Parameter, text: &str) -> Result<f64, String> {
    let Parameter { name, expected, meaning, kind, .. } = parameter;
    if let ParameterKind::Choice(words) = kind {
        let index = words.iter().position(|word| word.eq_ignore_ascii_case(text));
        return index.map(|index| index as f64).ok_or_else(|| message::unknown(name, text, words));
    }
    // Some parameters say which numbers they take ("a whole number from 1 to 1e6").
    let article = if expected.starts_with("a ") { "" } else { "a number " };
    let expected = format!("{article}{expected} ({meaning})");
    match text.parse::<f64>() {
        Err(_) => Err(message::invalid(name, format!("\"{text}\""), expected)),
        Ok(value) if value.is_finite() && (parameter.accepts)(value) => Ok(value),
        Ok(value) => Err(message::invalid(name, value, expected)),
    }
}
