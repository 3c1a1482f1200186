//! Round-trip estimation and the retransmission time-out: ns-2's tick arithmetic, or RFC 6298's with exact times.

use crate::Knobs;

/// Smoothed round trip, its variation and the time-out made of them.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    /// Smoothed RTT: eighths of a tick, or nanoseconds where the tick is zero.
    srtt: i64,
    /// Variation: quarters of a tick, or nanoseconds.
    rttvar: i64,
    /// Time-out before floor and back-off, nanoseconds.
    base_rto_ns: u64,
    /// Factor of exponential back-off.
    backoff: u32,
    /// Offset of this flow's timer against the clock, nanoseconds (ns-2 `boot_time_`).
    phase_ns: u64,
}

impl RttEstimator {
    /// Before the first sample.
    pub fn new(knobs: &Knobs, phase_ns: u64) -> Self {
        Self { srtt: 0, rttvar: 0, base_rto_ns: knobs.initial_rto.nanoseconds(), backoff: 1, phase_ns }
    }

    /// Takes one sample of a packet sent at `sent_ns`.
    pub fn sample(&mut self, now_ns: u64, sent_ns: u64, knobs: &Knobs) {
        let rtt_ns = now_ns.saturating_sub(sent_ns);
        let tick = knobs.tick.nanoseconds();
        if tick == 0 {
            self.sample_exact(rtt_ns as i64);
            return;
        }
        // TcpAgent::rtt_update: whole ticks between the send and the acknowledgement, as a clock with this phase sees them.
        let ticks = if knobs.timestamps { (rtt_ns + tick / 2) / tick } else { (rtt_ns + (sent_ns + self.phase_ns) % tick) / tick };
        let ticks = ticks.max(1) as i64;
        if self.srtt == 0 {
            self.srtt = ticks << 3;
            self.rttvar = ticks << 1;
        } else {
            let error = ticks - (self.srtt >> 3);
            self.srtt = (self.srtt + error).max(1);
            self.rttvar = (self.rttvar + error.abs() - (self.rttvar >> 2)).max(1);
        }
        self.base_rto_ns = (((self.rttvar << 3) + self.srtt) >> 3) as u64 * tick;
    }

    /// RFC 6298 section 2, with alpha = 1/8 and beta = 1/4.
    fn sample_exact(&mut self, rtt_ns: i64) {
        let rtt_ns = rtt_ns.max(1);
        if self.srtt == 0 {
            self.srtt = rtt_ns;
            self.rttvar = rtt_ns / 2;
        } else {
            self.rttvar += ((self.srtt - rtt_ns).abs() - self.rttvar) / 4;
            self.srtt += (rtt_ns - self.srtt) / 8;
        }
        self.base_rto_ns = (self.srtt + 4 * self.rttvar) as u64;
    }

    /// The time-out to arm now, nanoseconds.
    pub fn timeout_ns(&self, knobs: &Knobs) -> u64 {
        let backoff = u64::from(self.backoff);
        let floor = knobs.min_rto.nanoseconds();
        let timeout = if knobs.clamp_before_backoff {
            self.base_rto_ns.max(floor).saturating_mul(backoff)
        } else {
            self.base_rto_ns.saturating_mul(backoff).max(floor)
        };
        timeout.min(knobs.max_rto.nanoseconds()).max(2 * knobs.tick.nanoseconds()).max(1)
    }

    /// Doubles the time-out after it expired (TcpAgent::rtt_backoff, RFC 6298 section 5.5).
    pub fn back_off(&mut self, knobs: &Knobs) {
        if self.backoff < 64 || (knobs.clamp_before_backoff && self.timeout_ns(knobs) < knobs.max_rto.nanoseconds()) {
            self.backoff = self.backoff.saturating_mul(2);
        }
        if knobs.forget_srtt && self.backoff > 8 {
            self.rttvar += self.srtt >> 3;
            self.srtt = 0;
        }
    }

    /// Ends the back-off.
    pub fn reset_backoff(&mut self) {
        self.backoff = 1;
    }

    /// Smoothed round trip in seconds.
    pub fn srtt_s(&self, knobs: &Knobs) -> f64 {
        match knobs.tick.nanoseconds() {
            0 => self.srtt as f64 * 1e-9,
            tick => self.srtt as f64 / 8.0 * tick as f64 * 1e-9,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;

    const MS: u64 = 1_000_000;

    #[test]
    fn ticks_by_hand() {
        let knobs = Knobs::profile(Profile::Ns2_235);
        let mut rtt = RttEstimator::new(&knobs, 0);
        assert_eq!(rtt.timeout_ns(&knobs), 3000 * MS);
        // 115 ms sent on a tick is 11 ticks: srtt 11, rttvar 5.5, RTO 11 + 4 x 5.5 = 33 ticks.
        rtt.sample(115 * MS, 0, &knobs);
        assert_eq!(rtt.timeout_ns(&knobs), 330 * MS);
        // Sent 8 ms past a tick, 115 ms take 12 ticks: srtt8 88 + 1, rttvar4 22 + 1 - 5 = 18; (18 x 8 + 89)/8 = 29 ticks.
        rtt.sample(323 * MS, 208 * MS, &knobs);
        assert_eq!(rtt.timeout_ns(&knobs), 290 * MS);
        rtt.back_off(&knobs);
        assert_eq!(rtt.timeout_ns(&knobs), 580 * MS);
    }

    #[test]
    fn rfc_6298_by_hand() {
        let knobs = Knobs { min_rto: cwndlab_units::Time::ns(0), ..Knobs::profile(Profile::Rfc) };
        let mut rtt = RttEstimator::new(&knobs, 0);
        rtt.sample(100 * MS, 0, &knobs);
        assert_eq!(rtt.timeout_ns(&knobs), 300 * MS); // 100 + 4 x 50
        rtt.sample(340 * MS, 200 * MS, &knobs);
        assert_eq!(rtt.timeout_ns(&knobs), 295 * MS); // rttvar 50 + (40 - 50)/4 = 47.5, srtt 105
    }
}
