//! The congestion window of a QUIC connection: applies a rule to the events of RFC 9002, as
//! crates/tcp does for TCP. Rules count packets and quinn reports acknowledged bytes; an MTU of
//! acknowledged bytes counts as a packet.

use cwndlab_rules::{Ack, Congestion, MarkResponse, Needs, Rule, SlowStart, WindowRule};
use std::time::{Duration, Instant};

/// Minimum window, packets (RFC 9002 section 7.2, kMinimumWindow).
const MIN_CWND: f64 = 2.0;
/// Maximum window, packets: more than any path holds, and its bytes fit 64 bits.
const MAX_CWND: f64 = 1e9;

/// The cause of a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Packets were declared lost.
    Loss,
    /// The receiver reported CE marks (RFC 9002 section 7.1).
    Mark,
    /// Persistent congestion (RFC 9002 section 7.6): the window becomes the minimum, the rule gives
    /// the threshold.
    PersistentCongestion,
}

/// A reduction of the window.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// Time of the cut.
    pub at: Instant,
    /// Cause of the cut.
    pub cause: Cause,
    /// Window before, packets.
    pub before: f64,
    /// Window after, packets.
    pub after: f64,
    /// Whether the cut ended slow start.
    pub in_slow_start: bool,
}

/// Initial window and threshold of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) initial_window: f64,
    pub(crate) initial_ssthresh: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { initial_window: 10.0, initial_ssthresh: f64::INFINITY }
    }
}

/// An acknowledged packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) now: Instant,
    pub(crate) sent: Instant,
    pub(crate) bytes: u64,
    pub(crate) app_limited: bool,
    pub(crate) srtt: Duration,
    pub(crate) min_rtt: Duration,
}

/// A recovery period: losses of packets sent before it began cause no further cut.
#[derive(Clone, Copy, Debug)]
struct Recovery {
    since: Instant,
    by_mark: bool,
}

/// Growth that is delayed until it is known whether its acknowledgement reports marks.
#[derive(Clone, Copy, Debug)]
struct PendingGrowth {
    ack: Ack,
    /// Acknowledged packets that may increase the window.
    packets: u32,
    /// Whether the acknowledgement frame is complete.
    closed: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Window {
    rule: Rule,
    needs: Needs,
    settings: Settings,
    mtu: f64,
    cwnd: f64,
    ssthresh: f64,
    began: Instant,
    recovery: Option<Recovery>,
    /// Start of the current round trip, which ends when a packet sent after it is acknowledged.
    round_since: Instant,
    round_begins: bool,
    /// Fraction of a packet that is acknowledged and not yet counted.
    credit: f64,
    delivered: u64,
    lost: f64,
    in_flight: f64,
    last: Ack,
    pending: Option<PendingGrowth>,
    /// The rule returned an invalid congestion window and is no longer called.
    is_faulty: bool,
}

impl Window {
    pub(crate) fn new(rule: Rule, settings: Settings, now: Instant, mtu: u16) -> Self {
        let needs = rule.needs();
        Self {
            rule,
            needs,
            settings,
            mtu: f64::from(mtu.max(1)),
            cwnd: clamped(settings.initial_window).unwrap_or(MIN_CWND),
            ssthresh: settings.initial_ssthresh.max(MIN_CWND),
            began: now,
            recovery: None,
            round_since: now,
            round_begins: false,
            credit: 0.0,
            delivered: 0,
            lost: 0.0,
            in_flight: 0.0,
            last: Ack::default(),
            pending: None,
            is_faulty: false,
        }
    }

    pub(crate) fn cwnd(&self) -> f64 {
        self.cwnd
    }

    pub(crate) fn ssthresh(&self) -> Option<f64> {
        (self.ssthresh < MAX_CWND).then_some(self.ssthresh)
    }

    pub(crate) fn rule(&self) -> &Rule {
        &self.rule
    }

    pub(crate) fn fault(&self) -> Option<String> {
        let of_rule = self.rule.fault().map(str::to_string);
        let invalid = || "returned an invalid congestion window".to_string();
        of_rule.or_else(|| self.is_faulty.then(invalid))
    }

