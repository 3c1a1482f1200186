//! Slow start: schemes that leave it before packets are lost.
//!
//! The rule grows cwnd in slow start (`slow_start` of [`cwndlab_rules::WindowRule`]), mostly by one
//! packet per packet acknowledged. A scheme watches the RTT and decides what share of that growth
//! applies, and when slow start ends. So each scheme goes with each rule, except with model-based
//! rules, which set cwnd themselves.
//!
//! Another scheme is a file in this folder, a variant of [`SlowStartScheme`] and of [`SlowStart`].

mod hystart;
mod hystart_plus_plus;
mod limited;

use crate::TcpConfig;
use cwndlab_rules::{Congestion, Rule, WindowRule};
use hystart::HyStart;
use hystart_plus_plus::HyStartPlusPlus;
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

/// An ACK of new data in slow start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlowStartAck {
    pub(crate) now_s: f64,
    pub(crate) rtt_s: f64,
    /// Highest packet acknowledged, and the next packet to send.
    pub(crate) highest_ack: i64,
    pub(crate) snd_nxt: i64,
    pub(crate) cwnd: f64,
    pub(crate) is_paced: bool,
}

/// What a scheme decides on an ACK.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Decision {
    /// Grow by this share of the growth of standard slow start, for at most so many packets.
    Grow { share: f64, most_packets: u64 },
    /// Leave slow start: ssthresh becomes cwnd.
    Leave,
    /// Standard slow start from now on.
    Over,
}

impl Decision {
    pub(crate) const STANDARD: Self = Self::Grow { share: 1.0, most_packets: u64::MAX };
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
    pub(crate) fn new(rule: &Rule, config: &TcpConfig) -> Option<Box<Self>> {
        let scheme = match config.growth.slow_start {
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

    /// Decides on an ACK of new data.
    pub(crate) fn on_ack(&mut self, ack: SlowStartAck, in_slow_start: bool) -> Decision {
        match self {
            Self::HyStart(hystart) => hystart.on_ack(ack, in_slow_start),
            // RFC 9406 section 4.3: the first slow start only.
            Self::HyStartPlusPlus(_) if !in_slow_start => Decision::Over,
            Self::HyStartPlusPlus(hystart) => hystart.on_ack(ack),
            Self::Limited if in_slow_start => limited::on_ack(ack),
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
