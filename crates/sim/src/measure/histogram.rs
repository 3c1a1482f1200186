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
    /// Width of a bucket, as a part of the durations in it, at most.
    pub const RESOLUTION: f64 = 1.0 / 32.0;

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

    /// The quantile `q`, seconds: interpolated within its bucket, whose durations count as spread
    /// evenly.
    pub fn quantile_s(&self, q: f64) -> Option<f64> {
        let rank = q * (self.zeros + self.total) as f64;
        let mut below = self.zeros as f64;
        if self.zeros > 0 && below >= rank {
            return Some(0.0);
        }
        for (index, &count) in self.counts.iter().enumerate() {
            let count = count as f64;
            if count > 0.0 && below + count >= rank {
                let (low, high) = bounds(index);
                return Some(low + (high - low) * (rank - below) / count);
            }
            below += count;
        }
        None
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

    /// Durations spread evenly over (0, 100 ms]: the quantile q is q x 100 ms, up to the place of
    /// one duration among those of its bucket, 0.01 ms; a bucket at 95 ms is 2 ms wide. The last
    /// bucket is full only in part, so that its quantiles are within its width.
    #[test]
    fn percentiles_of_even_durations_are_exact() {
        let mut histogram = Histogram::default();
        (1..=10_000).for_each(|n| histogram.add(f64::from(n) * 1e-5));
        for q in [0.05, 0.5, 0.6180, 0.95, 0.951] {
            let found_s = histogram.quantile_s(q).unwrap();
            assert!((found_s - 0.1 * q).abs() <= 1e-5, "{q}: {found_s}");
        }
        let last_s = histogram.quantile_s(0.999).unwrap();
        assert!((last_s / 0.0999 - 1.0).abs() <= Histogram::RESOLUTION, "{last_s}");
        assert_eq!(Histogram::RESOLUTION, cwndlab_columns::RESOLUTION);
    }

    #[test]
    fn percentiles_stay_in_their_bucket() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile_s(0.5), None);
        (0..10).for_each(|_| histogram.add(0.05));
        let (low, high) = bounds(bucket(0.05));
        for q in [0.01, 0.5, 1.0] {
            let found_s = histogram.quantile_s(q).unwrap();
            assert!((low..=high).contains(&found_s), "{q}: {found_s}");
        }
        (0..30).for_each(|_| histogram.add_zero());
        assert_eq!(histogram.quantile_s(0.75), Some(0.0));
        assert!(histogram.quantile_s(0.76).is_some_and(|found_s| found_s >= low));
    }
}
