//! Buffer sizes ([`Buffer`]) and rates that may be unlimited ([`RateLimit`]).

use crate::message::invalid_value;
use crate::text::{number, quoted, split, textual};
use crate::{Rate, Time};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::{borrow::Cow, fmt, str::FromStr};

/// A buffer: packets, bytes, time at the link's rate, or multiples of the bandwidth-delay product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Buffer {
    /// A number of packets. A limit is rounded to whole packets, a threshold of an average is not.
    Packets(f64),
    /// A number of bytes.
    Bytes(u64),
    /// The bytes that the link's nominal rate carries in this time.
    Time(Time),
    /// Multiples of the bandwidth-delay product.
    Bdp(f64),
    /// No limit.
    Unlimited,
}

const BUFFER: &str = "a buffer such as \"1bdp\", \"100pkt\", \"64kB\", \"50ms\" or \"unlimited\" \
    (at least one packet, at most 1e8)";

impl FromStr for Buffer {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "unlimited" {
            return Ok(Self::Unlimited);
        }
        let (digits, unit) = split(text);
        let value = number(digits, text, BUFFER)?;
        let inside = |low: f64, high: f64| {
            if (low..=high).contains(&value) { Ok(value) } else { Err(quoted(text, BUFFER)) }
        };
        match unit {
            "pkt" | "packets" | "p" => Ok(Self::Packets(inside(1.0, 1e8)?)),
            "bdp" => Ok(Self::Bdp(inside(1e-6, 1e6)?)),
            "B" => Ok(Self::Bytes(inside(1.0, 1e12)? as u64)),
            "kB" => Ok(Self::Bytes((inside(1e-3, 1e9)? * 1e3).round() as u64)),
            "MB" => Ok(Self::Bytes((inside(1e-6, 1e6)? * 1e6).round() as u64)),
            "ns" | "us" | "ms" | "s" => match text.parse::<Time>()? {
                time if time > Time::default() => Ok(Self::Time(time)),
                _ => Err(quoted(text, BUFFER)),
            },
            _ => Err(quoted(text, BUFFER)),
        }
    }
}

impl fmt::Display for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packets(packets) => write!(f, "{packets}pkt"),
            Self::Bytes(bytes) => write!(f, "{bytes}B"),
            Self::Time(time) => write!(f, "{time}"),
            Self::Bdp(multiple) => write!(f, "{multiple}bdp"),
            Self::Unlimited => write!(f, "unlimited"),
        }
    }
}

/// A rate, or no limit at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RateLimit {
    /// Transmission at this rate.
    Limited(Rate),
    /// Transmission takes no time.
    #[default]
    Unlimited,
}

impl FromStr for RateLimit {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "unlimited" {
            Ok(Self::Unlimited)
        } else {
            text.parse().map(Self::Limited).map_err(|e| format!("{e}, or \"unlimited\""))
        }
    }
}

impl fmt::Display for RateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limited(rate) => rate.fmt(f),
            Self::Unlimited => f.write_str("unlimited"),
        }
    }
}

textual!(
    Buffer,
    BUFFER,
    |value: f64| Err::<Buffer, String>(invalid_value(value, BUFFER)),
    json_schema!({
        "type": "string",
        "description": BUFFER,
        "pattern": "^([0-9.eE_+-]+ *(pkt|packets|p|bdp|B|kB|MB|ns|us|ms|s)|unlimited)$",
    })
);
textual!(
    RateLimit,
    "a rate such as \"10Mbit\", or \"unlimited\"",
    |value: f64| Rate::from_bps(value).map(RateLimit::Limited),
    json_schema!({
        "anyOf": [{ "type": "string" }, { "type": "number" }],
        "description": "a rate such as \"10Mbit\", or \"unlimited\"",
    })
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_has_a_unit_and_holds_at_least_one_packet() {
        assert_eq!("1bdp".parse::<Buffer>(), Ok(Buffer::Bdp(1.0)));
        assert_eq!("64kB".parse::<Buffer>(), Ok(Buffer::Bytes(64_000)));
        assert_eq!("50ms".parse::<Buffer>().unwrap().to_string(), "50ms");
        assert_eq!("8.4pkt".parse::<Buffer>().unwrap().to_string(), "8.4pkt");
        for text in ["0pkt", "0bdp", "0ms", "100", "1e300pkt", "-1pkt", "1Mbit"] {
            assert!(text.parse::<Buffer>().unwrap_err().contains("1bdp"), "{text}");
        }
    }
}
