//! Values of TOML and JSON in which a table is a table: serde would also read its keys from a
//! list, by position.

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{
    Deserializer, Error as _, Expected, IntoDeserializer, SeqAccess, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Value};

/// A value whose lists are never tables.
pub(super) struct Tables(pub Value);

impl<'de> Deserializer<'de> for Tables {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Object(table) => {
                let entries = table.into_iter().map(|(key, value)| (key, Self(value)));
                visitor.visit_map(MapDeserializer::new(entries))
            }
            // A table with a `kind` has no fields that serde would name here.
            Value::Array(_) if wanted(&visitor).starts_with("internally tagged enum") => {
                Err(Error::invalid_type(Unexpected::Seq, &"a map"))
            }
            Value::Array(list) => {
                let length = list.len();
                let mut rest = SeqDeserializer::new(list.into_iter().map(Self));
                let found = visitor.visit_seq(&mut rest)?;
                match SeqAccess::size_hint(&rest) {
                    Some(0) => Ok(found),
                    _ => Err(Error::invalid_length(length, &"fewer elements in array")),
                }
            }
            other => other.deserialize_any(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(_) => Err(Error::invalid_type(Unexpected::Seq, &"a map")),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.0.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

/// What a visitor expects, in serde's words.
fn wanted(visitor: &dyn Expected) -> String {
    visitor.to_string()
}

impl IntoDeserializer<'_, Error> for Tables {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;
    use crate::link::JitterSpec;
    use serde::Deserialize;

    #[test]
    fn a_list_is_no_table() {
        let refused = |settings: &str| {
            let text = format!(
                "duration = \"1s\"\ndumbbell = {{ rate = \"1Mbit\", delay = \"10ms\" }}\n\
                 {settings}\n[[flows]]\nrule = \"AIMD(1, 0.5)\"\n"
            );
            Scenario::from_toml(&text).unwrap_err().to_string()
        };
        for key in ["tcp", "trace", "shares", "bdp"] {
            for list in ["[]", "[2, 1]"] {
                let message = format!("{key}: a list is not valid: expected a table");
                assert_eq!(refused(&format!("{key} = {list}")), message);
            }
        }
        let read = serde_json::from_str("[2, 1]").map(Tables).unwrap();
        let found = JitterSpec::deserialize(read).unwrap_err().to_string();
        assert_eq!(found, "invalid type: sequence, expected a map");
        let message = "measure: a list of 3 is not valid: expected";
        assert!(refused("measure = [0.1, 0.2, 0.3]").starts_with(message));
    }
}
