//! BBR version 3 (draft-ietf-ccwg-bbr-06): version 1 with bounds learned from loss.
//!
//! ```text
//! max_bw  = maximum delivery rate of this and the last ProbeBW cycle,  bw = min(max_bw, bw_short)
//! pacing  = 0.99 pacing_gain bw
//! w      <= cwnd_gain bw min_rtt + extra, inflight_long and inflight_short
//! extra   = most packets acknowledged beyond bw in 10 round trips, in 1 until the pipe was full
//!
//! Startup   gains 2.77 and 2, until the rate grew < 25 % in 3 round trips, or a round trip in
//!           recovery lost more than 2 %, reported by 6 ACKs or more
//! Drain     pacing gain 0.5, until one bandwidth-delay product is in flight, 3 round trips at most
//! ProbeBW   Down   0.9   until that product and 85 % of inflight_long are reached
//!           Cruise 1     until 2 to 3 s, or 63 round trips (a Reno flow's cycle) if shorter, since
//!                        the last probe
//!           Refill 1     for one round trip, without the short-term bounds
//!           Up     1.25  (cwnd gain 2.25): inflight_long grows by 1, 2, 4, ... packets per round
//!                        trip while it binds; until more than 2 % are lost or the rate stopped
//!                        growing; after a probe with such loss, until inflight_long is in flight,
//!                        and at once again if that lost nothing
//! ProbeRTT  after 5 s without a lower RTT, unless they end in an idle period: half the product in
//!           flight for 200 ms and a round trip
//!
//! loss above 2 % of the packets in flight, for packets sent in Refill and Up:
//!           inflight_long <- max(in flight then, 0.7 target)
//! loss in other states, per round trip:
//!           bw_short <- max(latest rate, 0.7 bw_short),  inflight_short alike
//!
//! with ecn = on, where min_rtt <= ecn_max_rtt; per round trip, F = share of packets marked:
//!           alpha <- 15/16 alpha + F/16
//! marks in states without probing, per round trip:
//!           inflight_short <- (1 - alpha/3) inflight_short
//! F of a sample in Refill and Up, or of 2 round trips of Startup, above 50 %: as loss above 2 %
//! ```
//!
//! `w` and inflight in packets, bw in packets/s. The response to loss is in `v3/loss.rs`, that to
//! marks in `v3/marks.rs`, ProbeRTT in `v3/round_trip.rs`.
//!
//! Departures: the packets in flight at transmission and lost since are those of the packet
//! acknowledged when a loss is detected, three packets after the lost one, not those of the lost
//! packet; lost ranges are counted by the ACKs that reveal them, as in Linux; what an undo restores
//! is saved where recovery begins, as the draft's text says, and not again with the first loss of
//! each round trip (`NoteLoss`): leaving Up begins such a round trip, and the next lost packet
//! would overwrite what was saved; a timeout ends Up with the next ACK, and an ACK that proves it
//! spurious restarts the probe at once; marks are ignored unless `ecn` is on, as in the draft, which
//! has no response to them; packets are whole, and there is no offload; the wait between probes is
//! hashed from the flow's own history, because a rule has no randomness.

mod aggregation;
mod bounds;
mod ecn;
mod loss;
mod marks;
mod mode;
mod round_trip;

use super::{FullPipe, MIN_PIPE, MaxFilter, pseudo_random};
use crate::family::{choice, no_check, option, parameter};
use crate::{Ack, Congestion, FamilyOf, MarkResponse, Needs, SlowStart, WindowRule};
use aggregation::Aggregation;
use bounds::{Bounds, Saved};
use ecn::Ecn;
use mode::Mode;

const PACING_MARGIN: f64 = 0.01;
const DRAIN_ROUNDS: u64 = 3;
const RENO_ROUNDS: f64 = 63.0;

