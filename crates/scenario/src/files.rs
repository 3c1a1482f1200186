//! Files that a scenario names: traces of links and empirical distributions.

use cwndlab_units::{Rate, Time};
use std::sync::Arc;

/// Bits per delivery opportunity: mahimahi's packets of 1500 bytes.
const OPPORTUNITY_BITS: u128 = 12_000;
/// Longest trace, milliseconds: the longest time that a scenario may name.
const MAX_TRACE_MS: u64 = 10_000_000_000;
/// Valid lines of a trace.
const MILLISECONDS: &str = "an integer not below the line before";
/// What reads lines of several columns.
const LOG: &str = "; kind = \"log\" reads columns of times and rates";
/// Valid lines of a distribution.
const SHARES: &str = "a value and its cumulative probability, such as \"10 0.25\", neither ever \
 decreasing, up to probability 1";

/// Delivery opportunities of a trace: the milliseconds at which 1500 bytes may leave, in order,
/// repeated from the start at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryOpportunities(Arc<[u64]>);

impl DeliveryOpportunities {
    /// Parses mahimahi's format: a millisecond per line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut last = 0;
        let mut all = Vec::new();
        for (number, line) in lines(text) {
            match line.parse::<u64>() {
                Ok(ms) if ms > MAX_TRACE_MS => {
                    return Err(format!(
                        "line {number}: {ms} is not valid: expected at most {MAX_TRACE_MS} ms"
                    ));
                }
                Ok(ms) if ms < last => {
                    return Err(format!(
                        "line {number}: {ms} is not valid: expected {MILLISECONDS}, {last}"
                    ));
                }
                Ok(ms) => last = ms,
                Err(_) => {
                    let has_columns = line.contains([',', ';', '\t', ' ']);
                    return Err(format!(
                        "line {number}: {} is not valid: expected {MILLISECONDS}, {last}{}",
                        quoted(line),
                        if has_columns { LOG } else { "" }
                    ));
                }
            }
            all.push(last);
        }
        if all.is_empty() {
            return Err("is empty: expected a millisecond per line".into());
        }
        if last == 0 {
            return Err(
                "ends at 0: expected the length of the trace in milliseconds on the last line"
                    .into(),
            );
        }
        Ok(Self(all.into()))
    }

    /// The milliseconds, in order.
    pub fn milliseconds(&self) -> &[u64] {
        &self.0
    }

    /// Length of the trace, milliseconds.
    pub fn length_ms(&self) -> u64 {
        self.0.last().copied().unwrap_or_default()
    }

    /// Length of the trace.
    pub fn length(&self) -> Time {
        Time::ns(self.length_ms().saturating_mul(1_000_000))
    }

    /// Mean time between opportunities.
    pub fn mean_gap(&self) -> Time {
        Time::ns(self.length_ms() * 1_000_000 / (self.0.len() as u64).max(1))
    }

    /// Mean rate of the trace.
    pub fn mean(&self) -> Rate {
        let bits = self.0.len() as u128 * OPPORTUNITY_BITS * 1000;
        Rate::bits_per_second((bits / u128::from(self.length_ms().max(1))) as u64)
    }
}

/// Empirical CDF: values with their cumulative probabilities.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EmpiricalCdf(Arc<[(f64, f64)]>);

impl EmpiricalCdf {
    /// Parses a value and a cumulative probability per line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut all: Vec<(f64, f64)> = Vec::new();
        for (number, line) in lines(text) {
            let numbers: Vec<f64> = line
                .split_whitespace()
                .filter_map(|word| word.parse().ok())
                .filter(|x: &f64| x.is_finite())
                .collect();
            let point = match numbers[..] {
                [value, share] if line.split_whitespace().count() == 2 => (value, share),
                _ => {
                    return Err(format!(
                        "line {number}: {} is not valid: expected {SHARES}",
                        quoted(line)
                    ));
                }
            };
            let before = all.last().copied().unwrap_or_default();
            if point.0 < before.0 || point.1 < before.1 || point.1 > 1.0 {
                return Err(format!(
                    "line {number}: {} is not valid: expected {SHARES}",
                    quoted(line)
                ));
            }
            all.push(point);
        }
        if all.last().is_none_or(|point| point.1 != 1.0) {
            return Err(format!("is incomplete: expected {SHARES}"));
        }
        Ok(Self(all.into()))
    }

    /// The quantile at `u` < 1.
    pub fn quantile(&self, u: f64) -> f64 {
        let next = self.0.partition_point(|point| point.1 <= u);
        match (next.checked_sub(1).map(|i| self.0[i]), self.0.get(next)) {
            (Some((low, from)), Some(&(high, to))) => {
                low + (high - low) * ((u - from) / (to - from))
            }
            (None, Some(first)) => first.0,
            (last, None) => last.unwrap_or_default().0,
        }
    }

    /// Mean, with linear interpolation between the points.
    pub fn mean(&self) -> f64 {
        let first = self.0.first().map_or(0.0, |point| point.0 * point.1);
        first
            + self
                .0
                .windows(2)
                .map(|pair| (pair[1].1 - pair[0].1) * (pair[0].0 + pair[1].0) / 2.0)
                .sum::<f64>()
    }
}

/// Lines with their numbers, without trailing blank ones.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.trim_end().lines().enumerate().map(|(i, line)| (i + 1, line.trim()))
}

/// A line for a message, truncated.
fn quoted(line: &str) -> String {
    let start: String = line.chars().take(40).collect();
    format!("{start:?}")
}
