//! BBR version 3 (draft-ietf-ccwg-bbr-02): version 1 with bounds learnt from loss.
//!
//! ```text
//! max_bw    = largest delivery rate of this and the last ProbeBW cycle      bw = min(max_bw, bw_short)
//! pacing    = 0.99 pacing_gain bw       w <= cwnd_gain bw min_rtt, bounded by inflight_long and inflight_short
//!
//! Startup   gains 2.77 and 2, until the bandwidth stopped growing by 25 % for 3 round trips, or a round trip lost more than 2 % in
//!           6 packets or more
//! Drain     pacing gain 0.5, until one bandwidth-delay product is in flight
//! ProbeBW   Down   0.9   until that product and 85 % of inflight_long are reached
//!           Cruise 1     until 2 to 3 s or 63 round trips (a Reno flow's cycle, if shorter) since the last probe
//!           Refill 1     for one round trip, without the short-term bounds
//!           Up     1.25  (cwnd gain 2.25): inflight_long grows by 1, 2, 4, ... packets per round trip while it binds; until more
//!                        than 2 % are lost, or the bandwidth stopped growing
//! ProbeRTT  every 5 s without a smaller round trip: half the product in flight for 200 ms and a round trip
//!
//! loss above 2 % in Up:  inflight_long <- max(in flight, 0.7 target)
//! loss in Down or Cruise, per round trip:  bw_short <- max(latest rate, 0.7 bw_short), inflight_short alike
//! ```
//!
//! `w` and inflight in packets, bw in packets/s.
//!
//! Departures: losses are counted per round trip from [`Ack::lost_packets`], a fast retransmit at least as one, where the draft looks at
//! each lost packet's own flight; no allowance for aggregated acknowledgements; no undo of spurious recovery; marks are ignored, as in the draft;
//! the wait between probes is drawn from the flow's own history, since a rule has no randomness.

use super::{FullPipe, MIN_PIPE, MIN_RTT_WINDOW_S, MaxFilter, MinRtt, PROBE_RTT_S, scatter};
use crate::registry::fine;
use crate::{Ack, Congestion, Family, Mark, Needs, Rule, SlowStart, WindowRule};

const LOSS_THRESHOLD: f64 = 0.02;
const BETA: f64 = 0.7;
const HEADROOM: f64 = 0.15;
const PACING_MARGIN: f64 = 0.01;
const PROBE_RTT_INTERVAL_S: f64 = 5.0;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt { until_s: Option<f64>, round_passed: bool },
}

/// What one round trip has shown so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Round {
    rate: f64,
    delivered: u64,
    lost: u64,
    recoveries: u64,
}

/// BBR version 3.
#[derive(Clone, Debug, PartialEq)]
pub struct Bbr3 {
    mode: Mode,
    max_bandwidth: MaxFilter<2>,
    cycle: u64,
    min_rtt: MinRtt,
    /// When the pipe was last drained to see the round trip, seconds.
    probed_rtt_s: f64,
    full_pipe: FullPipe,
    bandwidth_short: f64,
    inflight_short: f64,
    inflight_long: f64,
    /// Round trips for which inflight_long has grown in this probe.
    up_rounds: u32,
    round: Round,
    /// Totals at the round trip's start.
    delivered: u64,
    lost: u64,
    probe_wait_s: f64,
    rounds_since_probe: f64,
    phase_s: f64,
    pacing_packets_s: f64,
    initial: f64,
    prior: f64,
}

impl Default for Bbr3 {
    fn default() -> Self {
        Self {
            mode: Mode::Startup,
            max_bandwidth: MaxFilter::new(),
            cycle: 0,
            min_rtt: MinRtt::new(),
            probed_rtt_s: 0.0,
            full_pipe: FullPipe::default(),
            bandwidth_short: f64::INFINITY,
            inflight_short: f64::INFINITY,
            inflight_long: f64::INFINITY,
            up_rounds: 0,
            round: Round::default(),
            delivered: 0,
            lost: 0,
            probe_wait_s: 0.0,
            rounds_since_probe: 0.0,
            phase_s: 0.0,
            pacing_packets_s: 0.0,
            initial: 0.0,
            prior: 0.0,
        }
    }
}

impl Bbr3 {
    fn gains(&self) -> (f64, f64) {
        match self.mode {
            // 4 ln 2.
            Mode::Startup => (2.772_588_722_239_781, 2.0),
            Mode::Drain => (0.5, 2.0),
            Mode::Down => (0.9, 2.0),
            Mode::Cruise | Mode::Refill => (1.0, 2.0),
            Mode::Up => (1.25, 2.25),
            Mode::ProbeRtt { .. } => (1.0, 0.5),
        }
    }

