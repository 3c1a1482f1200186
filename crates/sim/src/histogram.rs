//! Durations by size, to 1/32 of their value: percentiles in bounded memory.

/// Counts of durations.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    counts: Vec<u32>,
    total: u64,
    sum_s: f64,
}

const FINE_BITS: u32 = 5;

impl Histogram {
    /// Counts one duration, seconds.
    #[inline]
    pub fn add(&mut self, duration_s: f64) {
        let bucket = bucket((duration_s * 1e9) as u64);
        match self.counts.get_mut(bucket) {
            Some(count) => *count += 1,
            None => self.grow(bucket),
        }
        self.total += 1;
        self.sum_s += duration_s;
    }

    #[cold]
    fn grow(&mut self, bucket: usize) {
        self.counts.resize(bucket + 1, 0);
        self.counts[bucket] = 1;
    }

    /// Their mean, seconds: exact.
    pub fn mean_s(&self) -> Option<f64> {
        (self.total > 0).then(|| self.sum_s / self.total as f64)
    }

    /// The duration below which a share `q` of them lies, seconds; the middle of its bucket.
    pub fn quantile_s(&self, q: f64) -> Option<f64> {
        let rank = (q * self.total as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        let index = self.counts.iter().position(|&count| {
            seen += u64::from(count);
            seen >= rank
        })?;
        let (low, high) = bounds(index);
        Some((low as f64 + high as f64) / 2.0 * 1e-9)
    }
}

/// Values below 32 have their own bucket; above, each power of two has 32.
fn bucket(value: u64) -> usize {
    let bits = 64 - value.leading_zeros();
    if bits <= FINE_BITS {
        return value as usize;
    }
    let shift = bits - FINE_BITS - 1;
    (((shift + 1) << FINE_BITS) + ((value >> shift) as u32 & ((1 << FINE_BITS) - 1))) as usize
}

/// Smallest and largest value of a bucket.
fn bounds(bucket: usize) -> (u64, u64) {
    let (octave, fine) = (bucket >> FINE_BITS, (bucket & ((1 << FINE_BITS) - 1)) as u64);
    if octave == 0 {
        return (fine, fine);
    }
    let shift = octave as u32 - 1;
    let low = ((1 << FINE_BITS) + fine) << shift;
    (low, low + (1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_in_its_bucket_and_buckets_are_fine() {
        for value in (0..2000).chain((0..60).map(|k| (1u64 << k) + 12345)) {
            let (low, high) = bounds(bucket(value));
            assert!(low <= value && value <= high, "{value}: {low}..{high}");
            assert!(high - low <= value / 32);
        }
    }

    #[test]
    fn the_95th_percentile_of_1_to_100_ms_is_95_ms() {
        let mut histogram = Histogram::default();
        (1..=100).for_each(|ms| histogram.add(f64::from(ms) * 1e-3));
        let p95 = histogram.quantile_s(0.95).unwrap();
        assert!((p95 - 0.095).abs() < 0.095 / 32.0, "{p95}");
    }
}
