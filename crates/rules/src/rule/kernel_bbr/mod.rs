//! BBR as the Linux kernel has it (`tcp_bbr.c`): version 1 of draft-cardwell-iccrg-bbr-congestion-
//! control-00 in whole packets, microseconds and fixed-point numbers. [`Bbr1`](crate::Bbr1) is the
//! draft's.
//!
//! ```text
//! bandwidth  units of 2^-24 packets/us: maximum delivery rate of 10 round trips, or a policer's
//! gain       units of 1/256: 739 in Startup, 88 in Drain, 320, 192 and 256 (6 times) in ProbeBW
//! pacing     = 0.99 gain bandwidth mss / 256, bytes/s; it never falls before the pipe is full
//! goal       = packets of a millisecond (2^10 us) at the pacing rate, at least 2 (1: < 1.2 Mbit/s)
//! bdp(gain)  = ceil(gain bandwidth min_rtt / 256)
//! target     = bdp(gain) + excess of ACKs + 3 goal, rounded up to an even number; + 2 while gain
//!              is 320
//! ```
//!
//! What the draft has otherwise: ACK aggregation (`aggregation`) and policers (`policer`) are not
//! in it, nor is the 1 % below the bandwidth; its maximum filter is exact, where that of Linux has
//! three values (`running_max`); its allowance are three send quanta.
//!
//! The endpoint of profile `linux` gives rate samples ([`RateSample`]). Others give
//! [`Ack`]s, from which samples are made: then times are those of ACKs, and packets leave one by
//! one.

mod aggregation;
mod policer;
mod running_max;
mod units;

use self::aggregation::ExcessAcks;
use self::policer::{Finding, Policer};
use self::running_max::RunningMax;
use self::units::{BANDWIDTH_SHIFT, GAIN_SHIFT, UNIT, bytes_per_second};
use super::bbr::pseudo_random;
use crate::family::no_check;
use crate::{
    Ack, Congestion, Control, FamilyOf, MarkResponse, Needs, PacingRate, Rate, RateSample, Repair,
    SlowStart, WindowRule,
};
use std::collections::VecDeque;

/// 2/ln 2 rounded up, and its inverse rounded down.
const HIGH_GAIN: u64 = UNIT * 2885 / 1000 + 1;
const DRAIN_GAIN: u64 = UNIT * 1000 / 2885;
/// Gains of ProbeBW.
const CYCLE: [u64; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
const CWND_GAIN: u64 = 2 * UNIT;
/// The first phase of ProbeBW is any but the second.
const FIRST_PHASES: u32 = 7;
/// Round trips of the maximum filter.
const BANDWIDTH_ROUNDS: u64 = 10;
/// The pipe is full when the bandwidth grew by less than 1/4 in each of 3 round trips.
const FULL_GROWTH: u64 = UNIT * 5 / 4;
const FULL_ROUNDS: u32 = 3;
/// Smallest window, packets (BBRMinPipeCwnd), and the one without any RTT.
const MIN_PIPE: u64 = 4;
const INITIAL_WINDOW: u64 = 10;
/// Window of the minimum RTT and duration of ProbeRTT, ms.
const MIN_RTT_MS: u64 = 10_000;
const PROBE_RTT_MS: u64 = 200;
/// Rate below which packets leave one by one, bytes/s.
const SLOW_BYTES_S: u64 = 150_000;
/// Largest burst for which cwnd has room, bytes: 64 KiB less room for headers; and packets.
const BURST_BYTES: u64 = 65_215;
const BURST_PACKETS: u64 = 127;
/// RTT before the first sample, microseconds.
const NOMINAL_RTT_US: u64 = 1000;
/// Payload that stands for any where the endpoint does not tell, bytes.
const DEFAULT_PACKET_BYTES: u64 = 1448;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBandwidth,
    ProbeRtt,
}

