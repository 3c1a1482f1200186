//! BBR version 3, ProbeRTT: measures min_rtt and drains the pipe to see it (draft-ietf-ccwg-bbr-06,
//! section "ProbeRTT").

use super::Bbr3;
use super::bounds::AckPhase;
use super::mode::Mode;
use crate::Ack;
use crate::rule::bbr::{MIN_RTT_WINDOW_S, PROBE_RTT_S};

const PROBE_RTT_INTERVAL_S: f64 = 5.0;

impl Bbr3 {
    /// Adds an RTT sample; true when ProbeRTT is due.
    pub(super) fn measure_rtt(&mut self, ack: &Ack) -> bool {
        let expired =
            self.probed_rtt.0.is_finite() && ack.now_s > self.probed_rtt.1 + PROBE_RTT_INTERVAL_S;
        if ack.rtt_s > 0.0 && (ack.rtt_s < self.probed_rtt.0 || expired) {
            self.probed_rtt = (ack.rtt_s, ack.now_s);
        }
        if self.probed_rtt.0 < self.min_rtt.0 || ack.now_s > self.min_rtt.1 + MIN_RTT_WINDOW_S {
            self.min_rtt = self.probed_rtt;
        }
        expired
    }

    /// Enters and leaves ProbeRTT; returns the cwnd to continue from.
    pub(super) fn probe_rtt(&mut self, cwnd: f64, ack: &Ack, expired: bool) -> f64 {
        let Mode::ProbeRtt { until_s, round_passed } = self.mode else {
            if !expired || self.idle_restart {
                return cwnd;
            }
            self.save(cwnd);
            self.mode = Mode::ProbeRtt { until_s: None, round_passed: false };
            self.bounds.ack_phase = AckPhase::ProbeStopping;
            self.start_round(ack);
            self.probe_rtt_delivered = (ack.delivered_packets, 0);
            return self.probe_rtt(cwnd, ack, expired);
        };
        // MarkConnectionAppLimited.
        self.probe_rtt_delivered.1 = (ack.delivered_packets + ack.in_flight_packets).max(1);
        let Some(until_s) = until_s else {
            if ack.in_flight_packets as f64 <= self.inflight(self.bandwidth(), 0.5) {
                self.mode =
                    Mode::ProbeRtt { until_s: Some(ack.now_s + PROBE_RTT_S), round_passed: false };
                self.start_round(ack);
            }
            return cwnd;
        };
        let round_passed = round_passed || self.round_start;
        self.mode = Mode::ProbeRtt { until_s: Some(until_s), round_passed };
        if round_passed { self.leave_probe_rtt(cwnd, ack, until_s) } else { cwnd }
    }

    /// Leaves ProbeRTT after `until_s`; returns the cwnd to continue from (`CheckProbeRTTDone`).
    fn leave_probe_rtt(&mut self, cwnd: f64, ack: &Ack, until_s: f64) -> f64 {
        if ack.now_s <= until_s {
            return cwnd;
        }
        self.probed_rtt.1 = ack.now_s;
        self.bounds.forget_short_term();
        if self.filled {
            self.enter_down(ack);
            self.mode = Mode::Cruise;
        } else {
            self.mode = Mode::Startup;
        }
        cwnd.max(self.prior_cwnd)
    }

    /// Section "Restarting From Idle": the idle period has drained the queue.
    pub(super) fn restart(&mut self, cwnd: f64, now_s: f64) -> f64 {
        self.idle_restart = true;
        self.aggregation.restart(now_s);
        match self.mode {
            Mode::ProbeRtt { until_s: Some(until_s), .. } => {
                let ack = Ack { now_s, delivered_packets: self.delivered, ..Ack::default() };
                return self.leave_probe_rtt(cwnd, &ack, until_s);
            }
            Mode::Down | Mode::Cruise | Mode::Refill | Mode::Up => self.pace(self.rate(1.0)),
            _ => {}
        }
        cwnd
    }

    /// Whether the acknowledged packet was sent in ProbeRTT, which holds the flow back: its
    /// delivery rate counts as application-limited.
    pub(super) fn was_sent_in_probe_rtt(&self, ack: &Ack) -> bool {
        let (first, last) = self.probe_rtt_delivered;
        let before = ack.delivered_packets.saturating_sub(ack.delivered_since_sent_packets);
        (first..=last).contains(&before)
    }
}
