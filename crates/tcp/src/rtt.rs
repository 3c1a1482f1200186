//! RTT estimator and retransmission timeout (RTO): ns-2's tick arithmetic, RFC 6298 with exact
//! times, or Linux's whole microseconds.

use crate::TcpConfig;
use crate::ticks::HZ;

/// Smoothed RTT, RTT variation and the RTO.
///
/// ```
/// use cwndlab_tcp::{Profile, RttEstimator, TcpConfig};
/// let config = TcpConfig::profile(Profile::Rfc);
/// let mut rtt = RttEstimator::new(&config, 0.0);
/// rtt.sample(1.5, 1.0, &config);
/// // RFC 6298 section 2.2: SRTT = R, RTTVAR = R/2, RTO = SRTT + 4 RTTVAR.
/// assert_eq!((rtt.srtt_s(&config), rtt.rttvar_s(&config), rtt.rto_s()), (0.5, 0.25, 1.5));
/// rtt.back_off(&config);
/// assert_eq!(rtt.rto_s(), 3.0);
/// ```
#[derive(Clone, Debug)]
pub struct RttEstimator {
    /// Smoothed RTT: eighths of a tick (whole numbers), or seconds where the tick is zero. Zero
    /// before the first sample.
    srtt: f64,
    /// RTT variation: quarters of a tick (whole numbers), or seconds.
    rttvar: f64,
    /// RTO before the minimum and backoff, seconds.
    base_rto_s: f64,
    /// Factor of exponential backoff.
    backoff: u32,
    /// RTO, seconds: changes with samples and backoff only.
    rto_s: f64,
    /// Offset of this flow's clock ticks, seconds (ns-2 `boot_time_`).
    phase_s: f64,
    /// State in whole microseconds; all zero under other arithmetic.
    us: Microseconds,
}

/// Linux's estimator (`tcp_rtt_estimator`): RFC 6298 with a variation that rises at once, falls
/// once per round trip, and counts a shorter RTT an eighth.
#[derive(Clone, Copy, Debug, Default)]
struct Microseconds {
    /// Eighths of a microsecond.
    srtt_8: i64,
    /// Mean deviation, quarters of a microsecond, and its maximum in this round trip.
    mdev_4: i64,
    mdev_max_4: i64,
    rttvar_4: i64,
    /// SND.NXT when this round trip began.
    rtt_seq: i64,
}

impl Microseconds {
    fn sample(&mut self, rtt_us: i64, least_us: i64, snd_una: i64, snd_nxt: i64) {
        if self.srtt_8 == 0 {
            *self = Self {
                srtt_8: rtt_us << 3,
                mdev_4: rtt_us << 1,
                mdev_max_4: (rtt_us << 1).max(least_us),
                rttvar_4: (rtt_us << 1).max(least_us),
                rtt_seq: snd_nxt,
            };
            self.srtt_8 = self.srtt_8.max(1);
            return;
        }
        let error = rtt_us - (self.srtt_8 >> 3);
        self.srtt_8 = (self.srtt_8 + error).max(1);
        let mut change = error.abs() - (self.mdev_4 >> 2);
        if error < 0 && change > 0 {
            change >>= 3;
        }
        self.mdev_4 += change;
        if self.mdev_4 > self.mdev_max_4 {
            self.mdev_max_4 = self.mdev_4;
            self.rttvar_4 = self.rttvar_4.max(self.mdev_max_4);
        }
        if snd_una > self.rtt_seq {
            if self.mdev_max_4 < self.rttvar_4 {
                self.rttvar_4 -= (self.rttvar_4 - self.mdev_max_4) >> 2;
            }
            (self.rtt_seq, self.mdev_max_4) = (snd_nxt, least_us);
        }
    }
}

impl RttEstimator {
    /// An estimator without samples.
    pub fn new(config: &TcpConfig, phase_s: f64) -> Self {
        let mut new = Self {
            srtt: 0.0,
            rttvar: 0.0,
            base_rto_s: config.rto.initial_rto.seconds(),
            backoff: 1,
            rto_s: 0.0,
            phase_s,
            us: Microseconds::default(),
        };
        new.update_rto(config);
        new
    }

    /// Takes an RTT sample of a packet sent at `sent_s`.
    pub fn sample(&mut self, now_s: f64, sent_s: f64, config: &TcpConfig) {
        let rtt_s = now_s - sent_s;
        let tick_s = config.rto.tick.seconds();
        if tick_s == 0.0 {
            self.sample_exact(rtt_s, config);
            return self.update_rto(config);
        }
        // TcpAgent::rtt_update: whole ticks between transmission and ACK, for a clock with this
        // phase.
        let ticks = if config.rto.timestamps {
            rtt_s / tick_s + 0.5
        } else {
            (rtt_s + (now_s - rtt_s + self.phase_s) % tick_s) / tick_s
        };
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
        self.update_rto(config);
    }

    /// RFC 6298 section 2, with alpha = 1/8 and beta = 1/4.
    fn sample_exact(&mut self, rtt_s: f64, config: &TcpConfig) {
        if self.srtt == 0.0 {
            self.srtt = rtt_s;
            self.rttvar = rtt_s / 2.0;
        } else {
            self.rttvar += ((self.srtt - rtt_s).abs() - self.rttvar) / 4.0;
            self.srtt += (rtt_s - self.srtt) / 8.0;
        }
        // RFC 6298 (2.4) sets a minimum of the RTO. Linux (tcp_rtt_estimator) sets a minimum of the
        // variance term: an RTT that grows by less never causes a timeout.
        let least_s =
            if config.rto.min_rto_on_variation { config.rto.min_rto.seconds() } else { 0.0 };
        self.base_rto_s = self.srtt + (4.0 * self.rttvar).max(least_s);
    }

