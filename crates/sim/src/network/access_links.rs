//! Access links: private links of one flow, with a delay and an optional rate, without loss or
//! limit.

use crate::network::host_jitter::HostJitter;
use crate::packet::Times;
use cwndlab_prefetch::prefetch;

/// Access links of all flows. Each distinct rate is stored once, since flows of a group have equal
/// rates.
#[derive(Debug, Default)]
pub struct AccessLinks {
    /// How late packets enter their first one.
    pub host_jitter: HostJitter,
    access_links: Vec<AccessLink>,
    rates_bps: Vec<u64>,
}

/// One access link: two additions per packet, no queue limit, no metrics.
#[derive(Clone, Debug)]
struct AccessLink {
    free_s: f64,
    /// Lead of the last transmission, as the next packet of the same busy period continues it.
    tie_break_s: f64,
    delay_s: f64,
    /// Transmission time of the last packet size seen, seconds: most packets have one size.
    transmission_s: f64,
    /// Index of its rate, or [`UNLIMITED`].
    rate: u32,
    size_bytes: u16,
}

/// Rate index of an access link that only delays.
const UNLIMITED: u32 = u32::MAX;

/// Weight of a second-order part of a lead: below the difference of any two transmission times.
const SECOND_ORDER: f64 = 1.0 / (1 << 24) as f64;

impl AccessLinks {
    /// Prefetches the access links of a flow.
    #[inline(always)]
    pub fn prefetch(&self, first: u32) {
        // Most flows have four: at the sender and at the receiver, in both directions.
        if let Some(access_links) = self
            .access_links
            .get(first as usize..)
            .and_then(|access_links| access_links.first_chunk::<4>())
        {
            prefetch(access_links);
        }
    }

    /// Number of access links.
    pub fn len(&self) -> usize {
        self.access_links.len()
    }

    /// Allocates memory for further access links.
    pub fn reserve(&mut self, access_links: usize) {
        self.access_links.reserve_exact(access_links);
    }

    /// Adds an idle access link; without a rate it only delays.
    pub fn push(&mut self, rate_bps: Option<u64>, delay_s: f64) {
        let link = self.idle(rate_bps, delay_s);
        self.access_links.push(link);
    }

    /// Makes an access link idle, with another delay.
    pub fn reset(&mut self, index: usize, delay_s: f64) {
        (self.access_links[index].free_s, self.access_links[index].delay_s) = (0.0, delay_s);
    }

    fn idle(&mut self, rate_bps: Option<u64>, delay_s: f64) -> AccessLink {
        let rate = rate_bps.map_or(UNLIMITED, |rate_bps| {
            let known = self.rates_bps.iter().position(|&known| known == rate_bps);
            known.unwrap_or_else(|| {
                self.rates_bps.push(rate_bps);
                self.rates_bps.len() - 1
            }) as u32
        });
        AccessLink {
            free_s: 0.0,
            tie_break_s: 0.0,
            delay_s,
            transmission_s: 0.0,
            rate,
            size_bytes: 0,
        }
    }

    /// A packet enters at `now_s`; its last transmission started at `tx_start_s`. Returns when it
    /// arrives at the other end.
    ///
    /// The cause is the arrival on an idle link, scheduled at `tx_start_s`; on a busy one the end
    /// of the transmission before, scheduled at the start of that. In ns-2 two busy periods of
    /// equal packets are ordered by their first arrivals, however long ago: the lead of a later
    /// packet has that as a second-order part, which shrinks from packet to packet.
    #[inline(always)]
    pub fn transmit(&mut self, index: u32, now_s: f64, size_bytes: u16, tx_start_s: f64) -> Times {
        let link = &mut self.access_links[index as usize];
        let mut tie_break_s = now_s - tx_start_s;
        if link.rate == UNLIMITED {
            return Times { at_s: now_s + link.delay_s, tx_start_s: now_s, tie_break_s };
        }
        let mut start_s = now_s;
        // Of an arrival and an end of transmission at one instant, the first scheduled is first.
        if link.free_s < now_s || (link.free_s == now_s && tie_break_s <= link.transmission_s) {
            link.tie_break_s = tie_break_s;
        } else {
            let rest_s = link.tie_break_s - link.transmission_s;
            (start_s, tie_break_s) = (link.free_s, link.transmission_s + SECOND_ORDER * rest_s);
            link.tie_break_s = link.transmission_s + rest_s / 4.0;
        }
        if size_bytes != link.size_bytes {
            link.divide(&self.rates_bps, size_bytes);
        }
        link.free_s = start_s + link.transmission_s;
        let at_s = start_s + (link.transmission_s + link.delay_s);
        Times { at_s, tx_start_s: start_s, tie_break_s }
    }
}

impl AccessLink {
    /// In ns-2's order of operations (LinkDelay::txtime).
    #[cold]
    #[inline(never)]
    fn divide(&mut self, rates_bps: &[u64], size_bytes: u16) {
        let rate_bps = rates_bps[self.rate as usize] as f64;
        (self.size_bytes, self.transmission_s) =
            (size_bytes, 8.0 * f64::from(size_bytes) / rate_bps);
    }
}
