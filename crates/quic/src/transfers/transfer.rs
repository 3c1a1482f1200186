//! Transfers and the options of their run.

use crate::RuleFactory;
use std::path::PathBuf;
use std::time::Instant;

/// The transfer of one flow.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// Makes the controller: rule, initial window and threshold.
    pub factory: RuleFactory,
    /// Start, seconds; infinite for never.
    pub start_s: f64,
    /// When the application stops sending, seconds; infinite for never.
    pub stop_s: f64,
    /// Bytes to send; none for unlimited.
    pub bytes: Option<u64>,
    /// Receive window (flow control), bytes; none for unlimited.
    pub window_bytes: Option<u32>,
    /// File for quinn's qlog, as JSON text sequences (.sqlog).
    pub qlog: Option<PathBuf>,
}

/// Options of a run of all transfers.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    /// Wall-clock time of time 0.
    pub begin: Instant,
    /// End of the run, seconds.
    pub end_s: f64,
    /// Measuring window, seconds.
    pub window: [f64; 2],
    /// Bytes of a datagram, at least 1200 (RFC 9000 section 14).
    pub datagram_bytes: u16,
    /// Send buffer of each endpoint, bytes: several times what the network holds.
    pub send_window_bytes: u64,
    /// Time between samples, seconds.
    pub sampling_s: f64,
    /// Time between samples that the trace keeps, seconds; none for no trace.
    pub row_every_s: Option<f64>,
    /// Bins of received bytes, seconds; none for no bins.
    pub bin_s: Option<f64>,
    /// Called at the start of each thread, for example to raise its priority.
    pub on_thread_start: fn(),
}
