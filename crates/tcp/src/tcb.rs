//! Transmission control block (TCB, RFC 9293 section 3.3.1): the state that all parts of a sender
//! share, and what all recovery schemes do with it.
//!
//! The order of operations is that of ns-2 (`tcp/tcp.cc`), because the order affects results; names
//! are those of the RFCs.

use crate::cwnd_usage::CwndUsage;
use crate::ecn::EcnState;
use crate::limit::Limitation;
use crate::pacer::Pacer;
use crate::persist::Persist;
use crate::prr::Prr;
use crate::rate_sampler::RateSampler;
use crate::retransmission_timer::RetransmissionTimer;
use crate::slow_start::SlowStart;
use crate::undo::{Retransmissions, Undo};
use crate::{AckSegment, CaState, Counters, NEVER, RttEstimator, ShortPacket, TcpConfig};
use cwndlab_rules::{AckFields, CwndValidation, Needs, Rule, WindowRule};

/// Below every packet number, and below -1, which means that nothing is acknowledged.
const NO_PACKET: i64 = i64::MIN;

/// Phase of a sender (RFC 5681 section 3).
///
/// ```
/// use cwndlab_tcp::{Phase, Sender};
/// # use cwndlab_rules::{Arithmetic, RuleSpec};
/// # use cwndlab_tcp::{Profile, Recovery, TcpConfig};
/// # let config = TcpConfig::profile(Profile::Rfc);
/// # let rule = "NewReno".parse::<RuleSpec>().unwrap().build(Arithmetic::Plain);
/// let sender = Sender::new(rule, Recovery::Sack, None, 0.0, &config);
/// assert_eq!(sender.phase(), Phase::SlowStart);
/// assert_eq!(sender.phase().name(), "slow start");
/// ```
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

/// Congestion state, named as in Linux (`icsk_ca_state`; its Disorder is Open here). SACK schemes
/// leave Recovery at the recovery point; others keep a state until the next event (ns-2
/// `last_cwnd_action_`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CongestionState {
    /// No congestion is being handled.
    Open,
    /// cwnd was reduced for ECE.
    Cwr,
    /// A loss was found by duplicate ACKs, SACK or RACK.
    Recovery,
    /// The retransmission timer expired.
    Loss,
}

impl From<CongestionState> for CaState {
    fn from(state: CongestionState) -> Self {
        match state {
            CongestionState::Open => Self::Open,
            CongestionState::Cwr => Self::Cwr,
            CongestionState::Recovery => Self::Recovery,
            CongestionState::Loss => Self::Loss,
        }
    }
}

/// Packets in flight and packets marked lost so far, as loss detection knows them. Empty for rules
/// that do not see every ACK in recovery.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flight {
    pub(crate) in_flight: u64,
    /// None where loss detection does not mark packets.
    pub(crate) lost: Option<u64>,
    /// Packets marked lost wait for retransmission.
    pub(crate) repairs_wait: bool,
}