/// BBR of Linux.
#[derive(Clone, Debug)]
pub struct KernelBbr {
    mode: Mode,
    max_bandwidth: RunningMax,
    policer: Policer,
    aggregation: ExcessAcks,
    min_rtt_us: Option<u64>,
    min_rtt_ms: u64,
    round: u64,
    round_start: bool,
    next_round_delivered: u64,
    pacing_gain: u64,
    cwnd_gain: u64,
    pacing_bytes_s: u64,
    full_bandwidth: u64,
    full_rounds: u32,
    is_full: bool,
    phase: usize,
    phase_us: u64,
    /// Numbers of phases to skip, as they were drawn elsewhere.
    draws: VecDeque<u32>,
    /// When ProbeRTT may end, ms, once few packets are in flight.
    probe_rtt_until_ms: Option<u64>,
    probe_rtt_round_done: bool,
    idle_restart: bool,
    /// cwnd before recovery or ProbeRTT, packets.
    prior_cwnd: u64,
    repair: Repair,
    packet_conservation: bool,
    has_rtt: bool,
    has_begun: bool,
    /// The last sample: an event without one happens in its state.
    last: RateSample,
}

impl Default for KernelBbr {
    fn default() -> Self {
        Self {
            mode: Mode::Startup,
            max_bandwidth: RunningMax::new(BANDWIDTH_ROUNDS),
            policer: Policer::default(),
            aggregation: ExcessAcks::default(),
            min_rtt_us: None,
            min_rtt_ms: 0,
            round: 0,
            round_start: false,
            next_round_delivered: 0,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            pacing_bytes_s: 0,
            full_bandwidth: 0,
            full_rounds: 0,
            is_full: false,
            phase: 0,
            phase_us: 0,
            draws: VecDeque::new(),
            probe_rtt_until_ms: None,
            probe_rtt_round_done: false,
            idle_restart: false,
            prior_cwnd: 0,
            repair: Repair::None,
            packet_conservation: false,
            has_rtt: false,
            has_begun: false,
            last: RateSample::default(),
        }
    }
}

impl KernelBbr {
    /// Numbers of phases that the first entries of ProbeBW skip, 0 to 6, as a kernel drew them.
    pub fn give_draws(&mut self, draws: &[u32]) {
        self.draws = draws.iter().copied().collect();
    }

