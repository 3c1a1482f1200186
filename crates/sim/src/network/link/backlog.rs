//! Backlog of a link with an admission queue: the pending departures.

/// A packet that waits or is in service, with its departure time.
#[derive(Clone, Copy, Debug, Default)]
pub struct PendingDeparture {
    /// Its departure, seconds.
    pub at_s: f64,
    /// Start of its transmission, seconds.
    pub tx_start_s: f64,
    /// Bytes accepted up to this packet, then its priority (two bits), then whether it is lost
    /// after transmission (one bit).
    tail: u64,
}

impl PendingDeparture {
    pub fn new(at_s: f64, tx_start_s: f64, accepted_bytes: u64, priority: u8, lost: bool) -> Self {
        Self {
            at_s,
            tx_start_s,
            tail: accepted_bytes << 3 | u64::from(priority) << 1 | u64::from(lost),
        }
    }

    /// Bytes accepted up to this packet, inclusive.
    pub fn accepted_bytes(self) -> u64 {
        self.tail >> 3
    }

    pub fn priority(self) -> u8 {
        (self.tail >> 1 & 3) as u8
    }

    pub fn lost(self) -> bool {
        self.tail & 1 == 1
    }

    /// Whether it has departed before the arrival of a packet at `now_s` whose own last
    /// transmission started at `tx_start_s`.
    #[inline(always)]
    pub fn has_left(self, now_s: f64, tx_start_s: f64) -> bool {
        (self.at_s < now_s) | ((self.at_s == now_s) & (self.tx_start_s < tx_start_s))
    }
}
