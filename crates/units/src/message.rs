//! Error messages about values, in the one form that every crate and every binding uses.
//!
//! `KEY: VALUE is not valid: expected WHAT` for a value out of range or of the wrong kind, and
//! `KEY: "VALUE" is not known: expected A, B or C (did you mean X?)` for a name that is none of the
//! choices. Conflicts between keys are plain sentences and need no function.

use std::fmt::Display;

/// Jaro-Winkler similarity above which a known name is suggested.
const SIMILAR: f64 = 0.7;

/// Says that `value` of `key` is not valid, and what was expected.
///
/// ```
/// use cwndlab_units::message::invalid;
/// let message = invalid("p", 2, "a number from 0 to 1");
/// assert_eq!(message, "p: 2 is not valid: expected a number from 0 to 1");
/// ```
pub fn invalid(key: impl Display, value: impl Display, expected: impl Display) -> String {
    format!("{key}: {}", invalid_value(value, expected))
}

/// As [`invalid`], where the caller or serde puts the key in front.
pub fn invalid_value(value: impl Display, expected: impl Display) -> String {
    format!("{value} is not valid: expected {expected}")
}

/// Says that `value` of `key` is none of the `known` names, and suggests the nearest one.
///
/// ```
/// use cwndlab_units::message::unknown;
/// let message = unknown("kind", "rad", &["red", "pie", "codel"]);
/// let expected = "kind: \"rad\" is not known: expected red, pie or codel (did you mean red?)";
/// assert_eq!(message, expected);
/// ```
pub fn unknown(key: impl Display, value: &str, known: &[impl AsRef<str>]) -> String {
    format!("{key}: {}", unknown_value(value, known))
}

/// As [`unknown`], where the caller or serde puts the key in front.
pub fn unknown_value(value: &str, known: &[impl AsRef<str>]) -> String {
    let suggestion =
        nearest(value, known).map_or_else(String::new, |name| format!(" (did you mean {name}?)"));
    format!("\"{value}\" is not known: expected {}{suggestion}", one_of(known))
}

/// The known name most similar to `value`, ignoring case; none where no name is similar.
pub fn nearest<'a>(value: &str, known: &'a [impl AsRef<str>]) -> Option<&'a str> {
    let value = value.to_lowercase();
    known
        .iter()
        .map(|name| {
            let name = name.as_ref();
            (strsim::jaro_winkler(&value, &name.to_lowercase()), name)
        })
        .filter(|(similarity, _)| *similarity > SIMILAR)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// A list of choices: `A, B or C`; `nothing` where there is no choice.
pub fn one_of(names: &[impl AsRef<str>]) -> String {
    match names {
        [] => "nothing".into(),
        [only] => only.as_ref().into(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} or {}", first.join(", "), last.as_ref())
        }
    }
}

/// A number of things: `1 packet`, `2 packets`.
///
/// ```
/// use cwndlab_units::message::count;
/// assert_eq!((count(1, "flow"), count(3, "flow")), ("1 flow".into(), "3 flows".into()));
/// ```
pub fn count(number: impl Display, noun: &str) -> String {
    let number = number.to_string();
    let ending = if number == "1" { "" } else { "s" };
    format!("{number} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_end_with_or() {
        assert_eq!(one_of(&[] as &[&str]), "nothing");
        assert_eq!(one_of(&["a"]), "a");
        assert_eq!(one_of(&["a", "b"]), "a or b");
    }

    #[test]
    fn only_similar_names_are_suggested() {
        assert_eq!(nearest("AIDM", &["AIMD", "CUBIC"]), Some("AIMD"));
        assert_eq!(nearest("cubik", &["AIMD", "CUBIC"]), Some("CUBIC"));
        assert_eq!(
            unknown_value("zzz", &["AIMD", "CUBIC"]),
            "\"zzz\" is not known: expected AIMD or CUBIC"
        );
    }
}
