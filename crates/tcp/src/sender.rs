//! TCP sender: state and event handlers that all recovery schemes share. Each handler takes the
//! time, changes the state and passes segments to `out`.
//!
//! The order of operations is that of ns-2 (`tcp/tcp.cc`), because the order affects results; names
//! are those of the RFCs.

use crate::cwnd::CwndAction;
use crate::ecn::EcnState;
use crate::loss_detection::rack::Rack;
use crate::pacing::Pacer;
use crate::prr::Prr;
use crate::rate_sample::RateSampler;
use crate::slow_start::SlowStart;
use crate::{
    AckSegment, Counters, Knobs, NEVER, Output, Recovery, RttEstimator, SackBlocks, Scoreboard,
    recovery,
};
use cwndlab_prefetch::prefetch;
use cwndlab_rules::{AckFields, Needs, Rule, WindowRule};

/// Below every packet number, and below -1, which means that nothing is acknowledged.
pub(crate) const NO_PACKET: i64 = i64::MIN;

/// Phase of a sender (RFC 5681 section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// cwnd is below ssthresh.
    SlowStart,
    /// The rule grows cwnd.
    CongestionAvoidance,
    /// Losses found by duplicate ACKs, SACK or RACK are being repaired.
    Recovery,
    /// Losses after a retransmission timeout are being repaired.
    Loss,
}

impl Phase {
    /// Name in traces.
    pub fn name(self) -> &'static str {
        match self {
            Self::SlowStart => "slow start",
            Self::CongestionAvoidance => "congestion avoidance",
            Self::Recovery => "recovery",
            Self::Loss => "loss",
        }
    }
}

/// A TCP sender.
#[derive(Clone, Debug)]
pub struct Sender {
    pub(crate) recovery: Recovery,
    pub(crate) last_cwnd_action: CwndAction,
    pub(crate) first_reduction: bool,
    /// NewReno: a partial ACK arrived in this recovery.
    pub(crate) partial_ack_seen: bool,
    /// SACK: in fast recovery.
    pub(crate) in_recovery: bool,
    /// SACK: retransmitting after a timeout; duplicate ACKs are ignored.
    pub(crate) after_timeout: bool,
    /// RFC 6675: the rescue retransmission of this recovery was sent.
    pub(crate) rescue_retransmitted: bool,
    pub(crate) rtt_active: bool,
    pub(crate) ecn: EcnState,
    pub(crate) dupacks: u32,
    pub(crate) cwnd: f64,
    pub(crate) ssthresh: f64,
    /// Window inflation by duplicate ACKs, packets (ns-2 `dupwnd_`).
    pub(crate) dupwnd: i64,
    /// Next packet to send (SND.NXT, ns-2 `t_seqno_`).
    pub(crate) snd_nxt: i64,
    pub(crate) highest_sent: i64,
    pub(crate) highest_ack: i64,
    pub(crate) previous_highest_ack: i64,
    pub(crate) last_ack: i64,
    /// Recovery point: highest packet sent at the last reduction (RFC 6582, RFC 6675).
    pub(crate) recover: i64,
    /// `highest_ack` at the last timeout, or [`NO_PACKET`].
    pub(crate) timeout_highest_ack: i64,
    /// Estimate of packets in flight in SACK recovery (RFC 6675).
    pub(crate) pipe: i64,
    /// End of the application's data: packets below this number exist (ns-2 `curseq_`).
    pub(crate) data_end: i64,
    pub(crate) rtt_seq: i64,
    pub(crate) rtt_sent_s: f64,
    pub(crate) deadline_s: f64,
    /// When the timer was armed, seconds.
    pub(crate) armed_at_s: f64,
    /// When the timer would have expired had it not been stopped once all data was acknowledged.
    pub(crate) idle_deadline_s: f64,
    /// Time of the last transmission, seconds (Linux `lsndtime`).
    pub(crate) last_sent_s: f64,
    last_event_s: f64,
    /// Packet 0 was lost: the initial window is at most one packet.
    pub(crate) first_packet_lost: bool,
    pub(crate) rtt: RttEstimator,
    pub(crate) rule: Rule,
    /// Samples for the rule; none if the rule reads cwnd and RTT alone.
    pub(crate) rate_sampler: Option<Box<RateSampler>>,
    /// What the rule needs.
    pub(crate) needs: Needs,
    /// The rule returned an invalid congestion window.
    pub(crate) is_faulty: bool,
    /// Pacing state. Present where transmissions are recorded: for pacing, rate samples or RACK.
    pub(crate) pacer: Option<Box<Pacer>>,
    pub(crate) scoreboard: Option<Box<Scoreboard>>,
    /// PRR state; allocated at the first reduction with the knob `prr`.
    pub(crate) prr: Option<Box<Prr>>,
    /// Whether the scoreboard may hold SACK information.
    pub(crate) scoreboard_in_use: bool,
    /// RACK state, which replaces the scoreboard with the knob `rack`.
    pub(crate) rack: Option<Box<Rack>>,
    /// State of a slow-start scheme other than the standard one.
    pub(crate) slow_start: Option<Box<SlowStart>>,
    /// Whether ACKs may take the fast path.
    pub(crate) fast_path: bool,
    /// The receiver's advertised window, whole packets (RFC 5681 rwnd).
    pub(crate) rwnd: u32,
    pub(crate) counters: Counters,
}

