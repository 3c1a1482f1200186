//! Errors in formulas.

use std::fmt;

/// An error in a formula and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormulaError {
    /// Position of the character, counted from 1.
    pub column: usize,
    /// Description of the error.
    pub message: String,
}

impl fmt::Display for FormulaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.message)
    }
}

impl std::error::Error for FormulaError {}
