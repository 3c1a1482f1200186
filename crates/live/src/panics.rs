//! A thread that panics ends the program: with a message that names it, and with all that the run made.
//!
//! Other threads would wait for the run's end for nothing, or trip over locks that the dead one held.

use crate::events::{Event, send};
use std::panic::{PanicHookInfo, set_hook};
use std::thread;

/// From here on any panic is an `error` and exit code 1.
pub fn are_fatal() {
    set_hook(Box::new(|info| {
        send(&Event::Error { message: &message(info) });
        std::process::exit(1);
    }));
}

fn message(info: &PanicHookInfo<'_>) -> String {
    let thread = thread::current().name().unwrap_or("without a name").to_string();
    let why = info.payload_as_str().unwrap_or("no reason given").replace('\n', " ");
    let place = info
        .location()
        .map_or(String::new(), |place| format!(" ({}:{})", place.file(), place.line()));
    format!("thread {thread}: broke down: {why}{place}; this is a fault of the program")
}