/// BBR version 3.
#[derive(Clone, Debug, PartialEq)]
pub struct Bbr3 {
    mode: Mode,
    max_bandwidth: MaxFilter<2>,
    cycle: u64,
    /// Minimum RTT of 10 s, and that of 5 s, which ProbeRTT renews; with the times of the samples.
    min_rtt: (f64, f64),
    probed_rtt: (f64, f64),
    full_pipe: FullPipe,
    /// Whether the pipe was ever full.
    filled: bool,
    /// `delivered` when this round trip began; whether one begins with this ACK; number of round
    /// trips.
    round_ends: u64,
    round_start: bool,
    rounds: u64,
    /// Number of the round trip in which Drain began.
    drain_round: u64,
    bounds: Bounds,
    saved: Saved,
    aggregation: Aggregation,
    probe_wait_s: f64,
    rounds_since_probe: f64,
    cycle_s: f64,
    pacing_packets_s: f64,
    initial_cwnd: f64,
    /// cwnd before recovery or ProbeRTT, packets.
    prior_cwnd: f64,
    in_recovery: bool,
    /// A full window was in flight at any point in the last round trip (C.is_cwnd_limited), and
    /// `delivered` at its end.
    is_limited: bool,
    limited_until: u64,
    /// No ACK arrived since the flow restarted from idle.
    idle_restart: bool,
    /// `delivered` when ProbeRTT began, and when what was sent in it is delivered.
    probe_rtt_delivered: (u64, u64),
    /// Packets delivered, and packets in flight, after the last ACK; its delivery rate, packets/s.
    delivered: u64,
    in_flight: u64,
    sample: f64,
    app_limited: bool,
    /// Response to marks, if any.
    ecn: Option<Box<Ecn>>,
}

impl Default for Bbr3 {
    fn default() -> Self {
        Self {
            mode: Mode::Startup,
            max_bandwidth: MaxFilter::new(),
            cycle: 0,
            min_rtt: (f64::INFINITY, 0.0),
            probed_rtt: (f64::INFINITY, 0.0),
            full_pipe: FullPipe::default(),
            filled: false,
            round_ends: 0,
            round_start: false,
            rounds: 0,
            drain_round: 0,
            bounds: Bounds::default(),
            saved: Saved::default(),
            aggregation: Aggregation::default(),
            probe_wait_s: 0.0,
            rounds_since_probe: 0.0,
            cycle_s: 0.0,
            pacing_packets_s: 0.0,
            initial_cwnd: 0.0,
            prior_cwnd: 0.0,
            in_recovery: false,
            is_limited: false,
            limited_until: 0,
            idle_restart: false,
            probe_rtt_delivered: (u64::MAX, 0),
            delivered: 0,
            in_flight: 0,
            sample: 0.0,
            app_limited: false,
            ecn: None,
        }
    }
}

