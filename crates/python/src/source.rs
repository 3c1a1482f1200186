//! What scenarios name: files as they lie on disk, rules as Python knows them.

use crate::errors::RunError;
use crate::own::{PythonRule, Raised, explain, is_interrupt};
use cwndlab_rules::{CustomRuleFactory, RuleSpec};
use cwndlab_sim::scenario::Resolver;
use pyo3::prelude::*;
use std::cell::Cell;

/// The world outside a scenario, for one run.
#[derive(Default)]
pub struct Outside {
    raised: Raised,
    rules: Cell<bool>,
}

impl Resolver for Outside {
    fn read(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(path).map_err(|error| error.to_string())
    }

    fn rule(&self, text: &str) -> Result<RuleSpec, String> {
        self.rules.set(true);
        Python::attach(|py| {
            let found = py.import("cwndlab.own").and_then(|own| {
                own.getattr("find")?.call1((text,))?.extract::<(String, Py<PyAny>)>()
            });
            let (text, make) = found.map_err(|error| self.said(py, error))?;
            // Made once to see that it can be.
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

impl Outside {
    /// An exception in words; Ctrl-C is kept as well.
    fn said(&self, py: Python<'_>, error: PyErr) -> String {
        let words = explain(py, &error);
        if is_interrupt(py, &error)
            && let Ok(mut raised) = self.raised.lock()
        {
            raised.get_or_insert(error);
        }
        words
    }

    /// What to raise for a scenario or a rule that could not be read: Ctrl-C meanwhile is Ctrl-C.
    pub fn refused(&self, error: PyErr) -> PyErr {
        let raised = self.raised.lock().ok().and_then(|mut raised| raised.take());
        raised.unwrap_or(error)
    }

    /// Whether a rule was asked for.
    pub fn has_rules(&self) -> bool {
        self.rules.get()
    }

    /// Why a run stopped: the exception that a rule raised is the cause; Ctrl-C in a rule is Ctrl-C.
    pub fn error(&self, py: Python<'_>, message: &str) -> PyErr {
        let raised = self.raised.lock().ok().and_then(|mut raised| raised.take());
        match raised {
            Some(raised) if is_interrupt(py, &raised) => raised,
            raised => {
                let error = RunError::new_err(message.to_string());
                error.set_cause(py, raised);
                error
            }
        }
    }
}
