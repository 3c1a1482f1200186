//! SACK recovery: ns-2 Sack1 (`tcp-sack1.cc`), or RFC 6675 with the knob `sack_rfc6675`.
//!
//! They differ in the estimate of packets in flight (Sack1 counts down from the outstanding
//! packets; RFC 6675 derives pipe from the scoreboard), in the choice of the next packet, and in
//! the rescue retransmission.
//!
//! Forward acknowledgment (FACK; Mathis and Mahdavi 1996, section 2) is RFC 6675 with another
//! definition of loss: every packet below the highest SACKed one (snd.fack) is lost, so that pipe
//! is their awnd = snd.nxt - snd.fack + retran_data. Recovery begins when snd.fack is more than
//! three packets beyond SND.UNA, or at the third duplicate ACK. Overdamping and rampdown are not
//! implemented.

use super::dupack::DupackAction;
use crate::tcb::{CongestionState, Flight, Tcb};
use crate::{AckSegment, Output, SackBlocks, Scoreboard, TcpConfig};
use cwndlab_rules::Congestion;

/// State of SACK recovery.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sack {
    is_fack: bool,
    /// Allocated at the first duplicate ACK.
    scoreboard: Option<Box<Scoreboard>>,
    /// Whether the scoreboard may hold SACK information.
    in_use: bool,
    /// After a timeout duplicate ACKs are ignored until new data is acknowledged.
    ignores_dupacks: bool,
    /// RFC 6675: the rescue retransmission of this recovery was sent.
    rescue_retransmitted: bool,
    /// Estimate of packets in flight in recovery (RFC 6675).
    pipe: i64,
    /// Packets counted as lost for the rule, and the number below which they were counted.
    lost: u64,
    lost_counted_below: i64,
}

impl Sack {
    /// Forward acknowledgment.
    pub(crate) fn fack() -> Self {
        Self { is_fack: true, ..Self::default() }
    }

    /// Whether pipe follows from the scoreboard, as in RFC 6675; Sack1 counts.
    fn counts_by_scoreboard(&self, config: &TcpConfig) -> bool {
        config.recovery.sack_rfc6675 || self.is_fack
    }

    /// SACKed packets above a packet that make it lost (RFC 6675 section 4, IsLost).
    fn loss_threshold(&self, config: &TcpConfig) -> u32 {
        if self.is_fack { 1 } else { config.recovery.dupack_threshold }
    }

    /// Whether nothing is being repaired and no packet is SACKed.
    pub(crate) fn is_idle(&self, tcb: &Tcb) -> bool {
        tcb.state != CongestionState::Recovery && !self.in_use
    }

    /// Takes over the memory of another flow's scoreboard.
    pub(crate) fn take_memory(&mut self, other: &mut Self) {
        self.scoreboard = other.scoreboard.take();
        self.scoreboard.iter_mut().for_each(|board| board.reset());
    }

    /// The scoreboard's memory, to be prefetched.
    pub(crate) fn memory(&self) -> Option<&Scoreboard> {
        self.scoreboard.as_deref()
    }

    pub(crate) fn on_ack(
        &mut self,
        tcb: &mut Tcb,
        now_s: f64,
        ack: AckSegment,
        sack: Option<&SackBlocks>,
        config: &TcpConfig,
        out: &mut impl Output,
    ) {
        if tcb.state == CongestionState::Recovery {
            return self.on_ack_in_recovery(tcb, now_s, ack, sack, config, out);
        }
        if ack.ack > tcb.last_ack {
            let acked = (ack.ack - tcb.highest_ack).max(0) as u64;
            tcb.new_ack::<false>(now_s, ack, config);
            let flight = self.flight_after_ack(tcb, config);
            tcb.grow_after_new_ack::<false>(now_s, ack, acked, flight, config);
            self.ignores_dupacks = false;
            if self.in_use {
                self.prune_scoreboard(tcb, blocks(sack), config);
            }
        } else if ack.ack == tcb.last_ack && !self.ignores_dupacks && !blocks(sack).is_empty() {
            self.on_duplicate_ack(tcb, now_s, ack, blocks(sack), config, out);
        }
        if ack.ack >= tcb.last_ack && tcb.dupacks == 0 {
            self.send_pending_data(tcb, now_s, config, out);
        }
    }

