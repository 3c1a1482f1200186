//! Model of a cellular link: a Poisson process of delivery opportunities whose rate changes.
//!
//! After K. Winstein, A. Sivaraman, H. Balakrishnan, "Stochastic Forecasts Achieve High Throughput
//! and Low Delay over Cellular Networks", NSDI 2013, section 3.1: opportunities are a Poisson
//! process; its rate does a Brownian motion, here at steps of 20 ms, the paper's; in an outage it
//! is zero, and outages end at a constant rate.
//!
//! Two departures give the process a mean and an outage share in closed form. The Brownian motion
//! is reflected at 0 and at a largest rate M, which makes its rate uniform over [0, M], its
//! stationary law. Outages do not begin where the rate reaches 0, but at a constant rate.
//! With outage share p the mean rate is (1 - p) M/2.

use crate::random::stream::RandomStream;

/// Length of a step, milliseconds.
const STEP_MS: u64 = 20;
const STEP_S: f64 = STEP_MS as f64 / 1e3;
/// Bits of an opportunity: mahimahi's packets of 1500 bytes.
const OPPORTUNITY_BITS: f64 = 12_000.0;
/// Noise over mean: the paper's 200 packets/s per square root of a second, where rates reach 1000
/// packets/s and so have a mean of 500.
const NOISE_OF_MEAN: f64 = 0.4;

/// Delivery opportunities of the model.
#[derive(Clone, Debug)]
pub struct CellularModel {
    stream: RandomStream,
    /// Largest rate, and standard deviation of its change in a step, opportunities/s.
    peak: f64,
    step_deviation: f64,
    /// Probabilities that an outage begins or ends at a step.
    begin: f64,
    end: f64,
    /// State in the current step: the rate, opportunities/s, and whether there is an outage.
    rate: f64,
    is_down: bool,
    /// Number of the step, the time passed in it, seconds, and what the integral of the rate must
    /// still gain up to the next opportunity.
    step: u64,
    passed_s: f64,
    remaining: f64,
}

impl CellularModel {
    /// The model with a mean rate and a noise in bit/s, in its stationary state.
    pub fn new(
        mean_bps: f64,
        noise_bps: Option<f64>,
        outage_share: f64,
        outage_length_s: f64,
        mut stream: RandomStream,
    ) -> Self {
        let peak = 2.0 * mean_bps / (1.0 - outage_share) / OPPORTUNITY_BITS;
        let noise = noise_bps.unwrap_or(NOISE_OF_MEAN * mean_bps) / OPPORTUNITY_BITS;
        let end = -libm::expm1(-STEP_S / outage_length_s);
        Self {
            peak,
            step_deviation: noise * STEP_S.sqrt(),
            // Outages begin as often as they end.
            begin: end * outage_share / (1.0 - outage_share),
            end,
            rate: peak * stream.uniform(),
            is_down: stream.uniform() < outage_share,
            step: 0,
            passed_s: 0.0,
            remaining: stream.exponential(),
            stream,
        }
    }

    /// Millisecond of the next opportunity, rounded up.
    pub fn next_ms(&mut self) -> u64 {
        loop {
            let rate = if self.is_down { 0.0 } else { self.rate };
            let gain = rate * (STEP_S - self.passed_s);
            if self.remaining < gain {
                self.passed_s += self.remaining / rate;
                self.remaining = self.stream.exponential();
                return self.step * STEP_MS
                    + ((self.passed_s * 1e3).ceil() as u64).clamp(1, STEP_MS);
            }
            self.remaining -= gain;
            self.advance();
        }
    }

    fn advance(&mut self) {
        self.step += 1;
        self.passed_s = 0.0;
        let moved = self.rate + self.step_deviation * self.stream.normal();
        self.rate = reflected(moved, self.peak);
        let drawn = self.stream.uniform();
        self.is_down = if self.is_down { drawn >= self.end } else { drawn < self.begin };
    }
}

