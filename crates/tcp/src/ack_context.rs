//! The context of each ACK for the rule: delivery rate, round trips, losses, marks. Rules that read
//! cwnd and RTT alone get less (`grow_by_rtt` in `cwnd.rs`).

use crate::cwnd::Growth;
use crate::tcb::{Flight, Phase, Tcb};
use crate::{AckSegment, EcnFeedback, TcpConfig};
use cwndlab_rules::{Ack, MarkResponse, WindowRule};

impl Tcb {
    /// Notes whether the application limits the flow: it has no unsent data, though cwnd allows
    /// more (draft-cheng-iccrg-delivery-rate-estimation, "Detecting application-limited phases").
    /// Called before new data, an ACK or a timer changes anything.
    pub(crate) fn check_app_limited(&mut self, flight: Flight) {
        let is_limited = self.needs.delivery_rate
            && self.snd_nxt >= self.data_end
            && (flight.in_flight as f64) < self.cwnd
            && !flight.repairs_wait;
        if let Some(sampler) = self.rate_sampler.as_mut().filter(|_| is_limited) {
            sampler.note_app_limited(flight.in_flight);
        }
    }

    /// Takes samples from an ACK, which newly reports so many packets as delivered, and passes a
    /// mark to the rule. Runs before anything else that the ACK does.
    #[inline(never)]
    pub(crate) fn sample_ack(
        &mut self,
        now_s: f64,
        ack: AckSegment,
        delivered: Option<u64>,
        flight: Flight,
        config: &TcpConfig,
    ) {
        let Some(sampler) = &mut self.rate_sampler else { return };
        sampler.on_ack(now_s, ack, delivered, (!self.needs.recovery).then_some(self.highest_sent));
        self.ecn.mark_consumed = false;
        if !(self.ecn.is_marked && self.ecn.negotiated) {
            return;
        }
        if self.ecn.ce_estimate.is_none() {
            self.ecn.marked_packets = sampler.newly_delivered();
        }
        if !self.needs.recovery {
            sampler.note_round_start_seen();
        }
        let ack_context = self.ack_context(now_s, ack, 0, Growth::NONE, flight, config);
        let response = self.rule.on_mark(self.cwnd, &ack_context);
        self.check_fault();
        self.ecn.marked_packets = 0;
        self.ecn.mark_consumed = response == MarkResponse::Consumed;
        // A receiver that latches ECE needs CWR once per window of data, or it would repeat ECE
        // forever.
        if self.ecn.mark_consumed
            && config.ecn.ecn_feedback == EcnFeedback::Ece
            && ack.ack > self.ecn.cwr_window_end
        {
            self.ecn.cwr_window_end = self.highest_sent;
            self.ecn.cwr_pending = true;
        }
    }

    fn ack_context(
        &self,
        now_s: f64,
        ack: AckSegment,
        acked: u64,
        growth: Growth,
        flight: Flight,
        config: &TcpConfig,
    ) -> Ack {
        let Some(sampler) = &self.rate_sampler else { return Ack::default() };
        let sees_recovery = self.needs.recovery;
        // Retransmissions exceed losses after a timeout.
        let sampled = sampler.context(flight.lost.unwrap_or(self.counters.retransmitted));
        let held_back = self.held_back.min((self.data_end - self.snd_nxt).max(0));
        let outstanding = self.highest_sent - ack.ack.max(self.highest_ack) + held_back;
        let outstanding = outstanding.max(0) as u64;
        let srtt_s = self.rtt.srtt_s(config);
        // A clock with ticks rounds the smoothed RTT up by a tick or so, which is no queue.
        let has_ticks = config.rto.tick.seconds() > 0.0;
        let exact_srtt_s = if has_ticks { sampler.smoothed_rtt_s() } else { srtt_s };
        Ack {
            now_s,
            acked_packets: acked,
            growth_packets: growth.packets,
            ssthresh_packets: self.ssthresh,
            cwnd_limited: growth.is_limited,
            in_flight_packets: if sees_recovery { flight.in_flight } else { outstanding },
            in_recovery: matches!(self.phase(), Phase::Recovery | Phase::Loss),
            rtt_s: now_s - ack.sent_s,
            srtt_s,
            queueing_delay_s: (exact_srtt_s - sampler.min_rtt_s()).max(0.0),
            marked: self.ecn.is_marked,
            marked_packets: self.ecn.marked_packets,
            round_start: sampled.round_start && !sees_recovery,
            ..sampled
        }
    }

    /// Passes a duplicate ACK or an ACK in recovery to a rule that needs it.
    pub(crate) fn report_recovery_ack(
        &mut self,
        now_s: f64,
        ack: AckSegment,
        flight: Flight,
        config: &TcpConfig,
    ) {
        let has_news = self.rate_sampler.as_ref().is_some_and(|sampler| sampler.has_news());
        if self.needs.recovery && has_news && !self.ecn.requests_reduction() {
            self.grow_by_ack_context(now_s, ack, 0, Growth::NONE, flight, config);
        }
    }

    /// Growth by a rule that needs the context of an ACK.
    #[inline(never)]
    pub(crate) fn grow_by_ack_context(
        &mut self,
        now_s: f64,
        ack: AckSegment,
        acked: u64,
        growth: Growth,
        flight: Flight,
        config: &TcpConfig,
    ) {
        let mut ack_context = self.ack_context(now_s, ack, acked, growth, flight, config);
        let is_of_first_round =
            self.rate_sampler.as_ref().is_some_and(|sampler| sampler.is_of_first_round());
        if config.handshake.syn && self.needs.delivery_rate && is_of_first_round {
            // Nothing was delivered before the SYN was sent, however often that was. The handshake
            // gives an RTT. It delivers no data, and cwnd is the initial window after it.
            ack_context.delivery_rate_packets_s = 0.0;
            self.cwnd = self.cwnd.max(self.initial_window(config));
        }
        if let Some(sampler) = &mut self.rate_sampler {
            if self.needs.recovery {
                (ack_context.acked_packets, ack_context.round_start) = sampler.take_news();
                if config.growth.grow_by_packets && growth.packets > 0 {
                    ack_context.growth_packets = ack_context.acked_packets;
                }
            } else {
                ack_context.acked_packets = acked.min(sampler.newly_delivered());
                sampler.note_round_start_seen();
            }
        }
        self.apply_rule(&ack_context, config);
    }
}