impl Sender {
    /// A sender that has not started. `packets`: initial data, unlimited if none; `timer_phase_s`:
    /// offset of its clock ticks. Every later call takes the same knobs.
    pub fn new(
        rule: Rule,
        recovery: Recovery,
        packets: Option<u64>,
        timer_phase_s: f64,
        knobs: &Knobs,
    ) -> Self {
        let ssthresh = knobs.initial_ssthresh.min(knobs.window);
        let needs = rule.needs();
        let rate_sampler = (needs.ack == AckFields::All).then(RateSampler::new);
        let rack = (knobs.rack && recovery.uses_sack()).then(|| Box::new(Rack::new()));
        let is_faulty = needs.faults && rule.fault().is_some();
        let mut new = Self {
            recovery,
            last_cwnd_action: CwndAction::None,
            first_reduction: true,
            partial_ack_seen: false,
            in_recovery: false,
            after_timeout: false,
            rescue_retransmitted: false,
            rtt_active: false,
            ecn: EcnState::new(knobs),
            dupacks: 0,
            cwnd: if knobs.syn && knobs.delay_growth { 1.0 } else { knobs.initial_window },
            ssthresh: if knobs.integer_ssthresh { ssthresh.trunc() } else { ssthresh },
            dupwnd: 0,
            snd_nxt: 0,
            highest_sent: -1,
            highest_ack: -1,
            previous_highest_ack: -1,
            last_ack: -1,
            recover: 0,
            timeout_highest_ack: NO_PACKET,
            pipe: 0,
            data_end: packets.map_or(i64::MAX / 2, |n| n as i64 + i64::from(knobs.syn)),
            rtt_seq: -1,
            rtt_sent_s: 0.0,
            deadline_s: NEVER,
            armed_at_s: 0.0,
            idle_deadline_s: NEVER,
            last_sent_s: NEVER,
            last_event_s: NEVER,
            first_packet_lost: false,
            rtt: RttEstimator::new(knobs, timer_phase_s),
            pacer: (knobs.pacing || rate_sampler.is_some() || rack.is_some()).then(Box::default),
            rate_sampler,
            needs,
            is_faulty,
            scoreboard: None,
            prr: None,
            scoreboard_in_use: false,
            rack,
            slow_start: SlowStart::new(&rule, knobs),
            rule,
            fast_path: false,
            // A window above 2^32 packets has no effect: conversion saturates.
            rwnd: knobs.window as u32,
            counters: Counters::default(),
        };
        new.fast_path = new.supports_fast_path(knobs);
        new
    }

