//! Functions that the page calls, and the one that it provides.

#![allow(unsafe_code, reason = "an exported function needs an unsafe attribute")]

use crate::studio::Studio;
use std::cell::RefCell;

thread_local! {
    static STUDIO: RefCell<Studio> = RefCell::default();
}

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Tells the page the simulated time, seconds; returns whether the run goes on.
    safe fn poll(simulated_s: f64) -> u32;
}

fn with<R>(action: impl FnOnce(&mut Studio) -> R) -> R {
    STUDIO.with_borrow_mut(action)
}

/// Where the page writes a request of this number of bytes.
#[unsafe(no_mangle)]
extern "C" fn input(bytes: usize) -> *mut u8 {
    with(|studio| {
        studio.input.clear();
        studio.input.resize(bytes, 0);
        studio.input.as_mut_ptr()
    })
}

/// Runs the request; see [`Studio::run`].
#[unsafe(no_mangle)]
extern "C" fn run() -> u32 {
    with(|studio| studio.run(|simulated_s| poll(simulated_s) != 0) as u32)
}

/// Checks the notation of a rule; see [`Studio::check_rule`].
#[unsafe(no_mangle)]
extern "C" fn check_rule() -> u32 {
    with(|studio| studio.check_rule().into())
}

/// Describes the module: version, rules, columns.
#[unsafe(no_mangle)]
extern "C" fn describe() {
    with(Studio::describe);
}

/// Where the output text lies.
#[unsafe(no_mangle)]
extern "C" fn output() -> *const u8 {
    with(|studio| studio.output.as_ptr())
}

/// Its length, bytes.
#[unsafe(no_mangle)]
extern "C" fn output_length() -> usize {
    with(|studio| studio.output.len())
}

/// Where a column lies.
#[unsafe(no_mangle)]
extern "C" fn column(number: usize) -> *const u8 {
    with(|studio| studio.columns.column(number).start())
}

/// Its length, values.
#[unsafe(no_mangle)]
extern "C" fn column_length(number: usize) -> usize {
    with(|studio| studio.columns.column(number).len())
}
