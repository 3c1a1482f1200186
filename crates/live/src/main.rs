//! The program behind `cwndlab live`: runs scenarios with real TCP and QUIC, and puts rules into the kernel.
//!
//! A request for a run comes in as JSON on standard input; what happens goes out as JSON lines on standard output: `progress`, then
//! `result`, `answer` or `error`. Exit code 2 is a request or a machine that cannot be served, 1 anything else that went wrong.

mod events;
mod linux;
mod outcome;
mod panics;
mod quic;
mod refusals;
mod request;
mod rules;

use events::{Event, Failure};
use std::process::ExitCode;

/// What can be asked for.
const COMMANDS: &str = "linux, quic, limits, about, install, list, remove, clean";

fn main() -> ExitCode {
    panics::are_fatal();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let command = arguments.first().map_or("", String::as_str);
    let done = match command {
        "linux" => request::read().and_then(linux::run),
        "quic" => request::read().and_then(quic::run),
        "limits" => linux::limits(),
        "about" => rules::about(),
        _ if rules::COMMANDS.contains(&command) => rules::run(command, &arguments[1..]),
        other => {
            Err(Failure::refused(format!("command \"{other}\" is not known; allowed: {COMMANDS}")))
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            events::send(&Event::Error { message: &failure.message });
            ExitCode::from(failure.code)
        }
    }
}
