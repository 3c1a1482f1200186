//! Rate samples and the context of each ACK for the rule: delivery rate, round trips, losses, marks
//! (draft-cheng-iccrg-delivery-rate-estimation). Rules that read cwnd and RTT alone have no
//! sampler.

use crate::cwnd::Growth;
pub(crate) use crate::tcb::Flight;
use crate::tcb::{PacketState, Phase, RateSampler, Tcb};
use crate::{AckSegment, EcnFeedback, Knobs};
use cwndlab_rules::{Ack, MarkResponse, WindowRule};

impl RateSampler {
    /// Records the state at a packet's transmission.
    pub(crate) fn on_sent(
        &mut self,
        now_s: f64,
        nothing_outstanding: bool,
        in_flight: u64,
        lost: u64,
    ) {
        if nothing_outstanding {
            (self.delivered_s, self.first_sent_s) = (now_s, now_s);
            self.packets.clear();
        }
        let (delivered, delivered_s, first_sent_s) =
            (self.delivered, self.delivered_s, self.first_sent_s);
        self.packets.push_back(PacketState {
            sent_s: now_s,
            delivered,
            delivered_s,
            first_sent_s,
            is_app_limited: self.is_app_limited(),
            in_flight,
            lost,
        });
    }

    /// Whether packets sent now are application-limited.
    pub(crate) fn is_app_limited(&self) -> bool {
        self.app_limited > 0
    }

    /// Generates a rate sample from the ACK of a packet sent at `sent_s`.
    fn on_ack(&mut self, now_s: f64, ack: AckSegment) {
        let before = self.delivered;
        self.delivered = (before + 1).max(ack.ack.max(0) as u64 + 1);
        self.newly_delivered = self.delivered - before;
        self.delivered_s = now_s;
        if self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        while self.packets.front().is_some_and(|first| first.sent_s < ack.sent_s) {
            self.packets.pop_front();
        }
        let Some(packet) = self.packets.front().filter(|first| first.sent_s == ack.sent_s).copied()
        else {
            return;
        };
        self.last_acked = Some(packet);
        if packet.delivered >= self.next_round_delivered {
            (self.next_round_delivered, self.round_start) = (self.delivered, true);
        }
        self.first_sent_s = packet.sent_s;
        let interval_s = (packet.sent_s - packet.first_sent_s).max(now_s - packet.delivered_s);
        if interval_s > 0.0 {
            self.rate_sample =
                ((self.delivered - packet.delivered) as f64 / interval_s, packet.is_app_limited);
        }
    }
}

impl Tcb {
    /// Notes whether the application limits the flow: it has no unsent data, though cwnd allows
    /// more (section "Detecting application-limited phases"). Called before new data, an ACK or a
    /// timer changes anything.
    pub(crate) fn check_app_limited(&mut self, flight: Flight) {
        let is_limited = self.needs.delivery_rate
            && self.snd_nxt >= self.data_end
            && (flight.in_flight as f64) < self.cwnd
            && !flight.repairs_wait;
        if let Some(sampler) = self.rate_sampler.as_mut().filter(|_| is_limited) {
            sampler.app_limited = (sampler.delivered + flight.in_flight).max(1);
        }
    }

    /// Takes samples from an ACK and passes a mark to the rule. Runs before anything else that the
    /// ACK does.
    #[inline(never)]
    pub(crate) fn sample_ack(
        &mut self,
        now_s: f64,
        ack: AckSegment,
        flight: Flight,
        knobs: &Knobs,
    ) {
        let Some(sampler) = &mut self.rate_sampler else { return };
        if std::mem::take(&mut sampler.round_start_reported) {
            sampler.round_start = false;
        }
        let rtt_s = now_s - ack.sent_s;
        sampler.min_rtt_s = sampler.min_rtt_s.min(rtt_s);
        sampler.smoothed_rtt_s = if sampler.smoothed_rtt_s == 0.0 {
            rtt_s
        } else {
            sampler.smoothed_rtt_s + (rtt_s - sampler.smoothed_rtt_s) / 8.0
        };
        sampler.on_ack(now_s, ack);
        // Rules that process every ACK count round trips by delivered packets (`on_ack`); others
        // count them by sequence numbers.
        if !self.needs.recovery && ack.ack > sampler.round_end {
            (sampler.round_start, sampler.round_end) = (true, self.highest_sent);
        }
        sampler.mark_consumed = false;
        if self.ecn.is_marked && self.ecn.negotiated {
            if self.ecn.ce_estimate.is_none() {
                self.ecn.marked_packets = sampler.newly_delivered;
            }
            sampler.round_start_reported = !self.needs.recovery;
            let ack_context = self.ack_context(now_s, ack, 0, Growth::NONE, flight, knobs);
            let mark_consumed =
                self.rule.on_mark(self.cwnd, &ack_context) == MarkResponse::Consumed;
            self.check_fault();
            self.ecn.marked_packets = 0;
            let Some(sampler) = &mut self.rate_sampler else { return };
            sampler.mark_consumed = mark_consumed;
            // A receiver that latches ECE needs CWR once per window of data, or it would repeat ECE
            // forever.
            if mark_consumed
                && knobs.ecn_feedback == EcnFeedback::Ece
                && ack.ack > sampler.cwr_window_end
            {
                sampler.cwr_window_end = self.highest_sent;
                self.ecn.cwr_pending = true;
            }
        }
    }

