//! Token bucket marker: gives packets within a traffic profile priority 0, others priority 1.

use crate::rate::token_bucket::TokenBucket;
use cwndlab_scenario::MarkerSpec;

/// A marker of priorities.
#[derive(Clone, Debug)]
pub struct TokenBucketMarker(TokenBucket);

impl TokenBucketMarker {
    /// Marker of a checked scenario.
    pub fn new(spec: &MarkerSpec) -> Self {
        Self(TokenBucket::new(spec.rate, spec.burst))
    }

    /// Priority of a packet that arrives now: 0 if the bucket holds its size, which is then
    /// removed; else 1. Times never decrease.
    pub fn priority(&mut self, now_s: f64, size_bytes: u32) -> u8 {
        if self.0.tokens_bytes(now_s) < f64::from(size_bytes) {
            return 1;
        }
        self.0.take(size_bytes);
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_then_the_rate() {
        // 2000 bytes at once, then 1000 bytes each second.
        let mut marker = TokenBucketMarker::new(
            &serde_json::from_str(r#"{"rate": "8kbit", "burst": "2kB"}"#).unwrap(),
        );
        let at = |marker: &mut TokenBucketMarker, now_s| marker.priority(now_s, 1000);
        assert_eq!([0.0, 0.0, 0.0, 0.5].map(|now_s| at(&mut marker, now_s)), [0, 0, 1, 1]);
        assert_eq!([1.0, 1.0, 1.5, 2.0].map(|now_s| at(&mut marker, now_s)), [0, 1, 1, 0]);
        // However long it waits, the bucket holds no more than 2000.
        assert_eq!([100.0, 100.0, 100.0].map(|now_s| at(&mut marker, now_s)), [0, 0, 1]);
        // A packet larger than the bucket never conforms; small ones still do.
        assert_eq!((marker.priority(200.0, 2001), marker.priority(200.0, 40)), (1, 0));
    }

    #[test]
    fn within_the_profile_is_at_most_its_rate_and_burst() {
        let mut marker = TokenBucketMarker::new(
            &serde_json::from_str(r#"{"rate": "1Mbit", "burst": "10kB"}"#).unwrap(),
        );
        // 2 Mbit/s offered for 10 s: 10 kB + 1.25 MB conform, to a packet.
        let within =
            (0..2500).filter(|i| marker.priority(f64::from(*i) * 0.004, 1000) == 0).count();
        assert!((1257..=1260).contains(&within), "{within}");
    }
}
