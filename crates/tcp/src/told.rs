//! What a rule is told about acknowledgements, and what is measured for it. Rules that look at the window alone are told nothing, and
//! nothing is measured for them; formulas are told the round trip, which is measured anyway.

use crate::window::LastCut;
use crate::{AckSegment, Knobs, Sender};
use cwndlab_rules::{Ack, Mark, Needs, Rule, WindowRule};
use std::collections::VecDeque;

/// What is measured for a rule.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    /// What the rule asks for.
    pub(crate) needs: Needs,
    /// Shortest round trip, seconds.
    min_rtt_s: f64,
    /// Packets that have arrived, as far as acknowledgements say: each of them speaks of one.
    delivered: u64,
    /// When that last changed, seconds.
    delivered_s: f64,
    /// When the packet was sent that was delivered last, seconds.
    first_s: f64,
    /// Highest packet sent when the present round trip began.
    round_end: i64,
    /// The mark of this acknowledgement was taken note of: it goes on as an unmarked one would.
    is_noted: bool,
    /// Highest packet sent when the receiver was told last that a mark was noted.
    answered: i64,
    /// Packets under way, in the order in which they were sent.
    sent: VecDeque<Departure>,
    /// What was known when the packet was sent that was acknowledged last.
    acked: Option<Departure>,
    /// Of those, by the last acknowledgement: one that fills a gap covers much that had been delivered before.
    newly: u64,
    /// Delivered when the rule was last shown an acknowledgement.
    shown: u64,
    /// Delivered when the present round trip began, and whether one has begun that the rule has not heard of.
    round_delivered: u64,
    round_begins: bool,
    round_shown: bool,
    /// Packets found lost, and the number below which they were counted.
    lost: u64,
    lost_below: i64,
    /// The last delivery rate, packets per second, and whether the application limited it.
    rate: (f64, bool),
}

/// What was known when a packet was sent (draft-cheng-iccrg-delivery-rate-estimation, section 2.2).
#[derive(Clone, Copy, Debug)]
struct Departure {
    sent_s: f64,
    delivered: u64,
    delivered_s: f64,
    /// When the packet was sent that was delivered last then.
    first_s: f64,
    is_app_limited: bool,
    in_flight: u64,
    lost: u64,
}

impl Told {
    /// For a rule; none if it looks at the window alone, or at the round trip too.
    pub(crate) fn of(rule: &Rule) -> Option<Box<Self>> {
        if matches!(rule, Rule::Linear(_) | Rule::Gaimd(_) | Rule::Binomial(_) | Rule::Formula(_)) {
            return None;
        }
        let needs = rule.needs();
        Some(Box::new(Self {
            needs,
            min_rtt_s: f64::MAX,
            delivered: 0,
            delivered_s: 0.0,
            first_s: 0.0,
            round_end: -1,
            is_noted: false,
            answered: -1,
            sent: VecDeque::new(),
            acked: None,
            newly: 0,
            shown: 0,
            round_delivered: 0,
            round_begins: false,
            round_shown: false,
            lost: 0,
            lost_below: 0,
            rate: (0.0, false),
        }))
    }

    /// The rule has heard that a round trip began.
    pub(crate) fn end_round_start(&mut self) {
        self.round_begins = false;
    }

    /// A packet is sent.
    pub(crate) fn on_sent(&mut self, now_s: f64, nothing_outstanding: bool, is_app_limited: bool, in_flight: u64, lost: u64) {
        if !self.needs.delivery_rate {
            return;
        }
        if nothing_outstanding {
            (self.delivered_s, self.first_s) = (now_s, now_s);
            self.sent.clear();
        }
        let (delivered, delivered_s, first_s) = (self.delivered, self.delivered_s, self.first_s);
        self.sent.push_back(Departure { sent_s: now_s, delivered, delivered_s, first_s, is_app_limited, in_flight, lost });
    }

