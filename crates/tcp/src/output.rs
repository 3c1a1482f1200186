//! Output of the sender: how many packets the window allows, and the segments put on the wire.

use crate::{DataSegment, Knobs, NEVER, Output, Recovery, Sender, recovery};

impl Sender {
    /// Window that bounds sending, whole packets: min(cwnd + window inflation, rwnd).
    pub(crate) fn send_window(&self) -> i64 {
        // rwnd has 32 bits, so a larger cwnd has no effect; conversion to 64 bits takes twice as
        // many instructions.
        (i64::from(self.cwnd as u32) + self.dupwnd).min(i64::from(self.rwnd))
    }

    /// Sends as many packets as the window, pacing and `burst` allow.
    pub(crate) fn send_pending_data(
        &mut self,
        now_s: f64,
        knobs: &Knobs,
        burst: u32,
        out: &mut impl Output,
    ) {
        if self.rack.is_some() {
            return recovery::rack_tlp::send_pending_data(self, now_s, knobs, burst, out);
        }
        if self.recovery == Recovery::Sack {
            return recovery::sack::send_pending_data(self, now_s, knobs, burst, out);
        }
        let mut sent = 0;
        while self.snd_nxt <= self.highest_ack + self.send_window()
            && self.snd_nxt < self.data_end
            && self.pacing_allows(now_s)
        {
            self.output(now_s, self.snd_nxt, knobs, out);
            self.snd_nxt += 1;
            sent += 1;
            if burst > 0 && sent == burst {
                break;
            }
        }
    }

    /// Limited transmit (RFC 3042): sends one new packet on an early duplicate ACK.
    pub(crate) fn send_limited_transmit(
        &mut self,
        now_s: f64,
        knobs: &Knobs,
        out: &mut impl Output,
    ) {
        let beyond = (self.snd_nxt - self.highest_ack) as f64;
        if beyond <= knobs.window
            && self.snd_nxt < self.data_end
            && beyond <= self.cwnd + f64::from(self.dupacks)
        {
            self.output(now_s, self.snd_nxt, knobs, out);
            self.snd_nxt += 1;
        }
    }

    /// Puts packet `number` on the wire.
    #[inline(always)]
    pub(crate) fn output(&mut self, now_s: f64, number: i64, knobs: &Knobs, out: &mut impl Output) {
        let nothing_outstanding = self.highest_ack == self.highest_sent;
        let retransmission = number <= self.highest_sent;
        self.counters.sent += 1;
        self.counters.retransmitted += u64::from(retransmission);
        self.last_sent_s = now_s;
        if self.pacer.is_some() {
            self.on_packet_sent(now_s, number, nothing_outstanding, knobs);
        }
        let (ect, cwr) =
            if knobs.ecn { self.ecn_flags(number, retransmission, knobs) } else { (false, false) };
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
            self.on_new_data_sent(now_s, number);
        }
        if self.deadline_s == NEVER || nothing_outstanding {
            self.arm_timer(now_s);
        }
    }

    /// Puts the next new packet on the wire, as [`Sender::output`] does, for a sender without
    /// pacing or rate samples whose timer was just armed.
    #[inline(always)]
    pub(crate) fn output_new(&mut self, now_s: f64, knobs: &Knobs, out: &mut impl Output) {
        let number = self.snd_nxt;
        self.counters.sent += 1;
        self.last_sent_s = now_s;
        let (ect, cwr) =
            if knobs.ecn { self.ecn_flags(number, false, knobs) } else { (false, false) };
        let size_bytes = knobs.wire_size(number);
        out.send(DataSegment {
            number,
            size_bytes,
            retransmission: false,
            ect,
            cwr,
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
        });
        self.on_new_data_sent(now_s, number);
        self.snd_nxt = number + 1;
    }

    /// Records that packet `number` was sent for the first time, and times it unless another packet
    /// is being timed (Karn's algorithm).
    fn on_new_data_sent(&mut self, now_s: f64, number: i64) {
        self.highest_sent = number;
        if !self.rtt_active {
            self.rtt_active = true;
            if number > self.rtt_seq {
                (self.rtt_seq, self.rtt_sent_s) = (number, now_s);
            }
        }
    }

    /// Updates loss detection, rate samples and pacing for a sent packet.
    #[inline(never)]
    fn on_packet_sent(
        &mut self,
        now_s: f64,
        number: i64,
        nothing_outstanding: bool,
        knobs: &Knobs,
    ) {
        if let Some(rack) = &mut self.rack {
            rack.on_sent(now_s, number);
        }
        // The scoreboard already counts retransmissions made in recovery.
        let is_counted = self.rack.is_some() || (self.in_recovery && number <= self.highest_sent);
        let packets_in_flight = if self.needs.recovery {
            self.packets_in_flight(knobs) + u64::from(!is_counted)
        } else {
            0
        };
        let lost = self.lost_packets();
        if let Some(sampler) = &mut self.rate_sampler
            && self.needs.delivery_rate
        {
            // cwnd allows more than the application supplies (section 3.1 of
            // draft-cheng-iccrg-delivery-rate-estimation).
            let is_app_limited =
                number + 1 >= self.data_end && self.snd_nxt < self.highest_ack + self.cwnd as i64;
            sampler.on_sent(now_s, nothing_outstanding, is_app_limited, packets_in_flight, lost);
        }
        self.update_pacing(now_s, knobs);
    }
}
