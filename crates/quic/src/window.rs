//! A window in packets that a rule moves, by the events that RFC 9002 knows. What crates/tcp does for TCP, this does for QUIC.
//!
//! A packet is an MTU of acknowledged bytes: rules count packets, and quinn tells of each acknowledged datagram with its size.

use cwndlab_rules::{Ack, Congestion, MarkResponse, Needs, Rule, SlowStart, WindowRule};
use std::time::{Duration, Instant};

/// Least window, packets (RFC 9002 section 7.2, kMinimumWindow).
const LEAST: f64 = 2.0;
/// Largest, packets: beyond what any path holds, and in bytes still far from the end of 64 bits.
const MOST: f64 = 1e9;

/// Why a window was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Packets were found lost.
    Loss,
    /// The receiver saw marks (RFC 9002 section 7.1).
    Mark,
    /// All packets of several time-outs were lost (RFC 9002 section 7.6): the window is the least, the threshold the rule's.
    PersistentCongestion,
}

/// A cut.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// When.
    pub at: Instant,
    /// Why.
    pub cause: Cause,
    /// Window before, packets.
    pub before: f64,
    /// Window after, packets.
    pub after: f64,
    /// Whether it ended slow start.
    pub in_slow_start: bool,
}

/// How a connection begins.
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

/// A round trip in which the window was cut: nothing sent up to its begin cuts again.
#[derive(Clone, Copy, Debug)]
struct Recovery {
    since: Instant,
    by_mark: bool,
}

