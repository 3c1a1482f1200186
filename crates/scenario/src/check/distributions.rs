//! Checks of distributions: finite means and valid parameters.

use super::conditions::{Checked, inside, invalid, low_first};
use crate::{Distribution, Law, Quantity};
use std::fmt::Display;

/// Largest mean of a size, packets, or of a length, seconds.
const MAX_MEAN: f64 = 1e12;
/// Largest shape of a Pareto distribution and largest sigma: beyond them a distribution is a
/// constant, or overflows.
const MAX_SHAPE: f64 = 1e3;
const MAX_SIGMA: f64 = 10.0;

/// Checks a distribution whose mean is at least `least`; `what` describes this bound.
pub(super) fn check_draw<T: Quantity + PartialOrd + Display>(
    key: &str,
    distribution: &Distribution<T>,
    least: f64,
    what: &str,
) -> Checked {
    let positive = |name: &str, value: &T| match value.value() > 0.0 {
        true => Ok(()),
        false => invalid(format!("{key}.{name}"), value, "above 0"),
    };
    if let Distribution::Random(law) = distribution {
        match law {
            Law::Constant { .. } | Law::Empirical { .. } => {}
            Law::Uniform { low, high } => {
                if low.value() < 0.0 {
                    return invalid(format!("{key}.low"), low, "0 or more");
                }
                low_first(format!("{key}.low"), low, high)?;
            }
            Law::Exponential { mean } => positive("mean", mean)?,
            Law::Pareto { mean, shape, most } => {
                positive("mean", mean)?;
                if !(*shape > 1.0 && *shape <= MAX_SHAPE) {
                    return invalid(
                        format!("{key}.shape"),
                        shape,
                        format!("above 1 (for a finite mean), at most {MAX_SHAPE}"),
                    );
                }
                let first = mean.value() * (shape - 1.0) / shape;
                if let Some(most) = most.as_ref().filter(|most| most.value() < first) {
                    return invalid(
                        format!("{key}.most"),
                        most,
                        format!("at least the smallest value, {first}"),
                    );
                }
            }
            Law::LogNormal { mean, sigma } => {
                positive("mean", mean)?;
                inside(format!("{key}.sigma"), *sigma, 0.0, MAX_SIGMA)?;
            }
        }
    }
    // The mean as written; truncation may lower that of a Pareto distribution.
    let mean = if let Distribution::Random(Law::Pareto { mean, .. }) = distribution {
        mean.value()
    } else {
        distribution.mean()
    };
    if mean >= least && mean <= MAX_MEAN {
        return Ok(());
    }
    let name = match distribution {
        Distribution::Constant(_) => String::new(),
        Distribution::Random(Law::Constant { .. }) => ".value".into(),
        Distribution::Random(Law::Uniform { .. }) => ".high".into(),
        Distribution::Random(Law::Empirical { .. }) => ".file".into(),
        Distribution::Random(
            Law::Exponential { .. } | Law::Pareto { .. } | Law::LogNormal { .. },
        ) => ".mean".into(),
    };
    invalid(
        format!("{key}{name}"),
        format!("a mean of {mean}"),
        format!("{what}, at most {MAX_MEAN:e}"),
    )
}
