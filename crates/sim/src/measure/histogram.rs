//! Histogram of durations with logarithmic buckets, accurate to 1/32: percentiles in bounded
//! memory.

/// Histogram of durations.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    counts: Vec<u64>,
    zeros: u64,
    /// Number of durations above zero.
    total: u64,
    sum_s: f64,
}

/// Bits of a double to drop: five bits of the mantissa stay.
const SHIFT: u32 = 52 - 5;
/// Bucket of 2^-30 s, about a nanosecond.
const FIRST: u64 = (1023 - 30) << 5;

impl Histogram {
    /// Adds a duration, seconds.
    #[inline(always)]
    pub fn add(&mut self, duration_s: f64) {
        let bucket = bucket(duration_s);
        match self.counts.get_mut(bucket) {
            Some(count) => *count += 1,
            None => self.grow(bucket),
        }
        self.total += 1;
        self.sum_s += duration_s;
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, bucket: usize) {
        self.counts.resize(bucket + 1, 0);
        self.counts[bucket] = 1;
    }

    /// Adds a duration of zero.
    #[inline]
    pub fn add_zero(&mut self) {
        self.zeros += 1;
    }

    /// Exact mean, seconds.
    pub fn mean_s(&self) -> Option<f64> {
        let count = self.zeros + self.total;
        (count > 0).then(|| self.sum_s / count as f64)
    }

    /// The quantile `q`, seconds: the midpoint of its bucket.
    pub fn quantile_s(&self, q: f64) -> Option<f64> {
        let rank = (q * (self.zeros + self.total) as f64).ceil().max(1.0) as u64;
        let mut seen = self.zeros;
        if seen >= rank {
            return Some(0.0);
        }
        let index = self.counts.iter().position(|&count| {
            seen += count;
            seen >= rank
        })?;
        let (low, high) = bounds(index);
        Some((low + high) / 2.0)
    }
}

/// Bucket of a duration: exponent and leading mantissa bits, counted from a nanosecond; 0 below.
#[inline]
fn bucket(duration_s: f64) -> usize {
    ((duration_s.to_bits() >> SHIFT).saturating_sub(FIRST)) as usize
}

/// Bounds of a bucket, seconds.
fn bounds(bucket: usize) -> (f64, f64) {
    let edge = |bucket: u64| f64::from_bits((FIRST + bucket) << SHIFT);
    (if bucket == 0 { 0.0 } else { edge(bucket as u64) }, edge(bucket as u64 + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_in_its_bucket_and_buckets_are_fine() {
        for value in (0..2000)
            .map(|k| f64::from(k) * 1.7e-6)
            .chain((0..30).map(|k| 1e-9 * f64::from(1 << k)))
        {
            let (low, high) = bounds(bucket(value));
            assert!(low <= value && value < high, "{value}: {low}..{high}");
            assert!(high - low <= (value / 31.9).max(1e-9), "{value}: {low}..{high}");
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
