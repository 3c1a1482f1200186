//! Congestion window: growth on ACKs and reductions on congestion (ns-2 `opencwnd`, `slowdown`).
//! The rule computes the new window; the sender applies it.

use crate::prr::Prr;
use crate::slow_start::{Decision, SlowStart as SlowStartState, SlowStartAck};
use crate::tcb::{CongestionState, Flight, Tcb};
use crate::undo::{Before, Undo, Verdict};
use crate::{AckSegment, TcpConfig};
use cwndlab_rules::{Ack, AckFields, Congestion, SlowStart, WindowRule};

/// How a reduction sets cwnd and ssthresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    /// cwnd and ssthresh become the window that the rule returns.
    ToTarget(Congestion),
    /// cwnd becomes one packet; ssthresh becomes the window that the rule returns.
    ToOnePacket(Congestion),
}

/// Bytes that a device cuts into packets at most (Linux `sk_gso_max_size`: 64 KiB less room for
/// headers).
pub(crate) const GSO_MAX_BYTES: f64 = 65_215.0;

/// Context for rules that read cwnd alone.
static NO_CONTEXT: Ack = Ack::EMPTY;

/// Growth that an ACK permits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    /// Packets by which growth counts the ACK.
    pub(crate) packets: u64,
    /// cwnd limits the flow.
    pub(crate) is_limited: bool,
}

impl Growth {
    /// None: in recovery, where the rule sets cwnd, and for marks.
    pub(crate) const NONE: Self = Self { packets: 0, is_limited: true };
}

impl Tcb {
    /// Grows cwnd by slow start or by the rule's increase, in one step per ACK, however many
    /// packets it acknowledges.
    #[inline(always)]
    pub(crate) fn grow<const PREDICTED: bool>(
        &mut self,
        now_s: f64,
        ack: AckSegment,
        acked: u64,
        flight: Flight,
        config: &TcpConfig,
    ) {
        let mut decision = Decision::STANDARD;
        // With RACK-TLP HyStart has seen the delivery before.
        let is_asked = |scheme: &SlowStartState| self.usage.is_none() || !scheme.is_hystart();
        if !PREDICTED && self.slow_start.as_deref().is_some_and(is_asked) {
            decision = self.slow_start_decision(now_s, now_s - ack.sent_s, config);
        }
        let is_limited = !config.growth.grow_when_limited
            || match &self.usage {
                Some(usage) if !PREDICTED => usage.is_limited(self.cwnd, self.cwnd < self.ssthresh),
                _ => self.is_cwnd_limited(),
            };
        let (before, share, most_packets) = match decision {
            Decision::Grow { share, most_packets } => (self.cwnd, share, most_packets),
            Decision::Leave | Decision::Over => (self.cwnd, 1.0, u64::MAX),
        };
        let by_packets = !PREDICTED && config.growth.grow_by_packets;
        let growth = Growth {
            is_limited,
            packets: match by_packets {
                // A rule that needs delivery rates decides itself what a window that is not full
                // means.
                _ if !is_limited && !self.needs.delivery_rate => 0,
                true => acked.min(most_packets),
                false => 1,
            },
        };
        match self.needs.ack {
            AckFields::None if growth.packets == 0 => return,
            AckFields::None if by_packets => self.grow_by_rtt(now_s - ack.sent_s, growth, config),
            AckFields::Rtt => self.grow_by_rtt(now_s - ack.sent_s, growth, config),
            AckFields::All if !PREDICTED => {
                self.grow_by_ack_context(now_s, ack, acked, growth, flight, config);
            }
            _ => self.grow_by_cwnd(),
        }
        if !is_limited && !self.needs.delivery_rate {
            self.cwnd = self.cwnd.min(before);
        }
        if !PREDICTED && share < 1.0 {
            self.cwnd = before + share * (self.cwnd - before);
        }
        if config.limits.cap_window {
            self.cwnd = self.cwnd.min(config.limits.window);
        }
    }

