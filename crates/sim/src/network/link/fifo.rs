//! FIFO queue of a link, whose discipline decides at arrival.
//!
//! Departures are known at arrival, so a packet is processed once here: the backlog is the list of
//! pending departures. If a departure and an arrival coincide, the one that was scheduled first
//! precedes: the arrival counts from the start of its transmission on the link in front, the
//! departure from the start of its own. This is the insertion order of ns-2. It decides drops in
//! slow start, where packets arrive in pairs, the first of each exactly when a packet departs.

use super::metrics::{Departures, LinkMetrics};
use crate::collections::ring_buffer::RingBuffer;
use crate::id::FlowId;
use crate::packet::{Flags, Times};
use crate::random::stream::RandomStream;
use crate::rate::transmitter::Line;
use cwndlab_queues::{Admission, ArrivingPacket, Backlog, Decision, DepartedPacket, Discipline};
use std::hint::select_unpredictable;

/// Packets in one queue beyond which a run stops: about 1.5 GiB.
const MAX_BACKLOG_PACKETS: usize = 50_000_000;

/// Departures beyond which a binary search is faster.
const MOST_COUNTED_ONE_BY_ONE: usize = 4;

/// The discipline, and the packets that wait or are in service.
#[derive(Debug)]
pub struct FifoQueue {
    discipline: Discipline,
    /// Whether the discipline is notified of departures.
    notifies_departures: bool,
    /// Whether the link has impairments: no packet is certain to pass, and some may be lost after
    /// transmission.
    pub(super) is_impaired: bool,
    random: RandomStream,
    backlog: RingBuffer<PendingDeparture>,
    /// Length of the backlog, uncounted departures included, below which a packet of at most
    /// `largest_bytes` is certain to be accepted and no impairment applies; 0 where nothing is
    /// certain.
    guaranteed_accept_backlog: usize,
    largest_bytes: u32,
    free_s: f64,
    /// Time of the last arrival, and the latest start of transmission among the packets that
    /// arrived then: a departure that precedes one of them has happened.
    last_arrival_s: f64,
    last_arrival_tx_start_s: f64,
    /// Start of the last transmission, seconds.
    last_start_s: f64,
    accepted_bytes: u64,
    /// Accepted bytes that were counted as departed.
    departed_bytes: u64,
    /// Sum of the waiting times of accepted packets, up to the end of the window, seconds.
    waiting_time_sum_s: f64,
    /// Packets lost after transmission.
    lost: u64,
    /// Whether it exceeds the memory limit.
    pub(super) overflowed: bool,
}

impl FifoQueue {
    /// An empty queue with the random stream of its discipline, on a link without impairments.
    pub fn new(discipline: Discipline, random: RandomStream) -> Self {
        Self {
            notifies_departures: discipline.needs_departures(),
            discipline,
            is_impaired: false,
            random,
            backlog: RingBuffer::default(),
            guaranteed_accept_backlog: 0,
            largest_bytes: 0,
            free_s: 0.0,
            last_arrival_s: 0.0,
            last_arrival_tx_start_s: 0.0,
            last_start_s: 0.0,
            accepted_bytes: 0,
            departed_bytes: 0,
            waiting_time_sum_s: 0.0,
            lost: 0,
            overflowed: false,
        }
    }

    /// Notes an arrival at `now_s` of a packet whose last transmission started at `tx_start_s`;
    /// returns the latest such start among the packets that arrive then.
    #[inline(always)]
    pub(super) fn note_arrival(&mut self, now_s: f64, tx_start_s: f64) -> f64 {
        let latest_s = if now_s == self.last_arrival_s {
            tx_start_s.max(self.last_arrival_tx_start_s)
        } else {
            tx_start_s
        };
        (self.last_arrival_s, self.last_arrival_tx_start_s) = (now_s, latest_s);
        latest_s
    }

    /// Whether a packet is accepted whatever has departed.
    #[inline(always)]
    pub(super) fn accepts_for_certain(&self, size_bytes: u32) -> bool {
        self.backlog.len() < self.guaranteed_accept_backlog && size_bytes <= self.largest_bytes
    }

    /// Counts departures up to now and asks the discipline for admission; returns whether the
    /// packet is accepted, and whether it is marked.
    pub(super) fn admit(
        &mut self,
        now_s: f64,
        tx_start_s: f64,
        size_bytes: u32,
        flow: FlowId,
        flags: Flags,
    ) -> (bool, bool) {
        self.depart_until(now_s, tx_start_s);
        if self.backlog.len() >= MAX_BACKLOG_PACKETS {
            self.overflowed = true;
            return (false, false);
        }
        self.largest_bytes = self.largest_bytes.max(size_bytes);
        if !self.is_impaired {
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
            flow: flow.number(),
            ecn: flags.is_ect(),
            priority: flags.priority(),
        };
        let random = &mut self.random;
        let decision = self.discipline.admit(&arrival, &backlog, &mut || random.uniform());
        (decision != Decision::Drop, decision == Decision::Mark)
    }

