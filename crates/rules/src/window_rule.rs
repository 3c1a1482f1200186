//! What every window rule is: events in, the new window out.

use crate::{
    Ack, Congestion, Control, Delivery, MarkResponse, Needs, PacingRate, RateSample, Sibling,
    SlowStart,
};

/// A congestion-window rule.
///
/// A custom rule needs [`increase`](Self::increase) and [`decrease`](Self::decrease) only. The
/// endpoint implements recovery and timeouts. Every return value is a finite window in packets; the
/// endpoint raises a value below one packet to its floor.
pub trait WindowRule {
    /// The window after an ACK of new data in congestion avoidance, from `cwnd` packets. Called
    /// once per ACK; growth per packet is [`Ack::growth_packets`] steps.
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64;

    /// The window after congestion at `cwnd` packets. The endpoint applies its floor.
    fn decrease(&mut self, cwnd: f64, congestion: Congestion) -> f64;

    /// Response to an ACK of new data in slow start (RFC 5681 section 3.1: one packet more), once
    /// per ACK: packets left over at ssthresh are congestion avoidance's.
    #[inline]
    fn slow_start(&mut self, cwnd: f64, ack: &Ack) -> SlowStart {
        let (cwnd, left_over) = ack.slow_start_packets(cwnd);
        if left_over == 0 {
            return SlowStart::Grow(cwnd);
        }
        SlowStart::Grow(self.increase(cwnd, &Ack { growth_packets: left_over, ..*ack }))
    }

    /// Response to an ACK with ECE. Called for each, before anything else that the ACK does,
    /// whether or not it acknowledges new data.
    fn on_mark(&mut self, _cwnd: f64, _: &Ack) -> MarkResponse {
        MarkResponse::Reduce
    }

    /// The subflows of the connection, this one at index `own`, as they are before its next event.
    /// With [`Needs::coupled`], once the subflow has measured its RTT; not for a flow of its own.
    fn on_siblings(&mut self, _siblings: &[Sibling], _own: usize) {}

    /// The handshake is over, and cwnd the initial window. With [`Needs::samples`], from endpoints
    /// that give samples; these also call the next four.
    fn on_connected(&mut self, _cwnd: f64, _: &RateSample) {}

    /// An ACK arrived, before anything that follows from it.
    fn on_delivery(&mut self, _: &Delivery) {}

    /// The response to any ACK of a rule that also asks for [`Needs::recovery`]; in place of
    /// [`increase`](Self::increase) and [`slow_start`](Self::slow_start).
    fn on_sample(&mut self, cwnd: f64, _: &RateSample) -> Control {
        Control { cwnd, ssthresh: None, limits_flow: false }
    }

    /// The retransmission timer expired, and packets were marked lost.
    fn on_timeout(&mut self, _: &RateSample) {}

    /// Pacing rate where the rule sets one.
    fn pacing_rate(&self) -> Option<PacingRate> {
        None
    }

    /// Pacing rate, packets/s; `None` where ACKs alone clock the sender.
    fn pacing_rate_packets_s(&self) -> Option<f64> {
        None
    }

    /// cwnd before the first packet after an idle period is sent: the application had no data, and
    /// nothing is in flight (Linux CA_EVENT_TX_START). A clock of the rule does not count that
    /// time.
    fn restart_from_idle(&mut self, cwnd: f64, _now_s: f64) -> f64 {
        cwnd
    }

    /// What the rule asks of the endpoint. Constant over the rule's life.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Reports the rule's state for traces, name by name. A name ends in its unit, as a column
    /// does; a value that is not known yet is NaN.
    fn state(&self, _report: &mut dyn FnMut(&str, f64)) {}

    /// The first invalid congestion window that the rule returned, if any. The rule left cwnd alone
    /// since then.
    fn fault(&self) -> Option<&str> {
        None
    }
}