    /// An ACK of new data outside recovery, with nothing on the scoreboard.
    #[inline(always)]
    pub(crate) fn on_predicted_ack(&mut self) {
        self.ignores_dupacks = false;
    }

    /// Clears the scoreboard after a new ACK outside recovery. While losses of a timeout are being
    /// repaired RFC 6675 section 5.1 keeps it, so that SACKed packets are not retransmitted.
    #[inline(never)]
    fn prune_scoreboard(&mut self, tcb: &Tcb, blocks: &[(i64, i64)], config: &TcpConfig) {
        if self.counts_by_scoreboard(config) && tcb.highest_ack < tcb.recover {
            self.scoreboard().update(tcb.highest_ack, tcb.highest_sent, blocks);
        } else {
            self.scoreboard().clear();
            self.in_use = false;
        }
    }

    fn scoreboard(&mut self) -> &mut Scoreboard {
        self.in_use = true;
        self.scoreboard.get_or_insert_with(Box::default)
    }

    /// A duplicate ACK counts if it SACKs a new packet.
    #[inline(never)]
    fn on_duplicate_ack(
        &mut self,
        tcb: &mut Tcb,
        now_s: f64,
        ack: AckSegment,
        blocks: &[(i64, i64)],
        config: &TcpConfig,
        out: &mut impl Output,
    ) {
        if !self.scoreboard().update(tcb.highest_ack, tcb.highest_sent, blocks) {
            return;
        }
        tcb.report_recovery_ack(now_s, ack, self.flight_after_ack(tcb, config), config);
        tcb.dupacks += 1;
        if self.is_fack && tcb.dupacks < config.recovery.dupack_threshold {
            let highest_sacked = self.scoreboard().lost_below(1).unwrap_or(tcb.highest_ack);
            if highest_sacked - tcb.highest_ack > i64::from(config.recovery.dupack_threshold) {
                tcb.dupacks = config.recovery.dupack_threshold;
            }
        }
        if tcb.dupacks < config.recovery.dupack_threshold {
            if let Some(number) = tcb.next_of_limited_transmit(config) {
                self.transmit(tcb, now_s, number, config, out);
                tcb.snd_nxt += 1;
            }
        } else if tcb.dupacks == config.recovery.dupack_threshold {
            let response = DupackAction::of(tcb, config);
            if response != DupackAction::Ignore {
                self.enter_recovery(tcb, now_s, response, config, out);
            }
        }
    }

    fn enter_recovery(
        &mut self,
        tcb: &mut Tcb,
        now_s: f64,
        response: DupackAction,
        config: &TcpConfig,
        out: &mut impl Output,
    ) {
        self.pipe = tcb.outstanding() - i64::from(config.recovery.dupack_threshold);
        if config.recovery.prr {
            self.pipe = self.pipe.max(0);
        }
        tcb.restart_timer_after_reduction(now_s);
        self.rescue_retransmitted = false;
        let in_flight = if config.recovery.prr { self.in_flight(tcb, config) } else { 0 };
        let first_hole = tcb.highest_ack + 1;
        self.scoreboard().mark_retransmitted(first_hole);
        if response == DupackAction::Reduce {
            tcb.enter_fast_retransmit();
            tcb.begin_cwnd_reduction(Congestion::FastRetransmit, config);
            tcb.update_prr(in_flight, 1, false);
        } else {
            tcb.enter_recovery_without_reduction(config);
        }
        self.transmit(tcb, now_s, tcb.last_ack + 1, config, out);
        tcb.count_prr_out();
        if self.counts_by_scoreboard(config) {
            self.send_in_recovery(tcb, now_s, config, out);
        }
    }

