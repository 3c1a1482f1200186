//! Units of the times of a bandwidth log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest number of a time: milliseconds since 1970 are below 2e12, microseconds below 2e15. All
/// whole numbers up to there are exact.
const LARGEST: f64 = 4e15;
const DAY_S: i128 = 86_400;

/// What the times of a log are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TimeUnit {
    /// Seconds, since any moment.
    #[serde(rename = "s")]
    Seconds,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Milliseconds,
    /// Microseconds.
    #[serde(rename = "us")]
    Microseconds,
    /// Year, month, day, hour, minute and second, whatever separates them.
    #[serde(rename = "date")]
    Date,
}

impl TimeUnit {
    /// The unit of lengths of time: those between dates are seconds.
    pub fn of_lengths(self) -> Self {
        if self == Self::Date { Self::Seconds } else { self }
    }

    /// What a valid time is.
    pub fn expected(self) -> &'static str {
        match self {
            Self::Seconds => "a number of s",
            Self::Milliseconds => "a number of ms",
            Self::Microseconds => "a number of us",
            Self::Date => "a date and time such as \"2019-12-14 10:16:30\", without a time zone",
        }
    }

    /// Nanoseconds since a moment that all times of the file share.
    pub fn nanoseconds(self, text: &str) -> Option<i128> {
        let unit_ns = match self {
            Self::Seconds => 1e9,
            Self::Milliseconds => 1e6,
            Self::Microseconds => 1e3,
            Self::Date => return date_ns(text),
        };
        let value: f64 = text.parse().ok().filter(|value: &f64| value.abs() <= LARGEST)?;
        // In two parts: nanoseconds since 1970 have more digits than a float.
        let whole = value.trunc();
        Some(whole as i128 * unit_ns as i128 + ((value - whole) * unit_ns).round() as i128)
    }
}

/// Nanoseconds since 1970 of a date in the Gregorian calendar.
fn date_ns(text: &str) -> Option<i128> {
    let text = text.trim_end_matches('Z');
    let groups: Vec<&str> =
        text.split(|c: char| !c.is_ascii_digit()).filter(|group| !group.is_empty()).collect();
    let (fields, fraction) = match groups.len() {
        6 => (&groups[..], "0"),
        7 if groups[6].len() <= 9 => (&groups[..6], groups[6]),
        _ => return None,
    };
    let numbers: Vec<i128> =
        fields.iter().map(|group| group.parse().ok()).collect::<Option<_>>()?;
    let [year, month, day, hour, minute, second] = numbers[..] else { return None };
    let is_valid = (1..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !is_valid {
        return None;
    }
    // Years from March on, so that a leap day is the last of its year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day;
    let days_to_1970 = 719_469;
    let seconds = (days - days_to_1970) * DAY_S + hour * 3600 + minute * 60 + second;
    let nanoseconds: i128 = format!("{fraction:0<9}").parse().ok()?;
    Some(seconds * 1_000_000_000 + nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_since_1970_lose_nothing() {
        let ns = TimeUnit::Milliseconds.nanoseconds("1453121790686").unwrap();
        assert_eq!(ns, 1_453_121_790_686_000_000);
        assert_eq!(TimeUnit::Seconds.nanoseconds("0.1"), Some(100_000_000));
        assert_eq!(TimeUnit::Seconds.nanoseconds("-1.5"), Some(-1_500_000_000));
        for text in ["", "x", "nan", "inf", "1e16", "1,5"] {
            assert_eq!(TimeUnit::Seconds.nanoseconds(text), None, "{text}");
        }
    }

    #[test]
    fn dates_by_the_calendar() {
        let second = 1_000_000_000;
        for (text, expected) in [
            ("1970-01-01 00:00:00", 0),
            ("1970.01.02_00.00.01", 86_401 * second),
            // 30 years with 7 leap days, then January and 28 + 1 days of February 2000.
            ("2000-03-01T00:00:00Z", (30 * 365 + 7 + 31 + 29) * 86_400 * second),
            ("1970-01-01 00:00:00.25", second / 4),
        ] {
            assert_eq!(TimeUnit::Date.nanoseconds(text), Some(expected), "{text}");
        }
        for text in ["", "12", "2019-13-01 00:00:00", "2019-12-01 24:00:00", "1-1-1 1:1:1+01:00"] {
            assert_eq!(TimeUnit::Date.nanoseconds(text), None, "{text}");
        }
    }
}