    /// An acknowledgement arrives, of a packet sent at `sent_s`: counts it, and measures the rate while that packet was under way.
    fn on_ack(&mut self, now_s: f64, ack: AckSegment) {
        let before = self.delivered;
        self.delivered = (before + 1).max(ack.ack.max(0) as u64 + 1);
        self.newly = self.delivered - before;
        self.delivered_s = now_s;
        while self.sent.front().is_some_and(|first| first.sent_s < ack.sent_s) {
            self.sent.pop_front();
        }
        let Some(packet) = self.sent.front().filter(|first| first.sent_s == ack.sent_s).copied() else { return };
        self.acked = Some(packet);
        if packet.delivered >= self.round_delivered {
            (self.round_delivered, self.round_begins) = (self.delivered, true);
        }
        self.first_s = packet.sent_s;
        let interval_s = (packet.sent_s - packet.first_s).max(now_s - packet.delivered_s);
        if interval_s > 0.0 {
            self.rate = ((self.delivered - packet.delivered) as f64 / interval_s, packet.is_app_limited);
        }
    }
}

impl Sender {
    /// An acknowledgement arrives, before anything else that it does.
    #[inline(never)]
    pub(crate) fn tell(&mut self, now_s: f64, ack: AckSegment, knobs: &Knobs) {
        let Some(told) = &mut self.told else { return };
        if std::mem::take(&mut told.round_shown) {
            told.round_begins = false;
        }
        told.min_rtt_s = told.min_rtt_s.min(now_s - ack.sent_s);
        told.on_ack(now_s, ack);
        // Models are given the round trips of the packets themselves (`on_ack`); others those of the numbers.
        if !told.needs.recovery && ack.ack > told.round_end {
            (told.round_begins, told.round_end) = (true, self.highest_sent);
        }
        told.is_noted = false;
        if ack.ece && self.ecn.agreed {
            told.round_shown = !told.needs.recovery;
            let event = self.event(now_s, ack, 0, knobs);
            let is_noted = self.rule.on_mark(self.cwnd, &event) == Mark::Noted;
            self.look_for_fault();
            let Some(told) = &mut self.told else { return };
            told.is_noted = is_noted;
            // A receiver that latches marks must hear of it, once per window of data, or it would echo this one for ever.
            if is_noted && !told.needs.exact_marks && ack.ack > told.answered {
                told.answered = self.highest_sent;
                self.ecn.cwr_due = true;
            }
        }
    }

    /// Whether the mark of this acknowledgement was taken note of, and does nothing more.
    #[inline]
    pub(crate) fn has_noted(&self) -> bool {
        self.told.as_ref().is_some_and(|told| told.is_noted)
    }

    fn event(&self, now_s: f64, ack: AckSegment, acked: u64, knobs: &Knobs) -> Ack {
        let Some(told) = &self.told else { return Ack::default() };
        let sees_recovery = told.needs.recovery;
        let lost = self.found_lost();
        let outstanding = (self.highest_sent - ack.ack.max(self.highest_ack)).max(0) as u64;
        let rate = told.rate;
        // SACK has a flag of its own for a fast recovery, and is past it when that is down.
        let repairs = match self.last_cut {
            LastCut::Timeout => true,
            LastCut::FastRetransmit => !self.recovery.uses_sack(),
            LastCut::None | LastCut::Exited | LastCut::Ecn => false,
        };
        Ack {
            now_s,
            acked_packets: acked,
            delivered_packets: told.delivered,
            lost_packets: lost,
            in_flight_packets: if sees_recovery { self.in_network(knobs) } else { outstanding },
            sent_in_flight_packets: told.acked.map_or(0, |packet| packet.in_flight),
            delivered_since_sent_packets: told.acked.map_or(0, |packet| told.delivered - packet.delivered),
            lost_since_sent_packets: told.acked.map_or(0, |packet| lost.saturating_sub(packet.lost)),
            in_recovery: self.in_recovery || (repairs && self.highest_ack < self.recover),
            rtt_s: now_s - ack.sent_s,
            srtt_s: self.rtt.srtt_s(knobs),
            min_rtt_s: told.min_rtt_s,
            delivery_rate_packets_s: rate.0,
            marked: ack.ece,
            round_start: told.round_begins && !sees_recovery,
            app_limited: rate.1,
        }
    }