    /// Estimate of packets in flight in recovery.
    fn in_flight(&self, tcb: &Tcb, config: &TcpConfig) -> i64 {
        match &self.scoreboard {
            Some(board) if self.counts_by_scoreboard(config) => {
                board.pipe(tcb.highest_ack, tcb.highest_sent, self.loss_threshold(config))
            }
            _ => self.pipe,
        }
    }

    /// Packets in flight and lost, for the rule.
    #[inline]
    pub(crate) fn flight(&self, tcb: &Tcb, config: &TcpConfig) -> Flight {
        if tcb.needs.recovery { self.known_flight(tcb, config) } else { Flight::default() }
    }

    #[inline(never)]
    fn known_flight(&self, tcb: &Tcb, config: &TcpConfig) -> Flight {
        let outstanding = tcb.outstanding();
        let pipe = match &self.scoreboard {
            Some(board) if self.in_use => {
                board.pipe(tcb.highest_ack, tcb.highest_sent, self.loss_threshold(config))
            }
            _ => outstanding,
        };
        let in_flight = pipe.clamp(0, outstanding.max(0)) as u64;
        Flight { in_flight, lost: Some(self.lost), ..Flight::default() }
    }

    /// [`Self::flight`] after an ACK, with the packets that it marks lost.
    #[inline]
    fn flight_after_ack(&mut self, tcb: &Tcb, config: &TcpConfig) -> Flight {
        if tcb.needs.recovery {
            self.count_losses(tcb, config);
        }
        self.flight(tcb, config)
    }

    /// Counts packets that the scoreboard newly marks lost (RFC 6675 section 4, IsLost), for the
    /// rule.
    #[inline(never)]
    fn count_losses(&mut self, tcb: &Tcb, config: &TcpConfig) {
        let Some(board) = self.scoreboard.as_ref().filter(|_| self.in_use) else { return };
        let from = self.lost_counted_below.max(tcb.highest_ack + 1);
        let below = board.lost_below(self.loss_threshold(config));
        if let Some(below) = below.filter(|below| *below > from) {
            self.lost += board.count_unsacked(from, below);
            self.lost_counted_below = below;
        }
    }

    #[inline(never)]
    fn on_ack_in_recovery(
        &mut self,
        tcb: &mut Tcb,
        now_s: f64,
        ack: AckSegment,
        sack: Option<&SackBlocks>,
        config: &TcpConfig,
        out: &mut impl Output,
    ) {
        let valid = ack.ack >= tcb.last_ack;
        self.repair(tcb, now_s, ack, blocks(sack), config);
        tcb.report_recovery_ack(now_s, ack, self.flight_after_ack(tcb, config), config);
        if valid {
            self.send_pending_data(tcb, now_s, config, out);
        }
    }

    fn repair(
        &mut self,
        tcb: &mut Tcb,
        now_s: f64,
        ack: AckSegment,
        blocks: &[(i64, i64)],
        config: &TcpConfig,
    ) {
        self.pipe -= 1;
        if ack.ack >= tcb.recover {
            tcb.recover = 0;
            // A reduction for ECE during recovery remains the last one.
            tcb.state = CongestionState::Open;
            tcb.end_cwnd_reduction();
            tcb.new_ack::<false>(now_s, ack, config);
            tcb.stop_timer_if_repaired();
            self.ignores_dupacks = false;
            self.scoreboard().clear();
            return;
        }
        let partial = ack.ack > tcb.highest_ack;
        let first = tcb.highest_ack + 1;
        if partial {
            tcb.highest_ack = ack.ack;
        }
        let (highest_ack, highest_sent) = (tcb.highest_ack, tcb.highest_sent);
        let before = tcb.in_cwnd_reduction().then(|| self.progress(first, config));
        let newly_sacked = self.scoreboard().update(highest_ack, highest_sent, blocks);
        let after = before.map(|before| (before, self.progress(highest_ack + 1, config)));
        if partial {
            // The retransmission left the network as well as the packet it uncovered.
            self.pipe -= 1;
            tcb.restart_timer(now_s, ack.ack);
            tcb.rtt.reset_backoff(config);
        } else if newly_sacked && tcb.dupacks > 0 {
            tcb.dupacks += 1;
        }
        if let Some((before, after)) = after {
            // Sack1 decrements pipe on every ACK, so duplicated ACKs take it below zero. PRR needs
            // a count of at least zero.
            self.pipe = self.pipe.max(0);
            let newly_lost = self.scoreboard().count_unsacked(
                before.lost_below.max(highest_ack + 1),
                after.lost_below.max(highest_ack + 1),
            ) > 0;
            let in_flight = self.in_flight(tcb, config);
            tcb.update_prr(in_flight, after.delivered - before.delivered, partial && !newly_lost);
        }
    }

