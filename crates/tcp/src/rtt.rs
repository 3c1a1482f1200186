//! Round-trip estimation and the retransmission time-out: ns-2's tick arithmetic, or RFC 6298's with exact times.

use crate::Knobs;

/// Smoothed round trip, its variation and the time-out made of them.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    /// Smoothed RTT: eighths of a tick (whole numbers), or seconds where the tick is zero. Zero before the first sample.
    srtt: f64,
    /// Variation: quarters of a tick (whole numbers), or seconds.
    rttvar: f64,
    /// Time-out before floor and back-off, seconds.
    base_rto_s: f64,
    /// Factor of exponential back-off.
    backoff: u32,
    /// The time-out to arm, seconds: changes with a sample and with the back-off only.
    timeout_s: f64,
    /// Offset of this flow's timer against the clock, seconds (ns-2 `boot_time_`).
    phase_s: f64,
}

impl RttEstimator {
    /// Before the first sample.
    pub fn new(knobs: &Knobs, phase_s: f64) -> Self {
        let mut new = Self { srtt: 0.0, rttvar: 0.0, base_rto_s: knobs.initial_rto.seconds(), backoff: 1, timeout_s: 0.0, phase_s };
        new.update_timeout(knobs);
        new
    }

    /// Takes one sample of a packet sent at `sent_s`.
    pub fn sample(&mut self, now_s: f64, sent_s: f64, knobs: &Knobs) {
        let rtt_s = now_s - sent_s;
        let tick_s = knobs.tick.seconds();
        if tick_s == 0.0 {
            self.sample_exact(rtt_s, knobs);
            return self.update_timeout(knobs);
        }
        // TcpAgent::rtt_update: whole ticks between the send and the acknowledgement, as a clock with this phase sees them.
        let ticks = if knobs.timestamps { rtt_s / tick_s + 0.5 } else { (rtt_s + (now_s - rtt_s + self.phase_s) % tick_s) / tick_s };
        let ticks = ticks.trunc().max(1.0);
        if self.srtt == 0.0 {
            self.srtt = ticks * 8.0;
            self.rttvar = ticks * 2.0;
        } else {
            let error = ticks - (self.srtt / 8.0).floor();
            self.srtt = (self.srtt + error).max(1.0);
            self.rttvar = (self.rttvar + error.abs() - (self.rttvar / 4.0).floor()).max(1.0);
        }
        self.base_rto_s = ((self.rttvar * 8.0 + self.srtt) / 8.0).floor() * tick_s;
        self.update_timeout(knobs);
    }

    /// RFC 6298 section 2, with alpha = 1/8 and beta = 1/4.
    fn sample_exact(&mut self, rtt_s: f64, knobs: &Knobs) {
        if self.srtt == 0.0 {
            self.srtt = rtt_s;
            self.rttvar = rtt_s / 2.0;
        } else {
            self.rttvar += ((self.srtt - rtt_s).abs() - self.rttvar) / 4.0;
            self.srtt += (rtt_s - self.srtt) / 8.0;
        }
        // RFC 6298 section 2 has a floor under the whole (2.4). Linux has it under the variation's part (tcp_rtt_estimator): a delay that grows
        // by less than the floor never times out.
        let least_s = if knobs.min_rto_on_variation { knobs.min_rto.seconds() } else { 0.0 };
        self.base_rto_s = self.srtt + (4.0 * self.rttvar).max(least_s);
    }

    /// The time-out to arm now, seconds.
    #[inline]
    pub fn timeout_s(&self) -> f64 {
        self.timeout_s
    }

    fn update_timeout(&mut self, knobs: &Knobs) {
        let backoff = f64::from(self.backoff);
        let floor_s = knobs.min_rto.seconds();
        let timeout_s =
            if knobs.clamp_before_backoff { self.base_rto_s.max(floor_s) * backoff } else { (self.base_rto_s * backoff).max(floor_s) };
        // Two ticks is the least that a ticking clock can mean; a nanosecond keeps time moving without one.
        self.timeout_s = timeout_s.min(knobs.max_rto.seconds()).max(2.0 * knobs.tick.seconds()).max(1e-9);
    }

    /// Doubles the time-out after it expired (TcpAgent::rtt_backoff, RFC 6298 section 5.5).
    pub fn back_off(&mut self, knobs: &Knobs) {
        if self.backoff < 64 || (knobs.clamp_before_backoff && self.timeout_s < knobs.max_rto.seconds()) {
            self.backoff = self.backoff.saturating_mul(2);
        }
        if knobs.forget_srtt && self.backoff > 8 {
            self.rttvar += (self.srtt / 8.0).floor();
            self.srtt = 0.0;
        }
        self.update_timeout(knobs);
    }

    /// Ends the back-off.
    pub fn reset_backoff(&mut self, knobs: &Knobs) {
        if self.backoff != 1 {
            self.backoff = 1;
            self.update_timeout(knobs);
        }
    }

    /// Smoothed round trip in seconds.
    pub fn srtt_s(&self, knobs: &Knobs) -> f64 {
        let tick_s = knobs.tick.seconds();
        if tick_s == 0.0 { self.srtt } else { self.srtt / 8.0 * tick_s }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn ticks_by_hand() {
        let knobs = Knobs::profile(Profile::Ns2_235);
        let mut rtt = RttEstimator::new(&knobs, 0.0);
        assert!(close(rtt.timeout_s(), 3.0));
        // 115 ms sent on a tick is 11 ticks: srtt 11, rttvar 5.5, RTO 11 + 4 x 5.5 = 33 ticks.
        rtt.sample(0.115, 0.0, &knobs);
        assert!(close(rtt.timeout_s(), 0.33));
        // Sent 8 ms past a tick, 115 ms take 12 ticks: srtt8 88 + 1, rttvar4 22 + 1 - 5 = 18; (18 x 8 + 89)/8 = 29 ticks.
        rtt.sample(0.323, 0.208, &knobs);
        assert!(close(rtt.timeout_s(), 0.29));
        rtt.back_off(&knobs);
        assert!(close(rtt.timeout_s(), 0.58));
    }

    #[test]
    fn a_floor_under_the_variation_by_hand() {
        let knobs = Knobs { min_rto_on_variation: true, min_rto: cwndlab_units::Time::ns(200_000_000), ..Knobs::profile(Profile::Rfc) };
        let mut rtt = RttEstimator::new(&knobs, 0.0);
        // 4 x 20 ms = 80 ms are below the floor: 40 + 200 ms.
        rtt.sample(0.04, 0.0, &knobs);
        assert!(close(rtt.timeout_s(), 0.24));
        // rttvar 20 + (360 - 20)/4 = 105, srtt 40 + 360/8 = 85: 85 + 420 ms.
        rtt.sample(0.5, 0.1, &knobs);
        assert!(close(rtt.timeout_s(), 0.505));
    }

    #[test]
    fn rfc_6298_by_hand() {
        let knobs = Knobs { min_rto: cwndlab_units::Time::ns(0), ..Knobs::profile(Profile::Rfc) };
        let mut rtt = RttEstimator::new(&knobs, 0.0);
        rtt.sample(0.1, 0.0, &knobs);
        assert!(close(rtt.timeout_s(), 0.3)); // 100 + 4 x 50
        rtt.sample(0.34, 0.2, &knobs);
        assert!(close(rtt.timeout_s(), 0.295)); // rttvar 50 + (40 - 50)/4 = 47.5, srtt 105
    }
}
