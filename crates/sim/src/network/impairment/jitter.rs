//! Delay jitter of a link: a random addition to its delay for each packet.

use crate::random::stream::RandomStream;
use cwndlab_scenario::JitterSpec;

/// A jitter process with its random stream.
#[derive(Clone, Debug)]
pub struct Jitter {
    spec: JitterSpec,
    stream: RandomStream,
}

impl Jitter {
    /// Jitter of a checked scenario, drawn from `stream`.
    pub fn new(spec: &JitterSpec, stream: RandomStream) -> Self {
        Self { spec: *spec, stream }
    }

    /// Additional delay of the next packet, seconds; never negative.
    pub fn next(&mut self) -> f64 {
        match self.spec {
            JitterSpec::Uniform { low, high, .. } => {
                self.stream.between(low.seconds(), high.seconds())
            }
            JitterSpec::Normal { mean, deviation, .. } => {
                (mean.seconds() + deviation.seconds() * self.stream.normal()).max(0.0)
            }
            JitterSpec::Exponential { mean, .. } => mean.seconds() * self.stream.exponential(),
        }
    }

    /// Whether jitter may reorder packets; if not, a packet never arrives before its predecessor.
    pub fn reorders(&self) -> bool {
        self.spec.reorders()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(json: &str) -> Vec<f64> {
        let mut jitter =
            Jitter::new(&serde_json::from_str(json).unwrap(), RandomStream::new(9, "jitter"));
        (0..100_000).map(|_| jitter.next()).collect()
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
            // Cut at zero, a normal variable of mean 0 has mean deviation/sqrt(2 pi) = 3.98942;
            // deviation 5.8, error 0.0185.
            (r#"{"kind": "normal", "mean": "0ms", "deviation": "10ms"}"#, 3.98942, 0.074),
        ] {
            let found_ms = 1e3 * mean(&draws(json));
            assert!((found_ms - expected_ms).abs() < allowed_ms, "{json}: {found_ms}");
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
