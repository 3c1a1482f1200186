//! Parser of scenarios in TOML and JSON, with error messages that name the key and the value.

use crate::checked::CheckedScenario;
use crate::error::ScenarioError;
use crate::knobs::RENAMED;
use crate::resolver::{NoResolver, Resolver};
use crate::scenario::Scenario;
use crate::serde_messages::plain;
use crate::tables::Tables;
use cwndlab_units::message;
use serde::de::DeserializeOwned;

impl Scenario {
    /// Parses and checks a scenario in TOML that names no external resources.
    pub fn from_toml(text: &str) -> Result<CheckedScenario, ScenarioError> {
        Self::from_toml_with(text, &NoResolver)
    }

    /// Parses and checks a scenario in JSON that names no external resources.
    pub fn from_json(text: &str) -> Result<CheckedScenario, ScenarioError> {
        Self::from_json_with(text, &NoResolver)
    }

    /// Parses and checks a scenario in TOML, and resolves the resources that it names.
    pub fn from_toml_with(
        text: &str,
        source: &dyn Resolver,
    ) -> Result<CheckedScenario, ScenarioError> {
        let value: toml::Table = toml::from_str(text).map_err(|e| {
            let before = e.span().and_then(|span| text.get(..span.start));
            let line = before.map(|before| before.matches('\n').count() + 1);
            ScenarioError::Whole { line, message: format!("invalid TOML: {}", e.message()) }
        })?;
        let value = serde_json::to_value(value).map_err(ScenarioError::whole)?;
        Self::from_value(value, source)
    }

    /// Parses and checks a scenario in JSON, and resolves the resources that it names.
    pub fn from_json_with(
        text: &str,
        source: &dyn Resolver,
    ) -> Result<CheckedScenario, ScenarioError> {
        let value = serde_json::from_str(text)
            .map_err(|e| ScenarioError::whole(format!("invalid JSON: {e}")))?;
        Self::from_value(value, source)
    }

    fn from_value(
        value: serde_json::Value,
        source: &dyn Resolver,
    ) -> Result<CheckedScenario, ScenarioError> {
        let mut scenario: Self = read(value)?;
        scenario.fetch(source)?;
        scenario.checked()
    }
}

/// Deserialises, and translates serde's messages.
fn read<T: DeserializeOwned>(value: serde_json::Value) -> Result<T, ScenarioError> {
    let written = value.clone();
    serde_path_to_error::deserialize(Tables(value)).map_err(|error| {
        let path = error.path().to_string();
        let message = error.into_inner().to_string();
        let path = inside_table(&written, &path, &message).unwrap_or(path);
        let path = if path == "." { "scenario".into() } else { path };
        match Unknown::parse(&message) {
            // The path of an unknown key ends with the key itself.
            Some(unknown) if unknown.what == "field" => {
                let parent = path
                    .strip_suffix(unknown.name)
                    .map_or(path.as_str(), |parent| parent.trim_end_matches('.'));
                let parent = if parent.is_empty() { "scenario" } else { parent };
                let in_tcp = parent == "tcp" || parent.ends_with(".tcp");
                let mut renamed = RENAMED.iter().filter(|(old, ..)| in_tcp && *old == unknown.name);
                if let Some((old, new, value)) = renamed.next() {
                    let message =
                        format!("key \"{old}\" is a part of \"{new}\" now: {new} = {value} has it");
                    return ScenarioError::at(parent, message);
                }
                let key = message::unknown_value(unknown.name, &unknown.allowed);
                ScenarioError::at(parent, format!("key {key}"))
            }
            Some(unknown) => ScenarioError::unknown(path, unknown.name, &unknown.allowed),
            None => ScenarioError::at(path, plain(&message)),
        }
    })
}

/// The key of an error within a table with a `kind`, where serde loses track of it: the key whose
/// value the message quotes.
fn inside_table(written: &serde_json::Value, path: &str, message: &str) -> Option<String> {
    let pointer: String = path
        .split(['.', '[', ']'])
        .filter(|part| !part.is_empty())
        .map(|part| format!("/{part}"))
        .collect();
    let table = written.pointer(&pointer)?.as_object()?;
    // Of a name that is none of the known ones serde quotes the text in its own way; `kind` says
    // what the table is, and is the table's error.
    let is_unknown_name = |key: &str, value: &serde_json::Value| {
        let name = value.as_str().filter(|_| key != "kind");
        name.is_some_and(|name| message.starts_with(&format!("unknown variant `{name}`")))
    };
    let mut quoted = table.iter().filter(|&(key, value)| {
        message.contains(&value.to_string()) || is_unknown_name(key, value)
    });
    match (quoted.next(), quoted.next()) {
        (Some((key, _)), None) => Some(format!("{path}.{key}")),
        _ => None,
    }
}

/// serde's message "unknown field `x`, expected one of `a`, `b`", parsed.
struct Unknown<'a> {
    what: &'a str,
    name: &'a str,
    allowed: Vec<&'a str>,
}

impl<'a> Unknown<'a> {
    fn parse(message: &'a str) -> Option<Self> {
        let rest = message.strip_prefix("unknown ")?;
        let (what, rest) = rest.split_once(' ')?;
        let mut quoted = rest.split('`').skip(1).step_by(2);
        let name = quoted.next()?;
        Some(Self { what, name, allowed: quoted.collect() })
    }
}

/// JSON schema of a scenario.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Scenario).to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_former_knob_names_its_successor() {
        let refused = |knob: &str| {
            let text = format!(
                "duration = \"1s\"\ndumbbell = {{ rate = \"1Mbit\", delay = \"10ms\" }}\n\
                 flows = [{{ rule = \"AIMD(1, 0.5)\", tcp = {{ {knob} = true }} }}]\n"
            );
            Scenario::from_toml(&text).unwrap_err().to_string()
        };
        let message = "flows[0].tcp: key \"ecn_backoff\" is a part of \"ns2_ecn\" now: \
                       ns2_ecn = true has it";
        assert_eq!(refused("ecn_backoff"), message);
        // What was true for RFCs and Linux is false for ns-2.
        assert!(refused("grow_in_repair").ends_with("ns2_ecn = false has it"));
    }
}
