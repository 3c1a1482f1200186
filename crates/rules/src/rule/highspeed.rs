//! HighSpeed TCP (RFC 3649, section 5): AIMD whose parameters grow with the window.
//!
//! ```text
//! up to 38 packets:   AIMD(1, 0.5)
//! above:              per round trip  w <- w + a(w),   on loss  w <- (1 - b(w)) w
//!                     b(w) = (0.1 - 0.5) (log w - log 38) / (log 83000 - log 38) + 0.5
//!                     p(w) = 0.078 / w^1.2
//!                     a(w) = w^2 p(w) 2 b(w) / (2 - b(w))
//! ```
//!
//! `w` in packets. The constants are the RFC's: Low_Window 38, High_Window 83000, High_P 10^-7,
//! High_Decrease 0.1. a(w) is taken as a real number, at least 1, where the RFC's table (appendix
//! B) has whole ones; b(w) stays 0.1 above 83000.

use crate::family::no_check;
use crate::{Ack, AckFields, Congestion, FamilyOf, Needs, WindowRule};

const LOW_WINDOW: f64 = 38.0;
/// Natural logarithms of 38 and 83000.
const LOG_LOW: f64 = 3.637_586_159_726_386;
const LOG_HIGH: f64 = 11.326_595_886_778_735;

/// HighSpeed TCP.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HighSpeed;

/// a(w), packets per round trip, and b(w), share.
fn parameters(w: f64) -> (f64, f64) {
    if w <= LOW_WINDOW {
        return (1.0, 0.5);
    }
    let log_w = libm::log(w);
    let position = (log_w - LOG_LOW) / (LOG_HIGH - LOG_LOW);
    let b = (0.5 - 0.4 * position).max(0.1);
    let packets = 0.078 * libm::exp(0.8 * log_w);
    ((packets * 2.0 * b / (2.0 - b)).max(1.0), b)
}

impl WindowRule for HighSpeed {
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        ack.per_packet(cwnd, |cwnd| cwnd + parameters(cwnd).0 / cwnd)
    }

    fn decrease(&mut self, cwnd: f64, _: Congestion) -> f64 {
        cwnd * (1.0 - parameters(cwnd).1)
    }

    fn needs(&self) -> Needs {
        Needs { ack: AckFields::None, ..Needs::default() }
    }
}

pub(crate) const FAMILY: FamilyOf<HighSpeed> = FamilyOf {
    name: "HighSpeed",
    summary: "AIMD whose steps grow with the window beyond 38 packets",
    source: "RFC 3649, section 5",
    example: "HighSpeed",
    deployed: false,
    parameters: &[],
    check: no_check,
    build: |_| HighSpeed,
};

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3649 appendix B: the windows at which a(w) becomes 2, 3, ... (within 0.5 %: the RFC's
    /// program rounds), and b(w) there.
    #[test]
    fn the_table_of_the_rfc() {
        for (w, a, b) in [
            (118.0, 2.0, 0.44),
            (221.0, 3.0, 0.41),
            (347.0, 4.0, 0.38),
            (495.0, 5.0, 0.37),
            (663.0, 6.0, 0.35),
            (851.0, 7.0, 0.34),
            (1058.0, 8.0, 0.33),
            (1284.0, 9.0, 0.32),
            (1529.0, 10.0, 0.31),
            (4596.0, 19.0, 0.25),
            (9991.0, 29.0, 0.21),
            (19965.0, 41.0, 0.17),
            (40808.0, 56.0, 0.14),
            (64851.0, 66.0, 0.11),
            (79517.0, 70.0, 0.10),
        ] {
            let here = parameters(w);
            assert!((here.0 / a - 1.0).abs() < 0.005, "a({w}) = {}", here.0);
            assert!((here.1 - b).abs() <= 0.0051, "b({w}) = {}", here.1);
        }
    }

    /// Average window under one loss every 1/p packets, as draft-rhee-tcpm-cubic-02 has it from RFC
    /// 3649 (column HSTCP). The response function is that of an average window for which a and b
    /// are constant; over a cycle they are not, hence 5 %.
    #[test]
    fn average_windows_of_the_rfc() {
        for (p, published) in [(1e-4, 263.0), (1e-5, 1795.0), (1e-6, 12_279.0)] {
            let (mut rule, mut cwnd, ack) = (HighSpeed, published, Ack::default());
            let (mut packets, mut rounds) = (0.0, 0.0);
            for cycle in 0..12 {
                for _ in 0..(1.0 / p) as u64 {
                    if cycle >= 6 {
                        (packets, rounds) = (packets + 1.0, rounds + 1.0 / cwnd);
                    }
                    cwnd = rule.increase(cwnd, &ack);
                }
                cwnd = rule.decrease(cwnd, Congestion::FastRetransmit);
            }
            let average: f64 = packets / rounds;
            assert!((average / published - 1.0).abs() < 0.05, "p {p}: {average}, not {published}");
        }
    }

    #[test]
    fn both_ends() {
        let (mut rule, loss) = (HighSpeed, Congestion::FastRetransmit);
        assert_eq!(rule.increase(20.0, &Ack::default()), 20.05);
        assert_eq!(rule.decrease(20.0, loss), 10.0);
        // Section 5: at 83000 packets b is 0.1, and a is about 72 (0.078 x 83000^0.8 = 671.6; x
        // 0.2/1.9 = 70.7).
        assert!((rule.decrease(83_000.0, loss) - 74_700.0).abs() < 1e-6);
        assert!((parameters(83_000.0).0 - 70.7).abs() < 0.5);
    }
}
