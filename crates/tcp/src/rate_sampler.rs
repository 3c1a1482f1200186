//! What a sender measures for its rule: delivery rate, round trips, packets delivered
//! (draft-cheng-iccrg-delivery-rate-estimation). Rules that read cwnd and RTT alone have no sampler.

use crate::AckSegment;
use cwndlab_rules::Ack;
use std::collections::VecDeque;

/// Measures what a rule needs per ACK.
#[derive(Clone, Debug)]
pub(crate) struct RateSampler {
    /// Minimum RTT, seconds.
    min_rtt_s: f64,
    /// RTT of each ACK, smoothed as RFC 6298 does; 0 before the first, seconds.
    smoothed_rtt_s: f64,
    /// Packets delivered so far (C.delivered): where the sender does not know how many, each ACK
    /// reports one at least.
    delivered: u64,
    /// When `delivered` last changed, seconds (C.delivered_time).
    delivered_s: f64,
    /// Transmission time of the packet delivered last, seconds (C.first_sent_time).
    first_sent_s: f64,
    /// `delivered` beyond which the flow is no longer application-limited, 0 where it is not
    /// (C.app_limited): by then what was sent before the application ran out of data is
    /// delivered.
    app_limited: u64,
    /// Packets in flight in order of transmission.
    packets: VecDeque<PacketState>,
    /// Send-time state of the packet acknowledged last.
    last_acked: Option<PacketState>,
    /// Packets newly delivered by the last ACK. An ACK that fills a hole covers packets that were
    /// delivered before.
    newly_delivered: u64,
    /// `delivered` when the rule last processed an ACK.
    reported_delivered: u64,
    /// Highest packet sent when the current round trip began, and `delivered` at that time.
    round_end: i64,
    next_round_delivered: u64,
    /// A round trip began that the rule has not seen; or it has, and the next ACK forgets it.
    round_start: bool,
    round_start_reported: bool,
    /// Last delivery rate, packets per second, and whether it is application-limited.
    rate_sample: (f64, bool),
}

/// Per-packet state at transmission (section 2.2 of draft-cheng-iccrg-delivery-rate-estimation).
#[derive(Clone, Copy, Debug)]
struct PacketState {
    sent_s: f64,
    delivered: u64,
    delivered_s: f64,
    /// Transmission time of the packet delivered last at that time (P.first_sent_time).
    first_sent_s: f64,
    is_app_limited: bool,
    in_flight: u64,
    lost: u64,
}

impl RateSampler {
    pub(crate) fn new() -> Box<Self> {
        Box::new(Self {
            min_rtt_s: f64::MAX,
            smoothed_rtt_s: 0.0,
            delivered: 0,
            delivered_s: 0.0,
            first_sent_s: 0.0,
            app_limited: 0,
            packets: VecDeque::new(),
            last_acked: None,
            newly_delivered: 0,
            reported_delivered: 0,
            round_end: -1,
            next_round_delivered: 0,
            round_start: false,
            round_start_reported: false,
            rate_sample: (0.0, false),
        })
    }

    /// Records the state at a packet's transmission. `in_flight`, `lost`: packets in flight with
    /// this one, and lost so far.
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
        self.packets.push_back(PacketState {
            sent_s: now_s,
            delivered: self.delivered,
            delivered_s: self.delivered_s,
            first_sent_s: self.first_sent_s,
            is_app_limited: self.is_app_limited(),
            in_flight,
            lost,
        });
    }

    /// Whether packets sent now are application-limited.
    pub(crate) fn is_app_limited(&self) -> bool {
        self.app_limited > 0
    }

    /// The application has no data to send, with so many packets in flight.
    pub(crate) fn note_app_limited(&mut self, in_flight: u64) {
        self.app_limited = (self.delivered + in_flight).max(1);
    }

    /// Takes samples from an ACK, before anything else that it does. `delivered`: packets that it
    /// newly reports, where the sender knows. `round_end`: the highest packet sent, for rules that
    /// count round trips by sequence numbers; others count them by delivered packets.
    pub(crate) fn on_ack(
        &mut self,
        now_s: f64,
        ack: AckSegment,
        delivered: Option<u64>,
        round_end: Option<i64>,
    ) {
        if std::mem::take(&mut self.round_start_reported) {
            self.round_start = false;
        }
        let rtt_s = now_s - ack.sent_s;
        self.min_rtt_s = self.min_rtt_s.min(rtt_s);
        self.smoothed_rtt_s = if self.smoothed_rtt_s == 0.0 {
            rtt_s
        } else {
            self.smoothed_rtt_s + (rtt_s - self.smoothed_rtt_s) / 8.0
        };
        self.sample_rate(now_s, ack, delivered);
        if let Some(round_end) = round_end.filter(|_| ack.ack > self.round_end) {
            (self.round_start, self.round_end) = (true, round_end);
        }
    }

    /// Generates a rate sample from the ACK of a packet sent at `ack.sent_s`.
    fn sample_rate(&mut self, now_s: f64, ack: AckSegment, delivered: Option<u64>) {
        let before = self.delivered;
        self.delivered = (before + delivered.unwrap_or(1)).max(ack.ack.max(0) as u64 + 1);
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

    /// Packets newly delivered by the last ACK.
    pub(crate) fn newly_delivered(&self) -> u64 {
        self.newly_delivered
    }

    /// RTT of each ACK, smoothed; 0 before the first, seconds.
    pub(crate) fn smoothed_rtt_s(&self) -> f64 {
        self.smoothed_rtt_s
    }

    /// Minimum RTT, seconds.
    pub(crate) fn min_rtt_s(&self) -> f64 {
        self.min_rtt_s
    }

    /// Whether the packet acknowledged last was sent before anything was delivered.
    pub(crate) fn is_of_first_round(&self) -> bool {
        self.last_acked.is_some_and(|packet| packet.delivered == 0)
    }

    /// Whether packets were delivered that the rule does not know of.
    pub(crate) fn has_news(&self) -> bool {
        self.delivered > self.reported_delivered
    }

    /// What a rule that processes every ACK has not seen: packets delivered, and whether a round
    /// trip began.
    pub(crate) fn take_news(&mut self) -> (u64, bool) {
        let acked = self.delivered - self.reported_delivered;
        self.reported_delivered = self.delivered;
        (acked, std::mem::take(&mut self.round_start))
    }

    /// The rule has seen whether a round trip began.
    pub(crate) fn note_round_start_seen(&mut self) {
        self.round_start_reported = true;
    }

    /// The part of an ACK's context that it measures. `lost`: packets lost so far.
    pub(crate) fn context(&self, lost: u64) -> Ack {
        let packet = self.last_acked;
        Ack {
            delivered_packets: self.delivered,
            lost_packets: lost,
            sent_in_flight_packets: packet.map_or(0, |packet| packet.in_flight),
            delivered_since_sent_packets: packet
                .map_or(0, |packet| self.delivered - packet.delivered),
            lost_since_sent_packets: packet.map_or(0, |packet| lost.saturating_sub(packet.lost)),
            min_rtt_s: self.min_rtt_s,
            delivery_rate_packets_s: self.rate_sample.0,
            round_start: self.round_start,
            app_limited: self.rate_sample.1,
            ..Ack::default()
        }
    }
}
