//! Resolver of external resources that a scenario names: traces of links, empirical distributions,
//! rules that are not built in. The core never accesses the file system; the caller passes a
//! [`Resolver`].

use super::{Distribution, Law, RuleText, Scenario, ScenarioError, Shape, Waveform};
use cwndlab_rules::RuleSpec;
use cwndlab_units::{Rate, Time};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Bits per delivery opportunity: mahimahi's packets of 1500 bytes.
const OPPORTUNITY_BITS: u128 = 12_000;
/// Longest trace, milliseconds: the longest time that a scenario may name.
const MAX_TRACE_MS: u64 = 10_000_000_000;
/// Valid lines of a trace.
const MILLISECONDS: &str = "an integer not below the line before";
/// Valid lines of a distribution.
const SHARES: &str = "a value and its cumulative probability, such as \"10 0.25\", neither ever \
 decreasing, up to probability 1";

/// Gives access to external resources.
pub trait Resolver {
    /// The text of a file, or an error message; `path` is as written in the scenario.
    fn read(&self, path: &str) -> Result<String, String>;

    /// A rule that is not built in, such as `my_rules.py:Patient(3)`, or an error message.
    fn rule(&self, _text: &str) -> Result<RuleSpec, String> {
        Err("only built-in rules are known here".into())
    }
}

/// Resolves nothing: for a scenario without access to files.
pub(super) struct NoResolver;

impl Resolver for NoResolver {
    fn read(&self, _path: &str) -> Result<String, String> {
        Err("files are not accessible here".into())
    }
}

/// Files in memory.
impl Resolver for BTreeMap<String, String> {
    fn read(&self, path: &str) -> Result<String, String> {
        self.get(path).cloned().ok_or_else(|| "there is no such file".into())
    }
}

/// Delivery opportunities of a trace: the milliseconds at which 1500 bytes may leave, in order,
/// repeated from the start at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryOpportunities(pub(crate) Arc<[u64]>);

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
                    return Err(format!(
                        "line {number}: {} is not valid: expected {MILLISECONDS}, {last}",
                        quoted(line)
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

    /// Length of the trace, milliseconds.
    pub fn length_ms(&self) -> u64 {
        self.0.last().copied().unwrap_or_default()
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
pub struct EmpiricalCdf(pub(crate) Arc<[(f64, f64)]>);

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

/// Cache of parsed files.
struct Reader<'a> {
    source: &'a dyn Resolver,
    recordings: BTreeMap<String, DeliveryOpportunities>,
    distributions: BTreeMap<String, EmpiricalCdf>,
}

impl Reader<'_> {
    fn waveform(
        &mut self,
        key: impl fmt::Display,
        waveform: &mut Waveform,
    ) -> Result<(), ScenarioError> {
        let Waveform::Shape(Shape::Trace { file, opportunities }) = waveform else { return Ok(()) };
        *opportunities = load(
            &mut self.recordings,
            self.source,
            &format!("{key}.file"),
            file,
            DeliveryOpportunities::parse,
        )?;
        Ok(())
    }

    fn distribution<T>(
        &mut self,
        key: impl fmt::Display,
        distribution: &mut Distribution<T>,
    ) -> Result<(), ScenarioError> {
        let Distribution::Random(Law::Empirical { file, cdf }) = distribution else {
            return Ok(());
        };
        *cdf = load(
            &mut self.distributions,
            self.source,
            &format!("{key}.file"),
            file,
            EmpiricalCdf::parse,
        )?;
        Ok(())
    }

    fn rule(&mut self, key: impl fmt::Display, rule: &mut RuleText) -> Result<(), ScenarioError> {
        let Some(text) = rule.0.custom_text() else { return Ok(()) };
        rule.0 = self
            .source
            .rule(text)
            .map_err(|error| ScenarioError::at(key, format!("rule \"{text}\": {error}")))?;
        Ok(())
    }
}

fn load<C: Clone>(
    known: &mut BTreeMap<String, C>,
    source: &dyn Resolver,
    key: &str,
    file: &str,
    parse: impl Fn(&str) -> Result<C, String>,
) -> Result<C, ScenarioError> {
    if let Some(content) = known.get(file) {
        return Ok(content.clone());
    }
    let text = source
        .read(file)
        .map_err(|error| ScenarioError::at(key, format!("\"{file}\" cannot be read: {error}")))?;
    let content =
        parse(&text).map_err(|error| ScenarioError::at(key, format!("{file} {error}")))?;
    known.insert(file.to_string(), content.clone());
    Ok(content)
}

impl Scenario {
    /// Resolves the resources that the scenario names.
    pub(super) fn fetch(&mut self, source: &dyn Resolver) -> Result<(), ScenarioError> {
        let mut reader =
            Reader { source, recordings: BTreeMap::new(), distributions: BTreeMap::new() };
        if let Some(dumbbell) = &mut self.dumbbell {
            reader.waveform("dumbbell.rate", &mut dumbbell.rate)?;
        }
        for (i, link) in self.links.iter_mut().enumerate() {
            reader.waveform(format!("links[{i}].rate"), &mut link.rate)?;
        }
        for (i, flow) in self.flows.iter_mut().enumerate() {
            reader.rule(format!("flows[{i}].rule"), &mut flow.rule)?;
            if let Some(responses) = &mut flow.responses {
                reader.distribution(format!("flows[{i}].responses.size"), &mut responses.size)?;
                reader.distribution(format!("flows[{i}].responses.think"), &mut responses.think)?;
            }
        }
        for (i, arrivals) in self.arrivals.iter_mut().enumerate() {
            reader.rule(format!("arrivals[{i}].rule"), &mut arrivals.rule)?;
            reader.distribution(format!("arrivals[{i}].size"), &mut arrivals.size)?;
        }
        for (i, cross) in self.cross.iter_mut().enumerate() {
            for (name, waveform) in [("rate", &mut cross.rate), ("available", &mut cross.available)]
            {
                waveform.iter_mut().try_for_each(|waveform| {
                    reader.waveform(format!("cross[{i}].{name}"), waveform)
                })?;
            }
            for (name, length) in [("on", &mut cross.on), ("off", &mut cross.off)] {
                length.iter_mut().try_for_each(|length| {
                    reader.distribution(format!("cross[{i}].{name}"), length)
                })?;
            }
        }
        Ok(())
    }
}
