//! The panic hook: a panic of any thread ends the process with an `error` event that names the
//! thread. Without it other threads would wait until the end of the run, or fail at poisoned locks.

use crate::events::{Event, send};
use std::panic::{PanicHookInfo, set_hook};
use std::thread;

/// Installs the hook: any panic is an `error` event and exit code 1.
pub fn are_fatal() {
    set_hook(Box::new(|info| {
        send(&Event::Error { message: &message(info), code: 1 });
        std::process::exit(1);
    }));
}

fn message(info: &PanicHookInfo<'_>) -> String {
    let thread = thread::current().name().unwrap_or("without a name").to_string();
    let why = info.payload_as_str().unwrap_or("no message").replace('\n', " ");
    let place = info
        .location()
        .map_or(String::new(), |place| format!(" ({}:{})", place.file(), place.line()));
    format!("thread {thread}: panicked: {why}{place}; this is an error of the program")
}
