//! Error in a scenario: one line that names the key and the value.

use cwndlab_units::message;
use std::fmt;

/// An error in a scenario, as one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError(String);

impl ScenarioError {
    /// An error about one key.
    pub fn at(key: impl fmt::Display, message: impl fmt::Display) -> Self {
        let (key, message) = (key.to_string(), message.to_string());
        // What reads a rule's text calls it `rule`, which is also the last part of the key.
        let said = match key.ends_with("rule") {
            true => message.strip_prefix("rule: ").unwrap_or(&message),
            false => &message,
        };
        Self(one_line(&format!("{key}: {said}")))
    }

    /// An invalid value of a key, and what was expected.
    pub fn invalid(
        key: impl fmt::Display,
        value: impl fmt::Display,
        expected: impl fmt::Display,
    ) -> Self {
        Self(one_line(&message::invalid(key, value, expected)))
    }

    /// A name that is none of the known ones.
    pub fn unknown(key: impl fmt::Display, name: &str, known: &[impl AsRef<str>]) -> Self {
        Self(one_line(&message::unknown(key, name, known)))
    }

    /// An error about the whole text.
    pub fn whole(message: impl fmt::Display) -> Self {
        Self(one_line(&message.to_string()))
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ScenarioError {}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

impl ScenarioError {
    /// The same error with the line of `text` where it is.
    pub(crate) fn in_line(self, text: &str, span: Option<std::ops::Range<usize>>) -> Self {
        match span.and_then(|span| text.get(..span.start)) {
            Some(before) => Self(format!("line {}: {}", before.matches('\n').count() + 1, self.0)),
            None => self,
        }
    }
}
