//! TCP sender: a transmission control block and a recovery scheme. Each event handler takes the
//! time, changes the state and passes segments to `out`.

use crate::rate_meter::Measured;
use crate::recovery::LossRecovery;
use crate::tcb::{CongestionState, Phase, Tcb};
use crate::undo::Verdict;
use crate::{
    AckSegment, Counters, EcnEcho, NEVER, Output, Recovery, SackBlocks, ShortPacket, TcpConfig,
    TcpInfo,
};
use cwndlab_rules::{Rule, Sibling, WindowRule};

/// A TCP sender.
///
/// ```
/// use cwndlab_rules::{Arithmetic, RuleSpec};
/// use cwndlab_tcp::{AckSegment, EcnEcho, Profile, Recovery, Sender, TcpConfig, tcp_config};
/// let config = tcp_config!(
///     TcpConfig::profile(Profile::Rfc),
///     handshake.syn = false,
///     handshake.delay_growth = false
/// );
/// let rule = "NewReno".parse::<RuleSpec>().unwrap().build(Arithmetic::Plain);
/// let mut sender = Sender::new(rule, Recovery::Sack, None, 0.0, &config);
/// let mut sent = 0;
/// sender.start(0.0, &config, &mut |_| sent += 1);
/// assert_eq!((sent, sender.cwnd()), (4, 4.0));
/// // Slow start: the ACK of packet 0 lets two packets out.
/// let echo = EcnEcho::NONE;
/// let ack = AckSegment { ack: 0, sent_s: 0.0, echo_s: 0.0, size_bytes: 52, echo };
/// sender.on_ack(0.1, ack, None, &config, &mut |_| sent += 1);
/// assert_eq!((sent, sender.cwnd()), (6, 5.0));
/// ```
#[derive(Clone, Debug)]
pub struct Sender {
    pub(crate) tcb: Tcb,
    pub(crate) recovery: LossRecovery,
    /// Whether ACKs may be predicted, ever and now.
    pub(crate) permits_prediction: bool,
    pub(crate) predicts: bool,
    /// Window up to which predicted ACKs do not change what limits the sender, packets.
    pub(crate) steady_below: f64,
}

impl Sender {
    /// A sender that has not started. `packets`: initial data, unlimited if none; `timer_phase_s`:
    /// offset of its clock ticks. Every later call takes the same settings.
    pub fn new(
        rule: Rule,
        recovery: Recovery,
        packets: Option<u64>,
        timer_phase_s: f64,
        config: &TcpConfig,
    ) -> Self {
        let mut recovery = LossRecovery::new(recovery, config);
        let mut tcb = Tcb::new(rule, packets, timer_phase_s, config);
        recovery.measure_rates(&mut tcb);
        let permits_prediction = tcb.permits_prediction(config);
        let steady_below = f64::NEG_INFINITY;
        let mut new = Self { tcb, recovery, permits_prediction, predicts: false, steady_below };
        new.update_prediction();
        new
    }

    /// Resets the sender for another flow, as [`Sender::new`], and keeps the memory of loss
    /// detection.
    pub fn reset(
        &mut self,
        rule: Rule,
        recovery: Recovery,
        packets: Option<u64>,
        timer_phase_s: f64,
        config: &TcpConfig,
    ) {
        let mut new = Self::new(rule, recovery, packets, timer_phase_s, config);
        new.recovery.take_memory(&mut self.recovery);
        new.set_clock_step(self.tcb.pacer.as_ref().map_or(0.0, |pacer| pacer.clock_step_s));
        *self = new;
    }

    /// From now on the application's data is what [`Sender::supply`] gave: it writes nothing else,
    /// and what was given waits in the send buffer.
    pub fn take_given_writes(&mut self) {
        self.recovery.take_given_writes();
    }

    /// Sets the step of the host's clock, seconds; 0: it is exact. Pacing notices it.
    pub fn set_clock_step(&mut self, step_s: f64) {
        self.tcb.pacer.iter_mut().for_each(|pacer| pacer.clock_step_s = step_s);
    }