    fn bandwidth(&self) -> f64 {
        self.max_bandwidth.value().min(self.bandwidth_short)
    }

    fn inflight(&self, bandwidth: f64, gain: f64) -> f64 {
        let product = bandwidth * self.min_rtt.value_s;
        if product.is_finite() && product > 0.0 { (gain * product).ceil().max(MIN_PIPE) } else { self.initial }
    }

    fn with_headroom(&self) -> f64 {
        ((1.0 - HEADROOM) * self.inflight_long).max(MIN_PIPE)
    }

    fn is_probing(&self) -> bool {
        matches!(self.mode, Mode::Startup | Mode::Refill | Mode::Up)
    }

    fn update(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        if self.initial == 0.0 {
            (self.initial, self.probed_rtt_s) = (cwnd, ack.now_s);
        }
        let rate = ack.delivery_rate_packets_s;
        if rate > 0.0 && (!ack.app_limited || rate >= self.max_bandwidth.value()) {
            self.max_bandwidth.update(self.cycle, rate);
        }
        self.round.rate = self.round.rate.max(rate);
        self.round.delivered = ack.delivered_packets.saturating_sub(self.delivered);
        self.round.lost = ack.lost_packets.saturating_sub(self.lost).max(self.round.recoveries);
        self.full_pipe.update(self.max_bandwidth.value(), ack);
        self.note_loss(cwnd, ack);
        self.min_rtt.update(ack);
        self.next_mode(cwnd, ack);
        let cwnd = self.probe_rtt(cwnd, ack);
        if ack.round_start {
            self.rounds_since_probe += 1.0;
            self.round = Round::default();
            (self.delivered, self.lost) = (ack.delivered_packets, ack.lost_packets);
        }
        self.set_pacing(cwnd, ack);
        self.window(cwnd, ack)
    }

    /// What losses teach: at once while probing, at the end of a round trip otherwise.
    fn note_loss(&mut self, cwnd: f64, ack: &Ack) {
        let Round { rate, delivered, lost, .. } = self.round;
        // Early in a round trip little was delivered yet; what is in flight says how much one loss is.
        let in_flight = ack.in_flight_packets + ack.acked_packets;
        let too_many = lost as f64 > LOSS_THRESHOLD * (delivered + lost).max(in_flight) as f64;
        match self.mode {
            Mode::Startup if ack.round_start && too_many && lost >= 6 => {
                self.full_pipe.reached = true;
                self.inflight_long = self.inflight(self.max_bandwidth.value(), 1.0).max(delivered as f64);
            }
            Mode::Up if lost > 0 && too_many => {
                let target = self.inflight(self.bandwidth(), 1.0).min(cwnd);
                self.inflight_long = (in_flight as f64).max(BETA * target).max(MIN_PIPE);
                self.enter_down(ack);
            }
            _ if ack.round_start && lost > 0 && !self.is_probing() => {
                let before = |bound: f64, first: f64| if bound.is_finite() { bound } else { first };
                self.bandwidth_short = rate.max(BETA * before(self.bandwidth_short, self.max_bandwidth.value()));
                self.inflight_short = (delivered as f64).max(BETA * before(self.inflight_short, cwnd)).max(MIN_PIPE);
            }
            _ => {}
        }
    }

    fn next_mode(&mut self, cwnd: f64, ack: &Ack) {
        let in_flight = ack.in_flight_packets as f64;
        match self.mode {
            Mode::Startup if self.full_pipe.reached => self.mode = Mode::Drain,
            Mode::Drain if in_flight <= self.inflight(self.max_bandwidth.value(), 1.0) => self.enter_down(ack),
            Mode::Down | Mode::Cruise if self.is_time_to_probe(ack) => self.enter_refill(),
            Mode::Down if in_flight <= self.with_headroom() && in_flight <= self.inflight(self.max_bandwidth.value(), 1.0) => {
                self.mode = Mode::Cruise;
            }
            Mode::Refill if ack.round_start => {
                (self.mode, self.phase_s, self.up_rounds) = (Mode::Up, ack.now_s, 0);
                self.full_pipe = FullPipe { bandwidth: self.round.rate, rounds: 0, reached: false };
            }
            Mode::Up => self.probe_up(cwnd, ack),
            _ => {}
        }
    }

    fn probe_up(&mut self, cwnd: f64, ack: &Ack) {
        if cwnd >= self.inflight_long && ack.round_start && !ack.app_limited {
            self.inflight_long += f64::from(1u32 << self.up_rounds.min(30));
            self.up_rounds += 1;
            self.full_pipe = FullPipe { bandwidth: self.round.rate, rounds: 0, reached: false };
        } else if self.full_pipe.reached {
            self.enter_down(ack);
        }
    }

