//! Functions that the page calls.

#![allow(unsafe_code, reason = "an exported function needs an unsafe attribute")]

use crate::studio::Studio;
use std::cell::RefCell;

thread_local! {
    static STUDIO: RefCell<Studio> = RefCell::default();
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

/// Builds the run of the request; see [`Studio::start`].
#[unsafe(no_mangle)]
extern "C" fn start() -> u32 {
    with(|studio| studio.start() as u32)
}

/// Processes at most so many events; see [`Studio::advance`].
#[unsafe(no_mangle)]
extern "C" fn advance(events: u32) -> u32 {
    with(|studio| studio.advance(events.into()) as u32)
}

/// Simulated time, seconds.
#[unsafe(no_mangle)]
extern "C" fn simulated_s() -> f64 {
    with(|studio| studio.simulated_s())
}

/// Takes what the run has recorded so far; see [`Studio::collect`].
#[unsafe(no_mangle)]
extern "C" fn collect() {
    with(Studio::collect);
}

/// Checks the notation of a rule; see [`Studio::check_rule`].
#[unsafe(no_mangle)]
extern "C" fn check_rule() -> u32 {
    with(|studio| studio.check_rule().into())
}

/// Explains a difference between flows; see [`Studio::explain`].
#[unsafe(no_mangle)]
extern "C" fn explain() -> u32 {
    with(|studio| studio.explain().into())
}

/// Describes the module; see [`Studio::describe`].
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