    /// Tells HyStart of a delivery with this RTT, cumulative or selective, as Linux does
    /// (`pkts_acked`). The handshake is none.
    pub(crate) fn note_delivery(&mut self, now_s: f64, rtt_s: f64, config: &TcpConfig) {
        let is_handshake = self.highest_ack <= 0 && config.handshake.syn;
        if !is_handshake && self.slow_start.as_deref().is_some_and(SlowStartState::is_hystart) {
            self.slow_start_decision(now_s, rtt_s, config);
        }
    }

    /// Asks the slow-start scheme about an ACK of new data. Outside slow start, and for standard
    /// slow start, growth is the rule's.
    #[inline(never)]
    fn slow_start_decision(&mut self, now_s: f64, rtt_s: f64, config: &TcpConfig) -> Decision {
        let ack = SlowStartAck {
            now_s,
            // Whole nanoseconds: equal RTTs compare equal, whatever rounding gave.
            rtt_s: (rtt_s * 1e9).round() * 1e-9,
            highest_ack: self.highest_ack,
            snd_nxt: self.snd_nxt,
            cwnd: self.cwnd,
            is_paced: config.growth.pacing || self.bursts_are_paced,
            ack_delay_s: self.burst_s(),
        };
        let in_slow_start = self.cwnd < self.ssthresh;
        let Some(scheme) = &mut self.slow_start else { return Decision::STANDARD };
        let decision = scheme.on_ack(ack, in_slow_start);
        match decision {
            Decision::Leave => self.ssthresh = self.cwnd,
            Decision::Over => self.slow_start = None,
            Decision::Grow { .. } => {}
        }
        decision
    }

    /// Updates the rate at which Linux would pace the flow: twice cwnd per srtt below half of
    /// ssthresh, 1.2 times from there on (`tcp_update_pacing_rate`).
    pub(crate) fn update_pacing_rate(&mut self, config: &TcpConfig) {
        if self.is_paced_as_linux()
            && let Some(rate) = self.rule.pacing_rate()
        {
            self.pacing_bytes_s = Some(rate.bytes_s as f64);
            return;
        }
        let srtt_s = self.rtt.srtt_s(config);
        let half = (self.ssthresh / 2.0) as u64 as f64;
        let factor = if self.cwnd < half { 2.0 } else { 1.2 };
        let window = i64::from(self.cwnd as u32).max(self.outstanding()) as f64;
        let bytes = factor * f64::from(config.segment.packet_size) * window;
        self.pacing_bytes_s = (srtt_s > 0.0).then(|| (bytes / srtt_s) as u64 as f64);
    }

    /// New packets left as one, and the device paces them. It does not pace the first ten.
    #[cold]
    #[inline(never)]
    pub(crate) fn pace_burst(&mut self, now_s: f64, packets: i64, config: &TcpConfig) {
        const UNPACED: u64 = 10;
        let is_paced = self.counters.sent - u64::from(config.handshake.syn) >= UNPACED;
        let rate = self.pacing_bytes_s.filter(|_| is_paced).map(|bytes_s| bytes_s as u64);
        let bytes = packets as u64 * u64::from(config.segment.packet_size);
        if let Some(pacer) = &mut self.pacer {
            pacer.on_burst(now_s, bytes, rate);
        }
    }

    /// Time that four bursts of the largest size take at the pacing rate, at most a millisecond:
    /// bursts delay ACKs by that (Linux `hystart_ack_delay`). Seconds.
    fn burst_s(&self) -> f64 {
        self.pacing_bytes_s.map_or(0.0, |bytes_s| (4.0 * GSO_MAX_BYTES / bytes_s).min(1e-3))
    }

