//! Scalar quantities: [`Time`], [`Rate`], [`Bytes`], and [`Span`], an interval of times.

use crate::message::invalid_value;
use crate::text::{number, quoted, split, textual};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::{borrow::Cow, fmt, str::FromStr};

/// A time or a duration, in integer nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Time(u64);

/// A rate in bits per second; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

/// A size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Bytes(pub u64);

/// One time, or an interval `[low, high]` from which each flow draws its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub struct Span {
    /// Smallest value.
    pub low: Time,
    /// Largest value; equal to `low` when there is nothing to draw.
    pub high: Time,
}

const TIME: &str =
    "a time such as \"50ms\" (units ns, us, ms, s, min; a bare number is seconds; 0 to 1e7 s)";
const RATE: &str = "a rate such as \"10Mbit\" (units bit, kbit, Mbit, Gbit; a bare number is \
    bit/s; 1 bit/s to 10 Tbit/s)";
const BYTES: &str = "a size such as \"1500B\" (units B, kB, MB; a bare number is bytes)";

impl Time {
    /// Longest time in a scenario: sums of 10 million seconds fit into 64 bits.
    pub const LIMIT_S: f64 = 1e7;

    /// From integer nanoseconds.
    pub const fn ns(ns: u64) -> Self {
        Self(ns)
    }

    /// Integer nanoseconds.
    pub const fn nanoseconds(self) -> u64 {
        self.0
    }

    /// Seconds: the double nearest to the decimal number that was written.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Seconds as ns-2 reads a delay written in milliseconds: times 1e-3, in the last bit not
    /// always the nearest double. Such a bit decides which of two simultaneous events comes first.
    pub fn link_delay_s(self) -> f64 {
        self.0 as f64 / 1e6 * 1e-3
    }

    /// From seconds; errors outside 0 to [`Time::LIMIT_S`].
    pub fn from_seconds(seconds: f64) -> Result<Self, String> {
        if seconds.is_finite() && (0.0..=Self::LIMIT_S).contains(&seconds) {
            Ok(Self((seconds * 1e9).round() as u64))
        } else {
            Err(invalid_value(format!("{seconds} s"), TIME))
        }
    }
}

impl FromStr for Time {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (digits, unit) = split(text);
        let scale = match unit {
            "ns" => 1e-9,
            "us" | "µs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "min" => 60.0,
            _ => return Err(quoted(text, TIME)),
        };
        Self::from_seconds(number(digits, text, TIME)? * scale).map_err(|_| quoted(text, TIME))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0;
        match ns {
            0 => write!(f, "0s"),
            _ if ns.is_multiple_of(1_000_000_000) => write!(f, "{}s", ns / 1_000_000_000),
            _ if ns.is_multiple_of(1_000_000) => write!(f, "{}ms", ns / 1_000_000),
            _ if ns.is_multiple_of(1_000) => write!(f, "{}us", ns / 1_000),
            _ => write!(f, "{ns}ns"),
        }
    }
}

impl Rate {
    /// From bits per second; zero becomes 1 bit/s.
    pub const fn bits_per_second(rate: u64) -> Self {
        Self(if rate == 0 { 1 } else { rate })
    }

    /// Bits per second.
    pub const fn bps(self) -> u64 {
        self.0
    }

    /// From a number of bits per second; errors outside 1 bit/s to 10 Tbit/s.
    pub fn from_bps(bps: f64) -> Result<Self, String> {
        if bps.is_finite() && (1.0..=1e13).contains(&bps) {
            Ok(Self(bps.round() as u64))
        } else {
            Err(invalid_value(format!("{bps} bit/s"), RATE))
        }
    }
}

impl FromStr for Rate {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (digits, unit) = split(text);
        let scale = match unit {
            "bit" | "bit/s" | "b/s" => 1.0,
            "kbit" | "kbit/s" | "kb/s" | "Kbit" => 1e3,
            "Mbit" | "Mbit/s" | "Mb/s" | "mbit" => 1e6,
            "Gbit" | "Gbit/s" | "Gb/s" | "gbit" => 1e9,
            "Tbit" | "Tbit/s" | "Tb/s" | "tbit" => 1e12,
            _ => return Err(quoted(text, RATE)),
        };
        Self::from_bps(number(digits, text, RATE)? * scale).map_err(|_| quoted(text, RATE))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bps = self.0;
        match bps {
            _ if bps.is_multiple_of(1_000_000_000) => write!(f, "{}Gbit", bps / 1_000_000_000),
            _ if bps.is_multiple_of(1_000_000) => write!(f, "{}Mbit", bps / 1_000_000),
            _ if bps.is_multiple_of(1_000) => write!(f, "{}kbit", bps / 1_000),
            _ => write!(f, "{bps}bit"),
        }
    }
}