    /// The name of its mode.
    pub fn phase(&self) -> &'static str {
        match self.mode {
            Mode::Startup => "Startup",
            Mode::Drain => "Drain",
            Mode::ProbeBandwidth => "ProbeBW",
            Mode::ProbeRtt => "ProbeRTT",
        }
    }

    /// A spurious reduction: the full pipe and the policer it suggested are forgotten.
    pub fn undo(&mut self) {
        (self.full_bandwidth, self.full_rounds) = (0, 0);
        self.policer.reset(self.last.delivered_us, self.last.delivered, self.last.lost);
    }

    /// The bandwidth to send at: a policer's or the largest.
    fn bandwidth(&self) -> u64 {
        self.policer.bandwidth().unwrap_or(self.max_bandwidth.value())
    }

    /// Packets in flight that fill the path at a bandwidth.
    fn bdp(&self, bandwidth: u64, gain: u64) -> u64 {
        let Some(min_rtt_us) = self.min_rtt_us else { return INITIAL_WINDOW };
        ((bandwidth * min_rtt_us * gain) >> GAIN_SHIFT).div_ceil(1 << BANDWIDTH_SHIFT)
    }

    fn least_burst(&self) -> u64 {
        if self.pacing_bytes_s < SLOW_BYTES_S { 1 } else { 2 }
    }

    /// Packets that leave as one, however small the path.
    fn burst_goal(&self) -> u64 {
        let bytes = (self.pacing_bytes_s >> 10).min(BURST_BYTES);
        (bytes / self.last.packet_bytes.max(1)).max(self.least_burst()).min(BURST_PACKETS)
    }

    /// A window with room for bursts and delayed ACKs.
    fn quantized(&self, packets: u64) -> u64 {
        let even = (packets + 3 * self.burst_goal()).next_multiple_of(2);
        let probes = self.mode == Mode::ProbeBandwidth && self.phase == 0;
        even + if probes { 2 } else { 0 }
    }

    fn inflight(&self, bandwidth: u64, gain: u64) -> u64 {
        self.quantized(self.bdp(bandwidth, gain))
    }

    /// Of `in_flight` packets, those that will be in the network at the next departure.
    fn at_departure(&self, in_flight: u64, departure_us: u64) -> u64 {
        let delivered = (self.bandwidth() * departure_us) >> BANDWIDTH_SHIFT;
        let departs = if self.pacing_gain > UNIT { self.burst_goal() } else { 0 };
        (in_flight + departs).saturating_sub(delivered)
    }

    fn update_bandwidth(&mut self, sample: &RateSample) {
        self.round_start = false;
        let Some(rate) = sample.rate else { return };
        if rate.prior_delivered >= self.next_round_delivered {
            self.next_round_delivered = sample.delivered;
            self.round += 1;
            self.round_start = true;
            self.packet_conservation = false;
        }
        self.update_policer(sample);
        let bandwidth = (rate.delivered << BANDWIDTH_SHIFT) / rate.interval_us;
        if !sample.is_app_limited || bandwidth >= self.max_bandwidth.value() {
            self.max_bandwidth.update(self.round, bandwidth);
        }
    }

    fn update_policer(&mut self, sample: &RateSample) {
        let probes_bandwidth = self.mode == Mode::ProbeBandwidth;
        match self.policer.update(sample, self.round_start, probes_bandwidth) {
            Finding::Nothing => {}
            Finding::Policed => self.pacing_gain = UNIT,
            Finding::Over => self.enter_probe_bandwidth(sample),
        }
    }

    fn update_phase(&mut self, sample: &RateSample) {
        if self.mode != Mode::ProbeBandwidth {
            return;
        }
        let took_us = sample.delivered_us.saturating_sub(self.phase_us);
        let is_whole = took_us > self.min_rtt_us.unwrap_or(u64::MAX);
        let in_flight = || self.at_departure(sample.prior_in_flight, sample.departure_us);
        let reached = |gain| self.inflight(self.max_bandwidth.value(), gain);
        let is_over = match self.pacing_gain {
            gain if gain > UNIT => {
                is_whole && (sample.newly_lost > 0 || in_flight() >= reached(gain))
            }
            gain if gain < UNIT => is_whole || in_flight() <= reached(UNIT),
            _ => is_whole,
        };
        if is_over {
            self.next_phase(sample);
        }
    }

    fn next_phase(&mut self, sample: &RateSample) {
        (self.phase, self.phase_us) = ((self.phase + 1) % CYCLE.len(), sample.delivered_us);
    }

    fn enter_probe_bandwidth(&mut self, sample: &RateSample) {
        self.mode = Mode::ProbeBandwidth;
        let drawn = self.draws.pop_front().unwrap_or_else(|| {
            let history = Ack {
                now_s: sample.now_us as f64,
                delivered_packets: sample.delivered,
                rtt_s: sample.srtt_us as f64,
                ..Ack::EMPTY
            };
            (pseudo_random(&history) * f64::from(FIRST_PHASES)) as u32
        });
        self.phase = CYCLE.len() - 1 - drawn.min(FIRST_PHASES - 1) as usize;
        self.next_phase(sample);
    }

    fn check_full_pipe(&mut self, sample: &RateSample) {
        if self.is_full || !self.round_start || sample.is_app_limited {
            return;
        }
        let bandwidth = self.max_bandwidth.value();
        if bandwidth >= (self.full_bandwidth * FULL_GROWTH) >> GAIN_SHIFT {
            (self.full_bandwidth, self.full_rounds) = (bandwidth, 0);
            return;
        }
        self.full_rounds += 1;
        self.is_full = self.full_rounds >= FULL_ROUNDS;
    }

    /// Enters and leaves Drain; returns ssthresh, where it changes.
    fn check_drain(&mut self, sample: &RateSample) -> Option<f64> {
        let mut ssthresh = None;
        if self.mode == Mode::Startup && self.is_full {
            self.mode = Mode::Drain;
            ssthresh = Some(self.inflight(self.max_bandwidth.value(), UNIT) as f64);
        }
        if self.mode == Mode::Drain
            && self.at_departure(sample.in_flight, sample.departure_us)
                <= self.inflight(self.max_bandwidth.value(), UNIT)
        {
            self.enter_probe_bandwidth(sample);
        }
        ssthresh
    }

    /// Keeps the minimum RTT, and enters and leaves ProbeRTT; returns cwnd.
    fn update_min_rtt(&mut self, cwnd: u64, sample: &RateSample) -> u64 {
        let mut cwnd = cwnd;
        let is_expired = sample.now_ms > self.min_rtt_ms + MIN_RTT_MS;
        if let Some(rtt_us) = sample.rtt_us
            && (is_expired || self.min_rtt_us.is_none_or(|least_us| rtt_us < least_us))
        {
            (self.min_rtt_us, self.min_rtt_ms) = (Some(rtt_us), sample.now_ms);
        }
        if is_expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(cwnd);
            self.probe_rtt_until_ms = None;
        }
        if self.mode == Mode::ProbeRtt {
            if self.probe_rtt_until_ms.is_none() && sample.in_flight <= MIN_PIPE {
                self.probe_rtt_until_ms = Some(sample.now_ms + PROBE_RTT_MS);
                self.probe_rtt_round_done = false;
                self.next_round_delivered = sample.delivered;
            } else if self.probe_rtt_until_ms.is_some() {
                self.probe_rtt_round_done |= self.round_start;
                if self.probe_rtt_round_done {
                    cwnd = self.check_probe_rtt_done(cwnd, sample);
                }
            }
        }
        self.idle_restart &= !sample.is_timed;
        cwnd
    }

    fn check_probe_rtt_done(&mut self, cwnd: u64, sample: &RateSample) -> u64 {
        if self.probe_rtt_until_ms.is_none_or(|until_ms| sample.now_ms <= until_ms) {
            return cwnd;
        }
        self.min_rtt_ms = sample.now_ms;
        if self.is_full {
            self.enter_probe_bandwidth(sample);
        } else {
            self.mode = Mode::Startup;
        }
        cwnd.max(self.prior_cwnd)
    }

    fn save_cwnd(&mut self, cwnd: u64) {
        let is_lowered = self.repair >= Repair::Recovery || self.mode == Mode::ProbeRtt;
        self.prior_cwnd = if is_lowered { self.prior_cwnd.max(cwnd) } else { cwnd };
    }

    fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBandwidth if self.policer.bandwidth().is_some() => (UNIT, CWND_GAIN),
            Mode::ProbeBandwidth => (CYCLE[self.phase], CWND_GAIN),
            Mode::ProbeRtt => (UNIT, UNIT),
        };
    }

    fn set_pacing(&mut self, cwnd: u64, gain: u64, sample: &RateSample) {
        let bytes_s = bytes_per_second(self.bandwidth(), gain, sample.packet_bytes);
        if !self.has_rtt && sample.srtt_us > 0 {
            self.init_pacing(cwnd, sample);
        }
        if self.is_full || bytes_s > self.pacing_bytes_s {
            self.pacing_bytes_s = bytes_s;
        }
    }

    /// The rate before any sample: a window per round trip, times the gain of Startup.
    fn init_pacing(&mut self, cwnd: u64, sample: &RateSample) {
        self.has_rtt |= sample.srtt_us > 0;
        let rtt_us = if sample.srtt_us > 0 { sample.srtt_us } else { NOMINAL_RTT_US };
        let bandwidth = (cwnd << BANDWIDTH_SHIFT) / rtt_us;
        self.pacing_bytes_s = bytes_per_second(bandwidth, HIGH_GAIN, sample.packet_bytes);
    }

    fn window(&mut self, cwnd: u64, sample: &RateSample) -> u64 {
        let window = if sample.newly_delivered == 0 {
            cwnd
        } else {
            self.window_after_delivery(cwnd, sample)
        };
        if self.mode == Mode::ProbeRtt { window.min(MIN_PIPE) } else { window }
    }

    fn window_after_delivery(&mut self, cwnd: u64, sample: &RateSample) -> u64 {
        let acked = sample.newly_delivered;
        let mut cwnd = cwnd;
        if sample.newly_lost > 0 {
            cwnd = cwnd.saturating_sub(sample.newly_lost).max(1);
        }
        let (before, now) = (self.repair, sample.repair);
        if now == Repair::Recovery && before != Repair::Recovery {
            self.packet_conservation = true;
            self.next_round_delivered = sample.delivered;
            cwnd = sample.in_flight + acked;
        } else if before >= Repair::Recovery && now < Repair::Recovery {
            cwnd = cwnd.max(self.prior_cwnd);
            self.packet_conservation = false;
        }
        self.repair = now;
        if self.packet_conservation {
            return cwnd.max(sample.in_flight + acked);
        }
        let bandwidth = self.bandwidth();
        let excess = if self.is_full { self.aggregation.packets(bandwidth) } else { 0 };
        let target = self.quantized(self.bdp(bandwidth, self.cwnd_gain) + excess);
        if self.is_full {
            cwnd = (cwnd + acked).min(target);
        } else if cwnd < target || sample.delivered < INITIAL_WINDOW {
            cwnd += acked;
        }
        cwnd.max(MIN_PIPE)
    }

    fn begin(&mut self, cwnd: f64, sample: &RateSample) {
        let draws = std::mem::take(&mut self.draws);
        *self = Self { draws, has_begun: true, last: *sample, ..Self::default() };
        self.next_round_delivered = sample.delivered;
        (self.min_rtt_us, self.min_rtt_ms) = (sample.min_rtt_us, sample.now_ms);
        self.init_pacing(cwnd as u64, sample);
        self.policer.reset(sample.delivered_us, sample.delivered, sample.lost);
        self.aggregation.begin(sample.now_us);
    }

    /// A sample from an ACK of an endpoint that gives none.
    fn sample_of(&self, ack: &Ack) -> RateSample {
        let us = |seconds: f64| (seconds * 1e6).round() as u64;
        let delivered = ack.delivered_packets;
        let flight = ack.delivered_since_sent_packets;
        let rate = (ack.delivery_rate_packets_s > 0.0).then(|| Rate {
            prior_delivered: delivered.saturating_sub(flight),
            delivered: flight,
            interval_us: us(flight as f64 / ack.delivery_rate_packets_s).max(1),
        });
        let now_us = us(ack.now_s);
        let newly_delivered = delivered.saturating_sub(self.last.delivered);
        RateSample {
            now_us,
            now_ms: now_us / 1000,
            delivered,
            newly_delivered,
            delivered_us: now_us,
            lost: ack.lost_packets,
            newly_lost: ack.lost_packets.saturating_sub(self.last.lost),
            prior_in_flight: ack.in_flight_packets + newly_delivered,
            in_flight: ack.in_flight_packets,
            rate,
            is_timed: true,
            is_app_limited: ack.app_limited,
            rtt_us: (ack.rtt_s > 0.0).then(|| us(ack.rtt_s)),
            srtt_us: us(ack.srtt_s),
            min_rtt_us: (ack.min_rtt_s > 0.0).then(|| us(ack.min_rtt_s)),
            departure_us: 0,
            packet_bytes: DEFAULT_PACKET_BYTES,
            repair: match self.repair {
                _ if !ack.in_recovery => Repair::None,
                Repair::Loss => Repair::Loss,
                _ => Repair::Recovery,
            },
        }
    }

    fn on_ack(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        self.on_sample(cwnd, &self.sample_of(ack)).cwnd
    }
}

