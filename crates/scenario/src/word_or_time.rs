//! Values that are a word or a time, such as "all" or "10ms".

use cwndlab_units::Time;
use serde::de::{Error, IntoDeserializer, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Reads the time, or none for the word. `example`: what a message shows of a time.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
    word: &str,
    example: &str,
) -> Result<Option<Time>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Form {
        Text(String),
        Number(f64),
    }
    match Form::deserialize(deserializer)
        .map_err(|_| D::Error::custom(format!("write \"{word}\" or {example}")))?
    {
        Form::Text(text) if text == word => Ok(None),
        Form::Text(text) => text
            .parse()
            .map(Some)
            .map_err(|error: String| D::Error::custom(format!("{error}, or \"{word}\""))),
        Form::Number(value) => Time::deserialize(value.into_deserializer()).map(Some).map_err(
            |_: serde::de::value::Error| {
                let expected = format!("\"{word}\" or a time");
                D::Error::invalid_value(Unexpected::Float(value), &expected.as_str())
            },
        ),
    }
}

/// Writes the time, or the word for none.
pub(crate) fn serialize<S: Serializer>(
    time: Option<Time>,
    word: &str,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match time {
        None => serializer.serialize_str(word),
        Some(time) => time.serialize(serializer),
    }
}

/// Schema of such a value.
pub(crate) fn schema(word: &str, example: &str) -> schemars::Schema {
    schemars::json_schema!({
        "description": format!("\"{word}\", or {example}"),
        "anyOf": [{ "type": "string" }, { "type": "number" }],
    })
}