    /// The device below the sender paces its bursts, in Linux's way (`sch_fq`). Only loss recovery
    /// by RACK knows of it.
    pub fn pace_bursts(&mut self) {
        self.tcb.bursts_are_paced = true;
        self.tcb.pacer.get_or_insert_default();
        self.update_prediction();
    }

    /// Whether the device below the sender refuses packets, so that retransmissions fail. Only loss
    /// recovery by RACK knows of it.
    pub fn refuse_packets(&mut self, refuses: bool) {
        self.recovery.refuse_packets(refuses);
    }

    /// Takes the receiver's window, bytes beyond `ack`, from an ACK that is about to be processed.
    /// One that acknowledges nothing new can open it or shut it, not reduce it (Linux
    /// `tcp_may_update_window`).
    pub fn set_receiver_window(&mut self, now_s: f64, ack: i64, bytes: u32, config: &TcpConfig) {
        let packets = bytes / config.segment.packet_size.max(1);
        let tcb = &mut self.tcb;
        let largest_bytes = tcb.largest_window_bytes.get_or_insert(0);
        let is_news = ack > tcb.highest_ack
            || (ack == tcb.highest_ack && (packets > tcb.rwnd || packets == 0));
        if !is_news {
            return;
        }
        *largest_bytes = bytes.max(*largest_bytes);
        if packets == tcb.rwnd {
            return;
        }
        (tcb.rwnd, tcb.window_changed) = (packets, true);
        if tcb.outstanding() == 0 && tcb.snd_nxt < tcb.data_end {
            // Linux `tcp_ack_update_window` restarts like an application that comes back.
            tcb.restart_cwnd_after_idle(now_s, config);
        }
        tcb.stop_persist_if_open();
        self.settle(now_s);
    }

    /// The receiver's window before any ACK tells it, packets, for a sender without handshake.
    pub fn expect_window(&mut self, packets: u32) {
        self.tcb.rwnd = packets;
        self.update_prediction();
    }

    /// State under the names of Linux's `struct tcp_info`.
    pub fn tcp_info(&self, config: &TcpConfig) -> TcpInfo {
        let tcb = &self.tcb;
        let microseconds = |seconds: f64| (seconds * 1e6).round() as u32;
        let mut info = TcpInfo {
            ca_state: tcb.state.into(),
            snd_cwnd: tcb.cwnd as u32,
            snd_ssthresh: if tcb.ssthresh < 1e9 {
                tcb.ssthresh as u32
            } else {
                TcpInfo::INFINITE_SSTHRESH
            },
            backoff: tcb.rtt.backoff().ilog2(),
            rtt: microseconds(tcb.rtt.srtt_s(config)),
            rttvar: microseconds(tcb.rtt.rttvar_s(config)),
            rto: microseconds(tcb.rtt.rto_s()),
            ..TcpInfo::default()
        };
        self.recovery.report(tcb, &mut info);
        info
    }

    /// Makes a packet of the data given so far a short one.
    pub fn set_short_packet(&mut self, short: Option<ShortPacket>) {
        self.tcb.short_packet = short.map(Box::new);
        self.update_prediction();
    }

    /// Starts sending.
    pub fn start(&mut self, now_s: f64, config: &TcpConfig, out: &mut impl Output) {
        self.tcb.last_event_s = now_s;
        self.tcb.limitation.iter_mut().for_each(|limitation| limitation.start(now_s));
        self.send_pending_data(now_s, config, out);
        self.tcb.persist_if_shut(now_s, config);
        self.note_limit(now_s);
    }

    /// The state after an event: what limits the flow, and whether ACKs may be predicted.
    #[inline]
    fn settle(&mut self, now_s: f64) {
        self.note_limit(now_s);
        self.update_prediction();
    }

    /// Whether an ACK has arrived.
    pub fn is_connected(&self) -> bool {
        self.tcb.last_ack >= 0
    }

