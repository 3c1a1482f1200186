//! Conditions on single values, and the errors of values that violate them.

use crate::error::ScenarioError;
use cwndlab_units::Time;
use std::collections::BTreeSet;
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

/// Checks a lower limit.
pub fn at_least<T: PartialOrd + Display>(key: impl Display, value: T, least: T) -> Checked {
    if value >= least { Ok(()) } else { invalid(key, value, format!("at least {least}")) }
}

/// Checks that `low`, the value of the key, is not above `high`.
pub fn low_first<T: PartialOrd + Display>(key: impl Display, low: T, high: T) -> Checked {
    if low <= high { Ok(()) } else { invalid(key, low, format!("at most high = {high}")) }
}

/// Checks a probability or weight, which must not be zero.
pub fn share(key: impl Display, value: f64) -> Checked {
    if value > 0.0 && value <= 1.0 { Ok(()) } else { invalid(key, value, "above 0, at most 1") }
}

/// Checks a time above 0.
pub fn positive(key: impl Display, time: Time) -> Checked {
    if time > Time::default() { Ok(()) } else { invalid(key, time, "a time above 0") }
}

/// Checks that a name is given and new; adds it to `names`. `what`: what has the name.
pub fn unique<'a>(
    key: impl Display,
    name: &'a str,
    names: &mut BTreeSet<&'a str>,
    what: &str,
) -> Checked {
    if name.is_empty() || !names.insert(name) {
        return invalid(key, format!("\"{name}\""), format!("a unique {what} name"));
    }
    Ok(())
}

/// Checks that a stop time is after the start.
pub fn later(key: impl Display, stop: Option<Time>, start: Time) -> Checked {
    match stop {
        Some(stop) if stop <= start => invalid(key, stop, format!("later than start = {start}")),
        _ => Ok(()),
    }
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