    /// Packets found lost; where that is not counted, those sent again, which after a time-out are more.
    pub(crate) fn found_lost(&self) -> u64 {
        match &self.told {
            Some(told) if self.counts_losses() => told.lost,
            _ => self.counters.retransmitted,
        }
    }

    /// Whether losses are counted as they are found, for the rule.
    fn counts_losses(&self) -> bool {
        self.recovery.uses_sack() && self.told.as_ref().is_some_and(|told| told.needs.recovery)
    }

    /// Packets believed to be in the network.
    pub(crate) fn in_network(&self, knobs: &Knobs) -> u64 {
        let outstanding = self.highest_sent - self.highest_ack;
        let pipe = match &self.scoreboard {
            _ if let Some(rack) = &self.rack => rack.in_flight(),
            Some(board) if self.board_in_use => board.pipe(self.highest_ack, self.highest_sent, knobs.dupack_threshold),
            _ => outstanding,
        };
        pipe.clamp(0, outstanding.max(0)) as u64
    }

    /// Counts what the scoreboard now says is lost, each packet once (RFC 6675 section 4, IsLost).
    fn find_losses(&mut self, knobs: &Knobs) {
        if let (Some(told), Some(rack)) = (&mut self.told, &self.rack) {
            told.lost = rack.found;
        }
        if !self.counts_losses() || !self.board_in_use {
            return;
        }
        let (Some(told), Some(board)) = (&mut self.told, &self.scoreboard) else { return };
        let from = told.lost_below.max(self.highest_ack + 1);
        if let Some(below) = board.lost_below(knobs.dupack_threshold).filter(|below| *below > from) {
            told.lost += board.unreported(from, below);
            told.lost_below = below;
        }
    }

    /// A time-out: the packet that it waited for is lost, again or at last.
    pub(crate) fn lose_to_timer(&mut self) {
        if let Some(told) = &mut self.told {
            told.lost += 1;
        }
    }

    /// An acknowledgement in recovery, or a duplicate: for rules that ask to see them.
    pub(crate) fn show_in_recovery(&mut self, now_s: f64, ack: AckSegment, knobs: &Knobs) {
        let asks = self.told.as_ref().is_some_and(|told| told.needs.recovery && told.delivered > told.shown);
        if asks && (!ack.ece || self.has_noted()) {
            self.grow_told(now_s, ack, 0, knobs);
        }
    }

    /// What an acknowledgement of new data does to the window, by a rule that looks at more than the window.
    #[inline(never)]
    pub(crate) fn grow_told(&mut self, now_s: f64, ack: AckSegment, acked: u64, knobs: &Knobs) {
        self.find_losses(knobs);
        let mut event = self.event(now_s, ack, acked, knobs);
        if let Some(told) = &mut self.told {
            if told.needs.recovery {
                event.acked_packets = told.delivered - told.shown;
                event.round_start = std::mem::take(&mut told.round_begins);
                told.shown = told.delivered;
            } else {
                event.acked_packets = acked.min(told.newly);
                told.round_shown = true;
            }
        }
        self.ask(&event, knobs);
    }

    /// A rule that gave no window is not asked again: the run ends.
    pub(crate) fn look_for_fault(&mut self) {
        let asks = self.told.as_ref().map_or(self.by_formula, |told| told.needs.faults);
        self.is_faulty |= asks && self.rule.fault().is_some();
    }

    /// Whether the rule gave an answer that is no window.
    #[inline]
    pub fn is_faulty(&self) -> bool {
        self.is_faulty
    }

    /// What was wrong with it.
    pub fn fault(&self) -> Option<&str> {
        self.rule.fault()
    }
}