    /// Scoreboard totals, for PRR. `first`: SND.UNA.
    fn progress(&self, first: i64, config: &TcpConfig) -> ScoreboardProgress {
        let Some(board) = &self.scoreboard else {
            return ScoreboardProgress { delivered: first, lost_below: first };
        };
        let delivered = first + board.sacked_count(first - 1) as i64;
        let lost_below = board.lost_below(self.loss_threshold(config)).unwrap_or(first);
        ScoreboardProgress { delivered, lost_below }
    }

    pub(crate) fn on_rto(&mut self, tcb: &mut Tcb, now_s: f64, config: &TcpConfig) {
        tcb.window_inflation = 0;
        tcb.dupacks = 0;
        tcb.cancel_cwnd_reduction();
        self.ignores_dupacks = true;
        self.lost += 1;
        tcb.last_ack = tcb.last_ack.max(tcb.highest_ack);
        let keeps_scoreboard = self.counts_by_scoreboard(config);
        match &mut self.scoreboard {
            Some(scoreboard) if keeps_scoreboard => scoreboard.forget_retransmissions(),
            Some(scoreboard) => scoreboard.clear(),
            None => {}
        }
        tcb.handle_rto(now_s, config);
    }

    pub(crate) fn on_undo(&mut self) {
        self.ignores_dupacks = false;
        self.rescue_retransmitted = false;
    }

    pub(crate) fn send_pending_data(
        &mut self,
        tcb: &mut Tcb,
        now_s: f64,
        config: &TcpConfig,
        out: &mut impl Output,
    ) {
        if tcb.state == CongestionState::Recovery {
            return self.send_in_recovery(tcb, now_s, config, out);
        }
        let mut send_limit = tcb.send_limit();
        if config.limits.max_burst > 0 {
            send_limit = send_limit.min(tcb.snd_nxt + i64::from(config.limits.max_burst) - 1);
        }
        while tcb.snd_nxt <= send_limit && tcb.pacing_allows(now_s) {
            if !(self.counts_by_scoreboard(config) && self.is_sacked(tcb.snd_nxt)) {
                self.transmit(tcb, now_s, tcb.snd_nxt, config, out);
            }
            tcb.snd_nxt += 1;
        }
    }

    fn is_sacked(&self, number: i64) -> bool {
        self.scoreboard.as_ref().is_some_and(|board| board.is_sacked(number))
    }

    #[inline]
    fn transmit(
        &mut self,
        tcb: &mut Tcb,
        now_s: f64,
        number: i64,
        config: &TcpConfig,
        out: &mut impl Output,
    ) {
        let mut flight = self.flight(tcb, config);
        if tcb.needs.recovery {
            // The scoreboard already counts retransmissions made in recovery.
            let is_counted = tcb.state == CongestionState::Recovery && number <= tcb.highest_sent;
            flight.in_flight += u64::from(!is_counted);
        }
        tcb.output(now_s, number, flight, config, out);
    }

