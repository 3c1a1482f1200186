//! The interface of a transport stack that the simulator runs in simulated time: a state machine
//! without clock and sockets, such as quinn-proto.
//!
//! The simulator calls the two ends of a connection. It passes the time in, counted from the start
//! of the run; it carries datagrams over the links of the scenario, beside those of simulated TCP;
//! and it plays the application, which writes at one end and reads at the other. After each call
//! that may have changed something it offers data, asks for datagrams until there is none, and
//! asks when the end wants to be called next.
//!
//! `cargo run --example my_stack` runs a small one. crates/quic has that of quinn.

mod connection;
mod endpoint;
mod settings;

pub use connection::Connection;
pub use cwndlab_rules::RuleSpec;
pub use cwndlab_tcp::Ecn;
pub use endpoint::Endpoint;
pub use settings::FlowSettings;

/// Bytes of the IPv4 and UDP headers that a datagram has on the wire.
pub const HEADER_BYTES: u16 = 28;

/// A transport stack, by which connections are made.
pub trait Stack: Send + Sync {
    /// Its name in a scenario: `flows[].stack`.
    fn name(&self) -> &str;

    /// Makes a connection, both of whose ends are idle.
    ///
    /// # Errors
    /// Settings that the stack cannot apply: the key of the flow, and what is wrong with it, as in
    /// `rule: rule "BBR1" sets the pacing rate`.
    fn connection(&self, settings: &FlowSettings) -> Result<Connection, String>;
}