    /// The window in bytes. quinn sends while bytes in flight plus one datagram stay below it, so
    /// one more byte lets a window of n packets hold n packets.
    pub(crate) fn bytes(&self) -> u64 {
        (self.cwnd * self.mtu) as u64 + 1
    }

    pub(crate) fn initial_bytes(&self) -> u64 {
        (clamped(self.settings.initial_window).unwrap_or(MIN_CWND) * self.mtu) as u64 + 1
    }

    pub(crate) fn ssthresh_bytes(&self) -> Option<u64> {
        self.ssthresh().map(|packets| (packets * self.mtu) as u64)
    }

    /// Changes the packet size and keeps the window in bytes.
    pub(crate) fn set_mtu(&mut self, mtu: u16) {
        let scale = self.mtu / f64::from(mtu.max(1));
        self.mtu = f64::from(mtu.max(1));
        self.cwnd = clamped(self.cwnd * scale).unwrap_or(MIN_CWND);
        self.ssthresh = (self.ssthresh * scale).max(MIN_CWND);
    }

    /// Processes an acknowledged packet.
    pub(crate) fn on_ack(&mut self, sample: Sample) {
        if self.pending.is_some_and(|pending| pending.closed) {
            self.grow_pending();
        }
        if sample.sent >= self.round_since {
            (self.round_since, self.round_begins) = (sample.now, true);
        }
        // Appropriate byte counting (RFC 3465): a short datagram is a fraction of a packet.
        self.credit += (sample.bytes as f64 / self.mtu).min(1.0);
        if self.credit < 1.0 {
            return;
        }
        self.credit -= 1.0;
        self.delivered += 1;
        let ack = self.event(&sample);
        self.last = ack;
        // No growth in recovery (RFC 9002 section 7.3.2) or while app-limited (section 7.8).
        let grows = !sample.app_limited
            && self.recovery.is_none_or(|recovery| sample.sent > recovery.since);
        if self.needs.exact_marks {
            let none = Ack { acked_packets: 0, ..ack };
            let pending =
                self.pending.get_or_insert(PendingGrowth { ack: none, packets: 0, closed: false });
            pending.ack = Ack {
                round_start: pending.ack.round_start || ack.round_start,
                acked_packets: pending.ack.acked_packets + 1,
                ..ack
            };
            pending.packets += u32::from(grows);
            self.round_begins = false;
        } else if grows {
            self.grow(&ack);
            self.round_begins = false;
        }
    }

    /// Ends an acknowledgement frame.
    pub(crate) fn on_end_acks(&mut self, in_flight: u64) {
        self.in_flight = in_flight as f64 / self.mtu;
        if let Some(pending) = &mut self.pending {
            pending.closed = true;
        }
    }

    /// Processes marks or lost packets, of which the last was sent at `sent`. Returns the cut, if
    /// any.
    pub(crate) fn on_congestion(
        &mut self,
        now: Instant,
        sent: Instant,
        cause: Cause,
        lost_bytes: u64,
    ) -> Option<Cut> {
        self.lost += lost_bytes as f64 / self.mtu;
        if cause == Cause::Mark {
            let pending = self.pending.take();
            let of_frame =
                pending.map_or(Ack { acked_packets: 0, ..self.last }, |pending| pending.ack);
            let ack = Ack {
                now_s: self.seconds(now),
                marked: true,
                marked_packets: of_frame.acked_packets,
                lost_packets: self.lost as u64,
                ..of_frame
            };
            if self.rule.on_mark(self.cwnd, &ack) == MarkResponse::Consumed {
                return None;
            }
        } else {
            self.grow_pending();
        }
        let answered = self.recovery.filter(|recovery| sent <= recovery.since);
        match (answered, cause) {
            (None, _) => Some(self.cut(now, cause)),
            // A cut for a mark may be too shallow for a loss (`mark_covers_loss`).
            (Some(recovery), Cause::Loss) if recovery.by_mark && !self.rule.mark_covers_loss() => {
                Some(self.cut(now, cause))
            }
            (Some(_), Cause::PersistentCongestion) if self.cwnd > MIN_CWND => {
                Some(self.collapse(now))
            }
            (Some(_), _) => None,
        }
    }