    /// Transmits an accepted packet whose last transmission started at `tx_start_s`.
    #[inline(always)]
    pub(super) fn transmit(
        &mut self,
        now_s: f64,
        tx_start_s: f64,
        size_bytes: u32,
        line: &mut Line,
        metrics: &mut LinkMetrics,
    ) -> Times {
        let start_s = if self.free_s > now_s { self.free_s } else { now_s };
        let (end_s, at_s) = line.transmitter.transmit(start_s, size_bytes, line.delay_s);
        self.free_s = end_s;
        let mut tie_break_s = now_s - tx_start_s;
        if start_s > now_s {
            tie_break_s = start_s - self.last_start_s;
            // Only the part before the end of the window; `min` and `max` would cost every packet
            // more than this branch.
            self.waiting_time_sum_s += if start_s <= metrics.window.to_s {
                start_s - now_s
            } else {
                (metrics.window.to_s - now_s).max(0.0)
            };
            // A packet that never departs has no waiting time.
            if metrics.measuring && start_s < f64::MAX {
                metrics.waiting.add(start_s - now_s);
            }
        } else if metrics.measuring {
            metrics.waiting.add_zero();
        }
        self.last_start_s = start_s;
        Times { at_s, tx_start_s: start_s, tie_break_s }
    }

    /// Appends a packet to the backlog, to depart at the time that `transmit` computed.
    #[inline(always)]
    pub(super) fn push_departure(
        &mut self,
        size_bytes: u32,
        start_s: f64,
        flags: Flags,
        lost: bool,
    ) {
        self.accepted_bytes += u64::from(size_bytes);
        self.backlog.push_back(PendingDeparture::new(
            self.free_s,
            start_s,
            self.accepted_bytes,
            flags.priority(),
            lost,
        ));
    }

    /// When the last packet accepted so far will have been transmitted, seconds.
    pub(super) fn free_s(&self) -> f64 {
        self.free_s
    }

    /// The current backlog, as the discipline sees it.
    fn backlog(&self) -> Backlog {
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
                departed = self.count_departed(now_s, tx_start_s);
                break;
            }
            departed += 1;
        }
        self.depart(departed);
    }

    /// Number of departures that precede such an arrival and are not counted yet.
    #[inline(never)]
    fn count_departed(&self, now_s: f64, tx_start_s: f64) -> usize {
        self.backlog.partition_point(|packet| packet.has_departed(now_s, tx_start_s))
    }

    /// As [`FifoQueue::depart_until`], for a discipline that is notified of departures.
    #[inline(never)]
    fn depart_one_by_one(&mut self, now_s: f64, tx_start_s: f64) {
        while let Some(&first) =
            self.backlog.front().filter(|first| first.has_departed(now_s, tx_start_s))
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
        if self.is_impaired {
            self.lost +=
                self.backlog.iter().take(departed).filter(|packet| packet.lost()).count() as u64;
        }
        self.backlog.drop_front(departed);
    }

    /// Time of the discipline's next update, seconds.
    pub(super) fn next_update_s(&self) -> f64 {
        self.discipline.next_update_s()
    }

    /// The discipline updates itself.
    pub(super) fn update(&mut self, now_s: f64) {
        self.depart_until(now_s, f64::INFINITY);
        let backlog = self.backlog();
        self.discipline.on_update(now_s, &backlog);
    }

    /// Packets that wait or are in service, and the average queue and drop probability of the
    /// discipline, if it has them.
    pub(super) fn sample(&mut self, now_s: f64) -> (u64, Option<f64>, Option<f64>) {
        // Departures of this very instant stay: an arrival may precede them, and a sample must not
        // change the run.
        self.depart_until(now_s, f64::NEG_INFINITY);
        let packets = self.backlog.len() - self.count_departed(now_s, f64::INFINITY);
        (packets as u64, self.discipline.average_packets(), self.discipline.probability())
    }

    /// What has departed of the `accepted` packets, once all departures up to now are counted.
    /// Waiting times count up to `window_to_s`.
    pub(super) fn departures(&self, now_s: f64, accepted: u64, window_to_s: f64) -> Departures {
        let packets = self.backlog.iter();
        let still_waiting_s: f64 =
            packets.map(|packet| (packet.tx_start_s.min(window_to_s) - now_s).max(0.0)).sum();
        let backlog = self.backlog.len() as u64;
        Departures {
            packets: accepted - self.lost - backlog,
            bits: 8 * self.departed_bytes,
            lost: self.lost,
            waiting_area_s: self.waiting_time_sum_s - still_waiting_s,
            backlog,
        }
    }
}

/// A packet that waits or is in service, with its departure time.
#[derive(Clone, Copy, Debug, Default)]
struct PendingDeparture {
    /// Its departure, seconds.
    at_s: f64,
    /// Start of its transmission, seconds.
    tx_start_s: f64,
    /// Bytes accepted up to this packet, then its priority (two bits), then whether it is lost
    /// after transmission (one bit).
    tail: u64,
}

impl PendingDeparture {
    fn new(at_s: f64, tx_start_s: f64, accepted_bytes: u64, priority: u8, lost: bool) -> Self {
        let tail = accepted_bytes << 3 | u64::from(priority) << 1 | u64::from(lost);
        Self { at_s, tx_start_s, tail }
    }

    /// Bytes accepted up to this packet, inclusive.
    fn accepted_bytes(self) -> u64 {
        self.tail >> 3
    }

    fn priority(self) -> u8 {
        (self.tail >> 1 & 3) as u8
    }

    fn lost(self) -> bool {
        self.tail & 1 == 1
    }

    /// Whether it has departed before the arrival of a packet at `now_s` whose own last
    /// transmission started at `tx_start_s`.
    #[inline(always)]
    fn has_departed(self, now_s: f64, tx_start_s: f64) -> bool {
        (self.at_s < now_s) | ((self.at_s == now_s) & (self.tx_start_s < tx_start_s))
    }
}
