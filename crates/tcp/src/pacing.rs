//! Pacing: packets leave no faster than at a rate (RFC 9002 section 7.7 describes the same for QUIC), a packet's time apart.

use crate::{Knobs, NEVER, Output, Sender};
use cwndlab_rules::WindowRule;

/// When a paced sender may send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacer {
    /// The next packet not before, seconds.
    next_s: f64,
    /// When to go on with what the window allows and the rate has held back, or [`NEVER`].
    deadline_s: f64,
}

impl Default for Pacer {
    fn default() -> Self {
        Self { next_s: 0.0, deadline_s: NEVER }
    }
}

impl Sender {
    /// Packets per second at most; none where only acknowledgements clock the sender.
    fn pace(&self, knobs: &Knobs) -> Option<f64> {
        if let Some(rate) = self.rule.pacing_rate_packets_s() {
            return Some(rate);
        }
        // As Linux does (sk_pacing): twice the window a round trip in slow start, 1.2 times later.
        let factor = if self.cwnd < self.ssthresh { 2.0 } else { 1.2 };
        let srtt_s = self.rtt.srtt_s(knobs);
        (knobs.pacing && srtt_s > 0.0).then(|| factor * self.cwnd / srtt_s)
    }

    /// Whether the rate allows a packet now; if not, when it will is noted.
    #[inline]
    pub(crate) fn may_send(&mut self, now_s: f64) -> bool {
        let Some(pacer) = self.pacer.as_mut().filter(|pacer| pacer.next_s > now_s) else { return true };
        pacer.deadline_s = pacer.next_s;
        false
    }

    /// A packet was sent.
    pub(crate) fn space(&mut self, now_s: f64, knobs: &Knobs) {
        let rate = self.pace(knobs).filter(|rate| *rate > 0.0);
        if let (Some(rate), Some(pacer)) = (rate, &mut self.pacer) {
            pacer.next_s = now_s.max(pacer.next_s) + 1.0 / rate;
        }
    }

    /// When a paced sender goes on by itself, or [`NEVER`].
    #[inline]
    pub fn pacing_deadline_s(&self) -> f64 {
        self.pacer.as_ref().map_or(NEVER, |pacer| pacer.deadline_s)
    }

    /// Whether packets may have to be spaced out.
    pub fn is_paced(&self) -> bool {
        self.pacer.is_some()
    }

    /// That moment has come.
    pub fn on_pace(&mut self, now_s: f64, knobs: &Knobs, out: &mut impl Output) {
        self.pacer.iter_mut().for_each(|pacer| pacer.deadline_s = NEVER);
        self.settle(now_s);
        self.send_much(now_s, knobs, knobs.max_burst, out);
    }
}
