//! Pacing: packets leave no faster than at a rate (RFC 9002 section 7.7 describes the same for QUIC), a packet's time apart.

use crate::{DataSegment, Knobs, NEVER, Sender};
use cwndlab_rules::WindowRule;

/// When a paced sender may send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacer {
    /// The next packet not before, seconds.
    next_s: f64,
    /// When to go on with what the window allows and the rate has held back, or [`NEVER`].
    deadline_s: f64,
}

impl Pacer {
    pub(crate) fn new() -> Self {
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
        if self.pacer.next_s <= now_s {
            return true;
        }
        self.pacer.deadline_s = self.pacer.next_s;
        false
    }

    /// A packet was sent.
    pub(crate) fn space(&mut self, now_s: f64, knobs: &Knobs) {
        if let Some(rate) = self.pace(knobs).filter(|rate| *rate > 0.0) {
            self.pacer.next_s = now_s.max(self.pacer.next_s) + 1.0 / rate;
        }
    }

    /// When a paced sender goes on by itself, or [`NEVER`].
    #[inline]
    pub fn pacing_deadline_s(&self) -> f64 {
        self.pacer.deadline_s
    }

    /// That moment has come.
    pub fn on_pace(&mut self, now_s: f64, knobs: &Knobs, out: &mut impl FnMut(DataSegment)) {
        self.pacer.deadline_s = NEVER;
        self.settle(now_s);
        self.send_much(now_s, knobs, knobs.max_burst, out);
    }
}
