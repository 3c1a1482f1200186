//! Sending: how much the window allows, and what goes on the wire.

use crate::{DataSegment, Knobs, NEVER, Output, Recovery, Sender, recovery};

impl Sender {
    /// Window that bounds sending, whole packets.
    pub(crate) fn window(&self) -> i64 {
        // Beyond 32 bits it is cut off anyway, and to convert to 64 takes twice as many instructions.
        (i64::from(self.cwnd as u32) + self.dupwnd).min(i64::from(self.max_window))
    }

    /// Sends what the window allows.
    pub(crate) fn send_much(&mut self, now_s: f64, knobs: &Knobs, burst: u32, out: &mut impl Output) {
        if self.rack.is_some() {
            return recovery::rack::send_much(self, now_s, knobs, burst, out);
        }
        if self.recovery == Recovery::Sack {
            return recovery::sack::send_much(self, now_s, knobs, burst, out);
        }
        let mut sent = 0;
        while self.next <= self.highest_ack + self.window() && self.next < self.limit && self.may_send(now_s) {
            self.output(now_s, self.next, knobs, out);
            self.next += 1;
            sent += 1;
            if burst > 0 && sent == burst {
                break;
            }
        }
    }

    /// Limited transmit (RFC 3042): one new packet on an early duplicate acknowledgement.
    pub(crate) fn send_one(&mut self, now_s: f64, knobs: &Knobs, out: &mut impl Output) {
        let beyond = (self.next - self.highest_ack) as f64;
        if beyond <= knobs.window && self.next < self.limit && beyond <= self.cwnd + f64::from(self.dupacks) {
            self.output(now_s, self.next, knobs, out);
            self.next += 1;
        }
    }

    /// Puts packet `number` on the wire.
    #[inline(always)]
    pub(crate) fn output(&mut self, now_s: f64, number: i64, knobs: &Knobs, out: &mut impl Output) {
        let nothing_outstanding = self.highest_ack == self.highest_sent;
        let retransmission = number <= self.highest_sent;
        self.counters.sent += 1;
        self.counters.retransmitted += u64::from(retransmission);
        self.sent_s = now_s;
        if self.pacer.is_some() {
            self.attend(now_s, number, nothing_outstanding, knobs);
        }
        let (ect, cwr) = if knobs.ecn { self.ecn_flags(number, retransmission, knobs) } else { (false, false) };
        out.send(DataSegment {
            number,
            size_bytes: knobs.wire_size(number),
            retransmission,
            ect,
            cwr,
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
        });
        if !retransmission {
            self.note_new(now_s, number);
        }
        if self.deadline_s == NEVER || nothing_outstanding {
            self.arm_timer(now_s);
        }
    }

    /// The next packet, which is new, from a sender that neither paces nor notes anything for its rule and has just armed its timer: what
    /// [`Sender::output`] would do, and the next after it comes next.
    #[inline(always)]
    pub(crate) fn output_new(&mut self, now_s: f64, knobs: &Knobs, out: &mut impl Output) {
        let number = self.next;
        self.counters.sent += 1;
        self.sent_s = now_s;
        let (ect, cwr) = if knobs.ecn { self.ecn_flags(number, false, knobs) } else { (false, false) };
        let size_bytes = knobs.wire_size(number);
        out.send(DataSegment { number, size_bytes, retransmission: false, ect, cwr, cwnd: self.cwnd, ssthresh: self.ssthresh });
        self.note_new(now_s, number);
        self.next = number + 1;
    }

    /// Packet `number` was sent for the first time: it is timed, unless another is.
    fn note_new(&mut self, now_s: f64, number: i64) {
        self.highest_sent = number;
        if !self.rtt_active {
            self.rtt_active = true;
            if number > self.rtt_number {
                (self.rtt_number, self.rtt_sent_s) = (number, now_s);
            }
        }
    }

    /// What is noted for the rule about a packet sent, and how far behind it the next may follow.
    #[inline(never)]
    fn attend(&mut self, now_s: f64, number: i64, nothing_outstanding: bool, knobs: &Knobs) {
        if let Some(rack) = &mut self.rack {
            rack.on_sent(now_s, number);
        }
        let asks = self.told.as_ref().is_some_and(|told| told.needs.recovery);
        // What recovery sends again is in the scoreboard's count already.
        let is_counted = self.rack.is_some() || (self.in_recovery && number <= self.highest_sent);
        let in_network = if asks { self.in_network(knobs) + u64::from(!is_counted) } else { 0 };
        let lost = self.found_lost();
        if let Some(told) = &mut self.told {
            // The window would allow more than the application has (section 3.1 of the draft on delivery rates).
            let is_app_limited = number + 1 >= self.limit && self.next < self.highest_ack + self.cwnd as i64;
            told.on_sent(now_s, nothing_outstanding, is_app_limited, in_network, lost);
        }
        self.space(now_s, knobs);
    }
}
