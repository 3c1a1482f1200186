//! Settings of a flow.

use cwndlab_rules::RuleSpec;

/// What a scenario says of a flow of a stack.
#[derive(Clone, Debug)]
pub struct FlowSettings {
    /// Its rule.
    pub rule: RuleSpec,
    /// Bytes of a full datagram, at least 1200, without [`HEADER_BYTES`](crate::HEADER_BYTES).
    pub datagram_bytes: u16,
    /// Initial window, full datagrams (`tcp.initial_window`).
    pub initial_window_packets: f64,
    /// Initial slow-start threshold, full datagrams (`tcp.initial_ssthresh`); none: unlimited.
    pub initial_ssthresh_packets: Option<f64>,
    /// Credit of the receiver, bytes (`tcp.window`); none: unlimited.
    pub window_bytes: Option<u32>,
    /// Bytes that the sender may buffer: several times what the network holds.
    pub send_buffer_bytes: u64,
    /// Seeds of the random numbers of sender and receiver, drawn from the seed of the scenario.
    pub seeds: [[u8; 32]; 2],
}
