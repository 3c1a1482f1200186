//! Credits of deficit round robin.

/// A quantum as credits: at least a byte, and so few that sums do not overflow.
pub(crate) fn credits(quantum_bytes: u64) -> i64 {
    quantum_bytes.clamp(1, i64::MAX as u64 / 2) as i64
}
