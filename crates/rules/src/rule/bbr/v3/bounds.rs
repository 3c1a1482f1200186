//! BBR version 3, bounds on rate and packets in flight, as losses set them: the long-term bound
//! that probing finds, and the short-term bounds of a cycle (draft-ietf-ccwg-bbr-06, section
//! "Updating the Model Upon Packet Loss").

use super::mode::Mode;
use crate::Ack;
use crate::rule::bbr::MIN_PIPE;

const LOSS_THRESHOLD: f64 = 0.02;
pub(super) const BETA: f64 = 0.7;
const HEADROOM: f64 = 0.15;
/// ACKs that report losses, in a round trip, which end Startup.
const STARTUP_LOSSES: u32 = 6;

/// Which packets ACKs acknowledge with respect to the last bandwidth probe (BBR.ack_phase).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// Bounds on the rate and on packets in flight, with the state to compute them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bounds {
    pub(super) bandwidth_short: f64,
    pub(super) inflight_short: f64,
    pub(super) inflight_long: f64,
    /// Maximum delivery rate, and most packets delivered during one sample, of this round trip.
    bandwidth_latest: f64,
    pub(super) inflight_latest: f64,
    pub(super) ack_phase: AckPhase,
    /// Packets of the probe are being acknowledged, and their loss has not been handled yet.
    pub(super) is_probe_sample: bool,
    pub(super) was_too_high: bool,
    pub(super) was_cautious: bool,
    /// Round trips in which inflight_long may have grown in this probe, packets acknowledged toward
    /// the next increment, and packets per increment.
    up_rounds: u32,
    up_acked: f64,
    up_acked_per_packet: f64,
    /// Packets lost so far.
    pub(super) lost: u64,
    pub(super) lost_in_round: bool,
    losses_in_round: u32,
    /// `delivered` when the current loss round began, and whether one ends with this ACK.
    pub(super) round_ends: u64,
    pub(super) round_over: bool,
    /// Recovery began before this round trip.
    in_recovery_since_round_start: bool,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            bandwidth_short: f64::INFINITY,
            inflight_short: f64::INFINITY,
            inflight_long: f64::INFINITY,
            bandwidth_latest: 0.0,
            inflight_latest: 0.0,
            ack_phase: AckPhase::Init,
            is_probe_sample: false,
            was_too_high: false,
            was_cautious: false,
            up_rounds: 0,
            up_acked: 0.0,
            up_acked_per_packet: f64::INFINITY,
            lost: 0,
            lost_in_round: false,
            losses_in_round: 0,
            round_ends: 0,
            round_over: false,
            in_recovery_since_round_start: false,
        }
    }
}

/// What an undo restores (`SaveStateUponLoss`): the bounds of before the losses, and the phase that
/// they ended (BBR.undo_state).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Saved {
    pub(super) mode: Option<Mode>,
    pub(super) bandwidth_short: f64,
    pub(super) inflight_short: f64,
    pub(super) inflight_long: f64,
}

impl Saved {
    pub(super) fn of(bounds: &Bounds) -> Self {
        Self {
            mode: None,
            bandwidth_short: bounds.bandwidth_short,
            inflight_short: bounds.inflight_short,
            inflight_long: bounds.inflight_long,
        }
    }
}

/// Whether more than 2 % of the packets in flight with the acknowledged packet are lost.
pub(super) fn is_too_high(ack: &Ack) -> bool {
    ack.lost_since_sent_packets as f64 > LOSS_THRESHOLD * ack.sent_in_flight_packets as f64
}

/// Packets in flight when losses reached 2 % of them. The last loss counts as one packet:
/// `InflightAtLoss` of the draft.
pub(super) fn inflight_at_loss(ack: &Ack) -> f64 {
    let (in_flight, lost) =
        (ack.sent_in_flight_packets as f64 - 1.0, ack.lost_since_sent_packets as f64 - 1.0);
    in_flight + (LOSS_THRESHOLD * in_flight - lost) / (1.0 - LOSS_THRESHOLD)
}

impl Bounds {
    pub(super) fn with_headroom(&self) -> f64 {
        let room = (HEADROOM * self.inflight_long).max(1.0);
        if self.inflight_long.is_finite() {
            (self.inflight_long - room).max(MIN_PIPE)
        } else {
            f64::INFINITY
        }
    }

