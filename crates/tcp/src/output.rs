//! Output of the sender: how many packets the window allows, and the segments put on the wire.

use crate::rate_sample::Flight;
use crate::tcb::Tcb;
use crate::{DataSegment, Ecn, Knobs, NEVER, Output};
use cwndlab_rules::WindowRule;

impl Tcb {
    /// Window that bounds sending, whole packets: min(cwnd + window inflation, rwnd).
    pub(crate) fn send_window(&self) -> i64 {
        // rwnd has 32 bits, so a larger cwnd has no effect; conversion to 64 bits takes twice as
        // many instructions.
        self.congestion_window().min(i64::from(self.rwnd))
    }

    /// The congestion window, whole packets, with its inflation by duplicate ACKs.
    #[inline]
    pub(crate) fn congestion_window(&self) -> i64 {
        i64::from(self.cwnd as u32) + self.dupwnd
    }

    /// The last packet that the window and the application's data allow, for schemes that count
    /// from the last ACK.
    #[inline(always)]
    pub(crate) fn send_limit(&self) -> i64 {
        (self.last_ack + self.send_window()).min(self.data_end - 1)
    }

    /// Sends as many new packets as the window, pacing and `burst` allow.
    pub(crate) fn send_pending_data(
        &mut self,
        now_s: f64,
        knobs: &Knobs,
        burst: u32,
        out: &mut impl Output,
    ) {
        let mut sent = 0;
        while self.snd_nxt <= self.highest_ack + self.send_window()
            && self.snd_nxt < self.data_end
            && self.pacing_allows(now_s)
        {
            self.transmit(now_s, self.snd_nxt, knobs, out);
            self.snd_nxt += 1;
            sent += 1;
            if burst > 0 && sent == burst {
                break;
            }
        }
    }

    /// The new packet that limited transmit (RFC 3042) sends on an early duplicate ACK, if any.
    pub(crate) fn next_of_limited_transmit(&self, knobs: &Knobs) -> Option<i64> {
        let beyond = (self.snd_nxt - self.highest_ack) as f64;
        let allows = knobs.limited_transmit
            && beyond <= knobs.window
            && self.snd_nxt < self.data_end
            && beyond <= self.cwnd + f64::from(self.dupacks);
        allows.then_some(self.snd_nxt)
    }

    /// Limited transmit, for recovery schemes that count what is outstanding.
    pub(crate) fn limited_transmit(&mut self, now_s: f64, knobs: &Knobs, out: &mut impl Output) {
        if let Some(number) = self.next_of_limited_transmit(knobs) {
            self.transmit(now_s, number, knobs, out);
            self.snd_nxt += 1;
        }
    }

    /// Puts packet `number` on the wire, for recovery schemes that count what is outstanding.
    pub(crate) fn transmit(
        &mut self,
        now_s: f64,
        number: i64,
        knobs: &Knobs,
        out: &mut impl Output,
    ) {
        let mut flight = self.flight();
        flight.in_flight += u64::from(self.needs.recovery);
        self.output(now_s, number, flight, knobs, out);
    }

    /// Puts packet `number` on the wire. `flight`: packets in flight with this one, and lost.
    #[inline(always)]
    pub(crate) fn output(
        &mut self,
        now_s: f64,
        number: i64,
        flight: Flight,
        knobs: &Knobs,
        out: &mut impl Output,
    ) {
        out.send(self.segment::<false>(now_s, number, flight, knobs));
    }

    /// Packet `number`, and the state after it is sent.
    #[inline(always)]
    pub(crate) fn segment<const STEADY: bool>(
        &mut self,
        now_s: f64,
        number: i64,
        flight: Flight,
        knobs: &Knobs,
    ) -> DataSegment {
        let nothing_outstanding = !STEADY && self.highest_ack == self.highest_sent;
        let retransmission = !STEADY && number <= self.highest_sent;
        self.counters.sent += 1;
        self.counters.retransmitted += u64::from(retransmission);
        self.last_sent_s = now_s;
        if !STEADY && self.pacer.is_some() {
            self.on_packet_sent(now_s, nothing_outstanding, flight, knobs);
        }
        let (ecn, cwr) = if knobs.ecn {
            self.ecn_flags(number, retransmission, knobs)
        } else {
            (Ecn::NotEct, false)
        };
        let size_bytes = match &self.short_packet {
            _ if STEADY => knobs.data_wire_size(),
            Some(short) if short.number == number => knobs.wire_size_of(short.payload_bytes),
            _ => knobs.wire_size(number),
        };
        let (cwnd, ssthresh) = (self.cwnd, self.ssthresh);
        if retransmission {
            if knobs.undo {
                self.note_retransmission(now_s, number);
            }
        } else {
            self.highest_sent = number;
            self.time_packet(now_s, number);
        }
        if !STEADY && (self.timer.deadline_s == NEVER || nothing_outstanding) {
            self.arm_timer(now_s);
        }
        DataSegment { number, size_bytes, retransmission, ecn, cwr, cwnd, ssthresh }
    }

    /// Tells the rule that the first packet after an idle period is sent.
    pub(crate) fn restart_rule_from_idle(&mut self, now_s: f64) {
        self.accumulate_cwnd_area(now_s);
        self.cwnd = self.rule.restart_from_idle(self.cwnd, now_s);
        self.check_fault();
    }

    /// Updates rate samples and pacing for a sent packet.
    #[inline(never)]
    fn on_packet_sent(
        &mut self,
        now_s: f64,
        nothing_outstanding: bool,
        flight: Flight,
        knobs: &Knobs,
    ) {
        if let Some(sampler) = &mut self.rate_sampler
            && self.needs.delivery_rate
        {
            let lost = flight.lost.unwrap_or(self.counters.retransmitted);
            sampler.on_sent(now_s, nothing_outstanding, flight.in_flight, lost);
            if nothing_outstanding && sampler.is_app_limited() {
                self.restart_rule_from_idle(now_s);
            }
        }
        self.update_pacing(now_s, knobs);
    }
}