    /// Processes an ACK with its SACK blocks.
    #[inline(always)]
    pub fn on_ack(
        &mut self,
        now_s: f64,
        ack: AckSegment,
        sack: Option<&SackBlocks>,
        config: &TcpConfig,
        out: &mut impl Output,
    ) {
        if !self.is_predicted(ack) {
            return self.on_ack_slow_path(now_s, ack, sack, config, out);
        }
        let last = self.on_predicted_ack(now_s, ack, config);
        while let Some(segment) = self.next_predicted_segment(now_s, last, config) {
            out.send(segment);
        }
    }

    /// Processes any ACK, for every rule and all settings.
    #[inline(never)]
    fn on_ack_slow_path(
        &mut self,
        now_s: f64,
        ack: AckSegment,
        sack: Option<&SackBlocks>,
        config: &TcpConfig,
        out: &mut impl Output,
    ) {
        debug_assert!(self.knows_limit());
        // RFC 9293 section 3.10.7.4: drop an ACK of data that was never sent.
        if ack.ack > self.tcb.highest_sent {
            return self.tcb.count_rtt(now_s, ack);
        }
        if ack.echo.is_ace() {
            let delivered = self.recovery.newly_delivered(&self.tcb, ack.ack, sack);
            self.tcb.ecn.read_ace(ack, delivered, config);
        } else {
            self.tcb.ecn.is_marked = ack.echo == EcnEcho::ECE;
        }
        self.process_ack(now_s, ack, sack, config, out);
        self.tcb.ecn.is_marked = false;
        if self.tcb.largest_window_bytes.is_some() {
            self.tcb.window_changed = false;
            self.tcb.persist_if_shut(now_s, config);
        }
        self.settle(now_s);
    }

    /// Processes a window update, which no packet triggered: it gives an RTT sample only if it
    /// acknowledges new data, by the timestamp that it echoes.
    #[cold]
    #[inline(never)]
    pub fn on_window_update(
        &mut self,
        now_s: f64,
        ack: AckSegment,
        sack: Option<&SackBlocks>,
        config: &TcpConfig,
        out: &mut impl Output,
    ) {
        let counters = self.tcb.counters;
        let is_sample = ack.ack > self.tcb.highest_ack;
        self.on_ack_slow_path(now_s, AckSegment { sent_s: ack.echo_s, ..ack }, sack, config, out);
        if !is_sample {
            let Counters { rtt_sum_s, rtt_count, .. } = counters;
            self.tcb.counters = Counters { rtt_sum_s, rtt_count, ..self.tcb.counters };
        }
    }

    /// Processes an ACK of all packets up to `ack.ack` and a part of the next one (ACK division).
    /// Counted by ACKs, growth takes it for the ACK of a packet; counted by bytes it does not
    /// (RFC 5681 section 3.1, RFC 3465). In recovery and beside other feedback it does nothing.
    #[cold]
    #[inline(never)]
    pub fn on_ack_of_part(
        &mut self,
        now_s: f64,
        ack: AckSegment,
        sack: Option<&SackBlocks>,
        config: &TcpConfig,
        out: &mut impl Output,
    ) {
        if ack.ack > self.tcb.last_ack {
            return self.on_ack(now_s, ack, sack, config, out);
        }
        let tcb = &mut self.tcb;
        tcb.accumulate_cwnd_area(now_s);
        tcb.count_rtt(now_s, ack);
        if ack.ack < tcb.highest_ack
            || tcb.outstanding() == 0
            || matches!(tcb.phase(), Phase::Recovery | Phase::Loss)
            || ack.echo != tcb.ecn.unmarked
        {
            return;
        }
        tcb.restart_timer(now_s, ack.ack);
        if !config.growth.grow_by_packets && !tcb.needs.recovery {
            tcb.previous_highest_ack = tcb.highest_ack;
            let flight = self.recovery.flight(tcb, config);
            tcb.grow::<false>(now_s, ack, 0, flight, config);
            self.send_pending_data(now_s, config, out);
        }
        self.settle(now_s);
    }