    /// Whether cwnd limits the flow, judged when an ACK of new data has arrived, by what was out
    /// before it.
    #[inline(always)]
    fn is_cwnd_limited(&mut self) -> bool {
        if self.snd_nxt > self.previous_highest_ack + self.congestion_window() {
            self.validation.note_full(self.snd_nxt);
            return true;
        }
        self.is_limited_when_not_full()
    }

    #[inline(never)]
    fn is_limited_when_not_full(&mut self) -> bool {
        let first = self.previous_highest_ack + 1;
        self.validation.is_limited(first, self.snd_nxt, self.cwnd, self.cwnd < self.ssthresh)
    }

    /// Growth by a rule that reads cwnd alone.
    #[inline(always)]
    fn grow_by_cwnd(&mut self) {
        if self.cwnd < self.ssthresh {
            self.cwnd += 1.0;
        } else {
            self.cwnd = self.rule.increase(self.cwnd, &NO_CONTEXT);
            self.stay_in_avoidance();
        }
    }

    /// Growth by a rule that reads cwnd and RTT.
    #[inline(never)]
    fn grow_by_rtt(&mut self, rtt_s: f64, growth: Growth, config: &TcpConfig) {
        let ack_context = Ack {
            growth_packets: growth.packets,
            ssthresh_packets: self.ssthresh,
            rtt_s,
            srtt_s: self.rtt.srtt_s(config),
            ..Ack::EMPTY
        };
        self.apply_rule(&ack_context, config);
    }

    /// Asks the rule for the next window, in slow start or in congestion avoidance.
    #[inline]
    pub(crate) fn apply_rule(&mut self, ack_context: &Ack, config: &TcpConfig) {
        let in_slow_start = self.cwnd < self.ssthresh;
        if in_slow_start {
            match self.rule.slow_start(self.cwnd, ack_context) {
                SlowStart::Grow(cwnd) => self.cwnd = cwnd,
                SlowStart::Leave(cwnd) => (self.cwnd, self.ssthresh) = (cwnd, cwnd),
            }
        } else {
            self.cwnd = self.rule.increase(self.cwnd, ack_context);
        }
        self.cwnd = self.cwnd.max(config.limits.cwnd_floor);
        if !in_slow_start {
            self.stay_in_avoidance();
        }
        self.check_fault();
    }

    /// A rule that shrinks the window on an ACK does not return to slow start by it: Vegas, LEDBAT,
    /// Prague, formulas (as in Linux, tcp_vegas.c).
    #[inline(always)]
    fn stay_in_avoidance(&mut self) {
        // A branch that is hardly ever taken; `f64::min` takes eight instructions.
        if self.cwnd < self.ssthresh {
            self.ssthresh = self.cwnd;
        }
    }

    /// Reduces cwnd and ssthresh (ns-2 `TcpAgent::slowdown`): to the window that the rule returns,
    /// to half, or to one packet.
    pub(crate) fn reduce_cwnd(&mut self, reduction: Reduction, config: &TcpConfig) {
        let (Reduction::ToTarget(congestion) | Reduction::ToOnePacket(congestion)) = reduction;
        self.prepare_undo(congestion, config);
        if self.slow_start.as_mut().is_some_and(|scheme| scheme.ends_with(congestion)) {
            self.slow_start = None;
        }
        let (half, target) = if config.growth.precise_reduction {
            let window = (self.cwnd + self.window_inflation as f64).min(config.limits.window);
            (window / 2.0, self.rule.decrease(window, congestion))
        } else {
            let window = self.window_to_reduce(config);
            ((window / 2) as f64, self.rule.decrease(window as f64, congestion).trunc())
        };
        let slow_start = self.cwnd < self.ssthresh;
        let is_early = config.quirks.halve_early_cuts && (self.first_reduction || slow_start);
        let halve = is_early || (slow_start && self.needs.halves_in_slow_start);
        let halve_ssthresh =
            halve || (config.quirks.halve_after_timeout && congestion == Congestion::Timeout);
        let ssthresh = if halve_ssthresh { half } else { target };
        let ssthresh = if self.keeps_ssthresh() { self.ssthresh } else { ssthresh };
        // RFC 5681 equation 4 and ns-2 agree on a minimum of two packets.
        self.ssthresh =
            if config.growth.integer_ssthresh { ssthresh.trunc() } else { ssthresh }.max(2.0);
        // RFC 3168 section 6.1.2: ECE at a window of one packet stops sending until the timer
        // expires. A window below one packet does the same.
        let stops = congestion == Congestion::Ecn && self.cwnd <= 1.0;
        let floor =
            if stops { config.limits.cwnd_floor.min(0.0) } else { config.limits.cwnd_floor };
        self.cwnd = match reduction {
            Reduction::ToOnePacket(_) => 1.0,
            Reduction::ToTarget(_)
                if halve || (config.quirks.halve_if_half && self.needs.factor_is_half) =>
            {
                half
            }
            Reduction::ToTarget(_) => target,
        }
        .max(floor);
        self.first_reduction = false;
        self.ecn.cwr_pending = true;
        self.check_fault();
    }

