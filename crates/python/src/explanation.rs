//! Explanations of differences between flows: accounts in, parts and reasons out, all as JSON.

use crate::errors::RunError;
use cwndlab_sim::results::{Account, Reasons, explain as explained};
use pyo3::prelude::*;
use serde::Serialize;

fn read(accounts: &str) -> PyResult<Vec<Account>> {
    serde_json::from_str(accounts).map_err(|error| RunError::new_err(format!("accounts: {error}")))
}

fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| RunError::new_err(error.to_string()))
}

/// The parts of a difference between two lists of accounts; of an empty second one, of the
/// difference from the capacity of the links of the first.
#[pyfunction]
pub(crate) fn explain(first: &str, second: &str) -> PyResult<String> {
    let (first, second) = (read(first)?, read(second)?);
    json(&explained(&each(&first), &each(&second)))
}

/// The same difference in words: headline, and causes in order. Other traffic gets `others_bps` of
/// the links.
#[pyfunction]
pub(crate) fn reasons(
    names: (String, String),
    first: &str,
    second: &str,
    others_bps: f64,
) -> PyResult<String> {
    let (first, second) = (read(first)?, read(second)?);
    let (first, second) = (each(&first), each(&second));
    let names = [names.0.as_str(), names.1.as_str()];
    json(&Reasons::of(names, [&first, &second], &explained(&first, &second), others_bps))
}

fn each(accounts: &[Account]) -> Vec<&Account> {
    accounts.iter().collect()
}