    /// Takes a sample as Linux does. `snd_una`, `snd_nxt`: the first packet not acknowledged, and
    /// the next one to send.
    pub fn sample_as_linux(&mut self, rtt_s: f64, snd_una: i64, snd_nxt: i64, config: &TcpConfig) {
        let least_us =
            if config.rto.min_rto_on_variation { config.rto.min_rto.seconds() * 1e6 } else { 0.0 };
        let rtt_us = ((rtt_s * 1e6 + 0.5) as i64).max(1);
        self.us.sample(rtt_us, least_us as i64, snd_una, snd_nxt);
        self.srtt = self.us.srtt_8 as f64 / 8e6;
        self.rttvar = self.us.rttvar_4 as f64 / 4e6;
        let rto_us = (self.us.srtt_8 >> 3) + self.us.rttvar_4;
        // A tick is a millisecond.
        self.base_rto_s = ((rto_us + 999) / 1000) as f64 / HZ;
        self.update_rto(config);
    }

    /// The RTO, seconds.
    #[inline]
    pub fn rto_s(&self) -> f64 {
        self.rto_s
    }

    fn update_rto(&mut self, config: &TcpConfig) {
        let backoff = f64::from(self.backoff);
        let floor_s = config.rto.min_rto.seconds();
        let rto_s = if config.rto.clamp_before_backoff {
            self.base_rto_s.max(floor_s) * backoff
        } else {
            (self.base_rto_s * backoff).max(floor_s)
        };
        // Two ticks are the least that a clock with ticks can measure. Without ticks, a nanosecond
        // keeps time advancing.
        self.rto_s =
            rto_s.min(config.rto.max_rto.seconds()).max(2.0 * config.rto.tick.seconds()).max(1e-9);
    }

    /// Backs off the timer: doubles the RTO (TcpAgent::rtt_backoff, RFC 6298 (5.5)).
    pub fn back_off(&mut self, config: &TcpConfig) {
        if self.backoff < 64
            || (config.rto.clamp_before_backoff && self.rto_s < config.rto.max_rto.seconds())
        {
            self.backoff = self.backoff.saturating_mul(2);
        }
        if config.quirks.forget_srtt && self.backoff > 8 {
            self.rttvar += (self.srtt / 8.0).floor();
            self.srtt = 0.0;
        }
        self.update_rto(config);
    }

    /// Ends the backoff.
    pub fn reset_backoff(&mut self, config: &TcpConfig) {
        if self.backoff != 1 {
            self.backoff = 1;
            self.update_rto(config);
        }
    }

    /// Smoothed RTT, seconds.
    pub fn srtt_s(&self, config: &TcpConfig) -> f64 {
        let tick_s = config.rto.tick.seconds();
        if tick_s == 0.0 || self.us.srtt_8 > 0 { self.srtt } else { self.srtt / 8.0 * tick_s }
    }

    /// RTT variation, seconds.
    pub fn rttvar_s(&self, config: &TcpConfig) -> f64 {
        let tick_s = config.rto.tick.seconds();
        if tick_s == 0.0 || self.us.srtt_8 > 0 { self.rttvar } else { self.rttvar / 4.0 * tick_s }
    }

    /// Factor of exponential backoff.
    pub fn backoff(&self) -> u32 {
        self.backoff
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
    use crate::tcp_config;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn ticks_by_hand() {
        let config = TcpConfig::profile(Profile::Ns2_235);
        let mut rtt = RttEstimator::new(&config, 0.0);
        assert!(close(rtt.rto_s(), 3.0));
        // 115 ms sent on a tick is 11 ticks: srtt 11, rttvar 5.5, RTO 11 + 4 x 5.5 = 33 ticks.
        rtt.sample(0.115, 0.0, &config);
        assert!(close(rtt.rto_s(), 0.33));
        assert!(close(rtt.srtt_s(&config), 0.11));
        // Sent 8 ms past a tick, 115 ms take 12 ticks: srtt8 88 + 1, rttvar4 22 + 1 - 5 = 18; (18 x
        // 8 + 89)/8 = 29 ticks.
        rtt.sample(0.323, 0.208, &config);
        assert!(close(rtt.rto_s(), 0.29));
        rtt.back_off(&config);
        assert!(close(rtt.rto_s(), 0.58));
    }

    #[test]
    fn a_floor_under_the_variation_by_hand() {
        let config = tcp_config!(
            TcpConfig::profile(Profile::Rfc),
            rto.min_rto_on_variation = true,
            rto.min_rto = cwndlab_units::Time::ns(200_000_000)
        );
        let mut rtt = RttEstimator::new(&config, 0.0);
        // 4 x 20 ms = 80 ms are below the floor: 40 + 200 ms.
        rtt.sample(0.04, 0.0, &config);
        assert!(close(rtt.rto_s(), 0.24));
        // rttvar 20 + (360 - 20)/4 = 105, srtt 40 + 360/8 = 85: 85 + 420 ms.
        rtt.sample(0.5, 0.1, &config);
        assert!(close(rtt.rto_s(), 0.505));
    }

    #[test]
    fn rfc_6298_by_hand() {
        let config =
            tcp_config!(TcpConfig::profile(Profile::Rfc), rto.min_rto = cwndlab_units::Time::ns(0));
        let mut rtt = RttEstimator::new(&config, 0.0);
        rtt.sample(0.1, 0.0, &config);
        assert!(close(rtt.rto_s(), 0.3)); // 100 + 4 x 50
        rtt.sample(0.34, 0.2, &config);
        assert!(close(rtt.rto_s(), 0.295)); // rttvar 50 + (40 - 50)/4 = 47.5, srtt 105
    }
}