    /// The window of whole packets that a reduction begins from: Linux does not ask how much of it
    /// the receiver allows (`tcp_init_cwnd_reduction`).
    fn window_to_reduce(&self, config: &TcpConfig) -> i64 {
        if config.recovery.rack { self.congestion_window() } else { self.send_window() }
    }

    /// Whether the rule sets ssthresh itself, at no reduction: BBR of Linux.
    fn keeps_ssthresh(&self) -> bool {
        self.needs.samples && self.needs.recovery
    }

    /// Sets cwnd to one packet and leaves ssthresh.
    pub(crate) fn cwnd_to_one_packet(&mut self) {
        self.cwnd = 1.0;
        self.first_reduction = false;
        self.ecn.cwr_pending = true;
    }

    /// Begins a window reduction. With PRR ssthresh is reduced at once and cwnd follows with each
    /// ACK. A rule that processes every ACK in recovery sets cwnd itself, as Linux's `cong_control`
    /// does.
    pub(crate) fn begin_cwnd_reduction(&mut self, congestion: Congestion, config: &TcpConfig) {
        let before = self.cwnd;
        self.reduce_cwnd(Reduction::ToTarget(congestion), config);
        if config.recovery.prr && !self.needs.recovery {
            self.cwnd = before;
            let prr = Prr::begin(self.window_to_reduce(config));
            **self.prr.get_or_insert_default() = prr;
        }
    }

    /// Whether PRR is reducing cwnd.
    pub(crate) fn in_cwnd_reduction(&self) -> bool {
        self.prr.as_ref().is_some_and(|prr| prr.is_active())
    }

    /// Sets cwnd by PRR after an ACK during a reduction.
    pub(crate) fn update_prr(&mut self, in_flight: i64, delivered: i64, safe_ack: bool) {
        let ssthresh = self.ssthresh as i64;
        if let Some(prr) = self.prr.as_mut().filter(|prr| prr.is_active())
            && let Some(window) = prr.window(in_flight, ssthresh, delivered, safe_ack)
        {
            self.cwnd = window as f64;
        }
    }

    /// Counts a packet sent during recovery.
    pub(crate) fn count_prr_out(&mut self) {
        self.prr.iter_mut().for_each(|prr| prr.on_sent());
    }

    /// Ends the reduction: cwnd becomes ssthresh (RFC 9937 section 6.2).
    pub(crate) fn end_cwnd_reduction(&mut self) {
        if self.cancel_cwnd_reduction() {
            self.cwnd = self.ssthresh;
        }
    }

    /// Ends the reduction and leaves cwnd; returns whether there was one.
    pub(crate) fn cancel_cwnd_reduction(&mut self) -> bool {
        self.prr.as_mut().is_some_and(|prr| prr.end())
    }