    /// What an ACK does once its ECN feedback is read.
    #[inline(always)]
    fn process_ack(
        &mut self,
        now_s: f64,
        ack: AckSegment,
        sack: Option<&SackBlocks>,
        config: &TcpConfig,
        out: &mut impl Output,
    ) {
        self.tcb.accumulate_cwnd_area(now_s);
        self.tcb.count_rtt(now_s, ack);
        if self.tcb.rate_sampler.is_some() {
            let flight = self.recovery.flight(&self.tcb, config);
            self.tcb.check_app_limited(flight);
            let delivered = self.recovery.newly_reported(&self.tcb, ack.ack, sack);
            self.tcb.sample_ack(now_s, ack, delivered, flight, config);
        }
        if self.tcb.undo.is_some() {
            let dsack = sack.and_then(|blocks| blocks.duplicate(ack.ack));
            match self.tcb.judge_reduction(ack, dsack, config) {
                Verdict::Open | Verdict::AnotherLoss => {}
                Verdict::Spurious => {
                    let late_originals = self.tcb.repairs_a_part(ack.ack);
                    self.tcb.undo_reduction();
                    self.recovery.on_undo(late_originals);
                }
                Verdict::SendNewData => {
                    self.tcb.new_ack_and_grow(now_s, ack, config);
                    self.tcb.snd_nxt = self.tcb.highest_sent + 1;
                    let last = self.tcb.last_new_packet(ack.ack).unwrap_or(0);
                    while self.tcb.snd_nxt <= last {
                        self.tcb.transmit(now_s, self.tcb.snd_nxt, config, out);
                        self.tcb.snd_nxt += 1;
                    }
                    return;
                }
            }
        }
        if self.tcb.ecn.requests_reduction() {
            self.recovery.on_ece(&mut self.tcb, ack.ack, config);
        }
        let may_be_update = self.tcb.largest_window_bytes.is_some()
            && ack.ack == self.tcb.highest_ack
            && (self.tcb.window_changed || self.tcb.outstanding() == 0);
        if may_be_update && self.recovery.is_window_update(&self.tcb, ack.ack, sack) {
            return self.send_pending_data(now_s, config, out);
        }
        self.recovery.on_ack(&mut self.tcb, now_s, ack, sack, config, out);
    }

    /// Whether an ACK reports marks that the sender does not know of.
    pub fn is_marked(&self, ack: AckSegment, config: &TcpConfig) -> bool {
        self.tcb.ecn.is_news(ack, config)
    }

    /// What a recorded sender measures with the next ACK, whose clock differs by some microseconds.
    pub fn note_measured(&mut self, measured: Measured) {
        self.recovery.note_measured(measured);
    }

    /// Handles expiry of the retransmission timer: of the RTO, of a tail loss probe or of RACK's
    /// reordering timer.
    pub fn on_retransmission_timer(
        &mut self,
        now_s: f64,
        config: &TcpConfig,
        out: &mut impl Output,
    ) {
        debug_assert!(self.knows_limit());
        self.tcb.accumulate_cwnd_area(now_s);
        self.tcb.timer.stop();
        if self.tcb.is_persisting() {
            return self.tcb.probe_window(now_s, config, out);
        }
        // If nothing is to repair, a late duplicate ACK armed the timer again.
        if !self.tcb.is_repaired() {
            self.tcb.check_app_limited(self.recovery.flight(&self.tcb, config));
            self.recovery.on_timer(&mut self.tcb, now_s, config, out);
            self.settle(now_s);
        }
    }

    /// Handles expiry of the pacing timer.
    pub fn on_pacing_timer(&mut self, now_s: f64, config: &TcpConfig, out: &mut impl Output) {
        debug_assert!(self.knows_limit());
        self.tcb.pacer.iter_mut().for_each(|pacer| pacer.stop_timer());
        self.tcb.accumulate_cwnd_area(now_s);
        self.send_pending_data(now_s, config, out);
        self.note_limit(now_s);
    }

