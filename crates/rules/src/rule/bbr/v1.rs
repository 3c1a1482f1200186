//! BBR version 1 (draft-cardwell-iccrg-bbr-congestion-control-00; Cardwell et al. 2016).
//!
//! ```text
//! bandwidth = maximum delivery rate of 10 round trips, rtprop = minimum RTT of 10 s (section 4.1)
//! pacing    = pacing_gain bandwidth,  w <= cwnd_gain bandwidth rtprop + 3      (section 4.2)
//!
//! Startup   both gains 2/ln 2, until bandwidth grew < 25 % in 3 round trips    (section 4.3.2)
//! Drain     pacing gain ln 2/2, until bandwidth rtprop is in flight            (section 4.3.3)
//! ProbeBW   pacing gains 5/4, 3/4, 1 (6 times), each for rtprop; cwnd gain 2   (section 4.3.4)
//! ProbeRTT  after 10 s without a lower RTT: 4 packets for 200 ms and a round trip (section 4.3.5)
//! ```
//!
//! `w` in packets, bandwidth in packets/s, rtprop in seconds. Marks do not change the window. A
//! loss ends the phase of gain 5/4. After a timeout the window regrows from one packet by the
//! packets acknowledged.
//!
//! Recovery (section 4.2.3.4): packet conservation in the first round trip; then the window grows
//! by the packets delivered less those lost; at the end it is restored.
//!
//! After an idle period ProbeBW paces at the bandwidth (section 4.3.4.4), and the first ACK starts no
//! ProbeRTT: the queue has had time to drain (section 4.3.5, BBR.idle_restart).
//!
//! As in Linux, which the draft leaves out: behind a policer the long-term bandwidth stands for the
//! maximum, and ProbeBW has a gain of 1 (`policed`).
//!
//! Departures: the draft's allowance of three send quanta is three packets; the first phase of
//! ProbeBW is hashed from the flow's own history, because a rule has no randomness. Linux also paces
//! 1 % below the bandwidth, and allows for aggregated ACKs.

mod policed;

use self::policed::PolicedRate;
use super::{FullPipe, MIN_PIPE, MaxFilter, MinRtt, PROBE_RTT_S, pseudo_random};
use crate::family::no_check;
use crate::{Ack, Congestion, FamilyOf, MarkResponse, Needs, SlowStart, WindowRule};

/// 2/ln 2: doubles the rate every round trip.
const HIGH_GAIN: f64 = 2.885_390_081_777_926_8;
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
const BANDWIDTH_ROUNDS: usize = 10;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Startup,
    Drain,
    ProbeBandwidth {
        phase: usize,
        since_s: f64,
    },
    /// `until_s` is set once the pipe is drained; a round trip must pass as well.
    ProbeRtt {
        until_s: Option<f64>,
        round_passed: bool,
    },
}

/// BBR version 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Bbr1 {
    mode: Mode,
    max_bandwidth: MaxFilter<BANDWIDTH_ROUNDS>,
    policed: PolicedRate,
    min_rtt: MinRtt,
    full_pipe: FullPipe,
    round: u64,
    pacing_packets_s: f64,
    /// The first window seen, packets.
    initial_cwnd: f64,
    /// cwnd before ProbeRTT or recovery, packets.
    prior_cwnd: f64,
    /// Packets lost so far, and whether the phase of gain 5/4 has seen a loss.
    lost: u64,
    has_lost: bool,
    in_recovery: bool,
    /// Packet conservation: the first round trip of recovery.
    packet_conservation: bool,
    /// No ACK has come since an idle period.
    idle_restart: bool,
    in_flight: f64,
}

impl Default for Bbr1 {
    fn default() -> Self {
        Self {
            mode: Mode::Startup,
            max_bandwidth: MaxFilter::new(),
            policed: PolicedRate::default(),
            min_rtt: MinRtt::new(),
            full_pipe: FullPipe::default(),
            round: 0,
            pacing_packets_s: 0.0,
            initial_cwnd: 0.0,
            prior_cwnd: 0.0,
            lost: 0,
            has_lost: false,
            in_recovery: false,
            packet_conservation: false,
            idle_restart: false,
            in_flight: 0.0,
        }
    }
}