    /// Reduces cwnd in response to ECE, once per window of data. Runs before anything else that the
    /// ACK does. `sack`: recovery goes on, unless the ACK ends it.
    #[cold]
    #[inline(never)]
    pub(crate) fn reduce_for_ece(&mut self, ack: i64, sack: bool, config: &TcpConfig) {
        let new_window = ack > self.recover;
        let mut stays_in_recovery = sack && self.state == CongestionState::Recovery;
        if new_window && !config.quirks.ns2_ecn {
            self.cancel_cwnd_reduction();
            stays_in_recovery = false;
            self.window_inflation = 0;
        }
        if !(new_window || (config.quirks.ns2_ecn && self.state == CongestionState::Loss)) {
            return;
        }
        self.recover = self.highest_sent;
        if !stays_in_recovery {
            self.state = CongestionState::Cwr;
        }
        self.ecn.reduced_last = true;
        let ece_at_one_packet = self.cwnd <= 1.0;
        if ece_at_one_packet && self.ecn.ece_at_one_packet && config.quirks.ns2_ecn {
            self.rtt.back_off(config);
        }
        self.ecn.ece_at_one_packet = ece_at_one_packet;
        self.counters.ecn_reductions += 1;
        self.reduce_cwnd(Reduction::ToTarget(Congestion::Ecn), config);
    }

    /// Handles a retransmission timeout at `now_s`, up to sending (ns-2 `TcpAgent::timeout`,
    /// RFC 6298 section 5).
    pub(crate) fn handle_rto(&mut self, now_s: f64, config: &TcpConfig) {
        self.cwnd = self.cwnd.max(1.0);
        if self.outstanding() == 0 {
            // Nothing is outstanding: cwnd is below one packet, or there was no data.
            if config.quirks.slow_start_restart {
                self.cwnd_to_one_packet();
                self.recover = self.highest_sent;
            }
        } else {
            let again = config.growth.hold_ssthresh && self.timeout_highest_ack == self.highest_ack;
            let hold_ssthresh = again || self.reduced_by_ece(config);
            self.reduce_for_timeout(hold_ssthresh, config);
        }
        self.enter(CongestionState::Loss);
        self.arm_timer(now_s);
        self.go_back_n();
    }

    /// Reduces cwnd for a timeout with data outstanding, and backs off the timer.
    pub(crate) fn reduce_for_timeout(&mut self, hold_ssthresh: bool, config: &TcpConfig) {
        if self.highest_ack == -1 && config.handshake.restart_after_syn_loss {
            self.first_packet_lost = true;
        }
        self.counters.timeouts += 1;
        let ssthresh = self.ssthresh;
        self.reduce_cwnd(Reduction::ToOnePacket(Congestion::Timeout), config);
        if hold_ssthresh {
            self.ssthresh = ssthresh;
        }
        self.recover = self.highest_sent;
        if let Some(limitation) = &mut self.limitation {
            limitation.timeout_until = self.highest_sent;
        }
        self.timeout_highest_ack = self.highest_ack;
        let backs_off =
            self.highest_ack >= 0 || self.counters.timeouts > config.handshake.linear_syn_timeouts;
        if backs_off {
            self.rtt.back_off(config);
        }
    }

    /// Keeps what a reduction is about to change. A reduction while an earlier one is being
    /// repaired keeps the earlier state.
    fn prepare_undo(&mut self, congestion: Congestion, config: &TcpConfig) {
        if !config.recovery.undo || congestion == Congestion::Ecn {
            return;
        }
        let earlier = self.undo.take().filter(|undo| undo.is_repairing(self.highest_ack));
        let before = match earlier {
            Some(earlier) => earlier.into_before(),
            None => Before {
                cwnd: self.cwnd,
                ssthresh: self.ssthresh.max(self.least_ssthresh(config)),
                rule: self.rule.clone(),
            },
        };
        let retransmitted = self.retransmissions.as_deref().copied().unwrap_or_default();
        let retransmitted = retransmitted.unacknowledged(self.highest_ack);
        // A path with timestamps or SACK-based recovery by time has better means than F-RTO.
        let frto = congestion == Congestion::Timeout
            && !config.rto.timestamps
            && !config.recovery.rack
            && !self.needs.recovery
            && self.timeout_highest_ack != self.highest_ack;
        let first = self.highest_ack + 1;
        let undo = Undo::new(before, first, self.highest_sent, retransmitted, frto);
        self.undo = Some(Box::new(undo));
    }