    /// Resets the sender for another flow, as [`Sender::new`], and keeps the scoreboard's memory.
    pub fn reset(
        &mut self,
        rule: Rule,
        recovery: Recovery,
        packets: Option<u64>,
        timer_phase_s: f64,
        knobs: &Knobs,
    ) {
        let mut scoreboard = self.scoreboard.take();
        if let Some(board) = &mut scoreboard {
            board.reset();
        }
        let rack = self.rack.take().map(Rack::reset);
        let new = Self::new(rule, recovery, packets, timer_phase_s, knobs);
        *self = Self { scoreboard, rack: new.rack.as_ref().and(rack), ..new };
    }

    /// Starts sending.
    pub fn start(&mut self, now_s: f64, knobs: &Knobs, out: &mut impl Output) {
        self.last_event_s = now_s;
        self.send_pending_data(now_s, knobs, knobs.max_burst, out);
    }

    /// Processes an ACK with its SACK blocks.
    #[inline(always)]
    pub fn on_ack(
        &mut self,
        now_s: f64,
        ack: AckSegment,
        sack: Option<&SackBlocks>,
        knobs: &Knobs,
        out: &mut impl Output,
    ) {
        if self.takes_fast_path(ack) {
            return self.on_ack_fast_path(now_s, ack, knobs, out);
        }
        self.on_ack_slow_path(now_s, ack, sack, knobs, out);
    }

    /// Processes any ACK, for every rule and all knobs.
    #[inline(never)]
    fn on_ack_slow_path(
        &mut self,
        now_s: f64,
        ack: AckSegment,
        sack: Option<&SackBlocks>,
        knobs: &Knobs,
        out: &mut impl Output,
    ) {
        // RFC 9293 section 3.10.7.4: drop an ACK of data that was never sent.
        if ack.ack > self.highest_sent {
            return;
        }
        self.accumulate_cwnd_area(now_s);
        self.count_rtt(now_s, ack);
        if self.rate_sampler.is_some() {
            self.sample_ack(now_s, ack, knobs);
        }
        if ack.ece && !self.mark_consumed() {
            self.on_ece(ack.ack, knobs);
        }
        match self.recovery {
            Recovery::Tahoe => recovery::tahoe::on_ack(self, now_s, ack, knobs, out),
            Recovery::Reno | Recovery::NewReno => {
                recovery::reno::on_ack(self, now_s, ack, knobs, out)
            }
            Recovery::Sack if self.rack.is_some() => {
                recovery::rack_tlp::on_ack(self, now_s, ack, sack, knobs, out)
            }
            Recovery::Sack => recovery::sack::on_ack(self, now_s, ack, sack, knobs, out),
        }
    }

    /// Prefetches heap data before the next ACK arrives.
    #[inline]
    pub fn prefetch(&self) {
        self.scoreboard.as_deref().inspect(|board| prefetch(*board));
    }

    /// The first unacknowledged packet (SND.UNA).
    pub fn snd_una(&self) -> i64 {
        self.highest_ack + 1
    }

    /// Congestion window, packets.
    #[inline]
    pub fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// Slow-start threshold, packets.
    #[inline]
    pub fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    /// Smoothed RTT, seconds.
    pub fn srtt_s(&self, knobs: &Knobs) -> f64 {
        self.rtt.srtt_s(knobs)
    }

    /// Phase of the sender.
    pub fn phase(&self) -> Phase {
        let is_outstanding = self.highest_ack < self.recover;
        match self.last_cwnd_action {
            CwndAction::Timeout if is_outstanding => Phase::Loss,
            // SACK has its own `in_recovery`, which is false once recovery ended.
            CwndAction::FastRetransmit if is_outstanding && !self.recovery.uses_sack() => {
                Phase::Recovery
            }
            _ if self.in_recovery => Phase::Recovery,
            _ if self.cwnd < self.ssthresh => Phase::SlowStart,
            _ => Phase::CongestionAvoidance,
        }
    }

