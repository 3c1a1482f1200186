//! What RACK-TLP (RFC 8985) knows of each packet under way: when it was sent last, and whether it is lost. A packet is lost when one that
//! was sent later has arrived, and the time that reordering may take has passed since.

use crate::Bits;
use crate::recovery::rack::{Pending, Phase, Probe};
use std::collections::VecDeque;

/// Sent by a probe or in recovery, and neither reported nor found lost since.
const RESENT: u8 = 1;
/// Found lost; it stays so until it arrives, sent again or not.
const LOST: u8 = 2;
/// Sent more than once.
const AGAIN: u8 = 4;

/// A packet that was not acknowledged cumulatively.
#[derive(Clone, Copy, Debug)]
struct Flight {
    sent_s: f64,
    /// How many were sent before it: at one moment several may be, and the later one must be known.
    order: u32,
    marks: u8,
}

/// The packets under way, and what time says about them.
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    /// From the first packet that was not acknowledged cumulatively on.
    flights: VecDeque<Flight>,
    first: i64,
    reported: Bits,
    /// Packets sent again, with their order.
    copies: VecDeque<(i64, u32)>,
    /// Packets sent so far.
    sent: u32,
    /// How many of the flights are reported, lost, sent again and still under way, lost and not sent again since.
    sacked: i64,
    lost: i64,
    resent: i64,
    due: i64,
    /// Losses found so far, lost copies too.
    pub(crate) found: u64,
    /// Packets below this that were sent once are judged: reported or lost.
    judged: i64,
    /// No packet below this is due.
    repaired: i64,
    /// Of what was delivered, the order of the packet sent last, and its round trip.
    newest: u32,
    rtt_s: f64,
    min_rtt_s: f64,
    highest_reported: i64,
    /// A packet sent once arrived after one with a higher number.
    reordering_seen: bool,
    pub(crate) phase: Phase,
    pub(crate) pending: Pending,
    pub(crate) probe: Option<Probe>,
}

/// What an inspection of the packets under way finds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Inspection {
    /// After this time more may be lost, seconds; 0 when nothing is in doubt.
    pub(crate) wait_s: f64,
    /// A packet sent again was lost again.
    pub(crate) lost_copy: bool,
}

impl Rack {
    pub(crate) fn new() -> Self {
        Self {
            flights: VecDeque::new(),
            first: 0,
            reported: Bits::default(),
            copies: VecDeque::new(),
            sacked: 0,
            lost: 0,
            resent: 0,
            due: 0,
            found: 0,
            judged: 0,
            repaired: 0,
            sent: 0,
            newest: 0,
            rtt_s: 0.0,
            min_rtt_s: f64::INFINITY,
            highest_reported: -1,
            reordering_seen: false,
            phase: Phase::Open,
            pending: Pending::Retransmission,
            probe: None,
        }
    }

    /// As new, for another flow, but for the memory it has.
    pub(crate) fn renew(mut self: Box<Self>) -> Box<Self> {
        self.flights.clear();
        self.copies.clear();
        self.reported.renew();
        let (flights, copies, reported) = (self.flights, self.copies, self.reported);
        Box::new(Self { flights, copies, reported, ..Self::new() })
    }

    /// Packets believed in the network (Linux: `tcp_packets_in_flight`).
    pub(crate) fn in_flight(&self) -> i64 {
        self.flights.len() as i64 - self.sacked - self.lost + self.resent
    }

    /// Whether packets beyond the cumulative acknowledgement were reported.
    pub(crate) fn has_reports(&self) -> bool {
        self.sacked > 0
    }

    /// Whether packets are lost and not delivered since.
    pub(crate) fn has_losses(&self) -> bool {
        self.lost > 0
    }

    /// Whether a packet was reported.
    pub(crate) fn is_reported(&self, number: i64) -> bool {
        self.reported.contains(number)
    }

    /// When the first packet was sent last, seconds.
    pub(crate) fn head_sent_s(&self) -> Option<f64> {
        self.flights.front().map(|flight| flight.sent_s)
    }

    /// Packet `number` is sent.
    pub(crate) fn on_sent(&mut self, now_s: f64, number: i64) {
        let index = (number - self.first) as usize;
        self.sent += 1;
        let order = self.sent;
        let Some(flight) = self.flights.get_mut(index) else {
            return self.flights.push_back(Flight { sent_s: now_s, order, marks: 0 });
        };
        if flight.marks & RESENT == 0 {
            self.resent += 1;
            self.due -= i64::from(flight.marks & LOST != 0);
        }
        *flight = Flight { sent_s: now_s, order, marks: flight.marks | RESENT | AGAIN };
        self.copies.push_back((number, order));
    }

    /// An acknowledgement of everything up to `ack`, and blocks beyond; returns how many packets it says were delivered.
    pub(crate) fn on_ack(&mut self, now_s: f64, ack: i64, highest_sent: i64, blocks: &[(i64, i64)]) -> i64 {
        let mut delivered = 0;
        while self.first <= ack
            && let Some(flight) = self.flights.pop_front()
        {
            if self.reported.contains(self.first) {
                self.sacked -= 1;
            } else {
                self.deliver(now_s, self.first, flight);
                delivered += 1;
            }
            self.first += 1;
        }
        self.reported.advance(self.first);
        let mut highest = self.highest_reported.max(ack);
        for &(left, right) in blocks {
            // Blocks repeat what earlier ones said: step from gap to gap.
            let mut number = self.reported.first_clear(left.max(self.first));
            while number < right.min(highest_sent + 1) {
                self.reported.insert(number);
                self.sacked += 1;
                delivered += 1;
                let flight = &mut self.flights[(number - self.first) as usize];
                let was = *flight;
                flight.marks &= AGAIN;
                self.deliver(now_s, number, was);
                highest = highest.max(number);
                number = self.reported.first_clear(number + 1);
            }
        }
        self.highest_reported = highest;
        delivered
    }

