//! Formulas of a user: parser, programs that compute values, and the rule of two formulas.

mod error;
mod expression;
mod parse;
mod program;
mod rule;

pub use error::FormulaError;
pub use expression::Formula;
pub(crate) use rule::FAMILY;
pub use rule::FormulaRule;

#[cfg(test)]
mod tests;
