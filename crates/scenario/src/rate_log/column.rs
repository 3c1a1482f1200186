//! Column of a bandwidth log: its number, or its name in the header.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

/// Most columns that a file may have.
const MAX_COLUMNS: u64 = 10_000;
const EXPECTED: &str = "a column's number, 1 to 10000, or its name in the header";

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// Its place, from 1 on.
    Number(usize),
    /// Its name in the header.
    Name(String),
}

impl Column {
    /// A column with this name.
    pub fn named(name: &str) -> Self {
        Self::Name(name.into())
    }

    /// Whether it is known by its name, so that the file needs a header.
    pub fn has_name(&self) -> bool {
        matches!(self, Self::Name(_))
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "column {number}"),
            Self::Name(name) => write!(f, "column \"{name}\""),
        }
    }
}

impl<'de> Deserialize<'de> for Column {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Column;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED)
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<Column, E> {
                if name.trim().is_empty() {
                    return Err(E::invalid_value(de::Unexpected::Str(name), &self));
                }
                Ok(Column::named(name.trim()))
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Column, E> {
                match number {
                    1..=MAX_COLUMNS => Ok(Column::Number(number as usize)),
                    _ => Err(E::invalid_value(de::Unexpected::Unsigned(number), &self)),
                }
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Column, E> {
                match u64::try_from(number) {
                    Ok(number) => self.visit_u64(number),
                    Err(_) => Err(E::invalid_value(de::Unexpected::Signed(number), &self)),
                }
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl Serialize for Column {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_u64(*number as u64),
            Self::Name(name) => serializer.serialize_str(name),
        }
    }
}

impl JsonSchema for Column {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Column".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": EXPECTED,
            "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "string" }],
        })
    }
}
