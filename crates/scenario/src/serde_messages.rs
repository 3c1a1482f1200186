//! Translation of serde's error messages into the terms of scenario files.

use cwndlab_units::message::invalid_value;

/// A message without names of Rust types.
pub(super) fn plain(message: &str) -> String {
    if let Some(rest) = message.strip_prefix("missing field `") {
        return format!("key \"{}\" is missing", rest.trim_end_matches('`'));
    }
    if let Some(rest) = message.strip_prefix("duplicate field `") {
        return format!("key \"{}\" occurs twice", rest.trim_end_matches('`'));
    }
    let rest = ["invalid type: ", "invalid value: ", "invalid length "]
        .iter()
        .find_map(|start| message.strip_prefix(start));
    match rest.and_then(|rest| rest.split_once(", expected ")) {
        Some((found, wanted)) if message.starts_with("invalid length") => {
            invalid_value(format!("a list of {found}"), expected(wanted))
        }
        Some((written, wanted)) => invalid_value(found(written), expected(wanted)),
        None => message.into(),
    }
}

/// The value that was written: serde names its type, and the value of simple types.
fn found(written: &str) -> String {
    match written {
        "map" => "a table".into(),
        "sequence" => "a list".into(),
        // JSON has no NaN and reads it as null.
        "null" | "unit value" => "null or nan".into(),
        _ => match written.split_once('`') {
            Some((_, value)) => value.trim_end_matches('`').into(),
            None => written.strip_prefix("string ").unwrap_or(written).into(),
        },
    }
}

/// The expected type, in plain words.
fn expected(wanted: &str) -> String {
    let list = ["an array of length ", "a tuple of size ", "fewer elements in array of length "];
    if let Some(length) = list.iter().find_map(|start| wanted.strip_prefix(start)) {
        return format!("a list of {length}");
    }
    let is_table = ["struct ", "internally tagged enum", "a map", "map", "tuple struct "]
        .iter()
        .any(|start| wanted.starts_with(start));
    match wanted {
        _ if is_table => "a table".into(),
        "u8" | "u16" | "u32" | "u64" | "usize" | "i64" => "an integer of at least 0".into(),
        "f64" | "f32" => "a number".into(),
        "a sequence" => "a list".into(),
        "a boolean" => "true or false".into(),
        "a string" => "text in quotes".into(),
        _ if wanted.starts_with("enum ")
            || wanted.starts_with("variant ")
            || wanted == "string or map" =>
        {
            "a name in quotes".into()
        }
        _ => wanted.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_plain_names() {
        for (message, expected) in [
            (
                "invalid type: string \"x\", expected u64",
                "\"x\" is not valid: expected an integer of at least 0",
            ),
            (
                "invalid value: integer `-1`, expected u8",
                "-1 is not valid: expected an integer of at least 0",
            ),
            (
                "invalid type: floating point `1.5`, expected u64",
                "1.5 is not valid: expected an integer of at least 0",
            ),
            (
                "invalid type: integer `3`, expected struct FlowSpec",
                "3 is not valid: expected a table",
            ),
            (
                "invalid type: map, expected a string",
                "a table is not valid: expected text in quotes",
            ),
            ("invalid type: null, expected f64", "null or nan is not valid: expected a number"),
            (
                "invalid length 1, expected an array of length 2",
                "a list of 1 is not valid: expected a list of 2",
            ),
            ("missing field `rate`", "key \"rate\" is missing"),
            ("\"10ms\" is not a rate", "\"10ms\" is not a rate"),
        ] {
            assert_eq!(plain(message), expected);
        }
    }
}
