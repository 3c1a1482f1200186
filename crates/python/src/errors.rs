//! The one place where errors become Python exceptions.

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;

create_exception!(
    cwndlab,
    ScenarioError,
    PyValueError,
    "A scenario that cannot be run: the message names the key, the value and what is allowed."
);
create_exception!(cwndlab, RuleError, ScenarioError, "A rule that cannot be read.");
create_exception!(
    cwndlab,
    RunError,
    ScenarioError,
    "A run that would need more memory than is meant for it."
);
