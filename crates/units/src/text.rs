//! Quantities as text: a number with a unit, and serde for types that are written so.

use crate::message::invalid_value;

/// Implements serde for a type written as text; `$number` converts a bare number.
macro_rules! textual {
    ($type:ty, $what:expr, $number:expr, $schema:expr) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl de::Visitor<'_> for Visitor {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($what)
                    }
                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }
                    fn visit_f64<E: de::Error>(self, value: f64) -> Result<$type, E> {
                        $number(value).map_err(E::custom)
                    }
                    fn visit_u64<E: de::Error>(self, value: u64) -> Result<$type, E> {
                        $number(value as f64).map_err(E::custom)
                    }
                    fn visit_i64<E: de::Error>(self, value: i64) -> Result<$type, E> {
                        $number(value as f64).map_err(E::custom)
                    }
                }
                deserializer.deserialize_any(Visitor)
            }
        }
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

pub(crate) use textual;

/// Splits `"12.5ms"` into its number and its unit.
pub(crate) fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text
        .char_indices()
        .find(|&(i, c)| {
            !(c.is_ascii_digit()
                || c == '.'
                || c == '_'
                || (i == 0 && (c == '-' || c == '+'))
                || is_exponent(text, i))
        })
        .map_or(text.len(), |(i, _)| i);
    (&text[..end], text[end..].trim())
}

/// Whether the character at `i` belongs to an exponent such as the `e-3` of `1e-3`.
fn is_exponent(text: &str, i: usize) -> bool {
    let bytes = text.as_bytes();
    let digit = |k: usize| bytes.get(k).is_some_and(u8::is_ascii_digit);
    match bytes[i] {
        b'e' | b'E' => {
            i > 0
                && (digit(i - 1) || bytes[i - 1] == b'.')
                && (digit(i + 1) || (matches!(bytes.get(i + 1), Some(b'-' | b'+')) && digit(i + 2)))
        }
        b'-' | b'+' => i > 0 && matches!(bytes[i - 1], b'e' | b'E') && digit(i + 1),
        _ => false,
    }
}

/// Parses the number of a quantity that is written as `whole`.
pub(crate) fn number(text: &str, whole: &str, expected: &str) -> Result<f64, String> {
    let value: f64 = text.replace('_', "").parse().map_err(|_| quoted(whole, expected))?;
    if value.is_finite() { Ok(value) } else { Err(quoted(whole, expected)) }
}

/// Says that a quoted text is not valid.
pub(crate) fn quoted(text: &str, expected: &str) -> String {
    invalid_value(format!("\"{text}\""), expected)
}
