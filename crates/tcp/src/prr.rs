//! Proportional rate reduction (RFC 9937, RFC 6937): after a cut the window follows what is delivered, so that as many packets leave as
//! ssthresh allows of those that arrive, and sending neither stops for half a round trip nor comes in a burst.

use crate::window::Cut;
use crate::{Knobs, Sender};
use cwndlab_rules::Congestion;

/// A reduction that goes on, or the last one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prr {
    is_active: bool,
    /// Packets delivered since the cut, cumulatively or selectively.
    delivered: i64,
    /// Packets sent since the cut.
    sent: i64,
    /// Window at the cut, packets. Linux takes it where RFC 9937 section 6.1 has the packets in flight (RecoverFS): they are the same unless
    /// the application limits the flow.
    prior: i64,
}

impl Prr {
    /// The window, packets, when `delivered` more have left `in_flight` in the network; none where nothing says how many may leave.
    ///
    /// `makes_progress`: data was acknowledged cumulatively, and nothing more was found lost (SafeACK in RFC 9937 section 6.2).
    fn window(&mut self, in_flight: i64, ssthresh: i64, delivered: i64, makes_progress: bool) -> Option<i64> {
        if delivered <= 0 || self.prior <= 0 {
            return None;
        }
        self.delivered += delivered;
        let room = ssthresh - in_flight;
        let may_leave = if room < 0 {
            // In proportion: ceil(delivered ssthresh / prior) in all since the cut.
            (self.delivered * ssthresh + self.prior - 1) / self.prior - self.sent
        } else {
            // Slow start, or conservation of packets, back up to ssthresh: losses were heavy.
            ((self.delivered - self.sent).max(delivered) + i64::from(makes_progress)).min(room)
        };
        // The first retransmission leaves in any case.
        Some(in_flight + may_leave.max(i64::from(self.sent == 0)))
    }
}

impl Sender {
    /// Cuts as the rule says. With the knob the threshold is cut now, and the window approaches it as acknowledgements arrive. Rules that see
    /// every acknowledgement in recovery keep a window of their own, as Linux leaves it to `cong_control`.
    pub(crate) fn reduce(&mut self, congestion: Congestion, knobs: &Knobs) {
        let before = self.cwnd;
        self.cut(Cut::ToTarget(congestion), knobs);
        if knobs.prr && !self.told.as_ref().is_some_and(|told| told.needs.recovery) {
            self.cwnd = before;
            let prior = self.window();
            **self.prr.get_or_insert_default() = Prr { is_active: true, prior, ..Prr::default() };
        }
    }

    /// Whether the window is on its way down to the threshold.
    pub(crate) fn is_reducing(&self) -> bool {
        self.prr.as_ref().is_some_and(|prr| prr.is_active)
    }

    /// An acknowledgement arrived meanwhile.
    pub(crate) fn go_on_reducing(&mut self, in_flight: i64, delivered: i64, makes_progress: bool) {
        let ssthresh = self.ssthresh as i64;
        if let Some(prr) = self.prr.as_mut().filter(|prr| prr.is_active)
            && let Some(window) = prr.window(in_flight, ssthresh, delivered, makes_progress)
        {
            self.cwnd = window as f64;
        }
    }

    /// A packet was sent in recovery.
    pub(crate) fn count_sent(&mut self) {
        if let Some(prr) = &mut self.prr {
            prr.sent += 1;
        }
    }

    /// What was outstanding at the cut was acknowledged: the window is the threshold (RFC 9937 section 6.2).
    pub(crate) fn end_reducing(&mut self) {
        if self.is_reducing() {
            self.cwnd = self.ssthresh;
        }
        self.stop_reducing();
    }

    /// Something else determines the window now.
    pub(crate) fn stop_reducing(&mut self) {
        if let Some(prr) = &mut self.prr {
            prr.is_active = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One loss in a window of 20, halved: each acknowledgement takes a packet out, and one in two lets one in (RFC 6937 section 4, figure 1).
    #[test]
    fn one_loss_lets_every_second_packet_through() {
        let mut prr = Prr { prior: 20, ..Prr::default() };
        // The acknowledgement that begins recovery finds 18 in flight: of 20 and two more by limited transmit three are reported and one is lost.
        let mut in_flight = 18;
        let mut sent = Vec::new();
        for ack in 0..16 {
            in_flight -= i64::from(ack > 0);
            let window = prr.window(in_flight, 10, 1, false).unwrap();
            let leave = (window - in_flight).max(0);
            (prr.sent, in_flight) = (prr.sent + leave, in_flight + leave);
            sent.push(leave);
        }
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]);
        assert_eq!(in_flight, 11);
    }

    /// 15 of 20 are lost, and four in flight are below the threshold of 10: conservation lets one out for each that arrives, and one more where
    /// an acknowledgement makes progress (RFC 6937 section 4, figure 2).
    #[test]
    fn many_losses_are_repaired_at_the_pace_of_delivery() {
        let mut prr = Prr { prior: 20, ..Prr::default() };
        assert_eq!(prr.window(4, 10, 1, false), Some(5));
        prr.sent = 1;
        assert_eq!(prr.window(4, 10, 1, false), Some(5));
        prr.sent = 2;
        assert_eq!(prr.window(4, 10, 1, true), Some(6));
        // Never beyond the threshold.
        assert_eq!(prr.window(9, 10, 1, true), Some(10));
        assert_eq!(prr.window(9, 10, 0, true), None);
    }
}