/// State of a sender, except that of its recovery scheme.
#[derive(Clone, Debug)]
pub(crate) struct Tcb {
    pub(crate) state: CongestionState,
    pub(crate) ecn: EcnState,
    pub(crate) dupacks: u32,
    pub(crate) cwnd: f64,
    pub(crate) ssthresh: f64,
    /// Window inflation by duplicate ACKs, packets (ns-2 `dupwnd_`).
    pub(crate) window_inflation: i64,
    /// The receiver's advertised window, whole packets (RFC 5681 rwnd).
    pub(crate) rwnd: u32,
    /// The largest window that an ACK offered, bytes; none where ACKs offer none.
    pub(crate) largest_window_bytes: Option<u32>,
    /// The ACK that is being processed changed the window.
    pub(crate) window_changed: bool,
    pub(crate) persist: Persist,
    /// PSH of the packet that is being sent.
    pub(crate) push: bool,
    /// cwnd was never reduced.
    pub(crate) first_reduction: bool,
    /// Packet 0 was lost: the initial window is at most one packet.
    pub(crate) first_packet_lost: bool,
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
    /// End of the application's data: packets below this number exist (ns-2 `curseq_`).
    pub(crate) data_end: i64,
    /// The last packet of a transfer, if its bytes do not fill it.
    pub(crate) short_packet: Option<Box<ShortPacket>>,
    pub(crate) timer: RetransmissionTimer,
    /// Time of the last transmission, seconds (Linux `lsndtime`).
    pub(crate) last_sent_s: f64,
    pub(crate) last_event_s: f64,
    pub(crate) rtt: RttEstimator,
    pub(crate) rule: Rule,
    /// What the rule asks of the endpoint.
    pub(crate) needs: Needs,
    /// Whether cwnd limits the flow.
    pub(crate) validation: CwndValidation,
    /// The same as Linux judges it; none under other profiles.
    pub(crate) usage: Option<CwndUsage>,
    /// Linux's pacing rate, bytes/s (`sk_pacing_rate`): of the last ACK; none before the first.
    pub(crate) pacing_bytes_s: Option<f64>,
    /// The device below paces bursts at that rate.
    pub(crate) bursts_are_paced: bool,
    /// Packets that the windows allow and the endpoint holds back, to send more as one.
    pub(crate) held_back: i64,
    /// The rule returned an invalid congestion window.
    pub(crate) is_faulty: bool,
    /// Samples for the rule; none if the rule reads cwnd and RTT alone.
    pub(crate) rate_sampler: Option<Box<RateSampler>>,
    /// Pacing state, where the settings pace packets, or the rule may.
    pub(crate) pacer: Option<Box<Pacer>>,
    /// PRR state; allocated at the first reduction with the knob `prr`.
    pub(crate) prr: Option<Box<Prr>>,
    /// State of a slow-start scheme other than the standard one.
    pub(crate) slow_start: Option<Box<SlowStart>>,
    /// State before the last reduction for a loss, as long as it may prove spurious.
    pub(crate) undo: Option<Box<Undo>>,
    /// The last retransmissions, where reductions may be undone.
    pub(crate) retransmissions: Option<Box<Retransmissions>>,
    pub(crate) counters: Counters,
    /// What limits the flow, where that is asked for.
    pub(crate) limitation: Option<Box<Limitation>>,
}

/// The receiver's window at the start, packets: in Linux's way no larger than a header can say (RFC
/// 7323 section 2.3).
fn largest_window(config: &TcpConfig) -> u32 {
    const MOST_BYTES: u32 = 1 << 30;
    let window = config.limits.window as u32;
    if config.recovery.rack {
        window.min(MOST_BYTES / config.segment.packet_size.max(1))
    } else {
        window
    }
}

/// ssthresh before any reduction, packets.
pub(crate) fn initial_ssthresh(config: &TcpConfig) -> f64 {
    let most =
        if config.receiver.receive_buffer > 0 { f64::INFINITY } else { config.limits.window };
    let ssthresh = config.limits.initial_ssthresh.min(most);
    if config.growth.integer_ssthresh { ssthresh.trunc() } else { ssthresh }
}

impl Tcb {
    /// State before the start.
    pub(crate) fn new(
        rule: Rule,
        packets: Option<u64>,
        timer_phase_s: f64,
        config: &TcpConfig,
    ) -> Self {
        let needs = rule.needs();
        let rate_sampler = (needs.ack == AckFields::All).then(RateSampler::new);
        let is_paced = config.growth.pacing || rate_sampler.is_some();
        Self {
            state: CongestionState::Open,
            ecn: EcnState::new(config),
            dupacks: 0,
            cwnd: if config.handshake.syn && config.handshake.delay_growth {
                1.0
            } else {
                config.limits.initial_window
            },
            ssthresh: initial_ssthresh(config),
            window_inflation: 0,
            // A window above 2^32 packets has no effect: conversion saturates.
            rwnd: largest_window(config),
            largest_window_bytes: None,
            window_changed: false,
            persist: Persist::default(),
            push: false,
            first_reduction: true,
            first_packet_lost: false,
            snd_nxt: 0,
            highest_sent: -1,
            highest_ack: -1,
            previous_highest_ack: -1,
            last_ack: -1,
            recover: 0,
            timeout_highest_ack: NO_PACKET,
            data_end: packets.map_or(i64::MAX / 2, |n| n as i64 + i64::from(config.handshake.syn)),
            short_packet: None,
            timer: RetransmissionTimer::default(),
            last_sent_s: NEVER,
            last_event_s: NEVER,
            rtt: RttEstimator::new(config, timer_phase_s),
            needs,
            validation: CwndValidation::default(),
            usage: None,
            pacing_bytes_s: None,
            bursts_are_paced: false,
            held_back: 0,
            is_faulty: needs.faults && rule.fault().is_some(),
            rate_sampler,
            pacer: is_paced.then(Box::default),
            prr: None,
            slow_start: SlowStart::new(&rule, config.growth.slow_start),
            rule,
            undo: None,
            retransmissions: None,
            counters: Counters::default(),
            limitation: None,
        }
    }

