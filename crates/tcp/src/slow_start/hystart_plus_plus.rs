//! HyStart++ (RFC 9406): a rise of the RTT begins conservative slow start (CSS), a quarter as fast.
//! If the RTT falls again, slow start resumes; if not, congestion avoidance follows after five
//! rounds.

use super::decision::{Decision, SlowStartAck};

/// Constants of RFC 9406 section 4.3.
const MIN_RTT_THRESH_S: f64 = 4e-3;
const MAX_RTT_THRESH_S: f64 = 16e-3;
const MIN_RTT_DIVISOR: f64 = 8.0;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;
/// Packets per ACK that grow cwnd where the sender does not pace.
const L: u64 = 8;

/// State of HyStart++; names as in RFC 9406 section 4.2.
#[derive(Clone, Debug)]
pub(crate) struct HyStartPlusPlus {
    /// SND.NXT when the round began: the round ends when that packet is acknowledged.
    window_end: i64,
    last_round_min_rtt_s: f64,
    current_round_min_rtt_s: f64,
    rtt_sample_count: u32,
    css: Option<ConservativeSlowStart>,
}

/// Conservative slow start: section 4.2.
#[derive(Clone, Copy, Debug)]
struct ConservativeSlowStart {
    baseline_min_rtt_s: f64,
    /// Rounds that began in it; the one in which it began counts.
    rounds: u32,
}

impl Default for HyStartPlusPlus {
    fn default() -> Self {
        Self {
            window_end: 0,
            last_round_min_rtt_s: f64::INFINITY,
            current_round_min_rtt_s: f64::INFINITY,
            rtt_sample_count: 0,
            css: None,
        }
    }
}

impl HyStartPlusPlus {
    pub(crate) fn on_ack(&mut self, ack: SlowStartAck) -> Decision {
        if ack.highest_ack >= self.window_end {
            if self.css.is_some_and(|css| css.rounds >= CSS_ROUNDS) {
                return Decision::Leave;
            }
            self.css.iter_mut().for_each(|css| css.rounds += 1);
            self.window_end = ack.snd_nxt;
            self.last_round_min_rtt_s = self.current_round_min_rtt_s;
            (self.current_round_min_rtt_s, self.rtt_sample_count) = (f64::INFINITY, 0);
        }
        self.current_round_min_rtt_s = self.current_round_min_rtt_s.min(ack.rtt_s);
        self.rtt_sample_count += 1;
        if self.rtt_sample_count >= N_RTT_SAMPLE {
            match self.css {
                None if self.has_risen() => {
                    let baseline_min_rtt_s = self.current_round_min_rtt_s;
                    self.css = Some(ConservativeSlowStart { baseline_min_rtt_s, rounds: 1 });
                }
                Some(css) if self.current_round_min_rtt_s < css.baseline_min_rtt_s => {
                    self.css = None;
                }
                _ => {}
            }
        }
        Decision::Grow {
            share: if self.css.is_some() { 1.0 / CSS_GROWTH_DIVISOR } else { 1.0 },
            most_packets: if ack.is_paced { u64::MAX } else { L },
        }
    }

    /// Whether this round's minimum RTT exceeds the last round's by the threshold.
    fn has_risen(&self) -> bool {
        let last_s = self.last_round_min_rtt_s;
        let threshold_s = (last_s / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH_S, MAX_RTT_THRESH_S);
        last_s.is_finite() && self.current_round_min_rtt_s >= last_s + threshold_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: Decision = Decision::Grow { share: 1.0, most_packets: 8 };
    const QUARTER: Decision = Decision::Grow { share: 0.25, most_packets: 8 };

    /// Rounds of ten packets, one ACK each.
    struct Rounds(HyStartPlusPlus, i64);

    impl Rounds {
        /// One round whose ACKs have these RTTs; the decisions.
        fn round(&mut self, rtts_ms: [u32; 10]) -> Vec<Decision> {
            let mut decisions = Vec::new();
            for rtt_ms in rtts_ms {
                decisions.push(self.0.on_ack(SlowStartAck {
                    now_s: 0.0,
                    rtt_s: f64::from(rtt_ms) * 1e-3,
                    highest_ack: self.1,
                    // The tenth ACK after this one is of a packet not sent yet.
                    snd_nxt: self.1 + 10,
                    cwnd: 10.0,
                    is_paced: false,
                    ack_delay_s: 0.0,
                }));
                self.1 += 1;
            }
            decisions
        }
    }

    /// Section 4.2: RttThresh = max(4 ms, min(100/8 = 12.5 ms, 16 ms)). 112 ms is no rise over
    /// 100 ms, 113 ms is one, from the eighth sample on.
    #[test]
    fn the_eighth_sample_of_a_risen_rtt_begins_conservative_slow_start() {
        let mut rounds = Rounds(HyStartPlusPlus::default(), 0);
        assert_eq!(rounds.round([100; 10]), [FULL; 10]);
        assert_eq!(rounds.round([112; 10]), [FULL; 10]);
        let mut rounds = Rounds(HyStartPlusPlus::default(), 0);
        rounds.round([100; 10]);
        let decisions = rounds.round([113; 10]);
        assert_eq!(decisions[..7], [FULL; 7]);
        assert_eq!(decisions[7..], [QUARTER; 3]);
    }

    /// Limits of the threshold: 8 ms / 8 = 1 ms counts as 4 ms, 400 ms / 8 = 50 ms as 16 ms.
    #[test]
    fn the_threshold_has_limits() {
        for (base_ms, below_ms, above_ms) in [(8, 11, 12), (400, 415, 416)] {
            for (rtt_ms, last) in [(below_ms, FULL), (above_ms, QUARTER)] {
                let mut rounds = Rounds(HyStartPlusPlus::default(), 0);
                rounds.round([base_ms; 10]);
                assert_eq!(rounds.round([rtt_ms; 10])[9], last, "{base_ms} ms, {rtt_ms} ms");
            }
        }
    }

    /// The partial round in which CSS begins is the first of five.
    #[test]
    fn five_rounds_of_conservative_slow_start_end_slow_start() {
        let mut rounds = Rounds(HyStartPlusPlus::default(), 0);
        rounds.round([100; 10]);
        rounds.round([120; 10]);
        for _ in 2..=5 {
            assert_eq!(rounds.round([120; 10]), [QUARTER; 10]);
        }
        assert_eq!(rounds.round([120; 10])[0], Decision::Leave);
    }

    /// A round with a lower minimum RTT than at the start of CSS: the rise was jitter.
    #[test]
    fn slow_start_resumes_when_the_rtt_falls() {
        let mut rounds = Rounds(HyStartPlusPlus::default(), 0);
        rounds.round([100; 10]);
        rounds.round([120; 10]);
        let decisions = rounds.round([119; 10]);
        assert_eq!(decisions[..7], [QUARTER; 7]);
        assert_eq!(decisions[7..], [FULL; 3]);
    }

    #[test]
    fn a_paced_sender_grows_by_all_packets() {
        let mut hystart = HyStartPlusPlus::default();
        let ack = SlowStartAck {
            now_s: 0.0,
            rtt_s: 0.1,
            highest_ack: 0,
            snd_nxt: 10,
            cwnd: 10.0,
            is_paced: true,
            ack_delay_s: 0.0,
        };
        assert_eq!(hystart.on_ack(ack), Decision::STANDARD);
    }
}