    pub(super) fn forget_short_term(&mut self) {
        (self.bandwidth_short, self.inflight_short) = (f64::INFINITY, f64::INFINITY);
    }

    /// Raises the bounds to earlier ones: the losses since were spurious.
    pub(super) fn raise_to(&mut self, earlier: &Saved) {
        self.lost_in_round = false;
        self.bandwidth_short = self.bandwidth_short.max(earlier.bandwidth_short);
        self.inflight_short = self.inflight_short.max(earlier.inflight_short);
        self.inflight_long = self.inflight_long.max(earlier.inflight_long);
    }

    pub(super) fn start_down(&mut self) {
        (self.lost_in_round, self.bandwidth_latest, self.inflight_latest) = (false, 0.0, 0.0);
        self.up_acked_per_packet = f64::INFINITY;
        self.ack_phase = AckPhase::ProbeStopping;
    }

    pub(super) fn start_refill(&mut self) {
        self.forget_short_term();
        (self.up_rounds, self.up_acked) = (0, 0.0);
        self.was_cautious = false;
        self.ack_phase = AckPhase::Refilling;
    }

    pub(super) fn start_up(&mut self, cwnd: f64) {
        self.is_probe_sample = true;
        self.ack_phase = AckPhase::ProbeStarting;
        self.raise_inflight_slope(cwnd);
    }

    /// Doubles the growth of inflight_long per round trip.
    fn raise_inflight_slope(&mut self, cwnd: f64) {
        let growth = f64::from(1u32 << self.up_rounds);
        self.up_rounds = (self.up_rounds + 1).min(30);
        self.up_acked_per_packet = (cwnd / growth).max(1.0);
    }

    pub(super) fn probe_inflight_upward(&mut self, cwnd: f64, ack: &Ack, round_start: bool) {
        if cwnd < self.inflight_long {
            return;
        }
        self.up_acked += ack.acked_packets as f64;
        let packets = (self.up_acked / self.up_acked_per_packet).floor();
        self.up_acked -= packets * if packets > 0.0 { self.up_acked_per_packet } else { 0.0 };
        self.inflight_long += packets;
        if round_start {
            self.raise_inflight_slope(cwnd);
        }
    }

    pub(super) fn lose_in_round(&mut self) {
        self.lost_in_round = true;
        self.losses_in_round += 1;
    }

    /// Updates the latest samples, and at the end of a round trip with loss outside of probes the
    /// short-term bounds. `mark_factor`: what marks of this round trip leave of inflight_short.
    /// True when losses show that Startup has filled the pipe.
    pub(super) fn end_round(
        &mut self,
        ack: &Ack,
        probing: bool,
        startup: bool,
        max_bandwidth: f64,
        cwnd: f64,
        mark_factor: Option<f64>,
    ) -> bool {
        self.bandwidth_latest = self.bandwidth_latest.max(ack.delivery_rate_packets_s);
        self.inflight_latest = self.inflight_latest.max(ack.delivered_since_sent_packets as f64);
        self.round_over =
            ack.delivered_packets - ack.delivered_since_sent_packets >= self.round_ends;
        if !self.round_over {
            return false;
        }
        self.round_ends = ack.delivered_packets;
        let before = |bound: f64, first: f64| if bound.is_finite() { bound } else { first };
        let marked = mark_factor.map(|factor| factor * before(self.inflight_short, cwnd));
        if self.lost_in_round && !probing {
            self.bandwidth_short =
                self.bandwidth_latest.max(BETA * before(self.bandwidth_short, max_bandwidth));
            self.inflight_short =
                self.inflight_latest.max(BETA * before(self.inflight_short, cwnd));
        }
        if let Some(marked) = marked.filter(|_| !probing) {
            self.inflight_short = self.inflight_short.min(marked);
        }
        let full = startup
            && self.in_recovery_since_round_start
            && self.losses_in_round >= STARTUP_LOSSES
            && is_too_high(ack);
        (self.lost_in_round, self.losses_in_round, self.in_recovery_since_round_start) =
            (false, 0, ack.in_recovery);
        full
    }

    /// Resets the latest samples after everything that reads them.
    pub(super) fn advance(&mut self, ack: &Ack) {
        if self.round_over {
            self.bandwidth_latest = ack.delivery_rate_packets_s;
            self.inflight_latest = ack.delivered_since_sent_packets as f64;
        }
    }
}
