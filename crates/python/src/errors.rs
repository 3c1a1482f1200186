//! Exceptions that the core raises; the package defines them.

use pyo3::import_exception;

import_exception!(cwndlab.errors, ScenarioError);
import_exception!(cwndlab.errors, RuleError);
import_exception!(cwndlab.errors, RunError);
