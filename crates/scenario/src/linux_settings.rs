//! Settings of Linux, for scenarios that a kernel runs.

use cwndlab_units::Time;
use cwndlab_units::message::invalid_value;
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// Settings of the kernel that runs a scenario, by the names that the kernel and its tools give
/// them. They override what the endpoints' knobs set, at both ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinuxSettings {
    /// Initial window, packets (`ip route`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initcwnd: Option<u32>,
    /// Window that a receiver advertises at first, packets (`ip route`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initrwnd: Option<u32>,
    /// Least retransmission timeout (`ip route`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rto_min: Option<Time>,
    /// Whether each packet is acknowledged at once (`ip route`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quickack: Option<bool>,
    /// Most segments that the stack hands to the device as one (`ip link`); 1 turns segmentation
    /// offload off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gso_max_segs: Option<u32>,
    /// Settings of TCP by name, without `net.ipv4.` (`sysctl`).
    #[serde(flatten, deserialize_with = "named_values")]
    pub sysctls: BTreeMap<String, Sysctl>,
}

impl LinuxSettings {
    /// Whether none is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The names that are set, in alphabetical order.
    pub fn names(&self) -> Vec<String> {
        let written = serde_json::to_value(self).unwrap_or_default();
        let names = written.as_object().into_iter().flat_map(|names| names.keys());
        let mut names: Vec<String> = names.cloned().collect();
        names.sort();
        names
    }
}

/// The value of a sysctl.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Sysctl {
    /// One number.
    Number(i64),
    /// Text as `sysctl` takes it, such as three numbers.
    Text(String),
}

/// Reads values by name; a wrong one is named, which a flattened map does not do.
fn named_values<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Sysctl>, D::Error> {
    let values = BTreeMap::<String, serde_json::Value>::deserialize(deserializer)?;
    let read = |(name, value): (String, serde_json::Value)| {
        let invalid = || {
            let expected = "a whole number, or text as `sysctl` takes it";
            D::Error::custom(format!("{name}: {}", invalid_value(&value, expected)))
        };
        let sysctl = Sysctl::deserialize(&value).map_err(|_| invalid())?;
        Ok((name, sysctl))
    };
    values.into_iter().map(read).collect()
}

impl std::fmt::Display for Sysctl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}