impl Bbr1 {
    fn gains(&self) -> (f64, f64) {
        match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (1.0 / HIGH_GAIN, HIGH_GAIN),
            Mode::ProbeBandwidth { .. } if self.policed.packets_s().is_some() => (1.0, 2.0),
            Mode::ProbeBandwidth { phase, .. } => (CYCLE[phase], 2.0),
            Mode::ProbeRtt { .. } => (1.0, 1.0),
        }
    }

    /// The bandwidth to send at, packets/s: a policer's or the largest.
    fn bandwidth(&self) -> f64 {
        self.policed.packets_s().unwrap_or(self.max_bandwidth.value())
    }

    /// `gain` times the product of a bandwidth and the minimum RTT plus the allowance, packets.
    fn inflight(&self, bandwidth: f64, gain: f64) -> f64 {
        let product = bandwidth * self.min_rtt.value_s;
        if product.is_finite() && product > 0.0 {
            (gain * product).ceil() + 3.0
        } else {
            self.initial_cwnd
        }
    }

    /// What ends a phase: packets in flight at the largest bandwidth.
    fn probed(&self, gain: f64) -> f64 {
        self.inflight(self.max_bandwidth.value(), gain)
    }

    fn update(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        if self.initial_cwnd == 0.0 {
            self.initial_cwnd = cwnd;
        }
        let lost = ack.lost_packets.saturating_sub(self.lost);
        (self.lost, self.has_lost) = (ack.lost_packets, self.has_lost || lost > 0);
        self.round += u64::from(ack.round_start);
        let probes_bandwidth = matches!(self.mode, Mode::ProbeBandwidth { .. });
        if self.policed.update(ack, lost, probes_bandwidth) {
            self.enter_probe_bandwidth(ack);
        }
        let rate = ack.delivery_rate_packets_s;
        if rate > 0.0 && (!ack.app_limited || rate >= self.max_bandwidth.value()) {
            self.max_bandwidth.update(self.round, rate);
        }
        if ack.round_start && !ack.app_limited {
            self.full_pipe.update(self.max_bandwidth.value());
        }
        let expired = self.min_rtt.update(ack);
        self.next_mode(cwnd, ack);
        let restored = self.probe_rtt(cwnd, ack, expired);
        self.set_pacing(cwnd, ack);
        self.in_flight = ack.in_flight_packets as f64;
        let cwnd = self.recover(restored, ack, lost);
        if self.packet_conservation { self.bounded(cwnd) } else { self.window(cwnd, ack) }
    }

    /// Recovery (section 4.2.3.4): cwnd less the packets lost, in the first round trip packets in
    /// flight and delivered, and at the end the cwnd before recovery.
    fn recover(&mut self, cwnd: f64, ack: &Ack, lost: u64) -> f64 {
        let left = self.in_recovery && !ack.in_recovery;
        self.in_recovery = ack.in_recovery;
        self.packet_conservation &= ack.in_recovery && !ack.round_start;
        if left {
            return cwnd.max(self.prior_cwnd);
        }
        let cwnd = if ack.in_recovery { (cwnd - lost as f64).max(1.0) } else { cwnd };
        if self.packet_conservation {
            cwnd.max((ack.in_flight_packets + ack.acked_packets) as f64)
        } else {
            cwnd
        }
    }

    fn save(&mut self, cwnd: f64) {
        let lowered = self.in_recovery || matches!(self.mode, Mode::ProbeRtt { .. });
        self.prior_cwnd = if lowered { self.prior_cwnd.max(cwnd) } else { cwnd };
    }

    fn next_mode(&mut self, cwnd: f64, ack: &Ack) {
        let in_flight = ack.in_flight_packets as f64;
        if self.mode == Mode::Startup && self.full_pipe.reached {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && in_flight <= self.probed(1.0) {
            self.enter_probe_bandwidth(ack);
        }
        if let Mode::ProbeBandwidth { phase, since_s } = self.mode {
            let whole = ack.now_s - since_s > self.min_rtt.value_s;
            // Before this ACK.
            let in_flight = in_flight + ack.acked_packets as f64;
            let over = match self.gains().0 {
                gain if gain > 1.0 => {
                    whole && (self.has_lost || in_flight >= self.probed(gain).min(cwnd))
                }
                gain if gain < 1.0 => whole || in_flight <= self.probed(1.0),
                _ => whole,
            };
            if over {
                self.has_lost = false;
                self.mode =
                    Mode::ProbeBandwidth { phase: (phase + 1) % CYCLE.len(), since_s: ack.now_s };
            }
        }
    }

    /// Starts any phase but that of gain 3/4.
    fn enter_probe_bandwidth(&mut self, ack: &Ack) {
        let drawn = (pseudo_random(ack) * 7.0) as usize;
        let phase = if drawn == 0 { 0 } else { drawn + 1 };
        self.mode = Mode::ProbeBandwidth { phase, since_s: ack.now_s };
    }

    /// Enters and leaves ProbeRTT; returns the cwnd to continue from.
    fn probe_rtt(&mut self, cwnd: f64, ack: &Ack, expired: bool) -> f64 {
        let probing = matches!(self.mode, Mode::ProbeRtt { .. });
        let restarts = std::mem::take(&mut self.idle_restart);
        if expired && !probing && !restarts {
            self.save(cwnd);
            self.mode = Mode::ProbeRtt { until_s: None, round_passed: false };
        }
        let Mode::ProbeRtt { until_s, round_passed } = self.mode else { return cwnd };
        let Some(until_s) = until_s else {
            if ack.in_flight_packets as f64 <= MIN_PIPE {
                self.mode =
                    Mode::ProbeRtt { until_s: Some(ack.now_s + PROBE_RTT_S), round_passed: false };
            }
            return cwnd;
        };
        let round_passed = round_passed || ack.round_start;
        self.mode = Mode::ProbeRtt { until_s: Some(until_s), round_passed };
        if !round_passed || ack.now_s < until_s {
            return cwnd;
        }
        self.leave_probe_rtt(cwnd, ack)
    }

    /// Leaves ProbeRTT; returns the cwnd to continue from.
    fn leave_probe_rtt(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        self.min_rtt.since_s = ack.now_s;
        if self.full_pipe.reached {
            self.enter_probe_bandwidth(ack)
        } else {
            self.mode = Mode::Startup
        }
        cwnd.max(self.prior_cwnd)
    }

    fn set_pacing(&mut self, cwnd: f64, ack: &Ack) {
        let (gain, _) = self.gains();
        let mut rate = gain * self.bandwidth();
        if rate == 0.0 {
            // Before the first measurement: a window per round trip.
            rate = gain * cwnd / if ack.srtt_s > 0.0 { ack.srtt_s } else { 0.001 };
        }
        if self.full_pipe.reached || rate > self.pacing_packets_s {
            self.pacing_packets_s = rate;
        }
    }

    fn window(&self, cwnd: f64, ack: &Ack) -> f64 {
        let acked = ack.acked_packets as f64;
        let target = self.inflight(self.bandwidth(), self.gains().1);
        let cwnd = if self.full_pipe.reached {
            (cwnd + acked).min(target)
        } else if cwnd < target || (ack.delivered_packets as f64) < self.initial_cwnd {
            cwnd + acked
        } else {
            cwnd
        };
        self.bounded(cwnd.max(MIN_PIPE))
    }

    fn bounded(&self, cwnd: f64) -> f64 {
        if matches!(self.mode, Mode::ProbeRtt { .. }) { cwnd.min(MIN_PIPE) } else { cwnd }
    }

    /// Linux `bbr_undo_cwnd`: the slow-down was spurious, so Startup and the policer's
    /// rate are measured anew. cwnd returns when recovery ends.
    pub(crate) fn undo(&mut self) {
        self.policed = PolicedRate::default();
        self.full_pipe = FullPipe { reached: self.full_pipe.reached, ..FullPipe::default() };
    }

    pub(crate) fn phase(&self) -> &'static str {
        match self.mode {
            Mode::Startup => "Startup",
            Mode::Drain => "Drain",
            Mode::ProbeBandwidth { .. } => "ProbeBW",
            Mode::ProbeRtt { .. } => "ProbeRTT",
        }
    }
}

