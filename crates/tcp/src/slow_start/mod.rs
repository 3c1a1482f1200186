//! Slow start: schemes that leave it before packets are lost.
//!
//! The rule grows cwnd in slow start (`slow_start` of [`cwndlab_rules::WindowRule`]), mostly by one
//! packet per packet acknowledged. A scheme watches the RTT and decides what share of that growth
//! applies, and when slow start ends. So each scheme goes with each rule, except with model-based
//! rules, which set cwnd themselves.
//!
//! Another scheme is a file in this folder, a variant of [`SlowStartScheme`] and of [`SlowStart`].

mod decision;
mod hystart;
mod hystart_plus_plus;

pub(crate) use decision::{Decision, SlowStartAck};

use cwndlab_rules::{Congestion, Rule, WindowRule};
use hystart::HyStart;
use hystart_plus_plus::HyStartPlusPlus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Slow-start schemes by name.
///
/// ```
/// use cwndlab_tcp::{Profile, SlowStartScheme, TcpConfig};
/// let scheme = |profile| TcpConfig::profile(profile).growth.slow_start;
/// assert_eq!(scheme(Profile::Rfc), SlowStartScheme::Standard);
/// assert_eq!(scheme(Profile::Linux), SlowStartScheme::Linux);
/// ```
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

/// State of a scheme other than standard slow start.
#[derive(Clone, Debug)]
pub(crate) enum SlowStart {
    HyStart(HyStart),
    HyStartPlusPlus(HyStartPlusPlus),
    Limited,
}

impl SlowStart {
    /// State at the start of a flow; none for standard slow start.
    pub(crate) fn new(rule: &Rule, scheme: SlowStartScheme) -> Option<Box<Self>> {
        let scheme = match scheme {
            SlowStartScheme::Linux if rule.needs().hystart => SlowStartScheme::HyStart,
            SlowStartScheme::Linux => SlowStartScheme::Standard,
            scheme => scheme,
        };
        match scheme {
            _ if rule.needs().recovery => None,
            SlowStartScheme::Standard | SlowStartScheme::Linux => None,
            SlowStartScheme::Limited => Some(Self::Limited),
            SlowStartScheme::HyStart => Some(Self::HyStart(HyStart::default())),
            SlowStartScheme::HyStartPlusPlus => {
                Some(Self::HyStartPlusPlus(HyStartPlusPlus::default()))
            }
        }
        .map(Box::new)
    }

    pub(crate) fn is_hystart(&self) -> bool {
        matches!(self, Self::HyStart(_))
    }

    /// Decides on an ACK of new data, outside slow start as well: what a scheme returns there
    /// applies to the growth of congestion avoidance.
    pub(crate) fn on_ack(&mut self, ack: SlowStartAck, in_slow_start: bool) -> Decision {
        match self {
            Self::HyStart(hystart) => hystart.on_ack(ack, in_slow_start),
            // RFC 9406 section 4.3: the first slow start only.
            Self::HyStartPlusPlus(_) if !in_slow_start => Decision::Over,
            Self::HyStartPlusPlus(hystart) => hystart.on_ack(ack),
            Self::Limited if in_slow_start => limited_slow_start(ack),
            Self::Limited => Decision::STANDARD,
        }
    }

    /// Whether congestion ends the scheme, as it does HyStart++ (RFC 9406 section 4.2). HyStart
    /// measures again after a timeout.
    pub(crate) fn ends_with(&mut self, congestion: Congestion) -> bool {
        if let Self::HyStart(hystart) = self
            && congestion == Congestion::Timeout
        {
            *hystart = HyStart::default();
        }
        matches!(self, Self::HyStartPlusPlus(_))
    }
}

/// max_ssthresh of limited slow start, packets (RFC 3742 section 2).
const MAX_SSTHRESH: f64 = 100.0;

/// Limited slow start (RFC 3742 section 2): growth of 1/K packets, K = int(cwnd / (0.5
/// max_ssthresh)) beyond max_ssthresh.
fn limited_slow_start(ack: SlowStartAck) -> Decision {
    if ack.cwnd <= MAX_SSTHRESH {
        return Decision::STANDARD;
    }
    let k = (ack.cwnd / (0.5 * MAX_SSTHRESH)).floor();
    Decision::Grow { share: 1.0 / k, most_packets: u64::MAX }
}
