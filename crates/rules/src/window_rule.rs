//! What every window rule is: events in, the new window out.

use crate::{Ack, Congestion, MarkResponse, Needs, SlowStart};
use std::sync::Arc;

/// A congestion-window rule.
///
/// A custom rule needs [`increase`](Self::increase) and [`decrease`](Self::decrease) only. The
/// endpoint implements recovery and timeouts. Every return value is a finite window in packets; the
/// endpoint raises a value below one packet to its floor.
pub trait WindowRule {
    /// The window after an ACK of new data in congestion avoidance, from `cwnd` packets. Called once
    /// per ACK; growth per packet is [`Ack::growth_packets`] steps.
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

    /// Pacing rate, packets/s; `None` where ACKs alone clock the sender.
    #[inline]
    fn pacing_rate_packets_s(&self) -> Option<f64> {
        None
    }

    /// Rate at which a media encoder shall produce its next frame, packets/s, while
    /// `backlog_packets` of earlier frames were never sent; `None` where the rule leaves the rate to
    /// the application. Called at each frame, with [`Needs::encoder`].
    fn encoder_rate_packets_s(&mut self, _backlog_packets: u64) -> Option<f64> {
        None
    }

    /// cwnd before the first packet after an idle period is sent: the application had no data, and
    /// nothing is in flight (Linux CA_EVENT_TX_START). A clock of the rule does not count that time.
    fn restart_from_idle(&mut self, cwnd: f64, _now_s: f64) -> f64 {
        cwnd
    }

    /// Restores the state of before a reduction that proved spurious, as `saved` holds it.
    fn undo(&mut self, saved: Self)
    where
        Self: Sized,
    {
        *self = saved;
    }

    /// What the rule asks of the endpoint. Constant over the rule's life.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Phase of a rule that has phases, for traces: BBR's Startup and the like.
    fn phase(&self) -> Option<&'static str> {
        None
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

/// A stateless rule is shared.
impl<R: WindowRule + Copy> WindowRule for Arc<R> {
    #[inline]
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        let mut rule = **self;
        rule.increase(cwnd, ack)
    }

    #[inline]
    fn decrease(&mut self, cwnd: f64, congestion: Congestion) -> f64 {
        let mut rule = **self;
        rule.decrease(cwnd, congestion)
    }

    fn slow_start(&mut self, cwnd: f64, ack: &Ack) -> SlowStart {
        let mut rule = **self;
        rule.slow_start(cwnd, ack)
    }

    fn on_mark(&mut self, cwnd: f64, ack: &Ack) -> MarkResponse {
        let mut rule = **self;
        rule.on_mark(cwnd, ack)
    }

    fn pacing_rate_packets_s(&self) -> Option<f64> {
        (**self).pacing_rate_packets_s()
    }

    fn restart_from_idle(&mut self, cwnd: f64, now_s: f64) -> f64 {
        let mut rule = **self;
        rule.restart_from_idle(cwnd, now_s)
    }

    fn needs(&self) -> Needs {
        (**self).needs()
    }

    fn phase(&self) -> Option<&'static str> {
        (**self).phase()
    }

    fn state(&self, report: &mut dyn FnMut(&str, f64)) {
        (**self).state(report);
    }

    fn fault(&self) -> Option<&str> {
        (**self).fault()
    }
}
