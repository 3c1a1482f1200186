//! A formula: its text is parsed once, and a program computes its values.

use super::error::FormulaError;
use super::parse::{Node, parse};
use super::program::Program;
use std::fmt;
use std::str::FromStr;

/// A formula in `w`, `rtt` and `qdelay`.
///
/// ```
/// use cwndlab_rules::Formula;
/// let formula: Formula = "w-0.5 * w^0.5".parse().unwrap();
/// assert_eq!(formula.value(16.0, 0.1, 0.0), 14.0);
/// assert_eq!(formula.to_string(), "w - 0.5*w^0.5");
/// assert_eq!("0.5*v".parse::<Formula>().unwrap_err().column, 5);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    node: Node,
    program: Program,
}

impl Formula {
    /// The value at a window of `w` packets, an RTT of `rtt_s` seconds, `qdelay_s` of which packets
    /// waited in queues.
    #[inline]
    pub fn value(&self, w: f64, rtt_s: f64, qdelay_s: f64) -> f64 {
        self.program.value(w, rtt_s, qdelay_s)
    }

    /// Whether `rtt` occurs in it.
    pub fn has_rtt(&self) -> bool {
        self.node.contains(&Node::RoundTrip)
    }

    /// Whether `qdelay` occurs in it.
    pub fn has_qdelay(&self) -> bool {
        self.node.contains(&Node::QueueingDelay)
    }
}

impl FromStr for Formula {
    type Err = FormulaError;

    fn from_str(text: &str) -> Result<Self, FormulaError> {
        let node = parse(text)?;
        let program = Program::new(&node).map_err(|error| at_its_part(error, text))?;
        Ok(Self { node, program })
    }
}

/// Moves the error to the part of the text that it quotes, if the text contains it up to spaces.
fn at_its_part(error: FormulaError, text: &str) -> FormulaError {
    let part: String =
        error.message.split('"').nth(1).unwrap_or_default().split_whitespace().collect();
    let packed: Vec<(usize, char)> =
        text.chars().enumerate().filter(|(_, character)| !character.is_whitespace()).collect();
    let start = (0..packed.len()).find(|&start| {
        let mut rest = packed[start..].iter().map(|&(_, character)| character);
        part.chars().all(|character| rest.next() == Some(character))
    });
    match start.filter(|_| !part.is_empty()) {
        Some(start) => FormulaError { column: packed[start].0 + 1, ..error },
        None => error,
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.node.fmt(f)
    }
}