    /// Sets window and threshold by the rule's decrease.
    fn cut(&mut self, now: Instant, cause: Cause) -> Cut {
        let (before, in_slow_start) = (self.cwnd, self.cwnd < self.ssthresh);
        let congestion = match cause {
            Cause::Loss => Congestion::FastRetransmit,
            Cause::Mark => Congestion::Ecn,
            Cause::PersistentCongestion => Congestion::Timeout,
        };
        let halves = in_slow_start && self.rule.halves_in_slow_start();
        let asked = self.rule.decrease(before, congestion);
        let target = self.checked(if halves { before / 2.0 } else { asked });
        self.ssthresh = target;
        self.recovery = Some(Recovery { since: now, by_mark: cause == Cause::Mark });
        self.cwnd = target;
        if cause == Cause::PersistentCongestion {
            self.collapse(now);
        }
        Cut { at: now, cause, before, after: self.cwnd, in_slow_start }
    }

    /// Sets the minimum window (RFC 9002 section 7.6.2). Appendix B.8 also ends recovery. Then
    /// packets of the same outage that are declared lost later would cut the threshold to the
    /// minimum, so this implementation keeps the recovery.
    fn collapse(&mut self, now: Instant) -> Cut {
        let (before, in_slow_start) = (self.cwnd, self.cwnd < self.ssthresh);
        self.cwnd = MIN_CWND;
        Cut { at: now, cause: Cause::PersistentCongestion, before, after: self.cwnd, in_slow_start }
    }

    fn grow_pending(&mut self) {
        let Some(pending) = self.pending.take() else { return };
        let mut ack = pending.ack;
        if pending.packets == 0 {
            // The rule counts the marks although the packets may not increase the window.
            self.rule.increase(self.cwnd, &ack);
        }
        for _ in 0..pending.packets {
            self.grow(&ack);
            ack.round_start = false;
        }
    }

    /// Applies slow start or the rule's increase for one packet.
    fn grow(&mut self, ack: &Ack) {
        if self.is_faulty {
            return;
        }
        if self.cwnd < self.ssthresh {
            match self.rule.slow_start(self.cwnd, ack) {
                SlowStart::Grow(cwnd) => self.cwnd = self.checked(cwnd),
                SlowStart::Leave(cwnd) => {
                    self.cwnd = self.checked(cwnd);
                    self.ssthresh = self.cwnd;
                }
            }
        } else {
            let asked = self.rule.increase(self.cwnd, ack);
            self.cwnd = self.checked(asked);
            // A rule that shrinks the window on an ACK does not return to slow start by it.
            self.ssthresh = self.ssthresh.min(self.cwnd);
        }
    }

    /// A window within its bounds; the current window if the rule returned NaN.
    fn checked(&mut self, asked: f64) -> f64 {
        self.is_faulty |= asked.is_nan();
        clamped(asked).unwrap_or(self.cwnd)
    }

    fn seconds(&self, at: Instant) -> f64 {
        at.saturating_duration_since(self.began).as_secs_f64()
    }

    fn event(&self, sample: &Sample) -> Ack {
        let in_recovery = self.recovery.is_some_and(|recovery| sample.sent <= recovery.since);
        Ack {
            now_s: self.seconds(sample.now),
            acked_packets: 1,
            delivered_packets: self.delivered,
            lost_packets: self.lost as u64,
            in_flight_packets: self.in_flight as u64,
            in_recovery,
            rtt_s: sample.now.saturating_duration_since(sample.sent).as_secs_f64(),
            srtt_s: sample.srtt.as_secs_f64(),
            min_rtt_s: sample.min_rtt.as_secs_f64(),
            queueing_delay_s: sample.srtt.saturating_sub(sample.min_rtt).as_secs_f64(),
            round_start: self.round_begins,
            app_limited: sample.app_limited,
            ..Ack::default()
        }
    }
}

/// Clamps a window to its bounds; none for NaN.
fn clamped(packets: f64) -> Option<f64> {
    (!packets.is_nan()).then(|| packets.clamp(MIN_CWND, MAX_CWND))
}

#[cfg(test)]
mod tests;
