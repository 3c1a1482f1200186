//! Arrival of a packet at a link with an admission queue: impairments, admission, transmission.

use super::backlog::PendingDeparture;
use super::metrics::count_drops;
use super::state::Link;
use crate::packet::{Flags, LOST};

impl Link {
    /// A packet of `flow` arrives at `now_s`; its last transmission started at `tx_start_s`.
    /// Returns its arrival time at the other end, the start of its transmission here, the lead of
    /// what caused that (`Packet::lead_s`), and its flags, which may have changed; only these if it
    /// is dropped.
    ///
    /// Times are passed in registers, and departures are counted only when the count matters: each
    /// halves the cost of a packet.
    #[inline(always)]
    pub fn arrive(
        &mut self,
        now_s: f64,
        tx_start_s: f64,
        number: i64,
        size_bytes: u16,
        flow: u32,
        flags: Flags,
    ) -> Result<(f64, f64, f64, Flags), Flags> {
        let (size, own_tx_start_s) = (u32::from(size_bytes), tx_start_s);
        let tx_start_s = if now_s == self.last_arrival_s {
            tx_start_s.max(self.last_arrival_tx_start_s)
        } else {
            tx_start_s
        };
        (self.last_arrival_s, self.last_arrival_tx_start_s) = (now_s, tx_start_s);
        if now_s < self.next_due_s
            && self.backlog.len() < self.guaranteed_accept_backlog
            && size <= self.largest_bytes
        {
            self.arrived += 1;
            self.hash_arrival(now_s, number, flow, true);
            let (at_s, start_s, lead_s) = self.transmit(now_s, size, own_tx_start_s);
            self.push_departure(size, start_s, flags, false);
            return Ok((at_s, start_s, lead_s, flags));
        }
        let (at_s, start_s, lead_s) =
            self.arrive_slow_path(now_s, (tx_start_s, own_tx_start_s), number, size, flow, flags);
        let flags = self.changed_flags.take().unwrap_or(flags);
        if at_s == LOST { Err(flags) } else { Ok((at_s, start_s, lead_s, flags)) }
    }

    /// The same if the packet may be impaired or dropped; the time is [`LOST`] if it is.
    #[inline(never)]
    fn arrive_slow_path(
        &mut self,
        now_s: f64,
        (tx_start_s, own_tx_start_s): (f64, f64),
        number: i64,
        size: u32,
        flow: u32,
        flags: Flags,
    ) -> (f64, f64, f64) {
        if now_s >= self.next_due_s {
            self.run_due_samples(now_s);
        }
        self.arrived += 1;
        let (is_lost, flags) = if self.impairments.is_none() {
            (false, flags)
        } else {
            self.impairments(now_s, size, flow, flags)
        };
        let accepted = !is_lost && self.admit(now_s, tx_start_s, size, flow, flags);
        self.hash_arrival(now_s, number, flow, accepted);
        if !accepted {
            count_drops(&mut self.dropped, 1);
            return (LOST, now_s, 0.0);
        }
        let (at_s, start_s, lead_s) = self.transmit(now_s, size, own_tx_start_s);
        let at_s = match &mut self.impairments {
            None => at_s,
            Some(impairments) => {
                let flags = self.changed_flags.unwrap_or(flags);
                self.changed_flags = Some(impairments.mangle(flags));
                impairments.after_transmission(at_s, flow)
            }
        };
        self.push_departure(size, start_s, flags, at_s == LOST);
        (at_s, start_s, lead_s)
    }

    /// Hashes the outcome for a packet.
    #[inline(always)]
    fn hash_arrival(&mut self, now_s: f64, number: i64, flow: u32, accepted: bool) {
        self.hash.add(
            now_s.to_bits()
                ^ ((number as u64) << 20)
                ^ (u64::from(flow) << 50)
                ^ (u64::from(accepted) << 63),
        );
    }

    /// Transmits an accepted packet: its arrival time at the other end, the start of its
    /// transmission, and the lead of what caused that.
    #[inline(always)]
    fn transmit(&mut self, now_s: f64, size: u32, tx_start_s: f64) -> (f64, f64, f64) {
        let start_s = if self.free_s > now_s { self.free_s } else { now_s };
        let (end_s, at_s) = self.serializer.transmit(start_s, size, self.delay_s);
        self.free_s = end_s;
        let mut lead_s = now_s - tx_start_s;
        if start_s > now_s {
            lead_s = start_s - self.last_start_s;
            // Only the part before the end of the window; `min` and `max` would cost every packet
            // more than this branch.
            self.waiting_time_sum_s += if start_s <= self.metrics.window.to_s {
                start_s - now_s
            } else {
                (self.metrics.window.to_s - now_s).max(0.0)
            };
            // A packet that never departs has no waiting time.
            if self.metrics.measuring && start_s < f64::MAX {
                self.metrics.waiting.add(start_s - now_s);
            }
        } else if self.metrics.measuring {
            self.metrics.waiting.add_zero();
        }
        self.last_start_s = start_s;
        (at_s, start_s, lead_s)
    }

    /// Appends a packet to the backlog, to depart at the time that `transmit` computed.
    #[inline(always)]
    fn push_departure(&mut self, size: u32, start_s: f64, flags: Flags, lost: bool) {
        self.accepted_bytes += u64::from(size);
        self.backlog.push_back(PendingDeparture::new(
            self.free_s,
            start_s,
            self.accepted_bytes,
            flags.priority(),
            lost,
        ));
    }

    /// Applies impairments in front of the queue; returns whether the packet is dropped, and its
    /// flags.
    #[cold]
    #[inline(never)]
    fn impairments(
        &mut self,
        now_s: f64,
        size_bytes: u32,
        flow: u32,
        flags: Flags,
    ) -> (bool, Flags) {
        let Some(impairments) = &mut self.impairments else { return (false, flags) };
        let (is_lost, new) = impairments.before_queue(now_s, size_bytes, flow, flags);
        if new != flags {
            self.marks.count(flags, new);
            self.changed_flags = Some(new);
        }
        (is_lost, new)
    }
}