    /// The rule, for its state.
    pub fn rule(&self) -> &Rule {
        &self.rule
    }

    /// Time of the last event, seconds.
    pub fn last_event_s(&self) -> f64 {
        self.last_event_s
    }

    /// Counters, with the integral of cwnd up to `now_s`.
    pub fn counters(&self, now_s: f64) -> Counters {
        let area = self.cwnd * (now_s - self.last_event_s).max(0.0);
        Counters { cwnd_area: self.counters.cwnd_area + area, ..self.counters }
    }

    pub(crate) fn has_started(&self) -> bool {
        self.last_event_s < NEVER
    }

    pub(crate) fn accumulate_cwnd_area(&mut self, now_s: f64) {
        self.counters.cwnd_area += self.cwnd * (now_s - self.last_event_s);
        self.last_event_s = now_s;
    }

    pub(crate) fn count_rtt(&mut self, now_s: f64, ack: AckSegment) {
        self.counters.rtt_sum_s += now_s - ack.sent_s;
        self.counters.rtt_count += 1;
    }

    /// Advances the state for an ACK of new data: RTT sample, timer, SND.UNA and SND.NXT (ns-2
    /// `newack`).
    #[inline(always)]
    pub(crate) fn new_ack(&mut self, now_s: f64, ack: AckSegment, knobs: &Knobs) {
        if !knobs.timer_after_sample {
            self.restart_timer(now_s, ack.ack);
        }
        self.dupacks = 0;
        self.last_ack = ack.ack;
        self.previous_highest_ack = self.highest_ack;
        self.highest_ack = ack.ack;
        self.snd_nxt = self.snd_nxt.max(ack.ack + 1);
        self.update_rtt(now_s, ack, knobs);
        if knobs.timer_after_sample {
            self.restart_timer(now_s, ack.ack);
        }
    }

    /// Takes an RTT sample from an ACK of new data: by its timestamp, or if it covers the timed
    /// packet.
    #[inline]
    pub(crate) fn update_rtt(&mut self, now_s: f64, ack: AckSegment, knobs: &Knobs) {
        if knobs.timestamps {
            self.sample_rtt(now_s, ack.echo_s, knobs);
            if knobs.timestamps_reset_backoff {
                self.end_backoff(ack, knobs);
            }
        }
        if self.rtt_active && ack.ack >= self.rtt_seq {
            self.end_backoff(ack, knobs);
            self.rtt_active = false;
            if !knobs.timestamps {
                self.sample_rtt(now_s, self.rtt_sent_s, knobs);
            }
        }
    }

    /// ns-2 `recv_newack_helper`, and the initial window after the SYN.
    #[inline(always)]
    pub(crate) fn new_ack_and_grow(&mut self, now_s: f64, ack: AckSegment, knobs: &Knobs) {
        let acked = (ack.ack - self.highest_ack).max(0) as u64;
        self.new_ack(now_s, ack, knobs);
        self.ecn.ece_at_one_packet &= ack.ece;
        if !ack.ece
            || self.mark_consumed()
            || self.complete_ecn_negotiation()
            || self.is_repairing_after_timeout(knobs)
        {
            self.grow(now_s, ack, acked, knobs);
        }
        self.stop_timer_if_finished();
        if self.last_ack == 0 && knobs.delay_growth {
            self.cwnd = self.initial_window(knobs);
        }
    }

    /// Initial window, packets.
    pub(crate) fn initial_window(&self, knobs: &Knobs) -> f64 {
        if self.first_packet_lost { knobs.initial_window.min(1.0) } else { knobs.initial_window }
    }

    fn sample_rtt(&mut self, now_s: f64, sent_s: f64, knobs: &Knobs) {
        self.rtt.sample(now_s, sent_s, knobs);
        self.counters.rto_sum_s += self.rtt.rto_s();
        self.counters.rto_count += 1;
    }
}
