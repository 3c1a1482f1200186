//! How well the emulation kept up.

use hdrhistogram::Histogram;
use serde::Serialize;

/// How late packets were handed over, against the moment at which they were due.
#[derive(Clone, Debug)]
pub struct Lateness(Histogram<u64>);

impl Default for Lateness {
    fn default() -> Self {
        // Nanoseconds up to a minute, three digits.
        Self(Histogram::new_with_bounds(1, 60_000_000_000, 3).expect("these bounds are allowed"))
    }
}

impl Lateness {
    /// One packet.
    pub fn add(&mut self, late_s: f64) {
        self.0.saturating_record((late_s.max(0.0) * 1e9) as u64);
    }

    /// A value that a share `q` of packets is not above, seconds; none without packets.
    pub fn quantile_s(&self, q: f64) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.value_at_quantile(q) as f64 / 1e9)
    }

    /// The histogram: upper ends of its buckets in seconds, each twice the one before, and packets in each.
    pub fn buckets(&self) -> Vec<(f64, u64)> {
        self.0
            .iter_log(1000, 2.0)
            .map(|step| (step.value_iterated_to() as f64 / 1e9, step.count_since_last_iteration()))
            .collect()
    }
}

/// What is said of it in results.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Health {
    /// Packets handed over.
    pub released_packets: u64,
    /// Lateness that half of packets stayed below, seconds.
    pub lateness_p50_s: Option<f64>,
    /// The same of 99 in 100.
    pub lateness_p99_s: Option<f64>,
    /// The latest.
    pub lateness_max_s: Option<f64>,
    /// Upper ends of buckets, seconds, and packets in each.
    pub lateness_histogram: Vec<(f64, u64)>,
    /// Packets with a wrong checksum.
    pub broken_packets: u64,
    /// Packets of nobody's.
    pub strange_packets: u64,
    /// Packets that a side did not take, or that no buffer was left for.
    pub refused_packets: u64,
    /// Processor time of the thread that emulates, over the time of the run; 1 is one processor.
    pub cpu_share: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_known_lateness() {
        let mut lateness = Lateness::default();
        (1..=100).for_each(|i| lateness.add(f64::from(i) * 1e-5));
        // Three digits: within a thousandth.
        for (q, expected_s) in [(0.5, 500e-6), (0.99, 990e-6), (1.0, 1e-3)] {
            let found_s = lateness.quantile_s(q).unwrap();
            assert!((found_s / expected_s - 1.0).abs() < 2e-3, "{q}: {found_s}");
        }
        assert_eq!(lateness.buckets().iter().map(|bucket| bucket.1).sum::<u64>(), 100);
        assert_eq!(Lateness::default().quantile_s(0.5), None);
    }
}
