//! The table of a tunnel around a link (RFC 6040).

use cwndlab_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A tunnel around a link: its queue and its wire see the outer header of each packet (RFC 6040).
///
/// ```
/// use cwndlab_scenario::{TunnelEgress, TunnelIngress, TunnelSpec};
/// let tunnel: TunnelSpec = serde_json::from_str(r#"{"overhead": "50B"}"#).unwrap();
/// assert_eq!(tunnel.ingress, TunnelIngress::Normal);
/// assert_eq!((tunnel.egress, tunnel.overhead.0), (TunnelEgress::Rfc6040, 50));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TunnelSpec {
    /// ECN field of the outer header.
    pub ingress: TunnelIngress,
    /// What becomes of the outer ECN field at the end of the tunnel.
    pub egress: TunnelEgress,
    /// Bytes that the outer headers add on the link.
    pub overhead: Bytes,
}

/// ECN field that a tunnel ingress gives the outer header (RFC 6040 section 4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TunnelIngress {
    /// That of the inner header.
    #[default]
    Normal,
    /// Not-ECT, so that an AQM in the tunnel drops packets instead of marking them.
    Compatibility,
}

/// What a tunnel egress does with the outer ECN field (RFC 6040 section 4.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TunnelEgress {
    /// Combines both fields as RFC 6040, figure 4, does.
    #[default]
    Rfc6040,
    /// Forwards the inner field as it came, as simple tunnels older than RFC 3168 do.
    IgnoresOuter,
}
