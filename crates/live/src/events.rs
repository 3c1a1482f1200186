//! Output of the program: events, as one JSON object per line of standard output.

use serde::Serialize;
use std::fmt;
use std::io::Write;

/// An event, which is one line of output.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event<'a> {
    /// Progress of a run.
    Progress {
        /// Time since the run began, seconds.
        time_s: f64,
        /// Packets delivered.
        packets: u64,
    },
    /// The result of a run.
    Result {
        /// The fields of a simulated run's result, and those of live runs.
        run: serde_json::Value,
        /// Traces by table and column.
        traces: serde_json::Value,
    },
    /// The result of another command.
    Answer {
        /// The result.
        answer: serde_json::Value,
    },
    /// An error.
    Error {
        /// The message, one line.
        message: &'a str,
        /// The exit code of the program.
        code: u8,
    },
}

/// Writes an event; exits the process if standard output is closed.
pub fn send(event: &Event<'_>) {
    match serde_json::to_string(event) {
        Ok(line) => send_line(&line),
        Err(_) => std::process::exit(1),
    }
}

/// Writes an event that is a line already.
pub fn send_line(line: &str) {
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
        std::process::exit(1);
    }
}

/// An error with the exit code of the program.
#[derive(Debug)]
pub struct Failure {
    /// The message, one line.
    pub message: String,
    /// Exit code.
    pub code: u8,
}

impl Failure {
    /// The request is not valid, or the system does not meet its requirements.
    pub fn refused(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), code: 2 }
    }

    /// An operation failed.
    pub fn broken(doing: &str, error: impl fmt::Display) -> Self {
        Self { message: format!("{doing}: {error}"), code: 1 }
    }
}
