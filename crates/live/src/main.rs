//! The program of `cwndlab live`: runs scenarios with Linux TCP and QUIC, and registers rules in
//! the kernel. The program reads the request of a run as JSON from standard input and writes events
//! as JSON lines to standard output: `progress`, then `result`, `answer` or `error`. Exit code 2
//! means that the request is not valid or that the system does not meet its requirements, 1 any
//! other error.

mod events;
mod guest;
mod kernel_commands;
mod linux;
mod panics;
mod quic;
mod request;
mod result;
mod run_control;
mod unsupported;
mod virtual_kernel;

use cwndlab_units::message::unknown;
use events::{Event, Failure};
use std::process::ExitCode;

/// The commands.
const COMMANDS: [&str; 11] = [
    "linux", "virtual", "guest", "sources", "quic", "limits", "about", "install", "list", "remove",
    "clean",
];

fn main() -> ExitCode {
    panics::are_fatal();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let command = arguments.first().map_or("", String::as_str);
    let done = match command {
        "linux" => request::read().and_then(|request| linux::run(request, linux::Clock::Real)),
        "virtual" => virtual_kernel::run(),
        "guest" => guest::run(&arguments[1..]),
        "quic" => request::read().and_then(quic::run),
        "limits" => linux::limits(),
        "about" => kernel_commands::about(),
        "sources" => kernel_commands::sources(),
        _ if kernel_commands::COMMANDS.contains(&command) => {
            kernel_commands::run(command, &arguments[1..])
        }
        other => Err(Failure::refused(unknown("command", other, &COMMANDS))),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            events::send(&Event::Error { message: &failure.message, code: failure.code });
            ExitCode::from(failure.code)
        }
    }
}