impl WindowRule for KernelBbr {
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        self.on_ack(cwnd, ack)
    }

    fn decrease(&mut self, cwnd: f64, _: Congestion) -> f64 {
        self.save_cwnd(cwnd as u64);
        cwnd
    }

    fn slow_start(&mut self, cwnd: f64, ack: &Ack) -> SlowStart {
        SlowStart::Grow(self.on_ack(cwnd, ack))
    }

    fn on_mark(&mut self, _: f64, _: &Ack) -> MarkResponse {
        MarkResponse::Consumed
    }

    fn on_connected(&mut self, cwnd: f64, sample: &RateSample) {
        self.begin(cwnd, sample);
    }

    fn on_sample(&mut self, cwnd: f64, sample: &RateSample) -> Control {
        if !self.has_begun {
            self.begin(cwnd, sample);
        }
        self.last = *sample;
        let cwnd = cwnd as u64;
        self.update_bandwidth(sample);
        self.aggregation.update(sample, self.round_start, self.bandwidth(), cwnd);
        self.update_phase(sample);
        self.check_full_pipe(sample);
        let ssthresh = self.check_drain(sample);
        let restored = self.update_min_rtt(cwnd, sample);
        let limits_flow = self.mode == Mode::ProbeRtt;
        self.update_gains();
        self.set_pacing(restored, self.pacing_gain, sample);
        Control { cwnd: self.window(restored, sample) as f64, ssthresh, limits_flow }
    }

    fn on_timeout(&mut self, sample: &RateSample) {
        self.repair = Repair::Loss;
        self.full_bandwidth = 0;
        self.round_start = true;
        let loss = RateSample { newly_lost: 1, is_app_limited: false, ..*sample };
        self.update_policer(&loss);
    }

    fn restart_from_idle(&mut self, cwnd: f64, now_s: f64) -> f64 {
        let now_us = (now_s * 1e6).round() as u64;
        self.idle_restart = true;
        self.aggregation.begin(now_us);
        let sample = RateSample { now_us, now_ms: now_us / 1000, ..self.last };
        match self.mode {
            Mode::ProbeBandwidth => self.set_pacing(cwnd as u64, UNIT, &sample),
            Mode::ProbeRtt => return self.check_probe_rtt_done(cwnd as u64, &sample) as f64,
            Mode::Startup | Mode::Drain => {}
        }
        cwnd
    }

    fn pacing_rate(&self) -> Option<PacingRate> {
        self.has_begun
            .then(|| PacingRate { bytes_s: self.pacing_bytes_s, least_burst: self.least_burst() })
    }

    fn pacing_rate_packets_s(&self) -> Option<f64> {
        let packet_bytes = self.last.packet_bytes.max(1);
        (self.pacing_bytes_s > 0).then(|| self.pacing_bytes_s as f64 / packet_bytes as f64)
    }

    fn needs(&self) -> Needs {
        Needs {
            delivery_rate: true,
            rounds: true,
            pacing: true,
            recovery: true,
            samples: true,
            ..Needs::default()
        }
    }

    fn state(&self, report: &mut dyn FnMut(&str, f64)) {
        let packets_s = |bandwidth: u64| {
            let packets_us = bandwidth as f64 / f64::from(1u32 << BANDWIDTH_SHIFT);
            if bandwidth > 0 { 1e6 * packets_us } else { f64::NAN }
        };
        report("max_bw_packets_s", packets_s(self.max_bandwidth.value()));
        report("policed_bw_packets_s", packets_s(self.policer.bandwidth().unwrap_or(0)));
        report("min_rtt_s", self.min_rtt_us.map_or(f64::NAN, |min_us| min_us as f64 / 1e6));
        report("pacing_gain", self.pacing_gain as f64 / UNIT as f64);
        report("cwnd_gain", self.cwnd_gain as f64 / UNIT as f64);
    }
}

pub(crate) const FAMILY: FamilyOf<Box<KernelBbr>> = FamilyOf {
    name: "bbr",
    summary: "BBR version 1 in whole packets and microseconds, with room for aggregated ACKs",
    source: "Linux, net/ipv4/tcp_bbr.c",
    example: "kernel:bbr",
    deployed: true,
    parameters: &[],
    check: no_check,
    build: |_| Box::default(),
};

#[cfg(test)]
mod tests;
