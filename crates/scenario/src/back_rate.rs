//! Rate of the reverse link of a dumbbell: a waveform, or unlimited.

use crate::Waveform;
use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

const UNLIMITED: &str = "unlimited";

/// A rate over time, or no limit at all.
#[derive(Clone, Debug, PartialEq)]
pub enum BackRate {
    /// Transmission at this rate.
    Limited(Waveform),
    /// Transmission takes no time.
    Unlimited,
}

impl<'de> Deserialize<'de> for BackRate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = BackRate;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a rate such as \"10Mbit\", a table with a `kind`, or \"unlimited\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<BackRate, E> {
                if text == UNLIMITED {
                    return Ok(BackRate::Unlimited);
                }
                Waveform::deserialize(StrDeserializer::<E>::new(text))
                    .map(BackRate::Limited)
                    .map_err(|error| E::custom(format!("{error}, or \"{UNLIMITED}\"")))
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<BackRate, E> {
                Waveform::deserialize(de::value::F64Deserializer::new(value)).map(BackRate::Limited)
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<BackRate, E> {
                self.visit_f64(value as f64)
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<BackRate, E> {
                self.visit_f64(value as f64)
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<BackRate, A::Error> {
                Waveform::deserialize(MapAccessDeserializer::new(map)).map(BackRate::Limited)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl Serialize for BackRate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Limited(rate) => rate.serialize(serializer),
            Self::Unlimited => serializer.serialize_str(UNLIMITED),
        }
    }
}

impl JsonSchema for BackRate {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "BackRate".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let waveform = generator.subschema_for::<Waveform>();
        schemars::json_schema!({
            "description": "a rate over time, or \"unlimited\"",
            "anyOf": [{ "const": UNLIMITED }, waveform],
        })
    }
}