    /// Phase of the sender.
    pub(crate) fn phase(&self) -> Phase {
        let is_outstanding = self.highest_ack < self.recover;
        match self.state {
            CongestionState::Loss if is_outstanding => Phase::Loss,
            CongestionState::Recovery if is_outstanding => Phase::Recovery,
            _ if self.cwnd < self.ssthresh => Phase::SlowStart,
            _ => Phase::CongestionAvoidance,
        }
    }

    /// Whether rule and settings permit header prediction.
    pub(crate) fn permits_prediction(&self, config: &TcpConfig) -> bool {
        let sends_at_once = self.pacer.is_none() && config.limits.max_burst == 0;
        let asks_little = self.needs.ack != AckFields::All
            && !self.needs.samples
            && !config.growth.grow_by_packets;
        sends_at_once && asks_little && config.rto.timer_after_sample
    }

    /// Changes the state, and forgets that the last reduction was for ECE.
    pub(crate) fn enter(&mut self, state: CongestionState) {
        self.state = state;
        self.ecn.reduced_last = false;
    }

    /// Packets sent and not acknowledged.
    pub(crate) fn outstanding(&self) -> i64 {
        self.highest_sent - self.highest_ack
    }

    /// The endpoint gives rate samples, if the rule asks for them: then it measures nothing else.
    /// Returns whether the rule does.
    pub(crate) fn take_samples(&mut self, gives_samples: bool) -> bool {
        self.needs.samples &= gives_samples;
        if self.needs.samples {
            self.needs = self.needs.beside_samples();
            self.rate_sampler = None;
        }
        self.needs.samples
    }

