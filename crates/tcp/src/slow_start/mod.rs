//! Slow start: schemes that leave it before packets are lost.
//!
//! The rule grows cwnd in slow start ([`WindowRule::slow_start`]), mostly by one packet per packet
//! acknowledged. A scheme watches the RTT and decides what share of that growth applies, and when
//! slow start ends. So each scheme goes with each rule, except with model-based rules, which set
//! cwnd themselves.
//!
//! Another scheme is a file in this folder, a variant of [`SlowStartScheme`] and of [`SlowStart`].

mod hystart;
mod hystart_plus_plus;
mod limited;

use crate::Knobs;
use crate::tcb::Tcb;
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
    pub(crate) fn new(rule: &Rule, knobs: &Knobs) -> Option<Box<Self>> {
        let scheme = match knobs.slow_start {
            SlowStartScheme::Linux if rule.has_hystart_in_linux() => SlowStartScheme::HyStart,
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
}

impl Tcb {
    /// Asks the scheme about an ACK of new data. Outside slow start, and for standard slow start,
    /// growth is the rule's.
    #[inline(never)]
    pub(crate) fn slow_start_decision(
        &mut self,
        now_s: f64,
        rtt_s: f64,
        knobs: &Knobs,
    ) -> Decision {
        let ack = SlowStartAck {
            now_s,
            // Whole nanoseconds: equal RTTs compare equal, whatever rounding gave.
            rtt_s: (rtt_s * 1e9).round() * 1e-9,
            highest_ack: self.highest_ack,
            snd_nxt: self.snd_nxt,
            cwnd: self.cwnd,
            is_paced: knobs.pacing,
        };
        let in_slow_start = self.cwnd < self.ssthresh;
        let Some(scheme) = self.slow_start.as_deref_mut() else { return Decision::STANDARD };
        let decision = match scheme {
            SlowStart::HyStart(hystart) => hystart.on_ack(ack, in_slow_start),
            // RFC 9406 section 4.3: the first slow start only.
            SlowStart::HyStartPlusPlus(_) if !in_slow_start => {
                self.slow_start = None;
                return Decision::STANDARD;
            }
            SlowStart::HyStartPlusPlus(hystart) => hystart.on_ack(ack),
            SlowStart::Limited if in_slow_start => limited::on_ack(ack),
            SlowStart::Limited => Decision::STANDARD,
        };
        if decision == Decision::Leave {
            self.ssthresh = self.cwnd;
        }
        decision
    }

    /// Congestion ends HyStart++ (RFC 9406 section 4.2). HyStart measures again after a timeout.
    pub(crate) fn end_slow_start(&mut self, congestion: Congestion) {
        match self.slow_start.as_deref_mut() {
            Some(SlowStart::HyStart(hystart)) if congestion == Congestion::Timeout => {
                *hystart = HyStart::default();
            }
            Some(SlowStart::HyStartPlusPlus(_)) => self.slow_start = None,
            _ => {}
        }
    }
}