impl FromStr for Bytes {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (digits, unit) = split(text);
        let scale = match unit {
            "B" => 1.0,
            "kB" => 1e3,
            "MB" => 1e6,
            _ => return Err(quoted(text, BYTES)),
        };
        let value = number(digits, text, BYTES)? * scale;
        if (0.0..=1e15).contains(&value) {
            Ok(Self(value.round() as u64))
        } else {
            Err(quoted(text, BYTES))
        }
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}B", self.0)
    }
}

impl From<Time> for Span {
    fn from(time: Time) -> Self {
        Self { low: time, high: time }
    }
}

textual!(Time, TIME, Time::from_seconds, numeric(TIME, "^[0-9.eE_+-]+ *(ns|us|µs|ms|s|min)$"));
textual!(
    Rate,
    RATE,
    Rate::from_bps,
    numeric(RATE, "^[0-9.eE_+-]+ *([kKMmGgTt]?bit(/s)?|[kMGT]?b/s)$")
);
textual!(
    Bytes,
    BYTES,
    |value: f64| if (0.0..=1e15).contains(&value) {
        Ok(Bytes(value.round() as u64))
    } else {
        Err(invalid_value(format!("{value} bytes"), BYTES))
    },
    numeric(BYTES, "^[0-9.eE_+-]+ *[kM]?B$")
);

/// The schema of a quantity that may also be a bare number.
fn numeric(description: &str, pattern: &str) -> Schema {
    json_schema!({
        "description": description,
        "anyOf": [{ "type": "string", "pattern": pattern }, { "type": "number" }],
    })
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Span;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{TIME}, or two of them [low, high]")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Span, E> {
                text.parse::<Time>().map(Span::from).map_err(E::custom)
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Span, E> {
                Time::from_seconds(value).map(Span::from).map_err(E::custom)
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Span, E> {
                self.visit_f64(value as f64)
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Span, E> {
                self.visit_f64(value as f64)
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<Span, A::Error> {
                let low: Option<Time> = seq.next_element()?;
                let high: Option<Time> = seq.next_element()?;
                match (low, high, seq.next_element::<Time>()?) {
                    (Some(low), Some(high), None) if low <= high => Ok(Span { low, high }),
                    (Some(low), Some(high), None) => Err(de::Error::custom(invalid_value(
                        format!("[{low}, {high}]"),
                        "[low, high] with low <= high",
                    ))),
                    _ => Err(de::Error::custom("an interval takes 2 values, [low, high]")),
                }
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.low == self.high {
            self.low.serialize(serializer)
        } else {
            [self.low, self.high].serialize(serializer)
        }
    }
}

impl JsonSchema for Span {
    fn schema_name() -> Cow<'static, str> {
        "Span".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let time = generator.subschema_for::<Time>();
        json_schema!({
            "anyOf": [time, { "type": "array", "items": time, "minItems": 2, "maxItems": 2 }],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_read_back_what_they_print() {
        for text in ["10Mbit", "1500kbit", "1Gbit", "7bit"] {
            assert_eq!(text.parse::<Rate>().unwrap().to_string().parse::<Rate>(), text.parse());
        }
        for text in ["0s", "50ms", "1.5us", "3min", "7ns", "1e-3s"] {
            assert_eq!(text.parse::<Time>().unwrap().to_string().parse::<Time>(), text.parse());
        }
        assert_eq!("1e3 kbit".parse::<Rate>().unwrap().bps(), 1_000_000);
    }

    #[test]
    fn wrong_units_zero_and_negative_rates_are_refused_with_what_is_allowed() {
        for text in ["0Mbit", "-5Mbit", "10ms", "10", "10Mbps", "fast", "1e99Gbit", "NaN bit"] {
            let error = text.parse::<Rate>().unwrap_err();
            assert!(error.contains("10Mbit") && error.contains(text), "{error}");
        }
        for text in ["-1s", "5", "10Mbit", "1e30s"] {
            assert!(text.parse::<Time>().is_err(), "{text}");
        }
    }
}
