//! BBR version 3, response to loss: what an ACK tells of a probe, and when the next one begins
//! (draft-ietf-ccwg-bbr-06, section "Updating the Model Upon Packet Loss").

use super::Bbr3;
use super::bounds::{AckPhase, BETA, inflight_at_loss, is_too_high};
use super::mode::Mode;
use crate::Ack;

impl Bbr3 {
    /// Handles losses reported by this ACK. More than 2 % of the packets in flight in a probe: the
    /// probe went too high.
    pub(super) fn learn_from_losses(&mut self, cwnd: f64, ack: &Ack) {
        if ack.lost_packets <= self.bounds.lost {
            return;
        }
        self.bounds.lost = ack.lost_packets;
        if !self.bounds.lost_in_round {
            self.bounds.round_ends = ack.delivered_packets;
        }
        self.bounds.lose_in_round();
        if !self.bounds.is_probe_sample || !is_too_high(ack) {
            return;
        }
        // At most once per probe.
        (self.bounds.was_too_high, self.bounds.is_probe_sample) = (true, false);
        if !ack.app_limited {
            self.bounds.inflight_long = inflight_at_loss(ack).max(BETA * self.target(cwnd));
        }
        if self.mode == Mode::Up {
            self.saved.mode = Some(Mode::Up);
            self.enter_down(ack);
        }
    }

    /// Adapts the long-term bound on an ACK without too many losses. True when the next probe
    /// begins.
    pub(super) fn adapt_long_term(&mut self, cwnd: f64, ack: &Ack) -> bool {
        if self.bounds.ack_phase == AckPhase::ProbeStarting && self.round_start {
            self.bounds.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.bounds.ack_phase == AckPhase::ProbeStopping && self.round_start {
            self.bounds.is_probe_sample = false;
            self.bounds.ack_phase = AckPhase::Init;
            if self.is_probe_bandwidth() {
                self.cycle += u64::from(!ack.app_limited);
                if self.bounds.was_cautious && !self.bounds.was_too_high {
                    self.enter_refill(ack);
                    return true;
                }
            }
        }
        let is_marked = self.ecn.as_ref().is_some_and(|ecn| ecn.is_too_high());
        if !is_too_high(ack) && !is_marked && self.bounds.inflight_long.is_finite() {
            self.bounds.inflight_long =
                self.bounds.inflight_long.max(ack.sent_in_flight_packets as f64);
            if self.mode == Mode::Up && self.is_limited {
                self.bounds.probe_inflight_upward(cwnd, ack, self.round_start);
            }
        }
        false
    }
}
