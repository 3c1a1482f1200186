//! Values of the flows of a group.

use crate::serde_messages::plain;
use cwndlab_units::Span;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{borrow::Cow, fmt, marker::PhantomData};

/// A value of all flows of a group, or `{ each = [...] }`, one for each of them. The sources of an
/// entry of `[[cross]]` are such a group, too.
#[derive(Clone, Debug, PartialEq)]
pub enum PerFlow<T> {
    /// The same for all.
    All(T),
    /// One for each flow, in order.
    Each(Vec<T>),
}

/// The form of [`PerFlow::Each`] in a scenario.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Each<T> {
    each: Vec<T>,
}

impl<T> PerFlow<T> {
    /// The value of the `i`-th flow.
    pub fn of(&self, i: u64) -> &T {
        match self {
            Self::All(value) => value,
            Self::Each(values) => &values[i as usize],
        }
    }

    /// All values: at least one in a checked scenario.
    pub fn values(&self) -> &[T] {
        match self {
            Self::All(value) => std::slice::from_ref(value),
            Self::Each(values) => values,
        }
    }

    /// Number of values, if there is one for each flow.
    pub fn count(&self) -> Option<usize> {
        match self {
            Self::All(_) => None,
            Self::Each(values) => Some(values.len()),
        }
    }
}

impl PerFlow<Span> {
    /// The span from the smallest to the largest time of any flow.
    pub fn span(&self) -> Span {
        let low = self.values().iter().map(|span| span.low).min().unwrap_or_default();
        let high = self.values().iter().map(|span| span.high).max().unwrap_or_default();
        Span { low, high }
    }
}

impl<T: Default> Default for PerFlow<T> {
    fn default() -> Self {
        Self::All(T::default())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for PerFlow<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
            type Value = PerFlow<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value, or { each = [...] } with one for each flow")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PerFlow<T>, A::Error> {
                Each::deserialize(MapAccessDeserializer::new(map))
                    .map(|Each { each }| PerFlow::Each(each))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<PerFlow<T>, A::Error> {
                T::deserialize(SeqAccessDeserializer::new(seq)).map(PerFlow::All).map_err(|error| {
                    let message = plain(&error.to_string());
                    A::Error::custom(format!("{message}, or {{ each = [...] }}, one for each flow"))
                })
            }
            fn visit_bool<E: Error>(self, value: bool) -> Result<PerFlow<T>, E> {
                T::deserialize(value.into_deserializer()).map(PerFlow::All)
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<PerFlow<T>, E> {
                T::deserialize(text.into_deserializer()).map(PerFlow::All)
            }
            fn visit_f64<E: Error>(self, value: f64) -> Result<PerFlow<T>, E> {
                T::deserialize(value.into_deserializer()).map(PerFlow::All)
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<PerFlow<T>, E> {
                T::deserialize(value.into_deserializer()).map(PerFlow::All)
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<PerFlow<T>, E> {
                T::deserialize(value.into_deserializer()).map(PerFlow::All)
            }
        }
        deserializer.deserialize_any(Reader(PhantomData))
    }
}

impl<T: Serialize> Serialize for PerFlow<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::All(value) => value.serialize(serializer),
            Self::Each(each) => Each { each: each.iter().collect() }.serialize(serializer),
        }
    }
}

impl<T: JsonSchema> JsonSchema for PerFlow<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("PerFlow_{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({
            "anyOf": [one, {
                "type": "object",
                "properties": { "each": { "type": "array", "items": one } },
                "required": ["each"],
                "additionalProperties": false,
            }],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<PerFlow<Span>, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn one_value_is_that_of_all_flows() {
        let two = cwndlab_units::Time::from_seconds(2.0).unwrap();
        for json in ["2", "2.0", "\"2s\""] {
            assert_eq!(read(json), Ok(PerFlow::All(Span::from(two))));
        }
        let drawn = read("[\"1s\", \"2s\"]").unwrap();
        assert_eq!((drawn.of(7).high, drawn.span()), (two, *drawn.of(0)));
    }

    #[test]
    fn a_list_has_one_for_each_and_reads_back() {
        let json = "{\"each\":[\"3s\",\"1s\",[\"2s\",\"4s\"]]}";
        let values = read(json).unwrap();
        let seconds = [0, 1, 2].map(|i| values.of(i).low.seconds());
        assert_eq!(seconds, [3.0, 1.0, 2.0]);
        assert_eq!((values.span().low.seconds(), values.span().high.seconds()), (1.0, 4.0));
        assert_eq!(serde_json::to_string(&values).unwrap(), json);
    }

    #[test]
    fn other_forms_are_refused() {
        let numbers: Result<PerFlow<f64>, _> = serde_json::from_str("[0.1, 0.2]");
        let message = numbers.unwrap_err().to_string();
        assert!(message.contains("a list is not valid: expected a number, or { each"), "{message}");
        for (json, expected) in [
            ("{\"every\": [1]}", "unknown field `every`, expected `each`"),
            ("[1, 2, 3]", "an interval takes 2 values, [low, high], or { each = [...] }, one for"),
            ("true", "boolean `true`, expected a time such as"),
            ("{\"each\": [\"soon\"]}", "\"soon\" is not valid"),
        ] {
            let message = read(json).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }
}