    /// A packet has arrived (RFC 8985 section 6.2, steps 1 to 3).
    fn deliver(&mut self, now_s: f64, number: i64, flight: Flight) {
        self.lost -= i64::from(flight.marks & LOST != 0);
        self.resent -= i64::from(flight.marks & RESENT != 0);
        self.due -= i64::from(flight.marks & (LOST | RESENT) == LOST);
        let rtt_s = now_s - flight.sent_s;
        if flight.marks & AGAIN == 0 {
            self.min_rtt_s = self.min_rtt_s.min(rtt_s);
            self.reordering_seen |= number < self.highest_reported;
        } else if rtt_s < self.min_rtt_s {
            // It answers an earlier copy.
            return;
        }
        if flight.order > self.newest {
            (self.newest, self.rtt_s) = (flight.order, rtt_s);
        }
    }

    /// How long a packet may be late because others overtook it (section 6.2 step 4; Linux's `tcp_rack_reo_wnd`): a quarter of the shortest round
    /// trip, and nothing as long as no reordering was seen if a loss is being repaired already or enough packets are reported.
    fn reordering_s(&self, threshold: u32, srtt_s: f64) -> f64 {
        let repairs = matches!(self.phase, Phase::Recovery | Phase::Loss);
        if !self.reordering_seen && (repairs || self.sacked >= i64::from(threshold)) {
            return 0.0;
        }
        (self.min_rtt_s / 4.0).min(srtt_s)
    }

    /// How long a packet has still to arrive, seconds; zero or less: it is lost. None: nothing that was sent later has arrived.
    fn left_s(&self, now_s: f64, flight: Flight, reordering_s: f64) -> Option<f64> {
        // With no time to wait, what was overtaken is lost: no rounding may say otherwise.
        let left_s = || if reordering_s == 0.0 { 0.0 } else { flight.sent_s + self.rtt_s + reordering_s - now_s };
        (flight.order < self.newest).then(left_s)
    }

    /// Finds what is lost by now (section 6.2 step 5).
    pub(crate) fn inspect(&mut self, now_s: f64, threshold: u32, srtt_s: f64) -> Inspection {
        let reordering_s = self.reordering_s(threshold, srtt_s);
        let mut found = Inspection::default();
        let mut number = self.reported.first_clear(self.judged.max(self.first));
        // In order of their numbers packets sent once are in order of time.
        while let Some(flight) = self.flights.get((number - self.first) as usize).copied() {
            if flight.marks & (LOST | AGAIN) == 0 {
                let Some(left_s) = self.left_s(now_s, flight, reordering_s) else { break };
                if left_s > 0.0 {
                    found.wait_s = found.wait_s.max(left_s);
                } else {
                    self.lose(number);
                }
            }
            if found.wait_s == 0.0 {
                self.judged = number + 1;
            }
            number = self.reported.first_clear(number + 1);
        }
        let mut index = 0;
        while let Some(&(number, order)) = self.copies.get(index) {
            if let Some(flight) = self.copy(number, order) {
                let Some(left_s) = self.left_s(now_s, flight, reordering_s) else { break };
                if left_s > 0.0 {
                    found.wait_s = found.wait_s.max(left_s);
                } else {
                    self.lose(number);
                    found.lost_copy = true;
                }
            }
            if index == 0 && found.wait_s == 0.0 {
                self.copies.pop_front();
            } else {
                index += 1;
            }
        }
        found
    }

    /// The packet of which this copy is under way, and no later one.
    fn copy(&self, number: i64, order: u32) -> Option<Flight> {
        let index = usize::try_from(number - self.first).ok()?;
        self.flights.get(index).copied().filter(|flight| flight.marks & RESENT != 0 && flight.order == order)
    }

    /// A packet, or its latest copy, is lost.
    fn lose(&mut self, number: i64) {
        let flight = &mut self.flights[(number - self.first) as usize];
        self.resent -= i64::from(flight.marks & RESENT != 0);
        self.lost += i64::from(flight.marks & LOST == 0);
        self.due += i64::from(flight.marks & (LOST | RESENT) != LOST);
        flight.marks = (flight.marks | LOST) & !RESENT;
        self.found += 1;
        self.repaired = self.repaired.min(number);
    }

    /// A time-out: everything that was not reported is lost, but for what was sent less than a round trip ago (section 6.3; Linux's
    /// `tcp_timeout_mark_lost` has no reordering window there).
    pub(crate) fn on_timeout(&mut self, now_s: f64) {
        for index in 0..self.flights.len() {
            let (number, flight) = (self.first + index as i64, self.flights[index]);
            let is_late = index == 0 || flight.sent_s + self.rtt_s <= now_s;
            let is_known = flight.marks & (LOST | RESENT) == LOST;
            if is_late && !is_known && !self.reported.contains(number) {
                self.lose(number);
            }
        }
        self.judged = self.first;
    }

    /// The first packet that is lost and was not sent again since.
    pub(crate) fn next_due(&mut self) -> Option<i64> {
        if self.due == 0 {
            return None;
        }
        let from = self.repaired.max(self.first);
        let index = (from - self.first) as usize;
        let ahead = self.flights.range(index..).position(|flight| flight.marks & (LOST | RESENT) == LOST)?;
        self.repaired = from + ahead as i64;
        Some(self.repaired)
    }
}

#[cfg(test)]
mod tests;