/// `x` reflected at 0 and at `peak` until it lies between them.
fn reflected(x: f64, peak: f64) -> f64 {
    let folded = x.rem_euclid(2.0 * peak);
    if folded > peak { 2.0 * peak - folded } else { folded }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Opportunities in each second of a link of 1200 opportunities/s without outages.
    fn counts(noise_bps: f64, outage_share: f64, seconds: usize, seed: u64) -> Vec<f64> {
        let stream = RandomStream::new(seed, "cellular");
        let mut model = CellularModel::new(14.4e6, Some(noise_bps), outage_share, 0.5, stream);
        let mut counts = vec![0.0; seconds];
        loop {
            let second = ((model.next_ms() - 1) / 1000) as usize;
            match counts.get_mut(second) {
                Some(count) => *count += 1.0,
                None => return counts,
            }
        }
    }

    #[test]
    fn reflection_folds_a_line_onto_an_interval() {
        for (x, expected) in [(-1.0, 1.0), (2.0, 2.0), (4.0, 2.0), (6.5, 0.5), (-3.5, 2.5)] {
            assert_eq!(reflected(x, 3.0), expected);
        }
    }

    #[test]
    fn a_rate_without_noise_is_a_poisson_process() {
        // Uniform draws of the rate, then constant: the count of each second has its variance equal
        // to its mean. Over 4000 s the ratio has a standard error of sqrt(2/4000) = 0.022.
        let counts = counts(0.0, 0.0, 4000, 5);
        let mean = counts.iter().sum::<f64>() / 4000.0;
        let squares = counts.iter().map(|count| (count - mean) * (count - mean));
        let variance = squares.sum::<f64>() / 3999.0;
        assert!((variance / mean - 1.0).abs() < 0.09, "{mean} {variance}");
    }

    #[test]
    fn the_rate_has_its_mean_and_is_uniform() {
        // Peak 2400/s; noise of 7200/s per square root of a second crosses it in a tenth of a
        // second, so that the means of 1 s are nearly independent. A step is averaged over 20 ms.
        let mut model =
            CellularModel::new(14.4e6, Some(86.4e6), 0.0, 1.0, RandomStream::new(3, "cellular"));
        let mut rates: Vec<f64> = (0..100_000)
            .map(|_| {
                (0..5).for_each(|_| model.advance());
                model.rate
            })
            .collect();
        rates.sort_by(f64::total_cmp);
        // Quartiles of the uniform law on [0, 2400].
        for (at, expected) in [(0.25, 600.0), (0.5, 1200.0), (0.75, 1800.0)] {
            let found = rates[(at * 1e5) as usize];
            assert!((found - expected).abs() < 20.0, "{at}: {found}");
        }
    }

    #[test]
    fn opportunities_have_the_mean_and_outages_their_share() {
        // Mean 1200/s over all of the time, a fifth of it outages of 0.5 s. In 40,000 s there are
        // 16,000 outages; the standard error of their share is near 0.2 sqrt(2/16000) = 0.0022.
        let counts = counts(86.4e6, 0.2, 40_000, 8);
        let mean = counts.iter().sum::<f64>() / 40_000.0;
        assert!((mean / 1200.0 - 1.0).abs() < 0.01, "{mean}");
        // A whole second without any opportunity: an outage in its first instant (share 0.2) that
        // lasts 49 steps of 20 ms more, exp(-0.98/0.5): 0.0282.
        let silent = counts.iter().filter(|&&count| count == 0.0).count() as f64 / 40_000.0;
        assert!((silent - 0.0282).abs() < 0.004, "{silent}");
    }

    #[test]
    fn the_autocorrelation_is_that_of_a_reflected_brownian_motion() {
        // Its slowest mode, 96/pi^4 = 0.986 of the variance, decays as exp(-pi^2 s^2 t/(2 M^2)): with
        // s = M/2, after 0.5 s, to exp(-0.617) = 0.540; the next one, n = 3, 1/81 of it, is gone.
        let mut model =
            CellularModel::new(14.4e6, Some(14.4e6), 0.0, 1.0, RandomStream::new(4, "cellular"));
        let rates: Vec<f64> = (0..400_000)
            .map(|_| {
                (0..25).for_each(|_| model.advance());
                model.rate - 1200.0
            })
            .collect();
        let power = rates.iter().map(|x| x * x).sum::<f64>();
        let lagged = rates.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
        assert!((lagged / power - 0.986 * 0.540).abs() < 0.01, "{}", lagged / power);
    }
}