    /// Sends after the application supplied data. With duplicate ACKs outside recovery, Sack1
    /// consults its scoreboard too: a hole is retransmitted if cwnd was ever reduced, and blocks
    /// new data otherwise.
    pub(crate) fn send_supply(
        &mut self,
        tcb: &mut Tcb,
        now_s: f64,
        config: &TcpConfig,
        out: &mut impl Output,
    ) {
        let in_recovery = tcb.state == CongestionState::Recovery;
        if !in_recovery && tcb.dupacks > 0 && !self.counts_by_scoreboard(config) {
            while tcb.snd_nxt <= tcb.last_ack + tcb.send_window() {
                let Some(hole) = self.scoreboard().next_hole(tcb.highest_ack) else { break };
                if tcb.recover == 0 {
                    return;
                }
                self.scoreboard().mark_retransmitted(hole);
                self.transmit(tcb, now_s, hole, config, out);
            }
        }
        self.send_pending_data(tcb, now_s, config, out);
    }

    #[inline(never)]
    fn send_in_recovery(
        &mut self,
        tcb: &mut Tcb,
        now_s: f64,
        config: &TcpConfig,
        out: &mut impl Output,
    ) {
        let mut sent = 0;
        while tcb.pacing_allows(now_s)
            && let Some(number) = self.next_packet(tcb, config)
        {
            self.transmit(tcb, now_s, number, config, out);
            tcb.snd_nxt = tcb.snd_nxt.max(number + 1);
            self.pipe += 1;
            tcb.count_prr_out();
            sent += 1;
            if config.limits.max_burst > 0 && sent == config.limits.max_burst {
                break;
            }
        }
    }

    /// The next packet to send in recovery.
    fn next_packet(&mut self, tcb: &Tcb, config: &TcpConfig) -> Option<i64> {
        let window = i64::from(tcb.rwnd);
        let new_data = (tcb.snd_nxt <= tcb.highest_ack + window && tcb.snd_nxt < tcb.data_end)
            .then_some(tcb.snd_nxt);
        if self.counts_by_scoreboard(config) {
            return self.next_segment_rfc6675(tcb, new_data, config);
        }
        if self.pipe >= tcb.cwnd as i64 || tcb.last_ack + 1 >= tcb.data_end {
            return None;
        }
        match self.scoreboard().next_hole(tcb.highest_ack) {
            Some(hole) if tcb.recover > 0 && hole <= tcb.highest_ack + window => {
                self.scoreboard().mark_retransmitted(hole);
                Some(hole)
            }
            Some(_) => None,
            None => new_data,
        }
    }

    /// NextSeg of RFC 6675 section 4: lost holes, new data, other holes, and one rescue
    /// retransmission per recovery.
    fn next_segment_rfc6675(
        &mut self,
        tcb: &Tcb,
        new_data: Option<i64>,
        config: &TcpConfig,
    ) -> Option<i64> {
        let (highest_ack, threshold) = (tcb.highest_ack, self.loss_threshold(config));
        let board = self.scoreboard.as_deref_mut()?;
        self.pipe = board.pipe(highest_ack, tcb.highest_sent, threshold);
        if self.pipe >= tcb.cwnd as i64 {
            return None;
        }
        let hole = board.next_hole(highest_ack);
        let lost =
            hole.filter(|&hole| board.lost_below(threshold).is_some_and(|bound| hole < bound));
        if let Some(number) = lost.or(new_data).or(hole) {
            if Some(number) == hole {
                board.mark_retransmitted(number);
            }
            return Some(number);
        }
        // Rule 4: keeps the ACK clock while the tail of the window is missing.
        if self.rescue_retransmitted {
            return None;
        }
        self.rescue_retransmitted = true;
        board.highest_hole(highest_ack, tcb.recover + 1)
    }
}

/// Scoreboard totals before and after an ACK, for PRR.
struct ScoreboardProgress {
    /// Packets delivered.
    delivered: i64,
    lost_below: i64,
}

fn blocks(sack: Option<&SackBlocks>) -> &[(i64, i64)] {
    sack.map_or(&[][..], SackBlocks::as_slice)
}
