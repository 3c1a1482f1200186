//! The congestion window of a QUIC connection: applies a rule to the events of RFC 9002, as
//! crates/tcp does for TCP. Rules count packets and quinn reports acknowledged bytes; an MTU of
//! acknowledged bytes counts as a packet.

use cwndlab_rules::{
    Ack, Congestion, CwndValidation, MarkResponse, Needs, Rule, SlowStart, WindowRule,
};
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

impl Cause {
    /// The cause of what quinn calls a congestion event: one for marks loses nothing.
    pub(crate) fn of(lost_bytes: u64, is_persistent_congestion: bool) -> Self {
        match (lost_bytes, is_persistent_congestion) {
            (0, _) => Self::Mark,
            (_, false) => Self::Loss,
            (_, true) => Self::PersistentCongestion,
        }
    }
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
    pub(crate) srtt: Duration,
    pub(crate) min_rtt: Duration,
}

/// A recovery period: losses of packets sent before it began cause no further cut.
#[derive(Clone, Copy, Debug)]
struct Recovery {
    since: Instant,
    by_mark: bool,
}

/// An acknowledgement frame, which is one event for the rule. For a rule that reads exact marks it
/// waits until it is known whether the frame reports some.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// The frame up to now.
    ack: Ack,
    /// Packets that were not sent before a cut: no growth in recovery (RFC 9002 section 7.3.2).
    growth_packets: u64,
    is_complete: bool,
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
    /// Packets in flight, and packets sent so far.
    in_flight: f64,
    sent: f64,
    validation: CwndValidation,
    last: Ack,
    frame: Option<Frame>,
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
            sent: 0.0,
            validation: CwndValidation::default(),
            last: Ack::default(),
            frame: None,
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

    /// Counts a packet that was sent. Acknowledgements are not congestion-controlled, but too short
    /// to matter.
    pub(crate) fn on_sent(&mut self, now: Instant, bytes: u64) {
        if self.in_flight == 0.0 && self.sent > 0.0 && !self.is_faulty {
            let asked = self.rule.restart_from_idle(self.cwnd, self.seconds(now));
            self.cwnd = self.checked(asked);
        }
        let packets = (bytes as f64 / self.mtu).min(1.0);
        self.in_flight += packets;
        self.sent += packets;
    }

    /// Processes an acknowledged packet.
    pub(crate) fn on_ack(&mut self, sample: Sample) {
        if self.frame.is_some_and(|frame| frame.is_complete) {
            self.grow();
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
        let grows = self.recovery.is_none_or(|recovery| sample.sent > recovery.since);
        let none = Frame { ack: Ack::EMPTY, growth_packets: 0, is_complete: false };
        let frame = self.frame.get_or_insert(none);
        frame.ack = Ack {
            round_start: frame.ack.round_start || self.round_begins,
            acked_packets: frame.ack.acked_packets + 1,
            ..ack
        };
        frame.growth_packets += u64::from(grows);
        // In recovery only rules that count marks see acknowledgements.
        self.round_begins &= !grows && !self.needs.exact_marks;
    }

    /// Ends an acknowledgement frame, which leaves `in_flight` bytes in flight.
    pub(crate) fn on_end_acks(&mut self, in_flight: u64) {
        let is_limited = self.is_cwnd_limited();
        self.in_flight = in_flight as f64 / self.mtu;
        let Some(frame) = &mut self.frame else { return };
        frame.ack.in_flight_packets = self.in_flight as u64;
        frame.ack.cwnd_limited = is_limited;
        frame.is_complete = true;
        self.last = frame.ack;
        if !self.needs.exact_marks {
            self.grow();
        }
    }

    /// Whether the window limits the connection, not the application or flow control, by what was in
    /// flight before the acknowledgement.
    fn is_cwnd_limited(&mut self) -> bool {
        let next = self.sent as i64;
        // Nothing is sent that would not fit as a whole.
        if self.in_flight + 1.0 > self.cwnd {
            self.validation.note_full(next);
            return true;
        }
        let first = (self.sent - self.in_flight) as i64;
        self.validation.is_limited(first, next, self.cwnd, self.cwnd < self.ssthresh)
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
        self.in_flight = (self.in_flight - lost_bytes as f64 / self.mtu).max(0.0);
        if cause == Cause::Mark {
            let frame = self.frame.take();
            let of_frame = frame.map_or(Ack { acked_packets: 0, ..self.last }, |frame| frame.ack);
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
            self.grow();
        }
        let answered = self.recovery.filter(|recovery| sent <= recovery.since);
        match (answered, cause) {
            (None, _) => Some(self.cut(now, cause)),
            // A cut for a mark may be too shallow for a loss (`Needs::cut_after_mark`).
            (Some(recovery), Cause::Loss) if recovery.by_mark && self.needs.cut_after_mark => {
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
        let halves = in_slow_start && self.needs.halves_in_slow_start;
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

    /// Passes the frame to the rule, in slow start or in congestion avoidance.
    fn grow(&mut self) {
        let Some(Frame { ack, growth_packets, .. }) = self.frame.take() else { return };
        if self.is_faulty || (growth_packets == 0 && !self.needs.exact_marks) {
            return;
        }
        let before = self.cwnd;
        let ack = Ack {
            growth_packets: if ack.cwnd_limited { growth_packets } else { 0 },
            ssthresh_packets: self.ssthresh,
            ..ack
        };
        if self.cwnd < self.ssthresh {
            match self.rule.slow_start(self.cwnd, &ack) {
                SlowStart::Grow(cwnd) => self.cwnd = self.checked(cwnd),
                SlowStart::Leave(cwnd) => {
                    self.cwnd = self.checked(cwnd);
                    self.ssthresh = self.cwnd;
                }
            }
        } else {
            let asked = self.rule.increase(self.cwnd, &ack);
            self.cwnd = self.checked(asked);
            // A rule that shrinks the window on an ACK does not return to slow start by it.
            self.ssthresh = self.ssthresh.min(self.cwnd);
        }
        if ack.growth_packets == 0 {
            self.cwnd = self.cwnd.min(before);
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
            delivered_packets: self.delivered,
            lost_packets: self.lost as u64,
            in_recovery,
            rtt_s: sample.now.saturating_duration_since(sample.sent).as_secs_f64(),
            srtt_s: sample.srtt.as_secs_f64(),
            min_rtt_s: sample.min_rtt.as_secs_f64(),
            queueing_delay_s: sample.srtt.saturating_sub(sample.min_rtt).as_secs_f64(),
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