    /// Notes a retransmission of packet `number`, which tells whether a reduction was spurious.
    pub(crate) fn note_retransmission(&mut self, now_s: f64, number: i64) {
        let highest_ack = self.highest_ack;
        self.retransmissions.get_or_insert_default().note(now_s, number, highest_ack);
        if let Some(undo) = &mut self.undo {
            undo.note_retransmission(now_s);
        }
    }

    /// What an undo restores ssthresh to at least: in Linux three quarters of the window
    /// (`tcp_current_ssthresh`).
    fn least_ssthresh(&self, config: &TcpConfig) -> f64 {
        let whole = self.cwnd as u64;
        if config.recovery.rack { (whole / 2 + whole / 4) as f64 } else { 0.0 }
    }

    /// What `ack` tells of the last reduction. `dsack`: packets that it reports as received twice.
    pub(crate) fn judge_reduction(
        &mut self,
        ack: AckSegment,
        dsack: Option<(i64, i64)>,
        config: &TcpConfig,
    ) -> Verdict {
        let advances = ack.ack > self.highest_ack;
        let may_send_new = self.last_new_packet(ack.ack).is_some();
        let Some(undo) = &mut self.undo else { return Verdict::Open };
        let verdict = undo.judge(ack, advances, may_send_new, dsack, config);
        if matches!(verdict, Verdict::Open | Verdict::AnotherLoss) && undo.is_over(config) {
            self.undo = None;
        }
        if verdict == Verdict::AnotherLoss {
            self.cwnd = self.cwnd.min(3.0);
            self.go_back_n();
        }
        verdict
    }

    /// Restores what the last reduction changed.
    pub(crate) fn undo_reduction(&mut self) {
        let Some(undo) = self.undo.take() else { return };
        let Before { cwnd, ssthresh, rule } = undo.into_before();
        self.cancel_cwnd_reduction();
        // A model-based rule sets cwnd itself.
        if !self.needs.recovery {
            self.cwnd = self.cwnd.max(cwnd);
        }
        if !self.needs.recovery || self.keeps_ssthresh() {
            self.ssthresh = self.ssthresh.max(ssthresh);
        }
        self.rule.undo(rule);
        self.enter(CongestionState::Open);
        (self.window_inflation, self.dupacks) = (0, 0);
        // Duplicate ACKs for packets sent before now can show another loss.
        self.recover = self.recover.min(self.highest_ack);
        if let Some(limitation) = &mut self.limitation {
            limitation.timeout_until = limitation.timeout_until.min(self.highest_ack);
        }
        self.last_ack = self.last_ack.max(self.highest_ack);
        self.snd_nxt = self.highest_sent + 1;
        self.ecn.cwr_pending = false;
        self.counters.undone_reductions += 1;
    }

    /// Tells the rule that the first packet after an idle period is sent.
    pub(crate) fn restart_rule_from_idle(&mut self, now_s: f64) {
        self.accumulate_cwnd_area(now_s);
        self.cwnd = self.rule.restart_from_idle(self.cwnd, now_s);
        self.check_fault();
    }

    /// Records whether the rule returned an invalid congestion window. Such a rule is not asked
    /// again, and the run ends.
    pub(crate) fn check_fault(&mut self) {
        self.is_faulty |= self.needs.faults && self.rule.fault().is_some();
    }
}