    /// Whether the rule consumed the mark of this ACK, so that the endpoint does not reduce cwnd.
    #[inline]
    pub(crate) fn mark_consumed(&self) -> bool {
        self.rate_sampler.as_ref().is_some_and(|sampler| sampler.mark_consumed)
    }

    fn ack_context(
        &self,
        now_s: f64,
        ack: AckSegment,
        acked: u64,
        growth: Growth,
        flight: Flight,
        knobs: &Knobs,
    ) -> Ack {
        let Some(sampler) = &self.rate_sampler else { return Ack::default() };
        let sees_recovery = self.needs.recovery;
        // Retransmissions exceed losses after a timeout.
        let lost = flight.lost.unwrap_or(self.counters.retransmitted);
        let outstanding = (self.highest_sent - ack.ack.max(self.highest_ack)).max(0) as u64;
        let rate_sample = sampler.rate_sample;
        let since_sent = sampler.last_acked;
        // A clock with ticks rounds the smoothed RTT up by a tick or so, which is no queue.
        let has_ticks = knobs.tick.seconds() > 0.0;
        let exact_srtt_s = if has_ticks { sampler.smoothed_rtt_s } else { self.rtt.srtt_s(knobs) };
        Ack {
            now_s,
            acked_packets: acked,
            growth_packets: growth.packets,
            ssthresh_packets: self.ssthresh,
            cwnd_limited: growth.is_limited,
            delivered_packets: sampler.delivered,
            lost_packets: lost,
            in_flight_packets: if sees_recovery { flight.in_flight } else { outstanding },
            sent_in_flight_packets: since_sent.map_or(0, |packet| packet.in_flight),
            delivered_since_sent_packets: since_sent
                .map_or(0, |packet| sampler.delivered - packet.delivered),
            lost_since_sent_packets: since_sent
                .map_or(0, |packet| lost.saturating_sub(packet.lost)),
            in_recovery: matches!(self.phase(), Phase::Recovery | Phase::Loss),
            rtt_s: now_s - ack.sent_s,
            srtt_s: self.rtt.srtt_s(knobs),
            min_rtt_s: sampler.min_rtt_s,
            queueing_delay_s: (exact_srtt_s - sampler.min_rtt_s).max(0.0),
            delivery_rate_packets_s: rate_sample.0,
            marked: self.ecn.is_marked,
            marked_packets: self.ecn.marked_packets,
            round_start: sampler.round_start && !sees_recovery,
            app_limited: rate_sample.1,
        }
    }

    /// Packets in flight where nothing but the cumulative acknowledgement tells: all outstanding.
    pub(crate) fn flight(&self) -> Flight {
        if !self.needs.recovery {
            return Flight::default();
        }
        Flight { in_flight: self.outstanding().max(0) as u64, ..Flight::default() }
    }

    /// Passes a duplicate ACK or an ACK in recovery to a rule that needs it.
    pub(crate) fn report_recovery_ack(
        &mut self,
        now_s: f64,
        ack: AckSegment,
        flight: Flight,
        knobs: &Knobs,
    ) {
        let asks = self.rate_sampler.as_ref().is_some_and(|sampler| {
            self.needs.recovery && sampler.delivered > sampler.reported_delivered
        });
        if asks && (!self.ecn.is_marked || self.mark_consumed()) {
            self.grow_by_ack_context(now_s, ack, 0, Growth::NONE, flight, knobs);
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
        knobs: &Knobs,
    ) {
        let mut ack_context = self.ack_context(now_s, ack, acked, growth, flight, knobs);
        // Nothing was delivered before the SYN was sent, however often that was.
        let packet = self.rate_sampler.as_ref().and_then(|sampler| sampler.last_acked);
        if knobs.syn
            && self.needs.delivery_rate
            && packet.is_some_and(|packet| packet.delivered == 0)
        {
            // The handshake gives an RTT. It delivers no data, and cwnd is the initial window after
            // it.
            ack_context.delivery_rate_packets_s = 0.0;
            self.cwnd = self.cwnd.max(self.initial_window(knobs));
        }
        if let Some(sampler) = &mut self.rate_sampler {
            if self.needs.recovery {
                ack_context.acked_packets = sampler.delivered - sampler.reported_delivered;
                if knobs.grow_by_packets && growth.packets > 0 {
                    ack_context.growth_packets = ack_context.acked_packets;
                }
                ack_context.round_start = std::mem::take(&mut sampler.round_start);
                sampler.reported_delivered = sampler.delivered;
            } else {
                ack_context.acked_packets = acked.min(sampler.newly_delivered);
                sampler.round_start_reported = true;
            }
        }
        self.apply_rule(&ack_context, knobs);
    }

    /// Records whether the rule returned an invalid congestion window. Such a rule is not asked
    /// again, and the run ends.
    pub(crate) fn check_fault(&mut self) {
        self.is_faulty |= self.needs.faults && self.rule.fault().is_some();
    }
}