impl WindowRule for Bbr1 {
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        self.update(cwnd, ack)
    }

    fn decrease(&mut self, cwnd: f64, congestion: Congestion) -> f64 {
        self.save(cwnd);
        self.has_lost = true;
        if congestion != Congestion::FastRetransmit || self.in_flight == 0.0 {
            return cwnd;
        }
        self.packet_conservation = true;
        self.in_flight + 1.0
    }

    fn slow_start(&mut self, cwnd: f64, ack: &Ack) -> SlowStart {
        SlowStart::Grow(self.update(cwnd, ack))
    }

    /// Section 4.3.4.4; a ProbeRTT whose time has passed ends, as in Linux (`bbr_cwnd_event`).
    fn restart_from_idle(&mut self, cwnd: f64, now_s: f64) -> f64 {
        self.idle_restart = true;
        match self.mode {
            Mode::ProbeBandwidth { .. } if self.max_bandwidth.value() > 0.0 => {
                self.pacing_packets_s = self.bandwidth();
                cwnd
            }
            Mode::ProbeRtt { until_s: Some(until_s), .. } if now_s > until_s => {
                self.leave_probe_rtt(cwnd, &Ack { now_s, ..Ack::EMPTY })
            }
            _ => cwnd,
        }
    }

    fn on_mark(&mut self, _: f64, _: &Ack) -> MarkResponse {
        MarkResponse::Consumed
    }

    fn pacing_rate_packets_s(&self) -> Option<f64> {
        (self.pacing_packets_s > 0.0).then_some(self.pacing_packets_s)
    }

    fn needs(&self) -> Needs {
        Needs {
            delivery_rate: true,
            rounds: true,
            pacing: true,
            recovery: true,
            ..Needs::default()
        }
    }

    fn state(&self, report: &mut dyn FnMut(&str, f64)) {
        report(
            "max_bw_packets_s",
            if self.max_bandwidth.value() > 0.0 { self.max_bandwidth.value() } else { f64::NAN },
        );
        report(
            "min_rtt_s",
            if self.min_rtt.value_s.is_finite() { self.min_rtt.value_s } else { f64::NAN },
        );
        report("pacing_gain", self.gains().0);
        report("cwnd_gain", self.gains().1);
    }
}

pub(crate) const FAMILY: FamilyOf<Box<Bbr1>> = FamilyOf {
    name: "BBR1",
    summary: "BBR version 1: pace at the measured bandwidth, keep two bandwidth-delay products in \
        flight at most",
    source: "draft-cardwell-iccrg-bbr-congestion-control-00; Cardwell et al. 2016",
    example: "BBR1",
    deployed: true,
    parameters: &[],
    check: no_check,
    build: |_| Box::default(),
};

#[cfg(test)]
mod tests;
