//! Delay jitter of a link: an addition to its delay for each packet.
//!
//! Wi-Fi follows C. Huitema et al., draft-huitema-ccwg-c4-test, section "Handling of High Jitter
//! Environments". With r uniform in [0, 1 ms), N1 Poisson of mean 1 and N2 Poisson of mean 12 the
//! addition is N1 1 ms, less r if N1 is not 0 (collisions are avoided), plus N2 7.5 ms for a share
//! x of the packets (the channel is busy, and packets are repeated). The draft derives x from the
//! mean: 0 up to 1 ms, 1 from 91 ms on, linear between.

use crate::random::stream::RandomStream;
use cwndlab_scenario::JitterSpec;
use cwndlab_units::Time;

/// A jitter process with its random stream.
#[derive(Clone, Debug)]
pub struct Jitter {
    spec: JitterSpec,
    stream: RandomStream,
}

impl Jitter {
    /// Jitter of a checked scenario, drawn from `stream`.
    pub fn new(spec: &JitterSpec, stream: RandomStream) -> Self {
        Self { spec: spec.clone(), stream }
    }

    /// Additional delay of the packet whose transmission ended, without jitter it would arrive
    /// at `at_s`; seconds, never negative.
    pub fn next(&mut self, at_s: f64) -> f64 {
        match self.spec {
            JitterSpec::Uniform { low, high, .. } => {
                self.stream.between(low.seconds(), high.seconds())
            }
            JitterSpec::Normal { mean, deviation, .. } => {
                (mean.seconds() + deviation.seconds() * self.stream.normal()).max(0.0)
            }
            JitterSpec::Exponential { mean, .. } => mean.seconds() * self.stream.exponential(),
            JitterSpec::Bernoulli { p, by, .. } => {
                if self.stream.uniform() < p {
                    by.seconds()
                } else {
                    0.0
                }
            }
            JitterSpec::WiFi { mean, ref changes, .. } => {
                let mean_s = value_at(changes, at_s).unwrap_or(mean.seconds());
                self.wifi(mean_s)
            }
            JitterSpec::Steps { ref points, .. } => value_at(points, at_s).unwrap_or(0.0),
        }
    }

    /// Additional delay on a Wi-Fi channel with this mean, seconds.
    fn wifi(&mut self, mean_s: f64) -> f64 {
        let busy_share = ((mean_s - 1e-3) / 90e-3).clamp(0.0, 1.0);
        let (avoided_s, is_busy) =
            (self.stream.uniform() * 1e-3, self.stream.uniform() < busy_share);
        let slots = self.poisson(1.0);
        let waited_s = slots as f64 * 1e-3 - if slots > 0 { avoided_s } else { 0.0 };
        // Without a draw where the channel is free.
        let repeats = if is_busy { self.poisson(12.0) } else { 0 };
        waited_s + repeats as f64 * 7.5e-3
    }

    /// A Poisson variable: how many exponential times of mean 1 fit into `mean`.
    fn poisson(&mut self, mean: f64) -> u32 {
        let (mut count, mut sum) = (0, self.stream.exponential());
        while sum < mean {
            count += 1;
            sum += self.stream.exponential();
        }
        count
    }

    /// Whether jitter may reorder packets; if not, a packet never arrives before its predecessor.
    pub fn reorders(&self) -> bool {
        self.spec.reorders()
    }
}

