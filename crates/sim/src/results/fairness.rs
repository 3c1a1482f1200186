//! How equal the goodputs of the listed flows are.

use super::flows::FlowResult;
use serde::Serialize;

/// Indices over the flows that were active in the measurement window: one that had not started, or
/// was over, does not starve; one that was active and got nothing does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fairness {
    /// Jain's index of the goodputs: (sum x)^2 / (n sum x^2).
    pub jain_index: Option<f64>,
    /// Jain's index of the goodputs over the time in which each flow was active.
    pub active_jain_index: Option<f64>,
    /// Jain's index of goodput times mean round trip time.
    pub rtt_weighted_jain_index: Option<f64>,
    /// (largest - smallest)/mean of the goodputs.
    pub fairness_spread: Option<f64>,
    /// Smallest over mean of the goodputs.
    pub lowest_share: Option<f64>,
    /// Sum of the goodputs, bit/s.
    pub aggregate_goodput_bps: f64,
}

impl Fairness {
    /// Of these flows.
    pub fn of(flows: &[FlowResult]) -> Self {
        let active = || flows.iter().filter(|flow| flow.active_s > 0.0);
        let goodputs: Vec<f64> = active().map(|flow| flow.goodput_bps).collect();
        let active_goodputs: Vec<f64> =
            active().map(|flow| flow.active_goodput_bps.unwrap_or(0.0)).collect();
        let weighted: Vec<f64> =
            active().map(|flow| flow.goodput_bps * flow.mean_rtt_s.unwrap_or(0.0)).collect();
        Self {
            jain_index: jain_index(&goodputs),
            active_jain_index: jain_index(&active_goodputs),
            rtt_weighted_jain_index: jain_index(&weighted),
            fairness_spread: fairness_spread(&goodputs),
            lowest_share: lowest_share(&goodputs),
            aggregate_goodput_bps: flows.iter().fold(0.0, |sum, flow| sum + flow.goodput_bps),
        }
    }
}

/// Jain's fairness index (sum x)^2 / (n sum x^2) (Jain 1984); none if all values are zero.
fn jain_index(values: &[f64]) -> Option<f64> {
    let (sum, squares) =
        values.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    (squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}

/// Range over mean, (largest - smallest)/mean; none if all values are zero.
fn fairness_spread(values: &[f64]) -> Option<f64> {
    let (low, high) =
        values.iter().fold((f64::INFINITY, 0.0f64), |(low, high), &x| (low.min(x), high.max(x)));
    above_zero(mean(values)).map(|mean| (high - low) / mean)
}

/// Starvation: smallest over mean; none if all values are zero.
fn lowest_share(values: &[f64]) -> Option<f64> {
    above_zero(mean(values)).map(|mean| values.iter().copied().fold(f64::INFINITY, f64::min) / mean)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A value above 0; none for another, and for that of no values.
fn above_zero(value: f64) -> Option<f64> {
    (value > 0.0).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_by_hand() {
        // Jain 1984: x = (1, 1, 4): 36/(3 x 18) = 2/3; spread (4 - 1)/2; lowest 1/2.
        assert!((jain_index(&[1.0, 1.0, 4.0]).unwrap() - 2.0 / 3.0).abs() < 1e-15);
        assert_eq!(fairness_spread(&[1.0, 1.0, 4.0]), Some(1.5));
        assert_eq!(lowest_share(&[1.0, 1.0, 4.0]), Some(0.5));
        assert_eq!(lowest_share(&[0.0, 1.0]), Some(0.0));
        assert_eq!(jain_index(&[0.0, 0.0]), None);
        assert_eq!(lowest_share(&[0.0, 0.0]), None);
        assert_eq!((jain_index(&[]), fairness_spread(&[]), lowest_share(&[])), (None, None, None));
    }
}
