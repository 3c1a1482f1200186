//! Resolver of external resources that a scenario names: traces of links, empirical distributions,
//! rules that are not built in. The core never accesses the file system; the caller passes a
//! [`Resolver`].

use crate::arrivals::VectorFile;
use crate::back_rate::BackRate;
use crate::connection_vectors::ConnectionVectors;
use crate::distribution::{Distribution, Law};
use crate::error::ScenarioError;
use crate::files::{DeliveryOpportunities, EmpiricalCdf};
use crate::other_files;
use crate::scenario::Scenario;
use crate::traffic::RuleText;
use crate::waveform::{Shape, Waveform};
use cwndlab_rules::RuleSpec;
use std::collections::BTreeMap;
use std::fmt;

/// Gives access to external resources.
pub trait Resolver {
    /// The path of a file that the scenario names `path`: the scenario has it from now on.
    fn locate(&self, path: &str) -> String {
        path.to_string()
    }

    /// The text of a file that was located, or an error message.
    fn read(&self, path: &str) -> Result<String, String>;

    /// A rule that is not built in, such as `my_rules.py:Patient(3)`, or an error message.
    fn rule(&self, _text: &str) -> Result<RuleSpec, String> {
        Err("only built-in rules are known here".into())
    }
}

/// Resolves nothing: for a scenario without access to files.
pub(crate) struct NoResolver;

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
        let file_key = format!("{key}.file");
        match waveform {
            Waveform::Shape(Shape::Trace { file, opportunities, .. }) => {
                *file = self.source.locate(file);
                *opportunities = load(
                    &mut self.recordings,
                    self.source,
                    &file_key,
                    file,
                    DeliveryOpportunities::parse,
                )?;
            }
            Waveform::Shape(Shape::Log(spec)) => {
                spec.file = self.source.locate(&spec.file);
                let parse = spec.parser(&key.to_string())?;
                // Each link may read other columns of a file.
                let mut unknown = BTreeMap::new();
                let log = load(&mut unknown, self.source, &file_key, &spec.file, parse)?;
                spec.take(log);
            }
            Waveform::Constant(_) | Waveform::Shape(_) => {}
        }
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
        *file = self.source.locate(file);
        *cdf = load(
            &mut self.distributions,
            self.source,
            &format!("{key}.file"),
            file,
            EmpiricalCdf::parse,
        )?;
        Ok(())
    }
}

fn resolve_rule(
    key: impl fmt::Display,
    rule: &mut RuleText,
    source: &dyn Resolver,
) -> Result<(), ScenarioError> {
    let Some(text) = rule.0.custom_text() else { return Ok(()) };
    rule.0 = source
        .rule(text)
        .map_err(|error| ScenarioError::at(key, format!("rule \"{text}\": {error}")))?;
    Ok(())
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
    if let Some(instead) = other_files::instead(file) {
        return Err(ScenarioError::at(key, format!("\"{file}\" cannot be read: {instead}")));
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
    /// Resolves the rules that are not built in, again if they were.
    pub fn resolve_rules(&mut self, source: &dyn Resolver) -> Result<(), ScenarioError> {
        for (i, flow) in self.flows.iter_mut().enumerate() {
            resolve_rule(format!("flows[{i}].rule"), &mut flow.rule, source)?;
        }
        for (i, arrivals) in self.arrivals.iter_mut().enumerate() {
            resolve_rule(format!("arrivals[{i}].rule"), &mut arrivals.rule, source)?;
        }
        Ok(())
    }

    /// Resolves the resources that the scenario names.
    pub(crate) fn fetch(&mut self, source: &dyn Resolver) -> Result<(), ScenarioError> {
        self.resolve_rules(source)?;
        let mut reader =
            Reader { source, recordings: BTreeMap::new(), distributions: BTreeMap::new() };
        if let Some(dumbbell) = &mut self.dumbbell {
            reader.waveform("dumbbell.rate", &mut dumbbell.rate)?;
            if let Some(BackRate::Limited(rate)) = &mut dumbbell.back_rate {
                reader.waveform("dumbbell.back_rate", rate)?;
            }
        }
        for (i, link) in self.links.iter_mut().enumerate() {
            reader.waveform(format!("links[{i}].rate"), &mut link.rate)?;
        }
        for (i, flow) in self.flows.iter_mut().enumerate() {
            if let Some(responses) = &mut flow.responses {
                reader.distribution(format!("flows[{i}].responses.size"), &mut responses.size)?;
                reader.distribution(format!("flows[{i}].responses.think"), &mut responses.think)?;
            }
            if let Some(size) = flow.frames.as_mut().and_then(|frames| frames.size.as_mut()) {
                reader.distribution(format!("flows[{i}].frames.size"), size)?;
            }
            if let Some(page) = &mut flow.page {
                let key = |name: &str| format!("flows[{i}].page.{name}");
                for (name, number) in [
                    ("main", &mut page.main),
                    ("embedded", &mut page.embedded),
                    ("size", &mut page.size),
                ] {
                    number.iter_mut().try_for_each(|n| reader.distribution(key(name), n))?;
                }
                page.parse.iter_mut().try_for_each(|t| reader.distribution(key("parse"), t))?;
                reader.distribution(key("think"), &mut page.think)?;
            }
        }
        let mut recorded = BTreeMap::new();
        for (i, arrivals) in self.arrivals.iter_mut().enumerate() {
            for (name, count) in
                [("size", &mut arrivals.size), ("exchanges", &mut arrivals.exchanges)]
            {
                count.iter_mut().try_for_each(|count| {
                    reader.distribution(format!("arrivals[{i}].{name}"), count)
                })?;
            }
            if let Some(think) = &mut arrivals.think {
                reader.distribution(format!("arrivals[{i}].think"), think)?;
            }
            if let Some(VectorFile { file, vectors }) = &mut arrivals.vectors {
                *file = source.locate(file);
                let key = format!("arrivals[{i}].vectors.file");
                *vectors = load(&mut recorded, source, &key, file, ConnectionVectors::parse)?;
            }
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