/// The value of the last point that is not after `at_s`, seconds; none before the first.
fn value_at(points: &[(Time, Time)], at_s: f64) -> Option<f64> {
    let after = points.partition_point(|(time, _)| time.seconds() <= at_s);
    Some(points[after.checked_sub(1)?].1.seconds())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(json: &str) -> Vec<f64> {
        let mut jitter =
            Jitter::new(&serde_json::from_str(json).unwrap(), RandomStream::new(9, "jitter"));
        (0..100_000).map(|_| jitter.next(0.0)).collect()
    }

    fn mean(draws: &[f64]) -> f64 {
        draws.iter().sum::<f64>() / draws.len() as f64
    }

    #[test]
    fn each_law_has_its_mean() {
        // Milliseconds; standard errors of means of 1e5 draws: 2.31/316 = 0.0073, 1/316 = 0.0032,
        // 5/316 = 0.0158; four of them are allowed.
        for (json, expected_ms, allowed_ms) in [
            (r#"{"kind": "uniform", "low": "2ms", "high": "10ms"}"#, 6.0, 0.029),
            (r#"{"kind": "normal", "mean": "10ms", "deviation": "1ms"}"#, 10.0, 0.013),
            (r#"{"kind": "exponential", "mean": "5ms"}"#, 5.0, 0.063),
            // 0.25 * 40 = 10; deviation 40 sqrt(0.25 * 0.75) = 17.3, error 0.055.
            (r#"{"kind": "bernoulli", "p": 0.25, "by": "40ms"}"#, 10.0, 0.22),
            // Cut at zero, a normal variable of mean 0 has mean deviation/sqrt(2 pi) = 3.98942;
            // deviation 5.8, error 0.0185.
            (r#"{"kind": "normal", "mean": "0ms", "deviation": "10ms"}"#, 3.98942, 0.074),
        ] {
            let found_ms = 1e3 * mean(&draws(json));
            assert!((found_ms - expected_ms).abs() < allowed_ms, "{json}: {found_ms}");
        }
    }

    #[test]
    fn wifi_follows_the_draft() {
        // Milliseconds. N1 = 0 for exp(-1) = 0.36788 of the packets; E N1 = 1, and r takes 0.5 of
        // those with N1 > 0: 1 - 0.5 * 0.63212 = 0.68394. At a mean of 7 ms a share x = 6/90 of
        // the packets waits 12 * 7.5 = 90 ms more: 6 ms. Spread of the latter: sqrt(x (12 + 144) -
        // (12 x)^2) * 7.5 = 23.4, so that the error of the mean is 0.074.
        let calm = draws(r#"{"kind": "wi-fi", "mean": "1ms"}"#);
        assert!((1e3 * mean(&calm) - 0.68394).abs() < 0.013, "{}", mean(&calm));
        let none = calm.iter().filter(|&&x| x == 0.0).count() as f64 / 1e5;
        assert!((none - 0.36788).abs() < 0.0061, "{none}");
        let busy = draws(r#"{"kind": "wi-fi", "mean": "7ms"}"#);
        assert!((1e3 * mean(&busy) - 6.68394).abs() < 0.3, "{}", mean(&busy));
        // Poisson of mean 12 is below 4 (30 ms) with probability 0.00229, so that nearly all of
        // the 6.67 % are above 20 ms, and N1 alone never is (probability 1e-19).
        let late = busy.iter().filter(|&&x| x > 0.02).count() as f64 / 1e5;
        assert!((late - 0.0667).abs() < 0.0035, "{late}");
    }

    #[test]
    fn steps_and_means_change_at_their_times() {
        let of = |json: &str| {
            Jitter::new(&serde_json::from_str(json).unwrap(), RandomStream::new(9, "jitter"))
        };
        let mut steps =
            of(r#"{"kind": "steps", "points": [["1s", "50ms"], ["2s", "0ms"], ["3s", "10ms"]]}"#);
        let found = [0.0, 0.999, 1.0, 1.5, 2.5, 9.0].map(|at_s| steps.next(at_s));
        assert_eq!(found, [0.0, 0.0, 0.05, 0.05, 0.0, 0.01]);
        let mut fading =
            of(r#"{"kind": "wi-fi", "mean": "1ms", "changes": [["1s", "91ms"], ["2s", "1ms"]]}"#);
        for (at_s, least_ms, most_ms) in [(0.5, 0.0, 1.0), (1.5, 85.0, 97.0), (2.5, 0.0, 1.0)] {
            let all: Vec<f64> = (0..2000).map(|_| fading.next(at_s)).collect();
            let found_ms = 1e3 * mean(&all);
            assert!((least_ms..most_ms).contains(&found_ms), "{at_s}: {found_ms}");
        }
    }

    #[test]
    fn normal_spreads_as_it_should() {
        // One standard deviation holds 68.27 %; the error of a share of 1e5 is 0.0015.
        let all = draws(r#"{"kind": "normal", "mean": "10ms", "deviation": "1ms"}"#);
        let inside = all.iter().filter(|x| (9e-3..11e-3).contains(*x)).count() as f64 / 1e5;
        assert!((inside - 0.6827).abs() < 0.006, "{inside}");
    }
}
