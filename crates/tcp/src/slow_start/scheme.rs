//! Slow-start schemes by name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Slow-start schemes by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SlowStartScheme {
    /// Until ssthresh or a loss (RFC 5681 section 3.1).
    #[default]
    #[serde(rename = "standard")]
    Standard,
    /// HyStart of Linux: leaves slow start when ACK trains are long or the RTT rises.
    #[serde(rename = "hystart")]
    HyStart,
    /// HyStart++ (RFC 9406): grows more slowly once the RTT rises, and leaves if it stays risen.
    #[serde(rename = "hystart++")]
    HyStartPlusPlus,
    /// Limited slow start (RFC 3742): beyond 100 packets by at most 50 packets per round trip.
    #[serde(rename = "limited")]
    Limited,
    /// HyStart for the rules that have it in Linux (CUBIC), standard slow start for the others.
    #[serde(rename = "linux")]
    Linux,
}