    /// Adds `packets` of application data and sends what the window allows. Before
    /// [`Sender::start`] the data is only queued.
    pub fn supply(&mut self, now_s: f64, packets: u64, config: &TcpConfig, out: &mut impl Output) {
        debug_assert!(self.knows_limit());
        let was_idle = self.is_finished();
        if self.tcb.has_started() {
            self.tcb.check_app_limited(self.recovery.flight(&self.tcb, config));
        }
        self.tcb.data_end = self.tcb.data_end.saturating_add_unsigned(packets);
        if packets == 0 || !self.tcb.has_started() {
            return;
        }
        if was_idle && let Some(expired_s) = self.tcb.restart_after_idle(now_s, config) {
            self.recovery.on_rto(&mut self.tcb, expired_s, config);
        }
        // With delivery rates that happens when the packet is sent, and if cwnd was not full
        // before.
        let asks_later = self.tcb.needs.delivery_rate || self.tcb.needs.samples;
        if was_idle && self.tcb.last_sent_s < NEVER && !asks_later {
            self.tcb.restart_rule_from_idle(now_s);
        }
        self.tcb.accumulate_cwnd_area(now_s);
        self.recovery.send_supply(&mut self.tcb, now_s, config, out);
        // A cwnd below one packet sent nothing: the timer reopens it.
        self.tcb.timer.resume_idle();
        if !self.tcb.is_persisting() {
            self.tcb.persist_if_shut(now_s, config);
        }
        self.settle(now_s);
    }

    /// Takes back `packets` of application data that was not sent.
    pub fn withdraw(&mut self, now_s: f64, packets: u64) {
        let end = self.tcb.data_end.saturating_sub_unsigned(packets);
        self.tcb.data_end = end.max(self.tcb.highest_sent + 1);
        self.recovery.withdraw(self.tcb.data_end - self.tcb.snd_nxt);
        if !self.tcb.has_started() {
            return;
        }
        self.tcb.accumulate_cwnd_area(now_s);
        self.tcb.stop_timer_if_repaired();
        self.settle(now_s);
    }

    /// The subflows of the connection, this one at index `own`, as a coupled rule sees them.
    pub fn tell_siblings(&mut self, siblings: &[Sibling], own: usize) {
        self.tcb.rule.on_siblings(siblings, own);
    }

    /// Rate at which a media encoder shall produce its next frame, packets/s; none where the rule
    /// leaves that to the application.
    pub fn encoder_rate_packets_s(&mut self) -> Option<f64> {
        let backlog_packets = (self.tcb.data_end - 1 - self.tcb.highest_sent).max(0) as u64;
        self.tcb.rule.encoder_rate_packets_s(backlog_packets)
    }

    /// Closes the application: no data beyond what was sent.
    pub fn stop(&mut self, now_s: f64, config: &TcpConfig) {
        self.tcb.accumulate_cwnd_area(now_s);
        let end = self.tcb.highest_sent + i64::from(config.recovery.stop_keeps_last_packet);
        self.tcb.data_end = self.tcb.data_end.min(end);
        self.tcb.stop_timer_if_repaired();
        self.settle(now_s);
    }

    fn send_pending_data(&mut self, now_s: f64, config: &TcpConfig, out: &mut impl Output) {
        self.recovery.send_pending_data(&mut self.tcb, now_s, config, out);
    }

    /// Prefetches heap data before the next ACK arrives.
    #[inline]
    pub fn prefetch(&self) {
        self.recovery.prefetch();
    }

    /// The first unacknowledged packet (SND.UNA).
    pub fn snd_una(&self) -> i64 {
        self.tcb.highest_ack + 1
    }

    /// The largest packet sent so far; -1 before any.
    pub fn highest_sent(&self) -> i64 {
        self.tcb.highest_sent
    }

    /// Reductions of the window so far.
    pub fn reductions(&self) -> u32 {
        let Counters { timeouts, fast_retransmits, ecn_reductions, .. } = self.tcb.counters;
        timeouts + fast_retransmits + ecn_reductions
    }

    /// The packet behind the last one of the data that the application has supplied.
    pub fn data_end(&self) -> i64 {
        self.tcb.data_end
    }

    /// Whether all data is acknowledged.
    pub fn is_finished(&self) -> bool {
        self.tcb.is_finished()
    }

