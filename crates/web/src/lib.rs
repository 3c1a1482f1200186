//! The simulator as a WebAssembly module: the page writes a request, calls a function, and reads
//! text and columns of numbers from the module's memory.
//!
//! The interface is plain functions. A request is JSON, written where `input` says; texts are
//! read between `output` and `output + output_length`; columns are read as typed arrays. Results
//! are those of the command line, trace hash included: the same crates, compiled for another
//! machine.

pub mod columns;
pub mod metrics;
mod steered;
pub mod studio;

#[cfg(target_arch = "wasm32")]
mod exports;
