//! Health of an emulation: how late packets were delivered, and packets lost outside the emulated
//! network.

use hdrhistogram::Histogram;
use serde::Serialize;

/// A histogram of lateness: when a packet was delivered minus when it was due.
#[derive(Clone, Debug)]
pub struct Lateness(Histogram<u64>);

impl Default for Lateness {
    fn default() -> Self {
        // Nanoseconds up to a minute, three significant digits.
        Self(Histogram::new_with_bounds(1, 60_000_000_000, 3).expect("these bounds are allowed"))
    }
}

impl Lateness {
    /// Records the lateness of a packet.
    pub fn add(&mut self, late_s: f64) {
        self.0.saturating_record((late_s.max(0.0) * 1e9) as u64);
    }

    /// The quantile `q` of lateness, seconds; none without packets.
    pub fn quantile_s(&self, q: f64) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.value_at_quantile(q) as f64 / 1e9)
    }

    /// The histogram: upper bound of each bucket in seconds, twice that of the bucket before, and
    /// the packets in it.
    pub fn buckets(&self) -> Vec<(f64, u64)> {
        self.0
            .iter_log(1000, 2.0)
            .map(|step| (step.value_iterated_to() as f64 / 1e9, step.count_since_last_iteration()))
            .collect()
    }
}

/// The health of an emulation, as results report it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Health {
    /// Packets delivered.
    pub released_packets: u64,
    /// Median lateness, seconds.
    pub lateness_p50_s: Option<f64>,
    /// 99th percentile of lateness, seconds.
    pub lateness_p99_s: Option<f64>,
    /// Largest lateness, seconds.
    pub lateness_max_s: Option<f64>,
    /// Upper bound of each bucket, seconds, and the packets in it.
    pub lateness_histogram: Vec<(f64, u64)>,
    /// Packets with a wrong checksum.
    pub broken_packets: u64,
    /// Packets of no known flow.
    pub strange_packets: u64,
    /// Packets that a side did not accept or that found no free buffer.
    pub refused_packets: u64,
    /// CPU time of the emulator thread over the duration of the run; 1 is one processor.
    pub cpu_share: Option<f64>,
}

impl Health {
    /// Notes the lateness of all packets.
    pub fn note(&mut self, lateness: &Lateness) {
        self.lateness_p50_s = lateness.quantile_s(0.5);
        self.lateness_p99_s = lateness.quantile_s(0.99);
        self.lateness_max_s = lateness.quantile_s(1.0);
        self.lateness_histogram = lateness.buckets();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_known_lateness() {
        let mut lateness = Lateness::default();
        (1..=100).for_each(|i| lateness.add(f64::from(i) * 1e-5));
        // Three significant digits: within a thousandth.
        for (q, expected_s) in [(0.5, 500e-6), (0.99, 990e-6), (1.0, 1e-3)] {
            let found_s = lateness.quantile_s(q).unwrap();
            assert!((found_s / expected_s - 1.0).abs() < 2e-3, "{q}: {found_s}");
        }
        assert_eq!(lateness.buckets().iter().map(|bucket| bucket.1).sum::<u64>(), 100);
        assert_eq!(Lateness::default().quantile_s(0.5), None);
    }
}