impl Bbr3 {
    /// A flow that responds to marks once its minimum RTT is at most `max_rtt_s`, at any if 0.
    pub fn with_ecn(max_rtt_s: f64) -> Self {
        Self { ecn: Some(Box::new(Ecn::new(max_rtt_s))), ..Self::default() }
    }

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
        self.max_bandwidth.value().min(self.bounds.bandwidth_short)
    }

    /// `gain` bandwidth-delay products, packets.
    fn inflight(&self, bandwidth: f64, gain: f64) -> f64 {
        self.inflight_with(bandwidth, gain, 0.0)
    }

    /// `gain` bandwidth-delay products and `extra` packets.
    fn inflight_with(&self, bandwidth: f64, gain: f64, extra: f64) -> f64 {
        let product = bandwidth * self.min_rtt.0;
        let packets =
            if product.is_finite() && product > 0.0 { gain * product } else { self.initial_cwnd };
        (packets + extra).ceil().max(MIN_PIPE) + if self.mode == Mode::Up { 2.0 } else { 0.0 }
    }

    /// The bandwidth-delay product unless cwnd is less (`TargetInflight`), packets.
    fn target(&self, cwnd: f64) -> f64 {
        let product = self.bandwidth() * self.min_rtt.0;
        if product.is_finite() { product.min(cwnd) } else { cwnd }
    }

    fn is_probe_bandwidth(&self) -> bool {
        matches!(self.mode, Mode::Down | Mode::Cruise | Mode::Refill | Mode::Up)
    }

    fn update(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        if self.initial_cwnd == 0.0 {
            (self.initial_cwnd, self.probed_rtt.1) = (cwnd, ack.now_s);
            self.aggregation.restart(ack.now_s);
        }
        let ack = &Ack { app_limited: ack.app_limited || self.was_sent_in_probe_rtt(ack), ..*ack };
        let bandwidth = self.bandwidth();
        if (ack.in_flight_packets + ack.acked_packets) as f64 + 1.0 >= cwnd {
            self.limited_until = ack.delivered_packets + ack.in_flight_packets;
        }
        self.is_limited = ack.delivered_packets <= self.limited_until;
        let mut cwnd = self.restore(cwnd, ack);
        self.learn_from_losses(cwnd, ack);
        self.count_round(ack);
        self.learn_from_marks(cwnd, ack);
        self.measure_rate(cwnd, bandwidth, ack);
        self.next_mode(cwnd, ack);
        let expired = self.measure_rtt(ack);
        cwnd = self.probe_rtt(cwnd, ack, expired);
        self.idle_restart = false;
        self.bounds.advance(ack);
        self.set_pacing(cwnd, ack);
        (self.delivered, self.in_flight) = (ack.delivered_packets, ack.in_flight_packets);
        (self.sample, self.app_limited) = (ack.delivery_rate_packets_s, ack.app_limited);
        self.window(cwnd, ack)
    }

    /// Section "Modulating cwnd in Loss Recovery": restores cwnd once recovery ends.
    fn restore(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        let left = self.in_recovery && !ack.in_recovery;
        self.in_recovery = ack.in_recovery;
        if left { cwnd.max(self.prior_cwnd) } else { cwnd }
    }

    fn save(&mut self, cwnd: f64) {
        let lowered = self.in_recovery || matches!(self.mode, Mode::ProbeRtt { .. });
        self.prior_cwnd = if lowered { self.prior_cwnd.max(cwnd) } else { cwnd };
    }

    fn count_round(&mut self, ack: &Ack) {
        self.round_start =
            ack.delivered_packets - ack.delivered_since_sent_packets >= self.round_ends;
        if self.round_start {
            self.round_ends = ack.delivered_packets;
            self.rounds += 1;
            self.rounds_since_probe += 1.0;
        }
    }

    fn start_round(&mut self, ack: &Ack) {
        self.round_ends = ack.delivered_packets;
    }

    /// `bandwidth`: that of before this ACK.
    fn measure_rate(&mut self, cwnd: f64, bandwidth: f64, ack: &Ack) {
        let rate = ack.delivery_rate_packets_s;
        if rate > 0.0 && (!ack.app_limited || rate >= self.max_bandwidth.value()) {
            self.max_bandwidth.update(self.cycle, rate);
        }
        let probing = matches!(self.mode, Mode::Startup | Mode::Refill | Mode::Up);
        let (startup, largest) = (self.mode == Mode::Startup, self.max_bandwidth.value());
        let factor = self.ecn.as_ref().and_then(|ecn| ecn.factor());
        let lossy_startup = self.bounds.end_round(ack, probing, startup, largest, cwnd, factor);
        if self.bounds.round_over {
            self.forget_marks();
        }
        self.aggregation.update(ack, bandwidth, cwnd, self.rounds, self.filled);
        if self.round_start && !ack.app_limited {
            self.full_pipe.update(rate);
            self.filled |= self.full_pipe.reached;
        }
        if lossy_startup {
            self.saved.mode = Some(Mode::Startup);
        }
        if lossy_startup || (startup && self.ecn.as_ref().is_some_and(|ecn| ecn.fills_pipe())) {
            (self.filled, self.full_pipe.reached) = (true, true);
            self.bounds.inflight_long = self.target(f64::INFINITY).max(self.bounds.inflight_latest);
        }
    }

    fn next_mode(&mut self, cwnd: f64, ack: &Ack) {
        let in_flight = ack.in_flight_packets as f64;
        if self.mode == Mode::Startup && self.filled {
            (self.mode, self.drain_round) = (Mode::Drain, self.rounds);
            self.forget_marks();
        }
        if self.mode == Mode::Drain
            && (in_flight <= self.inflight(self.bandwidth(), 1.0)
                || self.rounds > self.drain_round + DRAIN_ROUNDS)
        {
            self.enter_down(ack);
        }
        if !self.filled || self.adapt_long_term(cwnd, ack) {
            return;
        }
        match self.mode {
            Mode::Down | Mode::Cruise if self.is_time_to_probe(cwnd, ack) => self.enter_refill(ack),
            Mode::Down => {
                let drained = in_flight <= self.inflight(self.max_bandwidth.value(), 1.0);
                if drained && in_flight <= self.bounds.with_headroom() {
                    self.mode = Mode::Cruise;
                }
            }
            Mode::Refill if self.round_start => self.enter_up(cwnd, ack),
            Mode::Up => self.probe_up(cwnd, ack),
            _ => {}
        }
    }

    fn is_time_to_probe(&self, cwnd: f64, ack: &Ack) -> bool {
        let reno_rounds = self.target(cwnd).min(RENO_ROUNDS);
        ack.now_s > self.cycle_s + self.probe_wait_s || self.rounds_since_probe >= reno_rounds
    }

    fn probe_up(&mut self, cwnd: f64, ack: &Ack) {
        if self.is_time_to_go_down(cwnd, ack) {
            self.bounds.was_too_high = false;
            self.enter_down(ack);
        }
    }

    fn is_time_to_go_down(&mut self, cwnd: f64, ack: &Ack) -> bool {
        if self.bounds.was_too_high && ack.in_flight_packets as f64 >= self.bounds.inflight_long {
            self.bounds.was_cautious = true;
            // The feedback of this probe is still missing: until it arrives, the probe counts as
            // good.
            return true;
        }
        if self.is_limited && cwnd >= self.bounds.inflight_long {
            self.full_pipe =
                FullPipe { bandwidth: ack.delivery_rate_packets_s, ..FullPipe::default() };
            return false;
        }
        self.full_pipe.reached
    }

    fn enter_down(&mut self, ack: &Ack) {
        self.bounds.start_down();
        self.forget_marks();
        (self.mode, self.cycle_s) = (Mode::Down, ack.now_s);
        let drawn = pseudo_random(ack);
        self.probe_wait_s = 2.0 + drawn;
        self.rounds_since_probe = (2.0 * drawn).floor();
        self.start_round(ack);
    }

    fn enter_refill(&mut self, ack: &Ack) {
        self.bounds.start_refill();
        self.mode = Mode::Refill;
        self.start_round(ack);
    }

    /// Pacing rate at `gain`, packets/s.
    fn rate(&self, gain: f64) -> f64 {
        (1.0 - PACING_MARGIN) * gain * self.bandwidth()
    }

    /// Sets the pacing rate, which never falls before the pipe is full.
    fn pace(&mut self, rate: f64) {
        if self.filled || rate > self.pacing_packets_s {
            self.pacing_packets_s = rate;
        }
    }

    fn enter_up(&mut self, cwnd: f64, ack: &Ack) {
        self.bounds.start_up(cwnd);
        self.mode = Mode::Up;
        self.full_pipe = FullPipe { bandwidth: ack.delivery_rate_packets_s, ..FullPipe::default() };
        self.start_round(ack);
    }

    fn set_pacing(&mut self, cwnd: f64, ack: &Ack) {
        let (gain, _) = self.gains();
        let mut rate = self.rate(gain);
        if rate == 0.0 {
            rate = gain * cwnd / if ack.srtt_s > 0.0 { ack.srtt_s } else { 0.001 };
        }
        self.pace(rate);
    }

    fn window(&self, cwnd: f64, ack: &Ack) -> f64 {
        let (acked, (_, gain)) = (ack.acked_packets as f64, self.gains());
        let target = self.inflight_with(self.bandwidth(), gain, self.aggregation.extra);
        let mut cwnd = if self.filled {
            (cwnd + acked).min(target)
        } else if cwnd < target || (ack.delivered_packets as f64) < self.initial_cwnd {
            cwnd + acked
        } else {
            cwnd
        };
        if matches!(self.mode, Mode::ProbeRtt { .. }) {
            cwnd = cwnd.min(self.inflight(self.bandwidth(), 0.5));
        }
        let long = match self.mode {
            Mode::Startup | Mode::Drain => f64::INFINITY,
            Mode::Cruise | Mode::ProbeRtt { .. } => self.bounds.with_headroom(),
            Mode::Down | Mode::Refill | Mode::Up => self.bounds.inflight_long,
        };
        cwnd.min(long).min(self.bounds.inflight_short).max(MIN_PIPE)
    }

    /// Section "Handling a Spurious Loss Recovery": the bounds that loss lowered, and the phase
    /// that it ended; a probe begins again with Refill. cwnd returns because recovery ends.
    pub(crate) fn undo(&mut self) {
        self.full_pipe = FullPipe::default();
        self.bounds.raise_to(&self.saved);
        let in_probe_rtt = matches!(self.mode, Mode::ProbeRtt { .. });
        match self.saved.mode.take() {
            Some(Mode::Startup) if self.mode != Mode::Startup => {
                self.filled = false;
                if !in_probe_rtt {
                    self.mode = Mode::Startup;
                }
            }
            Some(Mode::Up) if !in_probe_rtt => {
                let ack = Ack { delivered_packets: self.delivered, ..Ack::default() };
                self.enter_refill(&ack);
            }
            _ => {}
        }
    }

    /// Names of draft-ietf-ccwg-bbr, section 4.
    pub(crate) fn phase(&self) -> &'static str {
        match self.mode {
            Mode::Startup => "Startup",
            Mode::Drain => "Drain",
            Mode::Down => "ProbeBW_DOWN",
            Mode::Cruise => "ProbeBW_CRUISE",
            Mode::Refill => "ProbeBW_REFILL",
            Mode::Up => "ProbeBW_UP",
            Mode::ProbeRtt { .. } => "ProbeRTT",
        }
    }
}

