//! Whether cwnd limits the flow, as Linux judges after each transmission (`tcp_cwnd_validate`,
//! `tcp_is_cwnd_limited`). Other profiles judge when an ACK arrives
//! ([`CwndValidation`](cwndlab_rules::CwndValidation)).

/// What the transmissions of a window of data showed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CwndUsage {
    is_limited: bool,
    /// Most packets out while cwnd did not limit the flow.
    max_packets_out: i64,
    /// The next packet to send when the verdict was made: it holds until all before it are
    /// acknowledged, unless a stronger one comes.
    usage_seq: i64,
}

impl CwndUsage {
    pub(crate) const UNUSED: Self = Self { is_limited: false, max_packets_out: 0, usage_seq: 0 };

    /// Packets were sent, or cwnd kept them back. `snd_una`, `snd_nxt`: the first packet not
    /// acknowledged, and the next one to send.
    pub(crate) fn validate(&mut self, is_limited: bool, snd_una: i64, snd_nxt: i64) {
        let packets_out = snd_nxt - snd_una;
        let is_stronger = !self.is_limited && packets_out > self.max_packets_out;
        if snd_una >= self.usage_seq || is_limited || is_stronger {
            *self = Self { is_limited, max_packets_out: packets_out, usage_seq: snd_nxt };
        }
    }

    /// Whether cwnd limits the flow; slow start may take it to twice what was out.
    pub(crate) fn is_limited(&self, cwnd: f64, in_slow_start: bool) -> bool {
        self.is_limited || (in_slow_start && cwnd < 2.0 * self.max_packets_out as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twelve packets were out without filling a window of 20: slow start may go on to 24. A full
    /// window counts until its last packet is acknowledged.
    #[test]
    fn a_verdict_holds_for_a_window_of_data() {
        let mut usage = CwndUsage::UNUSED;
        usage.validate(false, 1, 13);
        assert!(usage.is_limited(20.0, true) && !usage.is_limited(24.0, true));
        assert!(!usage.is_limited(20.0, false));
        usage.validate(true, 5, 25);
        usage.validate(false, 20, 30);
        assert!(usage.is_limited(20.0, false));
        usage.validate(false, 25, 32);
        assert!(!usage.is_limited(20.0, false));
    }
}