    /// Packets in flight where nothing but the cumulative acknowledgement tells: all outstanding.
    pub(crate) fn flight(&self) -> Flight {
        if !self.needs.recovery {
            return Flight::default();
        }
        Flight { in_flight: self.outstanding().max(0) as u64, ..Flight::default() }
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
    pub(crate) fn new_ack<const PREDICTED: bool>(
        &mut self,
        now_s: f64,
        ack: AckSegment,
        config: &TcpConfig,
    ) {
        if !PREDICTED && !config.rto.timer_after_sample {
            self.restart_timer(now_s, ack.ack);
        }
        self.dupacks = 0;
        self.last_ack = ack.ack;
        self.previous_highest_ack = self.highest_ack;
        self.highest_ack = ack.ack;
        if !PREDICTED {
            self.snd_nxt = self.snd_nxt.max(ack.ack + 1);
        }
        self.update_rtt(now_s, ack, config);
        if PREDICTED {
            self.arm_timer(now_s);
        } else if config.rto.timer_after_sample {
            self.restart_timer(now_s, ack.ack);
        }
    }

    /// The same without an RTT sample and without a timer, which RACK-TLP sets by itself.
    pub(crate) fn advance(&mut self, ack: i64) {
        (self.dupacks, self.last_ack) = (0, ack);
        self.previous_highest_ack = std::mem::replace(&mut self.highest_ack, ack);
        self.snd_nxt = self.snd_nxt.max(ack + 1);
    }

    /// Takes an RTT sample as Linux does, which ends the backoff.
    pub(crate) fn sample_rtt_as_linux(&mut self, rtt_s: f64, config: &TcpConfig) {
        self.end_backoff(config);
        self.rtt.sample_as_linux(rtt_s, self.highest_ack + 1, self.highest_sent + 1, config);
        self.counters.rto_sum_s += self.rtt.rto_s();
        self.counters.rto_count += 1;
    }

    /// Growth after an ACK of new data (ns-2 `recv_newack_helper`), and the initial window after
    /// the SYN. `acked`: packets that the ACK acknowledges.
    #[inline(always)]
    pub(crate) fn grow_after_new_ack<const PREDICTED: bool>(
        &mut self,
        now_s: f64,
        ack: AckSegment,
        acked: u64,
        flight: Flight,
        config: &TcpConfig,
    ) {
        self.ecn.ece_at_one_packet &= !PREDICTED && self.ecn.is_marked;
        if PREDICTED
            || !self.ecn.requests_reduction()
            || self.ecn.complete_negotiation()
            || self.is_repairing_after_timeout(config)
        {
            self.grow::<PREDICTED>(now_s, ack, acked, flight, config);
        }
        if !PREDICTED {
            self.stop_timer_if_repaired();
            if self.last_ack == 0 && config.handshake.delay_growth {
                self.cwnd = self.initial_window(config);
            }
        }
    }

    /// An ACK of new data, for recovery schemes that count what is outstanding.
    pub(crate) fn new_ack_and_grow(&mut self, now_s: f64, ack: AckSegment, config: &TcpConfig) {
        let acked = (ack.ack - self.highest_ack).max(0) as u64;
        self.new_ack::<false>(now_s, ack, config);
        self.grow_after_new_ack::<false>(now_s, ack, acked, self.flight(), config);
    }

    /// Initial window, packets.
    pub(crate) fn initial_window(&self, config: &TcpConfig) -> f64 {
        if self.first_packet_lost {
            config.limits.initial_window.min(1.0)
        } else {
            config.limits.initial_window
        }
    }

    /// Takes an RTT sample from an ACK of new data: by its timestamp, or if it covers the timed
    /// packet.
    #[inline(always)]
    fn update_rtt(&mut self, now_s: f64, ack: AckSegment, config: &TcpConfig) {
        if config.rto.timestamps {
            self.sample_rtt(now_s, ack.echo_s, config);
            if config.rto.timestamps_reset_backoff {
                self.end_backoff(config);
            }
        }
        if let Some(sent_s) = self.timer.take_timed(ack.ack) {
            self.end_backoff(config);
            if !config.rto.timestamps {
                self.sample_rtt(now_s, sent_s, config);
            }
        }
    }

    fn sample_rtt(&mut self, now_s: f64, sent_s: f64, config: &TcpConfig) {
        self.rtt.sample(now_s, sent_s, config);
        self.counters.rto_sum_s += self.rtt.rto_s();
        self.counters.rto_count += 1;
    }

    /// A timed packet was acknowledged: ends the backoff, unless ECE continues at a window of one
    /// packet (ns-2 `newack`).
    #[inline]
    fn end_backoff(&mut self, config: &TcpConfig) {
        if self.ecn.ece_at_one_packet && self.ecn.is_marked && self.ecn.negotiated {
            return;
        }
        self.ecn.ece_at_one_packet = false;
        self.rtt.reset_backoff(config);
    }

    pub(crate) fn arm_timer(&mut self, now_s: f64) {
        self.timer.arm(now_s, self.rtt.rto_s());
    }

    /// ns-2 `TcpAgent::newtimer`.
    pub(crate) fn restart_timer(&mut self, now_s: f64, ack: i64) {
        if self.snd_nxt > ack || ack < self.highest_sent || self.cwnd < 1.0 {
            self.arm_timer(now_s);
        } else {
            self.timer.stop();
        }
    }

    /// Restarts the timer and stops timing a packet, which may be retransmitted (Karn's algorithm).
    pub(crate) fn restart_timer_after_reduction(&mut self, now_s: f64) {
        self.arm_timer(now_s);
        self.timer.forget_packet();
    }

    /// Go-back-N: SND.NXT returns to SND.UNA.
    pub(crate) fn go_back_n(&mut self) {
        self.snd_nxt = self.highest_ack + 1;
        self.timer.forget_packet();
    }

    /// Enters recovery without a reduction. RFC 6582 and 6675: the recovery point is the highest
    /// packet sent now; ns-2: at the reduction.
    pub(crate) fn enter_recovery_without_reduction(&mut self, config: &TcpConfig) {
        self.enter(CongestionState::Recovery);
        if !config.quirks.ns2_ecn {
            self.recover = self.highest_sent;
        }
    }

    /// Enters recovery with a reduction for a loss.
    pub(crate) fn enter_fast_retransmit(&mut self) {
        self.enter(CongestionState::Recovery);
        self.note_fast_retransmit();
    }

    /// Counts a reduction for a loss, and sets the recovery point.
    pub(crate) fn note_fast_retransmit(&mut self) {
        self.recover = self.highest_sent;
        self.counters.fast_retransmits += 1;
    }

    /// Whether data outstanding at a timeout is still unacknowledged. Until then ACKs repeat ECE
    /// for old marks, because only new data can carry CWR (RFC 3168 sections 6.1.2 and 6.1.5). If
    /// ECE stopped growth, the flow would stay at one packet per round trip for a whole window,
    /// although the timeout already set cwnd to its minimum.
    fn is_repairing_after_timeout(&self, config: &TcpConfig) -> bool {
        !config.quirks.ns2_ecn
            && self.ecn.ce_estimate.is_none()
            && self.state == CongestionState::Loss
            && self.highest_ack < self.recover
    }

    /// Whether ECE in the same window of data already caused a reduction that covers a loss found
    /// now (RFC 3168 section 6.1.2).
    pub(crate) fn reduced_by_ece(&self, config: &TcpConfig) -> bool {
        self.ecn.reduced_last
            && !self.needs.cut_after_mark
            && (config.quirks.ns2_ecn || self.highest_ack < self.recover)
    }

    /// Whether `ack` acknowledges a part of what recovery repairs (a partial ACK, RFC 6582).
    pub(crate) fn repairs_a_part(&self, ack: i64) -> bool {
        self.state == CongestionState::Recovery && ack > self.highest_ack && ack < self.recover
    }

    /// Applies what the idle period did to cwnd: a timeout that would have expired (ns-2), whose
    /// time is returned, or the restart window (RFC 5681 section 4.1). The timer is stopped while
    /// idle because its effect is not observable before new data arrives.
    #[must_use]
    pub(crate) fn restart_after_idle(&mut self, now_s: f64, config: &TcpConfig) -> Option<f64> {
        let expired_s = self.timer.idle_deadline_s;
        if now_s >= expired_s && (config.quirks.slow_start_restart || self.cwnd < 1.0) {
            self.accumulate_cwnd_area(expired_s);
            return Some(expired_s);
        }
        self.restart_cwnd_after_idle(now_s, config);
        None
    }

    /// Packets were sent, or cwnd kept them back: judges whether cwnd limits the flow.
    pub(crate) fn validate_cwnd(&mut self, is_limited: bool) {
        let usage = self.usage.get_or_insert(CwndUsage::UNUSED);
        usage.validate(is_limited, self.highest_ack + 1, self.highest_sent + 1);
    }

    /// After an RTO without sending cwnd restarts: from the initial window (RFC 5681 section 4.1),
    /// or, as Linux has it, halved for each RTO down to that, with ssthresh at three quarters of
    /// cwnd at least (RFC 2861; Linux `tcp_cwnd_restart`).
    pub(crate) fn restart_cwnd_after_idle(&mut self, now_s: f64, config: &TcpConfig) {
        // A model-based rule knows the path better than a timer does; Linux spares it too.
        let restarts = config.growth.idle_restart && !self.needs.recovery;
        let (rto_s, mut idle_s) = (self.rtt.rto_s(), now_s - self.last_sent_s);
        if !restarts || idle_s <= rto_s {
            return;
        }
        self.accumulate_cwnd_area(now_s);
        let restart = self.cwnd.min(self.initial_window(config));
        if self.usage.is_none() {
            self.cwnd = restart;
            return;
        }
        if !matches!(self.state, CongestionState::Cwr | CongestionState::Recovery) {
            let cwnd = self.cwnd as u64;
            self.ssthresh = self.ssthresh.max((cwnd / 2 + cwnd / 4) as f64);
        }
        idle_s -= rto_s;
        while idle_s > 0.0 && self.cwnd > restart {
            self.cwnd = (self.cwnd / 2.0).floor();
            idle_s -= rto_s;
        }
        self.cwnd = self.cwnd.max(restart);
    }

    pub(crate) fn has_started(&self) -> bool {
        self.last_event_s < NEVER
    }

    /// Whether all data is acknowledged.
    pub(crate) fn is_finished(&self) -> bool {
        self.highest_ack >= self.data_end - 1
    }

    /// Whether no packet is left to repair: all data is acknowledged, and without
    /// `stop_keeps_last_packet` also the packet that is none any more.
    pub(crate) fn is_repaired(&self) -> bool {
        self.is_finished() && self.highest_ack >= self.highest_sent
    }

    /// Stops the retransmission timer once no packet is left to repair.
    pub(crate) fn stop_timer_if_repaired(&mut self) {
        if self.is_repaired() {
            self.timer.stop_while_idle();
        }
    }
}
