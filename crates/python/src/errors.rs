//! Python exceptions of the core.

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;

create_exception!(
    cwndlab,
    ScenarioError,
    PyValueError,
    "A scenario that is not valid: the message names the key, the value and what is expected."
);
create_exception!(cwndlab, RuleError, ScenarioError, "A rule that is not valid.");
create_exception!(
    cwndlab,
    RunError,
    ScenarioError,
    "A run that failed: not enough memory, or an error of its rule."
);