    fn is_time_to_probe(&self, ack: &Ack) -> bool {
        let reno_rounds = self.inflight(self.bandwidth(), 1.0).min(63.0);
        ack.now_s - self.phase_s >= self.probe_wait_s || self.rounds_since_probe >= reno_rounds
    }

    fn enter_down(&mut self, ack: &Ack) {
        self.mode = Mode::Down;
        self.full_pipe.reached = true;
        self.cycle += 1;
        self.phase_s = ack.now_s;
        let drawn = scatter(ack);
        self.probe_wait_s = 2.0 + drawn;
        self.rounds_since_probe = (2.0 * drawn).floor();
    }

    fn enter_refill(&mut self) {
        self.mode = Mode::Refill;
        (self.bandwidth_short, self.inflight_short) = (f64::INFINITY, f64::INFINITY);
    }

    fn probe_rtt(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        if self.min_rtt.since_s + 1e-9 >= ack.now_s {
            self.probed_rtt_s = ack.now_s;
        }
        let Mode::ProbeRtt { until_s, round_passed } = self.mode else {
            if ack.now_s > self.probed_rtt_s + PROBE_RTT_INTERVAL_S.min(MIN_RTT_WINDOW_S) && self.min_rtt.value_s.is_finite() {
                self.prior = cwnd;
                self.mode = Mode::ProbeRtt { until_s: None, round_passed: false };
            }
            return cwnd;
        };
        let Some(until_s) = until_s else {
            if ack.in_flight_packets as f64 <= self.inflight(self.bandwidth(), 0.5) {
                self.mode = Mode::ProbeRtt { until_s: Some(ack.now_s + PROBE_RTT_S), round_passed: false };
            }
            return cwnd;
        };
        let round_passed = round_passed || ack.round_start;
        self.mode = Mode::ProbeRtt { until_s: Some(until_s), round_passed };
        if !round_passed || ack.now_s < until_s {
            return cwnd;
        }
        self.probed_rtt_s = ack.now_s;
        if self.full_pipe.reached {
            self.enter_down(ack)
        } else {
            self.mode = Mode::Startup
        }
        cwnd.max(self.prior)
    }

    fn set_pacing(&mut self, cwnd: f64, ack: &Ack) {
        let (gain, _) = self.gains();
        let mut rate = (1.0 - PACING_MARGIN) * gain * self.bandwidth();
        if rate == 0.0 {
            rate = gain * cwnd / if ack.srtt_s > 0.0 { ack.srtt_s } else { 0.001 };
        }
        if self.mode != Mode::Startup || rate > self.pacing_packets_s {
            self.pacing_packets_s = rate;
        }
    }

    fn window(&self, cwnd: f64, ack: &Ack) -> f64 {
        let (acked, target) = (ack.acked_packets as f64, self.inflight(self.bandwidth(), self.gains().1));
        let mut cwnd = if self.mode != Mode::Startup {
            (cwnd + acked).min(target)
        } else if cwnd < target || (ack.delivered_packets as f64) < 2.0 * self.initial {
            cwnd + acked
        } else {
            cwnd
        };
        if matches!(self.mode, Mode::ProbeRtt { .. }) {
            cwnd = cwnd.min(self.inflight(self.bandwidth(), 0.5));
        }
        let long = if self.mode == Mode::Cruise { self.with_headroom() } else { self.inflight_long };
        cwnd.min(long).min(self.inflight_short).max(MIN_PIPE)
    }
}

impl WindowRule for Bbr3 {
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        self.update(cwnd, ack)
    }

    fn decrease(&mut self, cwnd: f64, _: Congestion) -> f64 {
        self.round.recoveries += 1;
        cwnd
    }

    fn slow_start(&mut self, cwnd: f64, ack: &Ack) -> SlowStart {
        SlowStart::Grow(self.update(cwnd, ack))
    }

    fn on_mark(&mut self, _: f64, _: &Ack) -> Mark {
        Mark::Noted
    }

    fn pacing_rate_packets_s(&self) -> Option<f64> {
        (self.pacing_packets_s > 0.0).then_some(self.pacing_packets_s)
    }

    fn needs(&self) -> Needs {
        Needs { delivery_rate: true, rounds: true, pacing: true, ..Needs::default() }
    }
}

pub(crate) const FAMILY: Family = Family {
    name: "BBR3",
    summary: "BBR version 3: as version 1, with bounds on what is in flight learnt from loss rates above 2 %",
    source: "draft-ietf-ccwg-bbr-02",
    example: "BBR3",
    parameters: &[],
    check: fine,
    build: |_| Rule::Bbr3(Box::default()),
};

#[cfg(test)]
mod tests;
