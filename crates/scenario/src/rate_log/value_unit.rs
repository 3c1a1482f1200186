//! Units of what a bandwidth log measured: rates, or amounts in the time of a row.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const SECOND_NS: f64 = 1e9;

/// What the values of a log are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ValueUnit {
    /// Bits per second.
    #[serde(rename = "bit/s")]
    BitsPerSecond,
    /// Thousands of bits per second.
    #[serde(rename = "kbit/s")]
    KilobitsPerSecond,
    /// Millions of bits per second.
    #[serde(rename = "Mbit/s")]
    MegabitsPerSecond,
    /// Billions of bits per second.
    #[serde(rename = "Gbit/s")]
    GigabitsPerSecond,
    /// Bytes per second.
    #[serde(rename = "B/s")]
    BytesPerSecond,
    /// Thousands of bytes per second.
    #[serde(rename = "kB/s")]
    KilobytesPerSecond,
    /// Millions of bytes per second.
    #[serde(rename = "MB/s")]
    MegabytesPerSecond,
    /// Bytes in the time of a row.
    #[serde(rename = "B")]
    Bytes,
    /// Thousands of bytes in the time of a row.
    #[serde(rename = "kB")]
    Kilobytes,
    /// Millions of bytes in the time of a row.
    #[serde(rename = "MB")]
    Megabytes,
}

impl ValueUnit {
    /// Its names, for messages.
    pub const NAMES: &[&str] =
        &["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "B/s", "kB/s", "MB/s", "B", "kB", "MB"];

    /// Whether a value is an amount in the time of its row.
    pub fn is_amount(self) -> bool {
        matches!(self, Self::Bytes | Self::Kilobytes | Self::Megabytes)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The rate, bit/s, of a value of a row that lasts so long.
    pub fn bps(self, value: f64, length_ns: u64) -> f64 {
        let bits = match self {
            Self::BitsPerSecond => 1.0,
            Self::KilobitsPerSecond => 1e3,
            Self::MegabitsPerSecond => 1e6,
            Self::GigabitsPerSecond => 1e9,
            Self::BytesPerSecond | Self::Bytes => 8.0,
            Self::KilobytesPerSecond | Self::Kilobytes => 8e3,
            Self::MegabytesPerSecond | Self::Megabytes => 8e6,
        };
        let scale = if self.is_amount() { SECOND_NS / length_ns as f64 } else { 1.0 };
        value * bits * scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_amounts_by_hand() {
        assert_eq!(ValueUnit::MegabitsPerSecond.bps(4.2, 1), 4.2e6);
        assert_eq!(ValueUnit::KilobytesPerSecond.bps(2.0, 1), 16_000.0);
        // 2000 bytes in half a second.
        assert_eq!(ValueUnit::Kilobytes.bps(2.0, 500_000_000), 32_000.0);
        for name in ValueUnit::NAMES {
            let unit: ValueUnit = serde_json::from_value((*name).into()).unwrap();
            assert_eq!(unit.name(), *name);
        }
    }
}
