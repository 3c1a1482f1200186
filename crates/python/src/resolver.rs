//! Resolution of names in scenarios: files on disk, and rules written in Python.

use crate::custom_rule::{PythonRule, Raised, explain, is_interrupt};
use crate::errors::RunError;
use cwndlab_rules::{CustomRuleFactory, RuleSpec};
use cwndlab_scenario::{Resolver, text_of};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// Resolves names of one scenario, and keeps the exceptions of its rules.
pub struct PythonResolver {
    /// Paths are relative to it.
    folder: Option<PathBuf>,
    raised: Raised,
    rules: AtomicBool,
}

impl Resolver for PythonResolver {
    fn locate(&self, path: &str) -> String {
        let Some(folder) = &self.folder else { return path.to_string() };
        std::path::absolute(folder.join(path))
            .map_or_else(|_| path.to_string(), |path| path.display().to_string())
    }

    fn read(&self, path: &str) -> Result<String, String> {
        text_of(std::fs::read(path).map_err(|error| error.to_string())?)
    }

    fn rule(&self, text: &str) -> Result<RuleSpec, String> {
        self.rules.store(true, Ordering::Relaxed);
        Python::attach(|py| {
            let found = py.import("cwndlab.custom_rules").and_then(|module| {
                module
                    .getattr("find")?
                    .call1((text, &self.folder))?
                    .extract::<(String, Py<PyAny>)>()
            });
            let (text, make) = found.map_err(|error| self.said(py, error))?;
            // An instance, to find errors before the run.
            make.call0(py)
                .and_then(|instance| PythonRule::new(instance.bind(py), self.raised.clone()))
                .map_err(|error| self.said(py, error))?;
            let raised = self.raised.clone();
            Ok(RuleSpec::custom(
                text,
                CustomRuleFactory::new(move || PythonRule::made(&make, &raised)),
            ))
        })
    }
}

impl PythonResolver {
    /// Paths are relative to `folder`, or to the working directory.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, raised: Raised::default(), rules: AtomicBool::new(false) }
    }

    /// The message of an exception; keeps Ctrl-C.
    fn said(&self, py: Python<'_>, error: PyErr) -> String {
        let words = explain(py, &error);
        if is_interrupt(py, &error)
            && let Ok(mut raised) = self.raised.lock()
        {
            raised.get_or_insert(error);
        }
        words
    }

    /// The exception for a scenario or a rule that is not valid, or Ctrl-C if it occurred
    /// meanwhile.
    pub fn refused(&self, error: PyErr) -> PyErr {
        self.take_raised().unwrap_or(error)
    }

    /// Whether the scenario uses a rule written in Python.
    pub fn has_rules(&self) -> bool {
        self.rules.load(Ordering::Relaxed)
    }

    /// The exception of a rule that did not stop the run, from its `state`.
    pub fn late_error(&self, py: Python<'_>) -> Option<PyErr> {
        let raised = self.take_raised()?;
        let message = format!("a rule's state raised {}", explain(py, &raised));
        Some(caused_by(py, &message, Some(raised)))
    }

    /// The exception for a run that stopped, with the rule's exception as its cause, or Ctrl-C if
    /// it occurred in a rule.
    pub fn error(&self, py: Python<'_>, message: &str) -> PyErr {
        caused_by(py, message, self.take_raised())
    }

    fn take_raised(&self) -> Option<PyErr> {
        self.raised.lock().ok().and_then(|mut raised| raised.take())
    }
}

/// A `RunError` with `raised` as its cause, or `raised` itself if it is Ctrl-C.
fn caused_by(py: Python<'_>, message: &str, raised: Option<PyErr>) -> PyErr {
    match raised {
        Some(raised) if is_interrupt(py, &raised) => raised,
        raised => {
            let error = RunError::new_err(message.to_string());
            error.set_cause(py, raised);
            error
        }
    }
}
