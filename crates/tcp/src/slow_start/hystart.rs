//! HyStart of Linux (`tcp_cubic.c`, `hystart_update`; Ha and Rhee 2011): slow start ends when ACKs
//! that follow each other closely span half the minimum RTT, or when the RTT rises.

use super::decision::{Decision, SlowStartAck};

/// Window from which HyStart looks, packets (`hystart_low_window`).
const LOW_WINDOW: f64 = 16.0;
/// Longest distance of two ACKs of a train, seconds (`hystart_ack_delta_us`).
const ACK_DELTA_S: f64 = 2e-3;
/// RTT samples of a round whose minimum counts (`HYSTART_MIN_SAMPLES`).
const MIN_SAMPLES: u32 = 8;
/// Limits of the rise of the RTT, seconds (`HYSTART_DELAY_MIN`, `HYSTART_DELAY_MAX`).
const DELAY_MIN_S: f64 = 4e-3;
const DELAY_MAX_S: f64 = 16e-3;

/// State of HyStart; names as in Linux's `struct bictcp`.
#[derive(Clone, Debug)]
pub(crate) struct HyStart {
    /// SND.NXT when the round began.
    end_seq: i64,
    round_start_s: f64,
    /// Time of the last ACK of the train.
    last_ack_s: f64,
    curr_rtt_s: f64,
    sample_cnt: u32,
    /// Minimum RTT of the connection.
    delay_min_s: f64,
    /// It has ended slow start, and does so once.
    found: bool,
}

impl Default for HyStart {
    fn default() -> Self {
        Self {
            end_seq: 0,
            round_start_s: 0.0,
            last_ack_s: 0.0,
            curr_rtt_s: f64::INFINITY,
            sample_cnt: 0,
            delay_min_s: f64::INFINITY,
            found: false,
        }
    }
}

impl HyStart {
    /// `in_slow_start`: outside it only the minimum RTT is measured.
    pub(crate) fn on_ack(&mut self, ack: SlowStartAck, in_slow_start: bool) -> Decision {
        self.delay_min_s = self.delay_min_s.min(ack.rtt_s);
        if !in_slow_start || self.found {
            return Decision::STANDARD;
        }
        if ack.highest_ack + 1 > self.end_seq {
            (self.end_seq, self.round_start_s, self.last_ack_s) =
                (ack.snd_nxt, ack.now_s, ack.now_s);
            (self.curr_rtt_s, self.sample_cnt) = (f64::INFINITY, 0);
        }
        if ack.cwnd < LOW_WINDOW {
            return Decision::STANDARD;
        }
        self.found = self.train_is_long(ack) || self.rtt_has_risen(ack);
        if self.found { Decision::Leave } else { Decision::STANDARD }
    }

    /// ACKs without a pause span half of the minimum RTT plus the delay by bursts; all of it where
    /// pacing spreads packets.
    fn train_is_long(&mut self, ack: SlowStartAck) -> bool {
        if ack.now_s - self.last_ack_s > ACK_DELTA_S {
            return false;
        }
        self.last_ack_s = ack.now_s;
        let span_s = self.delay_min_s + ack.ack_delay_s;
        let span_s = if ack.is_paced { span_s } else { span_s / 2.0 };
        ack.now_s - self.round_start_s > span_s
    }

    /// The minimum of a round's first eight RTTs or more exceeds the connection's by an eighth.
    fn rtt_has_risen(&mut self, ack: SlowStartAck) -> bool {
        self.curr_rtt_s = self.curr_rtt_s.min(ack.rtt_s);
        if self.sample_cnt < MIN_SAMPLES {
            self.sample_cnt += 1;
            return false;
        }
        let rise_s = (self.delay_min_s / 8.0).clamp(DELAY_MIN_S, DELAY_MAX_S);
        self.curr_rtt_s > self.delay_min_s + rise_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(now_s: f64, rtt_s: f64, highest_ack: i64) -> SlowStartAck {
        SlowStartAck {
            now_s,
            rtt_s,
            highest_ack,
            snd_nxt: highest_ack + 100,
            cwnd: 100.0,
            is_paced: false,
            ack_delay_s: 0.0,
        }
    }

    /// ACKs every 1.5 ms, RTT 100 ms: more than 50 ms have passed at the 35th ACK of the round
    /// (34 x 1.5 = 51).
    #[test]
    fn a_long_train_ends_slow_start() {
        let mut hystart = HyStart::default();
        let leaves = (1..).find(|&number| {
            let now_s = 1.0 + 1.5e-3 * (number - 1) as f64;
            hystart.on_ack(ack(now_s, 0.1, number), true) == Decision::Leave
        });
        assert_eq!(leaves, Some(35));
    }

    /// A pause of more than 2 ms breaks the train for the rest of the round.
    #[test]
    fn a_pause_breaks_the_train() {
        let mut hystart = HyStart::default();
        for number in 1..60 {
            let now_s = 1.0 + 1.5e-3 * number as f64 + if number > 20 { 1e-3 } else { 0.0 };
            assert_eq!(hystart.on_ack(ack(now_s, 0.1, number), true), Decision::STANDARD);
        }
    }

    /// The second round's minimum is 113 ms: above 100 + 12.5. Its ninth ACK decides.
    #[test]
    fn a_risen_rtt_ends_slow_start() {
        for (rtt_s, leaves) in [(0.112, None), (0.113, Some(9))] {
            let mut hystart = HyStart::default();
            for number in 1..=100 {
                hystart.on_ack(ack(1.0 + 3e-3 * number as f64, 0.1, number), true);
            }
            let found = (1..=20).find(|&number| {
                let now_s = 2.0 + 3e-3 * number as f64;
                hystart.on_ack(ack(now_s, rtt_s, 101 + number), true) == Decision::Leave
            });
            assert_eq!(found, leaves, "{rtt_s}");
        }
    }

    #[test]
    fn small_windows_are_left_alone() {
        let mut hystart = HyStart::default();
        for number in 1..200 {
            let small = SlowStartAck { cwnd: 15.9, ..ack(1.0 + 1e-3 * number as f64, 0.1, number) };
            assert_eq!(hystart.on_ack(small, true), Decision::STANDARD);
        }
    }
}
