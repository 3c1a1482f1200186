//! What the program says: a JSON object on each line of standard output.

use serde::Serialize;
use std::fmt;
use std::io::Write;

/// One line.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event<'a> {
    /// How far a run is.
    Progress {
        /// Seconds of the run.
        time_s: f64,
        /// Packets handed over.
        packets: u64,
    },
    /// A run is over.
    Result {
        /// What it gave, as a simulated run does, and what only live runs have.
        run: serde_json::Value,
        /// Traces, by table and column.
        traces: serde_json::Value,
    },
    /// The answer to a question.
    Answer {
        /// What was asked for.
        answer: serde_json::Value,
    },
    /// It could not be done.
    Error {
        /// Why, in one line.
        message: &'a str,
    },
}

/// Writes a line. Nobody listens any more: then there is nobody to tell.
pub fn send(event: &Event<'_>) {
    let mut out = std::io::stdout().lock();
    let written = serde_json::to_writer(&mut out, event).is_ok()
        && out.write_all(b"\n").and_then(|()| out.flush()).is_ok();
    if !written {
        std::process::exit(1);
    }
}

/// Why something could not be done, and with which exit code the program ends.
#[derive(Debug)]
pub struct Failure {
    /// In one line.
    pub message: String,
    /// Exit code.
    pub code: u8,
}

impl Failure {
    /// The request cannot be served: it, or the machine, must change.
    pub fn refused(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), code: 2 }
    }

    /// Something went wrong on the way.
    pub fn broken(doing: &str, error: impl fmt::Display) -> Self {
        Self { message: format!("{doing}: {error}"), code: 1 }
    }
}
