//! Pacing: packets leave at intervals of 1/rate (as RFC 9002 section 7.7 describes for QUIC).

use crate::tcb::Tcb;
use crate::{Knobs, NEVER};
use cwndlab_rules::WindowRule;

impl Tcb {
    /// Pacing rate, packets per second; none where ACKs alone clock the sender.
    fn pacing_rate(&self, knobs: &Knobs) -> Option<f64> {
        if let Some(rate) = self.rule.pacing_rate_packets_s() {
            return Some(rate);
        }
        // Linux (sk_pacing_rate): 2 cwnd/srtt in slow start, 1.2 cwnd/srtt in congestion avoidance.
        let factor = if self.cwnd < self.ssthresh { 2.0 } else { 1.2 };
        let srtt_s = self.rtt.srtt_s(knobs);
        (knobs.pacing && srtt_s > 0.0).then(|| factor * self.cwnd / srtt_s)
    }

    /// Whether pacing allows a packet now; if not, arms the pacing timer.
    #[inline]
    pub(crate) fn pacing_allows(&mut self, now_s: f64) -> bool {
        let Some(pacer) = self.pacer.as_mut().filter(|pacer| pacer.next_send_s > now_s) else {
            return true;
        };
        pacer.deadline_s = pacer.next_send_s;
        // RFC 9002 section 7.8: cwnd limits a sender that would have filled it without pacing.
        let would_fill = self.congestion_window() <= i64::from(self.rwnd)
            && self.highest_ack + self.congestion_window() < self.data_end;
        if would_fill && self.rule.pacing_rate_packets_s().is_some() {
            self.validation.note_full(self.snd_nxt);
        }
        false
    }

    /// Advances the earliest departure of the next packet after a packet was sent.
    pub(crate) fn update_pacing(&mut self, now_s: f64, knobs: &Knobs) {
        let rate = self.pacing_rate(knobs).filter(|rate| *rate > 0.0);
        if let (Some(rate), Some(pacer)) = (rate, &mut self.pacer) {
            pacer.next_send_s = now_s.max(pacer.next_send_s) + 1.0 / rate;
        }
    }

    /// When the pacing timer expires, or [`NEVER`].
    #[inline]
    pub(crate) fn pacing_deadline_s(&self) -> f64 {
        self.pacer.as_ref().map_or(NEVER, |pacer| pacer.deadline_s)
    }

    pub(crate) fn stop_pacing_timer(&mut self) {
        self.pacer.iter_mut().for_each(|pacer| pacer.deadline_s = NEVER);
    }
}
