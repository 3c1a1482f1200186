//! Whether cwnd limits a flow (RFC 7661; Linux `tcp_cwnd_validate`, `tcp_is_cwnd_limited`): the one
//! definition for all endpoints and rules.
//!
//! ```text
//! full      packets out >= cwnd                                     after sending
//! limited   full once since the packets of now began to leave, or
//!           in slow start: cwnd < 2 (most packets out since then)
//! ```
//!
//! A window that the application or the receiver's window leaves unused proves nothing about the
//! path (RFC 9438 section 5.8), so cwnd does not grow then. Slow start may take it to twice what
//! was out, which RFC 7661 section 4.2 calls validated: the path has carried that much in a round
//! trip.

const NOT_FULL: i64 = i64::MIN;

/// What the packets of a round trip show about the use of cwnd. Packets are numbered in the order
/// in which they are sent first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CwndValidation {
    /// The next packet to send when the window was full, if it was since the last check; otherwise
    /// [`NOT_FULL`].
    full_until: i64,
    /// The next packet to send when the verdict was noted: it holds until all before it are
    /// acknowledged.
    noted_until: i64,
    was_full: bool,
    /// Most packets out while the window was not full.
    most_out: u32,
    /// The next packet to send at the last check: without a transmission since then it tells nothing
    /// new.
    checked_next: i64,
}

impl CwndValidation {
    /// Notes that as many packets are out as cwnd allows. `next`: the next packet to send.
    #[inline]
    pub fn note_full(&mut self, next: i64) {
        self.full_until = next;
    }

    /// Whether cwnd limits the flow although it is not full. `first`: the first packet that is not
    /// acknowledged, before the ACK that asks; `next`: the next packet to send.
    pub fn is_limited(&mut self, first: i64, next: i64, cwnd: f64, in_slow_start: bool) -> bool {
        let full_until = std::mem::replace(&mut self.full_until, NOT_FULL);
        if full_until > NOT_FULL {
            (self.noted_until, self.checked_next, self.was_full) = (full_until, full_until, true);
        }
        let out = (next - first).clamp(0, i64::from(u32::MAX)) as u32;
        let is_news = next > self.checked_next;
        self.checked_next = self.checked_next.max(next);
        if is_news && (first >= self.noted_until || (!self.was_full && out > self.most_out)) {
            (self.noted_until, self.was_full, self.most_out) = (next, false, out);
        }
        self.was_full || (in_slow_start && cwnd < 2.0 * f64::from(self.most_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window of 10 that was full with packets 0 to 9. The application then supplies a packet per
    /// ACK of two: the flow counts as limited until 9 is acknowledged.
    #[test]
    fn a_full_window_counts_until_its_packets_are_acknowledged() {
        let mut validation = CwndValidation::default();
        validation.note_full(10);
        for (first, next) in [(2, 11), (6, 13), (8, 14), (9, 14)] {
            assert!(validation.is_limited(first, next, 10.0, false), "{first}");
        }
        // Nothing was sent since: the last verdict stays (Linux looks after a transmission).
        assert!(validation.is_limited(10, 14, 10.0, false));
        assert!(!validation.is_limited(11, 15, 10.0, false));
    }

    /// Slow start at 20 with 8 packets out: 20 is more than twice that. 11 out: 20 < 22.
    #[test]
    fn slow_start_may_double_what_is_out() {
        let mut validation = CwndValidation::default();
        assert!(!validation.is_limited(0, 8, 20.0, true));
        assert!(validation.is_limited(0, 11, 20.0, true));
        assert!(!validation.is_limited(0, 11, 20.0, false));
        // Fewer in the same round trip take nothing back; those of the next one do.
        assert!(validation.is_limited(9, 12, 20.0, true));
        assert!(!validation.is_limited(11, 14, 20.0, true));
    }
}