impl WindowRule for Bbr3 {
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        self.update(cwnd, ack)
    }

    fn decrease(&mut self, cwnd: f64, congestion: Congestion) -> f64 {
        self.save(cwnd);
        if !self.in_recovery {
            self.saved = Saved::of(&self.bounds);
        }
        self.in_recovery = true;
        if congestion == Congestion::Timeout && self.mode == Mode::Up && self.bounds.is_probe_sample
        {
            self.saved.mode = Some(Mode::Up);
        }
        cwnd
    }

    fn restart_from_idle(&mut self, cwnd: f64, now_s: f64) -> f64 {
        self.restart(cwnd, now_s)
    }

    fn slow_start(&mut self, cwnd: f64, ack: &Ack) -> SlowStart {
        SlowStart::Grow(self.update(cwnd, ack))
    }

    fn on_mark(&mut self, _: f64, ack: &Ack) -> MarkResponse {
        if let Some(ecn) = &mut self.ecn {
            ecn.add(ack.marked_packets);
        }
        MarkResponse::Consumed
    }

    fn pacing_rate_packets_s(&self) -> Option<f64> {
        (self.pacing_packets_s > 0.0).then_some(self.pacing_packets_s)
    }

    fn needs(&self) -> Needs {
        let ecn = self.ecn.is_some();
        Needs {
            delivery_rate: true,
            pacing: true,
            recovery: true,
            exact_marks: ecn,
            l4s: ecn,
            ..Needs::default()
        }
    }

    /// Names of draft-ietf-ccwg-bbr, section 2. What is infinite or not measured yet is unknown.
    fn state(&self, report: &mut dyn FnMut(&str, f64)) {
        let known = |value: f64| if value.is_finite() { value } else { f64::NAN };
        let positive = |value: f64| if value > 0.0 { known(value) } else { f64::NAN };
        let flag = |value: bool| f64::from(u8::from(value));
        let (bounds, saved) = (&self.bounds, &self.saved);
        let undo_state = match saved.mode {
            Some(Mode::Startup) => 1.0,
            Some(_) => 2.0,
            None => 0.0,
        };
        for (name, value) in [
            ("max_bw_packets_s", positive(self.max_bandwidth.value())),
            ("bw_shortterm_packets_s", known(bounds.bandwidth_short)),
            ("min_rtt_s", known(self.min_rtt.0)),
            ("inflight_longterm_packets", known(bounds.inflight_long)),
            ("inflight_shortterm_packets", known(bounds.inflight_short)),
            ("pacing_gain", self.gains().0),
            ("cwnd_gain", self.gains().1),
            ("pacing_rate_packets_s", positive(self.pacing_packets_s)),
            ("delivery_rate_packets_s", positive(self.sample)),
            ("is_app_limited", flag(self.app_limited)),
            ("inflight_packets", self.in_flight as f64),
            ("extra_acked_packets", self.aggregation.extra),
            ("round_count", self.rounds as f64),
            ("full_bw_count", f64::from(self.full_pipe.rounds)),
            ("full_bw_now", flag(self.full_pipe.reached)),
            ("full_bw_reached", flag(self.filled)),
            ("drain_start_round", if self.filled { self.drain_round as f64 } else { f64::NAN }),
            ("cycle_stamp_s", positive(self.cycle_s)),
            ("bw_probe_wait_s", positive(self.probe_wait_s)),
            ("probe_rtt_min_delay_s", known(self.probed_rtt.0)),
            ("idle_restart", flag(self.idle_restart)),
            ("undo_state", undo_state),
            ("undo_bw_shortterm_packets_s", positive(saved.bandwidth_short)),
            ("undo_inflight_longterm_packets", positive(saved.inflight_long)),
            ("undo_inflight_shortterm_packets", positive(saved.inflight_short)),
        ] {
            report(name, value);
        }
        if let Some(ecn) = &self.ecn {
            report("ecn_alpha", ecn.alpha());
        }
    }
}

pub(crate) const FAMILY: FamilyOf<Box<Bbr3>> = FamilyOf {
    name: "BBR3",
    summary: "BBR version 3: as version 1, with bounds on packets in flight learned from loss \
        rates above 2 %",
    source: "draft-ietf-ccwg-bbr-06",
    example: "BBR3",
    deployed: true,
    parameters: &[
        choice(
            "ecn",
            "response to marks: with it the flow is an L4S flow, as Prague",
            "off or on",
            &["off", "on"],
        ),
        option(
            parameter(
                "ecn_max_rtt",
                "minimum RTT up to which marks count, seconds; 0: any",
                "from 0 to 1e6",
                |x| (0.0..=1e6).contains(&x),
            ),
            0.005,
        ),
    ],
    check: no_check,
    build: |p| Box::new(if p[0] == 1.0 { Bbr3::with_ecn(p[1]) } else { Bbr3::default() }),
};

#[cfg(test)]
mod tests;