/// Growth that waits until it is known whether the acknowledgement it belongs to reports marks.
#[derive(Clone, Copy, Debug)]
struct Held {
    ack: Ack,
    /// Packets of it that may let the window grow.
    packets: u32,
    /// Its acknowledgement is complete.
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
    /// When the present round trip began: a packet sent since then ends it.
    round_since: Instant,
    round_begins: bool,
    /// Part of a packet that is acknowledged and not yet counted.
    credit: f64,
    delivered: u64,
    lost: f64,
    in_flight: f64,
    last: Ack,
    held: Option<Held>,
    /// The rule gave an answer that is no window: it is not asked again.
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
            cwnd: within(settings.initial_window).unwrap_or(LEAST),
            ssthresh: settings.initial_ssthresh.max(LEAST),
            began: now,
            recovery: None,
            round_since: now,
            round_begins: false,
            credit: 0.0,
            delivered: 0,
            lost: 0.0,
            in_flight: 0.0,
            last: Ack::default(),
            held: None,
            is_faulty: false,
        }
    }

    pub(crate) fn cwnd(&self) -> f64 {
        self.cwnd
    }

    pub(crate) fn ssthresh(&self) -> Option<f64> {
        (self.ssthresh < MOST).then_some(self.ssthresh)
    }

    pub(crate) fn rule(&self) -> &Rule {
        &self.rule
    }

    pub(crate) fn fault(&self) -> Option<String> {
        let of_rule = self.rule.fault().map(str::to_string);
        of_rule.or_else(|| self.is_faulty.then(|| "gave an answer that is no window".to_string()))
    }

    /// quinn sends while what is in flight and one datagram more stay below this: a byte more lets a window of n packets hold n.
    pub(crate) fn bytes(&self) -> u64 {
        (self.cwnd * self.mtu) as u64 + 1
    }

    pub(crate) fn initial_bytes(&self) -> u64 {
        (within(self.settings.initial_window).unwrap_or(LEAST) * self.mtu) as u64 + 1
    }

    pub(crate) fn ssthresh_bytes(&self) -> Option<u64> {
        self.ssthresh().map(|packets| (packets * self.mtu) as u64)
    }

    /// Packets have another size from now on; in bytes the window stays as it is.
    pub(crate) fn set_mtu(&mut self, mtu: u16) {
        let scale = self.mtu / f64::from(mtu.max(1));
        self.mtu = f64::from(mtu.max(1));
        self.cwnd = within(self.cwnd * scale).unwrap_or(LEAST);
        self.ssthresh = (self.ssthresh * scale).max(LEAST);
    }

    /// A packet is acknowledged.
    pub(crate) fn on_ack(&mut self, sample: Sample) {
        if self.held.is_some_and(|held| held.closed) {
            self.grow_held();
        }
        if sample.sent >= self.round_since {
            (self.round_since, self.round_begins) = (sample.now, true);
        }
        // Bytes are counted, not acknowledgements (RFC 3465): a short datagram is part of a packet.
        self.credit += (sample.bytes as f64 / self.mtu).min(1.0);
        if self.credit < 1.0 {
            return;
        }
        self.credit -= 1.0;
        self.delivered += 1;
        let ack = self.event(&sample);
        self.last = ack;
        // RFC 9002 sections 7.3.2 (none in recovery) and 7.8 (none where the window is not used).
        let grows = !sample.app_limited
            && self.recovery.is_none_or(|recovery| sample.sent > recovery.since);
        if self.needs.exact_marks {
            let held = self.held.get_or_insert(Held { ack, packets: 0, closed: false });
            held.ack = Ack {
                round_start: held.ack.round_start || ack.round_start,
                acked_packets: held.ack.acked_packets + 1,
                ..ack
            };
            held.packets += u32::from(grows);
            self.round_begins = false;
        } else if grows {
            self.grow(&ack);
            self.round_begins = false;
        }
    }

    /// All of one acknowledgement frame was told.
    pub(crate) fn on_end_acks(&mut self, in_flight: u64) {
        self.in_flight = in_flight as f64 / self.mtu;
        if let Some(held) = &mut self.held {
            held.closed = true;
        }
    }

    /// Marks were reported, or packets were found lost, of which the last was sent at `sent`. The cut, if there is one.
    pub(crate) fn on_congestion(
        &mut self,
        now: Instant,
        sent: Instant,
        cause: Cause,
        lost_bytes: u64,
    ) -> Option<Cut> {
        self.lost += lost_bytes as f64 / self.mtu;
        if cause == Cause::Mark {
            let held = self.held.take();
            let of_frame = held.map_or(Ack { acked_packets: 0, ..self.last }, |held| held.ack);
            let ack = Ack {
                now_s: self.seconds(now),
                marked: true,
                lost_packets: self.lost as u64,
                ..of_frame
            };
            if self.rule.on_mark(self.cwnd, &ack) == MarkResponse::Consumed {
                return None;
            }
        } else {
            self.grow_held();
        }
        let answered = self.recovery.filter(|recovery| sent <= recovery.since);
        match (answered, cause) {
            (None, _) => Some(self.cut(now, cause)),
            // A rule's shallower answer to a mark is none to a loss (`mark_covers_loss`).
            (Some(recovery), Cause::Loss) if recovery.by_mark && !self.rule.mark_covers_loss() => {
                Some(self.cut(now, cause))
            }
            (Some(_), Cause::PersistentCongestion) if self.cwnd > LEAST => Some(self.collapse(now)),
            (Some(_), _) => None,
        }
    }

    /// Window and threshold to what the rule asks for.
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

    /// The least window (RFC 9002 section 7.6.2). Its appendix B.8 forgets the recovery, too; then packets of the same outage that are found
    /// lost later would cut the threshold again, to the least, so here it stays.
    fn collapse(&mut self, now: Instant) -> Cut {
        let (before, in_slow_start) = (self.cwnd, self.cwnd < self.ssthresh);
        self.cwnd = LEAST;
        Cut { at: now, cause: Cause::PersistentCongestion, before, after: self.cwnd, in_slow_start }
    }

    fn grow_held(&mut self) {
        let Some(held) = self.held.take() else { return };
        let mut ack = held.ack;
        if held.packets == 0 {
            // Its share of marks counts although its packets may not let the window grow.
            self.rule.increase(self.cwnd, &ack);
        }
        for _ in 0..held.packets {
            self.grow(&ack);
            ack.round_start = false;
        }
    }

    /// Slow start, or the rule's increase, for one packet.
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
        }
    }

    /// A window within its bounds; the present one where the rule's answer is none.
    fn checked(&mut self, asked: f64) -> f64 {
        self.is_faulty |= asked.is_nan();
        within(asked).unwrap_or(self.cwnd)
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
            round_start: self.round_begins,
            app_limited: sample.app_limited,
            ..Ack::default()
        }
    }
}

/// Between the least and the largest window; none for what is no number.
fn within(packets: f64) -> Option<f64> {
    (!packets.is_nan()).then(|| packets.clamp(LEAST, MOST))
}

#[cfg(test)]
mod tests;
