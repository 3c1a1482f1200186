//! Growth of cwnd in slow start, and its end, as the scheme decides.

use super::decision::{Decision, SlowStartAck};
use super::hystart::HyStart;
use super::limited;
use super::state::SlowStart;
use crate::Knobs;
use crate::tcb::Tcb;
use cwndlab_rules::Congestion;

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
