//! Where in a trace a run starts: at a given time, or at one drawn from the seed.

use crate::DeliveryOpportunities;
use cwndlab_units::Time;
use cwndlab_units::message::invalid_value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const MILLISECOND_NS: u64 = 1_000_000;

/// Start of a run in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceStart {
    /// Drawn from the seed, uniformly over the trace.
    Random,
    /// At this time of the trace.
    At(Time),
}

impl Default for TraceStart {
    fn default() -> Self {
        Self::At(Time::default())
    }
}

impl TraceStart {
    /// Whether it is the beginning of the trace.
    pub fn is_beginning(&self) -> bool {
        *self == Self::default()
    }

    /// The error of a start that is not in the trace: its key and a message.
    pub(crate) fn problem(
        &self,
        opportunities: &DeliveryOpportunities,
    ) -> Option<(&'static str, String)> {
        let Self::At(time) = self else { return None };
        let length_ns = opportunities.length_ms().saturating_mul(MILLISECOND_NS);
        let is_in_trace = time.nanoseconds() < length_ns || self.is_beginning();
        let is_whole = time.nanoseconds().is_multiple_of(MILLISECOND_NS);
        (!is_in_trace || !is_whole).then(|| {
            let length = Time::ns(length_ns);
            let expected =
                format!("\"random\", or whole milliseconds below the trace's length, {length}");
            ("start", invalid_value(time, expected))
        })
    }
}

impl<'de> Deserialize<'de> for TraceStart {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::{Error, IntoDeserializer, Unexpected};
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Text(String),
            Number(f64),
        }
        match Form::deserialize(deserializer)
            .map_err(|_| D::Error::custom("write \"random\" or a time such as \"10s\""))?
        {
            Form::Text(text) if text == "random" => Ok(Self::Random),
            Form::Text(text) => text
                .parse()
                .map(Self::At)
                .map_err(|e: String| D::Error::custom(format!("{e}, or \"random\""))),
            Form::Number(value) => Time::deserialize(value.into_deserializer())
                .map(Self::At)
                .map_err(|_: serde::de::value::Error| {
                    D::Error::invalid_value(Unexpected::Float(value), &"\"random\" or a time")
                }),
        }
    }
}

impl Serialize for TraceStart {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Random => serializer.serialize_str("random"),
            Self::At(time) => time.serialize(serializer),
        }
    }
}

impl JsonSchema for TraceStart {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TraceStart".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "description": "\"random\", or a time such as \"10s\"",
         "anyOf": [{ "type": "string" }, { "type": "number" }] })
    }
}
