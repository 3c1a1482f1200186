//! What a sender measures for its rule (draft-cheng-iccrg-delivery-rate-estimation).

use std::collections::VecDeque;

/// Packets in flight and packets marked lost so far, as loss detection knows them. Empty for rules
/// that do not need recovery.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flight {
    pub(crate) in_flight: u64,
    /// None where loss detection does not mark packets.
    pub(crate) lost: Option<u64>,
    /// Packets marked lost wait for retransmission.
    pub(crate) repairs_wait: bool,
}

/// Measures what a rule needs per ACK.
#[derive(Clone, Debug)]
pub(crate) struct RateSampler {
    /// Minimum RTT, seconds.
    pub(crate) min_rtt_s: f64,
    /// RTT of each ACK, smoothed as RFC 6298 does; 0 before the first, seconds.
    pub(crate) smoothed_rtt_s: f64,
    /// Packets delivered so far (C.delivered): each ACK reports at least one.
    pub(crate) delivered: u64,
    /// When `delivered` last changed, seconds (C.delivered_time).
    pub(crate) delivered_s: f64,
    /// Transmission time of the packet delivered last, seconds (C.first_sent_time).
    pub(crate) first_sent_s: f64,
    /// Highest packet sent when the current round trip began.
    pub(crate) round_end: i64,
    /// The rule consumed the mark of this ACK, which is processed as an unmarked one.
    pub(crate) mark_consumed: bool,
    /// Highest packet sent when CWR was last set for a consumed mark.
    pub(crate) cwr_window_end: i64,
    /// `delivered` beyond which the flow is no longer application-limited, 0 where it is not
    /// (C.app_limited): by then what was sent before the application ran out of data is
    /// delivered.
    pub(crate) app_limited: u64,
    /// Packets in flight in order of transmission.
    pub(crate) packets: VecDeque<PacketState>,
    /// Send-time state of the packet acknowledged last.
    pub(crate) last_acked: Option<PacketState>,
    /// Packets newly delivered by the last ACK. An ACK that fills a hole covers packets that were
    /// delivered before.
    pub(crate) newly_delivered: u64,
    /// `delivered` when the rule last processed an ACK.
    pub(crate) reported_delivered: u64,
    /// `delivered` when the current round trip began, and whether a round trip began that the rule
    /// has not seen.
    pub(crate) next_round_delivered: u64,
    pub(crate) round_start: bool,
    pub(crate) round_start_reported: bool,
    /// Last delivery rate, packets per second, and whether it is application-limited.
    pub(crate) rate_sample: (f64, bool),
}

/// Per-packet state at transmission (section 2.2 of draft-cheng-iccrg-delivery-rate-estimation).
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketState {
    pub(crate) sent_s: f64,
    pub(crate) delivered: u64,
    pub(crate) delivered_s: f64,
    /// Transmission time of the packet delivered last at that time (P.first_sent_time).
    pub(crate) first_sent_s: f64,
    pub(crate) is_app_limited: bool,
    pub(crate) in_flight: u64,
    pub(crate) lost: u64,
}

impl RateSampler {
    pub(crate) fn new() -> Box<Self> {
        Box::new(Self {
            min_rtt_s: f64::MAX,
            smoothed_rtt_s: 0.0,
            delivered: 0,
            delivered_s: 0.0,
            first_sent_s: 0.0,
            round_end: -1,
            mark_consumed: false,
            cwr_window_end: -1,
            app_limited: 0,
            packets: VecDeque::new(),
            last_acked: None,
            newly_delivered: 0,
            reported_delivered: 0,
            next_round_delivered: 0,
            round_start: false,
            round_start_reported: false,
            rate_sample: (0.0, false),
        })
    }
}