    /// Packets sent and not cumulatively acknowledged.
    pub fn outstanding_packets(&self) -> i64 {
        self.tcb.outstanding()
    }

    /// Congestion window, packets.
    #[inline]
    pub fn cwnd(&self) -> f64 {
        self.tcb.cwnd
    }

    /// Whether cwnd is being reduced for a loss or a mark: until what was sent by then is
    /// acknowledged.
    pub fn is_reducing(&self) -> bool {
        let is_reduced = matches!(self.tcb.state, CongestionState::Cwr | CongestionState::Recovery);
        is_reduced && self.tcb.highest_ack < self.tcb.recover
    }

    /// Whether the last ACK reported a mark to which the rule responds itself.
    pub fn has_rule_taken_mark(&self) -> bool {
        self.tcb.ecn.mark_consumed
    }

    /// Slow-start threshold, packets.
    #[inline]
    pub fn ssthresh(&self) -> f64 {
        self.tcb.ssthresh
    }

    /// Smoothed RTT, seconds.
    pub fn srtt_s(&self, config: &TcpConfig) -> f64 {
        self.tcb.rtt.srtt_s(config)
    }

    /// RTT variation (RFC 6298), seconds.
    pub fn rttvar_s(&self, config: &TcpConfig) -> f64 {
        self.tcb.rtt.rttvar_s(config)
    }

    /// Factor of exponential backoff of the retransmission timer.
    pub fn backoff(&self) -> u32 {
        self.tcb.rtt.backoff()
    }

    /// Duplicate ACKs in a row.
    pub fn duplicate_acks(&self) -> u32 {
        self.tcb.dupacks
    }

    /// Phase of the sender.
    pub fn phase(&self) -> Phase {
        self.tcb.phase()
    }

    /// The rule, for its state.
    pub fn rule(&self) -> &Rule {
        &self.tcb.rule
    }

    /// Gives the rule its next random numbers, as they were drawn elsewhere.
    pub fn give_draws(&mut self, draws: &[u32]) {
        self.tcb.rule.give_draws(draws);
    }

    /// Whether the rule returned an invalid congestion window.
    #[inline]
    pub fn is_faulty(&self) -> bool {
        self.tcb.is_faulty
    }

    /// Which invalid value the rule returned.
    pub fn fault(&self) -> Option<&str> {
        self.tcb.rule.fault()
    }

    /// Time of the last event, seconds.
    pub fn last_event_s(&self) -> f64 {
        self.tcb.last_event_s
    }

    /// When the retransmission timer expires, or [`NEVER`].
    #[inline]
    pub fn deadline_s(&self) -> f64 {
        self.tcb.timer.deadline_s
    }

    /// When the retransmission timer was armed last, seconds.
    pub fn armed_at_s(&self) -> f64 {
        self.tcb.timer.armed_at_s
    }

    /// Whether the armed timer is that of the RTO: not RACK's reordering timer, TLP's probe timeout
    /// or the persist timer.
    pub fn timer_is_rto(&self) -> bool {
        let is_rack_or_tlp = self.recovery.timer_is_rack_or_tlp() && self.tcb.outstanding() > 0;
        !(is_rack_or_tlp || self.tcb.is_persisting())
    }

    /// When the pacing timer expires, or [`NEVER`].
    #[inline]
    pub fn pacing_deadline_s(&self) -> f64 {
        self.tcb.pacer.as_ref().map_or(NEVER, |pacer| pacer.deadline_s())
    }

    /// Whether the sender may use the pacing timer.
    pub fn is_paced(&self) -> bool {
        self.tcb.pacer.is_some()
    }

    /// Counters, with the integral of cwnd up to `now_s`.
    pub fn counters(&self, now_s: f64) -> Counters {
        let area = self.tcb.cwnd * (now_s - self.tcb.last_event_s).max(0.0);
        Counters {
            cwnd_area: self.tcb.counters.cwnd_area + area,
            acknowledged: self.snd_una(),
            ..self.tcb.counters
        }
    }
}
