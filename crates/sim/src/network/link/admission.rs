//! Admission to a link by its queue discipline, and departures.

use super::state::Link;
use crate::packet::Flags;
use cwndlab_queues::{Admission, ArrivingPacket, Backlog, Decision, DepartedPacket};
use std::hint::select_unpredictable;

/// Packets in one queue beyond which a run stops: about 1.5 GiB.
const MAX_BACKLOG_PACKETS: usize = 50_000_000;

/// Departures beyond which a binary search is faster.
const MOST_COUNTED_ONE_BY_ONE: usize = 4;

impl Link {
    /// Counts departures up to now and asks the discipline for admission.
    pub(super) fn admit(
        &mut self,
        now_s: f64,
        tx_start_s: f64,
        size_bytes: u32,
        flow: u32,
        flags: Flags,
    ) -> bool {
        self.depart_until(now_s, tx_start_s);
        if self.backlog.len() >= MAX_BACKLOG_PACKETS {
            self.overflowed = true;
            return false;
        }
        self.largest_bytes = self.largest_bytes.max(size_bytes);
        if self.impairments.is_none() {
            // Counting departures is cheapest in large batches.
            let patience = (2 * self.backlog.len()).clamp(64, MAX_BACKLOG_PACKETS);
            self.guaranteed_accept_backlog =
                self.discipline.guaranteed_accept_backlog(self.largest_bytes).min(patience as u64)
                    as usize;
        }
        let backlog = self.backlog();
        let arrival = ArrivingPacket {
            now_s,
            size_bytes,
            flow,
            ecn: flags.is_ect(),
            priority: flags.priority(),
        };
        let random = &mut self.random;
        let decision = self.discipline.admit(&arrival, &backlog, &mut || random.uniform());
        if decision == Decision::Mark && !flags.is_ce() {
            self.marks.count(flags, flags.marked());
            self.changed_flags = Some(flags.marked());
        }
        decision != Decision::Drop
    }

    /// The current backlog, as the discipline sees it.
    pub(super) fn backlog(&self) -> Backlog {
        let first = self.backlog.front();
        Backlog {
            packets: self.backlog.len() as u64,
            bytes: self.accepted_bytes - self.departed_bytes,
            in_service_bytes: first.map_or(0, |first| first.accepted_bytes() - self.departed_bytes),
            in_service_priority: first.map_or(0, |first| first.priority()),
            idle_since_s: self.free_s,
        }
    }

    /// Counts the departures that precede the arrival of a packet at `now_s` whose own last
    /// transmission started at `tx_start_s`.
    #[inline(always)]
    pub(super) fn depart_until(&mut self, now_s: f64, tx_start_s: f64) {
        if self.notifies_departures {
            return self.depart_one_by_one(now_s, tx_start_s);
        }
        // Mostly none or one; or many that were not counted before, as the count did not matter.
        let mut departed = 0;
        while let Some(next) = self.backlog.get(departed)
            && next.at_s <= now_s
        {
            if next.at_s == now_s || departed == MOST_COUNTED_ONE_BY_ONE {
                departed = self.gone_exactly(now_s, tx_start_s);
                break;
            }
            departed += 1;
        }
        self.depart(departed);
    }

    /// Number of departures at `now_s` exactly, once those before it are counted.
    pub(super) fn count_leaving_at(&self, now_s: f64) -> u64 {
        self.backlog.partition_point(|packet| packet.has_left(now_s, f64::INFINITY)) as u64
    }

    /// Number of departures if there are many, or one coincides with the arrival.
    #[inline(never)]
    fn gone_exactly(&self, now_s: f64, tx_start_s: f64) -> usize {
        self.backlog.partition_point(|packet| packet.has_left(now_s, tx_start_s))
    }

    /// As [`Link::depart_until`], for a discipline that is notified of departures.
    #[inline(never)]
    fn depart_one_by_one(&mut self, now_s: f64, tx_start_s: f64) {
        while let Some(&first) =
            self.backlog.front().filter(|first| first.has_left(now_s, tx_start_s))
        {
            let size_bytes = (first.accepted_bytes() - self.departed_bytes) as u32;
            self.depart(1);
            let departure = DepartedPacket {
                tx_end_s: first.at_s,
                tx_start_s: first.tx_start_s,
                size_bytes,
                priority: first.priority(),
            };
            let backlog = self.backlog();
            self.discipline.on_departure(&departure, &backlog);
        }
    }

    /// Counts this number of departures.
    #[inline(always)]
    fn depart(&mut self, departed: usize) {
        let Some(last) = self.backlog.slot_before(departed) else { return };
        self.departed_bytes =
            select_unpredictable(departed > 0, last.accepted_bytes(), self.departed_bytes);
        if self.impairments.is_some() {
            self.lost +=
                self.backlog.iter().take(departed).filter(|packet| packet.lost()).count() as u64;
        }
        self.backlog.drop_front(departed);
    }
}
