//! Error in a scenario: one line that names the key and the value.

use cwndlab_units::message;
use std::fmt;

/// An error in a scenario; its text is one line.
///
/// ```
/// use cwndlab_scenario::{Scenario, ScenarioError};
/// let error = Scenario::from_toml("duration = \"0s\"").unwrap_err();
/// assert_eq!(error.to_string(), "duration: 0s is not valid: expected a time above 0");
/// assert_eq!(error.key(), Some("duration"));
/// assert!(matches!(error, ScenarioError::Invalid { value, .. } if value == "0s"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScenarioError {
    /// An invalid value.
    Invalid {
        /// The key, with the tables around it, such as `flows[0].count`.
        key: String,
        /// Its value.
        value: String,
        /// What was expected.
        expected: String,
    },
    /// A name that is none of the known ones.
    Unknown {
        /// The key.
        key: String,
        /// The name.
        name: String,
        /// The known names.
        known: Vec<String>,
    },
    /// Anything else about one key: a conflict with another one, or a value that its type refuses.
    At {
        /// The key.
        key: String,
        /// What is wrong.
        message: String,
    },
    /// An error about the whole text.
    Whole {
        /// Line where it is, from 1, if known.
        line: Option<usize>,
        /// What is wrong.
        message: String,
    },
}

impl ScenarioError {
    /// An error about one key.
    pub fn at(key: impl fmt::Display, message: impl fmt::Display) -> Self {
        let (key, mut message) = (key.to_string(), message.to_string());
        // What reads a rule's text calls it `rule`, which is also the last part of the key.
        if let Some(said) = message.strip_prefix("rule: ").filter(|_| key.ends_with("rule")) {
            message = said.into();
        }
        Self::At { key, message }
    }

    /// An invalid value of a key, and what was expected.
    pub fn invalid(
        key: impl fmt::Display,
        value: impl fmt::Display,
        expected: impl fmt::Display,
    ) -> Self {
        let [key, value, expected] = [key.to_string(), value.to_string(), expected.to_string()];
        Self::Invalid { key, value, expected }
    }

    /// A name that is none of the known ones.
    pub fn unknown(key: impl fmt::Display, name: &str, known: &[impl AsRef<str>]) -> Self {
        let known = known.iter().map(|name| name.as_ref().into()).collect();
        Self::Unknown { key: key.to_string(), name: name.into(), known }
    }

    /// An error about the whole text.
    pub fn whole(message: impl fmt::Display) -> Self {
        Self::Whole { line: None, message: message.to_string() }
    }

    /// The key that is wrong; none where the text is no scenario at all.
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Invalid { key, .. } | Self::Unknown { key, .. } | Self::At { key, .. } => {
                Some(key)
            }
            Self::Whole { .. } => None,
        }
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Invalid { key, value, expected } => message::invalid(key, value, expected),
            Self::Unknown { key, name, known } => message::unknown(key, name, known),
            Self::At { key, message } => format!("{key}: {message}"),
            Self::Whole { line: Some(line), message } => format!("line {line}: {message}"),
            Self::Whole { line: None, message } => message.clone(),
        };
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        f.write_str(&lines.collect::<Vec<_>>().join(" "))
    }
}

impl std::error::Error for ScenarioError {}
