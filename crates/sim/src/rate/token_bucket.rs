//! Token bucket: what passes has at most a rate and, at once, a burst.

use cwndlab_units::{Bytes, Rate};

/// A token bucket in bytes, full at first.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    bytes_per_s: f64,
    burst_bytes: f64,
    tokens_bytes: f64,
    last_s: f64,
}

impl TokenBucket {
    /// A bucket of this token rate and size.
    pub fn new(rate: Rate, burst: Bytes) -> Self {
        let burst_bytes = burst.0 as f64;
        Self {
            bytes_per_s: rate.bps() as f64 / 8.0,
            burst_bytes,
            tokens_bytes: burst_bytes,
            last_s: 0.0,
        }
    }

    /// Tokens at this time, bytes. Times never decrease.
    pub fn tokens_bytes(&mut self, now_s: f64) -> f64 {
        let gained = self.bytes_per_s * (now_s - self.last_s);
        self.tokens_bytes = (self.tokens_bytes + gained).min(self.burst_bytes);
        self.last_s = now_s;
        self.tokens_bytes
    }

    /// Removes the tokens of a packet.
    pub fn take(&mut self, size_bytes: u32) {
        self.tokens_bytes -= f64::from(size_bytes);
    }

    /// Time at which the bucket holds the tokens of a packet, seconds, no earlier than `now_s`; of
    /// a packet larger than the bucket as if the bucket had its size.
    pub fn holds_at_s(&mut self, now_s: f64, size_bytes: u32) -> f64 {
        let missing_bytes = f64::from(size_bytes).min(self.burst_bytes) - self.tokens_bytes(now_s);
        now_s + missing_bytes.max(0.0) / self.bytes_per_s
    }
}
