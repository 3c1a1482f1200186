//! Feedback of ECN: how a receiver reports marks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a receiver reports marks.
///
/// ```
/// use cwndlab_tcp::EcnFeedback;
/// assert_eq!(EcnFeedback::default(), EcnFeedback::Ece);
/// assert!(!EcnFeedback::ExactEce.is_accecn());
/// assert!(EcnFeedback::AccEcn.is_accecn());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum EcnFeedback {
    /// ECE from CE until CWR: one report per window of data (RFC 3168 section 6.1.3).
    #[default]
    #[serde(rename = "ece")]
    Ece,
    /// ECE reports each packet's own mark (RFC 8257 section 3.2).
    #[serde(rename = "exact-ece")]
    ExactEce,
    /// AccECN: counters of packets and bytes with CE (RFC 9768).
    #[serde(rename = "accecn")]
    AccEcn,
    /// AccECN without its option, as behind a middlebox that removes it.
    #[serde(rename = "accecn-without-option")]
    AccEcnWithoutOption,
}

impl EcnFeedback {
    /// Whether the feedback is that of AccECN.
    #[inline]
    pub fn is_accecn(self) -> bool {
        matches!(self, Self::AccEcn | Self::AccEcnWithoutOption)
    }

    pub(crate) fn has_option(self) -> bool {
        self == Self::AccEcn
    }
}
