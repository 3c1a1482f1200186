//! Conditions on single values, and the errors of values that violate them.

use crate::error::ScenarioError;
use cwndlab_units::Time;
use std::fmt::Display;

/// Largest number of flows in a scenario.
pub const MAX_FLOWS: u64 = 2_000_000;
/// Largest number of rate changes in a run: some seconds of work before the first packet.
pub const MAX_RATE_CHANGES: f64 = 1e8;
/// Lowest priority.
const LAST_PRIORITY: u8 = 3;

/// Success, or the first error.
pub type Checked = Result<(), ScenarioError>;

/// Keys that do not go together, and other errors about a key.
pub fn conflict<T>(key: impl Display, message: impl Display) -> Result<T, ScenarioError> {
    Err(ScenarioError::at(key, message))
}

/// A value that is not valid, and what was expected.
pub fn invalid<T>(
    key: impl Display,
    value: impl Display,
    expected: impl Display,
) -> Result<T, ScenarioError> {
    Err(ScenarioError::invalid(key, value, expected))
}

/// Checks a range.
pub fn inside<T: PartialOrd + Display>(key: impl Display, value: T, low: T, high: T) -> Checked {
    if value >= low && value <= high {
        Ok(())
    } else {
        invalid(key, value, format!("{low} to {high}"))
    }
}

/// Checks a probability or weight, which must not be zero.
pub fn share(key: impl Display, value: f64) -> Checked {
    if value > 0.0 && value <= 1.0 { Ok(()) } else { invalid(key, value, "above 0, at most 1") }
}

/// Checks a time above 0.
pub fn positive(key: impl Display, time: Time) -> Checked {
    if time > Time::default() { Ok(()) } else { invalid(key, time, "a time above 0") }
}

/// Checks that there are as many values as flows, or sources, of a group.
pub fn one_for_each(
    key: impl Display,
    values: Option<usize>,
    count: u64,
    members: &str,
) -> Checked {
    match values {
        Some(values) if values as u64 != count => {
            let expected = format!("{count}, one for each of the {members}");
            invalid(format!("{key}.each"), format!("a list of {values}"), expected)
        }
        _ => Ok(()),
    }
}

/// Checks a priority.
pub fn priority(key: impl Display, priority: u8) -> Checked {
    inside(key, priority, 0, LAST_PRIORITY)
}
