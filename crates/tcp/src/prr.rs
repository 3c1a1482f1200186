//! Proportional rate reduction (PRR, RFC 9937; RFC 6937): in recovery, the number of packets sent
//! follows the number delivered in the ratio ssthresh/RecoverFS, which avoids both half a round
//! trip of silence and a burst.

/// State of the current or the last window reduction; names as in RFC 9937.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prr {
    is_active: bool,
    /// Packets delivered since the reduction began, cumulatively or selectively acknowledged.
    prr_delivered: i64,
    /// Packets sent since the reduction began.
    prr_out: i64,
    /// Window when the reduction began, packets. RFC 9937 section 6.1 uses packets in flight and
    /// Linux uses cwnd; they differ only for an application-limited flow.
    recover_fs: i64,
}

impl Prr {
    /// A reduction that begins at this window, packets.
    pub(crate) fn begin(recover_fs: i64) -> Self {
        Self { is_active: true, recover_fs, ..Self::default() }
    }

    /// Whether it is reducing cwnd.
    pub(crate) fn is_active(&self) -> bool {
        self.is_active
    }

    /// Counts a packet sent during recovery.
    pub(crate) fn on_sent(&mut self) {
        self.prr_out += 1;
    }

    /// Ends the reduction; returns whether there was one.
    pub(crate) fn end(&mut self) -> bool {
        std::mem::take(&mut self.is_active)
    }

    /// cwnd after an ACK that reports `delivered` packets and leaves `in_flight`; none where PRR
    /// does not determine cwnd.
    ///
    /// `safe_ack`: the ACK advances SND.UNA and marks no further packet lost (SafeACK, RFC 9937
    /// section 6.2).
    pub(crate) fn window(
        &mut self,
        in_flight: i64,
        ssthresh: i64,
        delivered: i64,
        safe_ack: bool,
    ) -> Option<i64> {
        if delivered <= 0 || self.recover_fs <= 0 {
            return None;
        }
        self.prr_delivered += delivered;
        let headroom = ssthresh - in_flight;
        let prr_sndcnt = if headroom < 0 {
            // Proportional part: ceil(prr_delivered ssthresh / RecoverFS) packets in all since the
            // reduction began.
            (self.prr_delivered * ssthresh + self.recover_fs - 1) / self.recover_fs - self.prr_out
        } else {
            // Packet conservation, or slow start up to ssthresh: heavy loss left fewer than
            // ssthresh packets in flight.
            ((self.prr_delivered - self.prr_out).max(delivered) + i64::from(safe_ack)).min(headroom)
        };
        // The fast retransmit is always sent.
        Some(in_flight + prr_sndcnt.max(i64::from(self.prr_out == 0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One loss in a window of 20 that is halved: every second ACK releases a packet (RFC 6937
    /// section 4, figure 1).
    #[test]
    fn one_loss_lets_every_second_packet_through() {
        let mut prr = Prr { recover_fs: 20, ..Prr::default() };
        // The ACK that starts recovery leaves 18 in flight: 20 and two of limited transmit, less
        // three SACKed and one lost.
        let mut in_flight = 18;
        let mut sent = Vec::new();
        for ack in 0..16 {
            in_flight -= i64::from(ack > 0);
            let window = prr.window(in_flight, 10, 1, false).unwrap();
            let leave = (window - in_flight).max(0);
            (prr.prr_out, in_flight) = (prr.prr_out + leave, in_flight + leave);
            sent.push(leave);
        }
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]);
        assert_eq!(in_flight, 11);
    }

    /// 15 of 20 packets are lost. Four in flight are below ssthresh = 10: packet conservation
    /// releases one packet per delivered packet, and one more for a SafeACK (RFC 6937 section 4,
    /// figure 2).
    #[test]
    fn many_losses_are_repaired_at_the_pace_of_delivery() {
        let mut prr = Prr { recover_fs: 20, ..Prr::default() };
        assert_eq!(prr.window(4, 10, 1, false), Some(5));
        prr.prr_out = 1;
        assert_eq!(prr.window(4, 10, 1, false), Some(5));
        prr.prr_out = 2;
        assert_eq!(prr.window(4, 10, 1, true), Some(6));
        // Never beyond ssthresh.
        assert_eq!(prr.window(9, 10, 1, true), Some(10));
        assert_eq!(prr.window(9, 10, 0, true), None);
    }
}
