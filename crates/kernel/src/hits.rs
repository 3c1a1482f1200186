//! Counters of a registered rule.

/// Counters of the callbacks and the guard, over all flows of the rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hits {
    /// Flows that were initialised with the rule.
    pub flows: u64,
    /// Calls of ssthresh(): episodes of loss or marks.
    pub cuts: u64,
    /// Episodes without a call of ssthresh(), repaired.
    pub skipped_ssthresh: u64,
    /// Changes of the recovery state without a call of set_state().
    pub skipped_set_state: u64,
    /// Acknowledgements whose increase was withheld beyond the end of the table, 16383 packets.
    pub beyond_table: u64,
    /// Calls of undo_cwnd(): cuts that the kernel undid because no packet had been lost.
    pub undone: u64,
    /// Undone cuts without a call of undo_cwnd(), repaired.
    pub skipped_undo: u64,
    /// Episodes skipped on purpose ([`LoadOptions::skip_every`](crate::LoadOptions::skip_every)).
    pub left_unanswered: u64,
}

impl Hits {
    /// Number of callbacks that the kernel skipped.
    pub fn skipped_callbacks(&self) -> u64 {
        self.skipped_ssthresh + self.skipped_set_state + self.skipped_undo
    }

    /// Reads the counters from the bytes of `struct hits` (bpf/kernel.h).
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut words =
            bytes.chunks_exact(8).map(|word| word.try_into().map_or(0, u64::from_ne_bytes));
        let mut next = || words.next().unwrap_or_default();
        Self {
            flows: next(),
            cuts: next(),
            skipped_ssthresh: next(),
            skipped_set_state: next(),
            beyond_table: next(),
            undone: next(),
            skipped_undo: next(),
            left_unanswered: next(),
        }
    }
}
