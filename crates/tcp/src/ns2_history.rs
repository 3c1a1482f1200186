//! Defaults of earlier ns-2: those of 2.35, with the former value of each that changed later.
//!
//! Days are those of ns-2's change history (CHANGES.html) and of the comments in ns-default.tcl,
//! both as released with ns-2.35; docs/profiles.md cites them. Where neither dates a change, the
//! value is 2.35's.

use crate::config::{Profile, TcpConfig};
use cwndlab_units::Time;

/// A day: year, month, day.
type Day = (u16, u8, u8);

impl TcpConfig {
    /// The defaults on a day.
    pub(crate) fn ns2_on(day: Day) -> Self {
        let mut config = Self::profile(Profile::Ns2_235);
        // SYN_immediate_ack_
        if day < (2010, 2, 2) {
            config.receiver.immediate_ack_on_syn = false;
        }
        // maxrto_
        if day < (2007, 3, 28) {
            config.rto.max_rto = Time::ns(64_000_000_000);
        }
        // bugfix_ss_
        if day < (2006, 6, 13) {
            config.handshake.restart_after_syn_loss = false;
            config.recovery.fast_retransmit_first = false;
        }
        // rtxcur_init_, precisionReduce_
        if day < (2006, 1, 21) {
            config.rto.initial_rto = Time::ns(6_000_000_000);
            config.growth.precise_reduction = false;
        }
        // minrto_: 1 s when it was added
        if day < (2004, 10, 14) {
            config.rto.min_rto = Time::ns(1_000_000_000);
        }
        // ts_echo_bugfix_
        if day < (2003, 8, 13) {
            config.receiver.timestamp_echo_fix = false;
        }
        // exitFastRetrans_
        if day < (2003, 7, 28) {
            config.newreno.exit_fast_retransmit = false;
        }
        // newreno_changes1_, partial_window_deflation_
        if day < (2003, 5, 5) {
            config.newreno.impatient = false;
            config.newreno.partial_window_deflation = false;
        }
        // tcpTick_, rfc2988_
        if day < (2002, 3, 7) {
            config.rto.tick = Time::ns(100_000_000);
            config.rto.clamp_before_backoff = false;
        }
        // useHeaders_, without which timestamps take no bytes either; singledup_
        if day < (2001, 11, 28) {
            config.segment.header_size = 0;
            config.segment.timestamp_size = 0;
            config.recovery.limited_transmit = false;
        }
        // windowInit_, syn_, delay_growth_, timerfix_; minrto_ was added
        if day < (2001, 5, 27) {
            config.limits.initial_window = 1.0;
            config.handshake.syn = false;
            config.handshake.delay_growth = false;
            config.rto.timer_after_sample = false;
            config.rto.min_rto = Time::ns(0);
        }
        config
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minimum_rto_was_one_second_from_2001_to_2004() {
        let min_rto_s = |profile| TcpConfig::profile(profile).rto.min_rto.seconds();
        let dated = [
            Profile::Ns2_2000,
            Profile::Ns2_2001,
            Profile::Ns2_2002,
            Profile::Ns2_2009,
            Profile::Ns2_235,
        ];
        assert_eq!(dated.map(min_rto_s), [0.0, 1.0, 1.0, 0.2, 0.2]);
    }

    #[test]
    fn the_syn_came_with_2001_headers_and_a_fine_tick_by_2002() {
        let of = |profile| {
            let config = TcpConfig::profile(profile);
            (config.handshake.syn, config.segment.header_size, config.rto.tick.seconds())
        };
        assert_eq!(of(Profile::Ns2_2000), (false, 0, 0.1));
        assert_eq!(of(Profile::Ns2_2001), (true, 0, 0.1));
        assert_eq!(of(Profile::Ns2_2002), (true, 40, 0.01));
    }
}
