//! Order of floating-point operations in rules that ns-2 has as well.

/// Order of a rule's arithmetic. It matters only where a window lands exactly on a whole packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    /// As in the equations.
    #[default]
    Plain,
    /// As in ns-2, for packet-by-packet comparison.
    Ns2,
}
