//! Policer: drops or marks what exceeds a token bucket (RFC 2475 section 2.3.3.2).
//!
//! A packet conforms if the bucket holds as many tokens as it has bytes, and so does the bucket of
//! the peak rate, if there is one; it then takes them from both. What does not conform takes none.

use crate::rate::token_bucket::TokenBucket;
use cwndlab_scenario::{Excess, PolicerSpec};

/// What a policer does with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policed {
    /// Passes it.
    Pass,
    /// Drops it.
    Drop,
    /// Marks it CE if it is ECT, and drops it otherwise.
    Mark,
}

/// A policer.
#[derive(Clone, Debug)]
pub struct Policer {
    /// Of the rate, and of the peak rate if there is one.
    buckets: Vec<TokenBucket>,
    excess: Policed,
}

impl Policer {
    /// Policer of a checked scenario.
    pub fn new(spec: &PolicerSpec) -> Self {
        Self {
            buckets: std::iter::once(TokenBucket::new(spec.rate, spec.burst))
                .chain(spec.peak.map(|peak| TokenBucket::new(peak.rate, peak.burst)))
                .collect(),
            excess: match spec.excess {
                Excess::Drop => Policed::Drop,
                Excess::Mark => Policed::Mark,
            },
        }
    }

    /// Polices a packet that arrives now. Times never decrease.
    pub fn police(&mut self, now_s: f64, size_bytes: u32) -> Policed {
        let needed_bytes = f64::from(size_bytes);
        let mut conforms = true;
        for bucket in &mut self.buckets {
            conforms &= bucket.tokens_bytes(now_s) >= needed_bytes;
        }
        if !conforms {
            return self.excess;
        }
        self.buckets.iter_mut().for_each(|bucket| bucket.take(size_bytes));
        Policed::Pass
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policer(json: &str) -> Policer {
        Policer::new(&serde_json::from_str(json).unwrap())
    }

    #[test]
    fn tokens_by_hand() {
        // 3000 bytes at first, then 1000 a second.
        let mut policer = policer(r#"{"rate": "8kbit", "burst": "3kB"}"#);
        let mut at = |now_s| policer.police(now_s, 1500) == Policed::Pass;
        assert_eq!(
            [0.0, 0.0, 0.0, 1.0, 1.5, 2.0].map(&mut at),
            [true, true, false, false, true, false]
        );
        // 0 at 1.5 s, 1500 at 3 s; and never more than 3000.
        assert_eq!([3.0, 100.0, 100.0, 100.0].map(&mut at), [true, true, true, false]);
    }

    #[test]
    fn what_exceeds_the_peak_takes_no_tokens() {
        // At most 1500 bytes at once, 4000 a second; in the long run 1000 a second.
        let mut policer = policer(
            r#"{"rate": "8kbit", "burst": "6kB", "peak": {"rate": "32kbit", "burst": "1500B"},
                "excess": "mark"}"#,
        );
        let mut at = |now_s| policer.police(now_s, 1500);
        assert_eq!([0.0, 0.1].map(&mut at), [Policed::Pass, Policed::Mark]);
        // A packet each 0.375 s has the peak rate: the tokens, 6000 + 375 each time, last for five
        // packets, as 4500 + 375 n - 1500 n is below 0 after the next four.
        let passed = (1..=8).map(|n| at(0.375 * f64::from(n))).collect::<Vec<_>>();
        assert_eq!(passed.iter().filter(|passed| **passed == Policed::Pass).count(), 5);
        assert!(passed[..3].iter().all(|passed| *passed == Policed::Pass));
    }
}
