//! Output of the sender: how many packets the window allows, and the segments put on the wire.

use crate::tcb::{Flight, Tcb};
use crate::{DataSegment, Ecn, TcpConfig};
use cwndlab_rules::WindowRule;

/// Destination of a sender's segments: a closure, or a type that implements it for inlining.
///
/// ```
/// use cwndlab_tcp::{DataSegment, Output, Sender};
/// # use cwndlab_rules::{Arithmetic, RuleSpec};
/// # use cwndlab_tcp::{Profile, Recovery, TcpConfig, tcp_config};
/// # let config = tcp_config!(TcpConfig::profile(Profile::Rfc), handshake.syn = false);
/// # let rule = "NewReno".parse::<RuleSpec>().unwrap().build(Arithmetic::Plain);
/// # let mut sender = Sender::new(rule, Recovery::Sack, None, 0.0, &config);
/// struct Wire(Vec<i64>);
/// impl Output for Wire {
///     fn send(&mut self, segment: DataSegment) {
///         self.0.push(segment.number);
///     }
/// }
/// let mut wire = Wire(Vec::new());
/// sender.start(0.0, &config, &mut wire);
/// assert_eq!(wire.0, [0, 1, 2, 3]); // the initial window of RFC 3390
/// ```
pub trait Output {
    /// Takes a segment.
    fn send(&mut self, segment: DataSegment);
}

impl<F: FnMut(DataSegment)> Output for F {
    #[inline]
    fn send(&mut self, segment: DataSegment) {
        self(segment);
    }
}

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
        i64::from(self.cwnd as u32) + self.window_inflation
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
        config: &TcpConfig,
        burst: u32,
        out: &mut impl Output,
    ) {
        let mut sent = 0;
        while self.snd_nxt <= self.highest_ack + self.send_window()
            && self.snd_nxt < self.data_end
            && self.pacing_allows(now_s)
        {
            self.transmit(now_s, self.snd_nxt, config, out);
            self.snd_nxt += 1;
            sent += 1;
            if burst > 0 && sent == burst {
                break;
            }
        }
    }

    /// The new packet that limited transmit (RFC 3042) sends on an early duplicate ACK, if any.
    pub(crate) fn next_of_limited_transmit(&self, config: &TcpConfig) -> Option<i64> {
        let beyond = (self.snd_nxt - self.highest_ack) as f64;
        let allows = config.recovery.limited_transmit
            && beyond <= f64::from(self.rwnd)
            && self.snd_nxt < self.data_end
            && beyond <= self.cwnd + f64::from(self.dupacks);
        allows.then_some(self.snd_nxt)
    }

    /// The last of the up to two new packets that F-RTO sends after `ack` (RFC 5682 section 2.1
    /// step 2b), if any.
    pub(crate) fn last_new_packet(&self, ack: i64) -> Option<i64> {
        let allowed = (self.data_end - 1).min(ack + i64::from(self.rwnd));
        (allowed > self.highest_sent).then_some(allowed.min(self.highest_sent + 2))
    }

    /// Limited transmit, for recovery schemes that count what is outstanding.
    pub(crate) fn limited_transmit(
        &mut self,
        now_s: f64,
        config: &TcpConfig,
        out: &mut impl Output,
    ) {
        if let Some(number) = self.next_of_limited_transmit(config) {
            self.transmit(now_s, number, config, out);
            self.snd_nxt += 1;
        }
    }

    /// Puts packet `number` on the wire, for recovery schemes that count what is outstanding.
    pub(crate) fn transmit(
        &mut self,
        now_s: f64,
        number: i64,
        config: &TcpConfig,
        out: &mut impl Output,
    ) {
        let mut flight = self.flight();
        flight.in_flight += u64::from(self.needs.recovery);
        self.output(now_s, number, flight, config, out);
    }

    /// Puts packet `number` on the wire. `flight`: packets in flight with this one, and lost.
    #[inline(always)]
    pub(crate) fn output(
        &mut self,
        now_s: f64,
        number: i64,
        flight: Flight,
        config: &TcpConfig,
        out: &mut impl Output,
    ) {
        out.send(self.segment::<false>(now_s, number, flight, config));
    }

    /// Packet `number`, and the state after it is sent.
    #[inline(always)]
    pub(crate) fn segment<const PREDICTED: bool>(
        &mut self,
        now_s: f64,
        number: i64,
        flight: Flight,
        config: &TcpConfig,
    ) -> DataSegment {
        let nothing_outstanding = !PREDICTED && self.highest_ack == self.highest_sent;
        let retransmission = !PREDICTED && number <= self.highest_sent;
        self.counters.sent += 1;
        self.counters.retransmitted += u64::from(retransmission);
        self.last_sent_s = now_s;
        if !PREDICTED && self.pacer.is_some() {
            self.on_packet_sent(now_s, nothing_outstanding, flight, config);
        }
        let (ecn, cwr) = if config.ecn.ecn {
            self.ecn.flags(number, retransmission, config)
        } else {
            (Ecn::NotEct, false)
        };
        let size_bytes = match &self.short_packet {
            _ if PREDICTED => config.data_wire_size(),
            Some(short) if short.number == number => config.wire_size_of(short.payload_bytes),
            _ => config.wire_size(number),
        };
        let (cwnd, ssthresh) = (self.cwnd, self.ssthresh);
        if retransmission {
            if config.recovery.undo {
                self.note_retransmission(now_s, number);
            }
        } else {
            self.highest_sent = number;
            self.timer.time_packet(now_s, number);
        }
        if !PREDICTED && (!self.timer.is_armed() || nothing_outstanding) {
            self.arm_timer(now_s);
        }
        let push = self.push;
        DataSegment { number, size_bytes, retransmission, ecn, cwr, cwnd, ssthresh, push }
    }

    /// Updates rate samples and pacing for a sent packet.
    #[inline(never)]
    fn on_packet_sent(
        &mut self,
        now_s: f64,
        nothing_outstanding: bool,
        flight: Flight,
        config: &TcpConfig,
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
        if self.is_paced_as_linux() {
            // Its bursts pace as a whole.
            return;
        }
        let rate = self.pacing_rate(config).filter(|rate| *rate > 0.0);
        if let (Some(rate), Some(pacer)) = (rate, &mut self.pacer) {
            pacer.on_sent(now_s, rate);
        }
    }

    /// Whether a rule of Linux's paces, in Linux's bursts.
    pub(crate) fn is_paced_as_linux(&self) -> bool {
        self.needs.samples && self.needs.pacing
    }

    /// Packets left as one, which the rule paces in Linux's way. Linux does not pace the first ten.
    pub(crate) fn note_burst(&mut self, now_s: f64, packets: i64, config: &TcpConfig) {
        const UNPACED: u64 = 10;
        if !self.is_paced_as_linux() {
            return;
        }
        let data_packets = self.counters.sent - u64::from(config.handshake.syn);
        let rate = self.rule.pacing_rate().filter(|_| data_packets >= UNPACED);
        let bytes = packets as u64 * u64::from(config.segment.packet_size);
        if let Some(pacer) = &mut self.pacer {
            pacer.on_burst(now_s, bytes, rate.map(|rate| rate.bytes_s));
        }
    }

    /// The next departure by pacing in Linux's way, or now; seconds.
    pub(crate) fn departure_s(&self, now_s: f64) -> f64 {
        let paced = self.pacer.as_ref().filter(|_| self.is_paced_as_linux());
        paced.map_or(now_s, |pacer| now_s.max(pacer.next_departure_s()))
    }

    /// Pacing rate, packets per second; none where ACKs alone clock the sender.
    fn pacing_rate(&self, config: &TcpConfig) -> Option<f64> {
        if let Some(rate) = self.rule.pacing_rate_packets_s() {
            return Some(rate);
        }
        // Linux (sk_pacing_rate): 2 cwnd/srtt in slow start, 1.2 cwnd/srtt in congestion avoidance.
        let factor = if self.cwnd < self.ssthresh { 2.0 } else { 1.2 };
        let srtt_s = self.rtt.srtt_s(config);
        (config.growth.pacing && srtt_s > 0.0).then(|| factor * self.cwnd / srtt_s)
    }

    /// Whether pacing allows a packet now; if not, the pacing timer is armed.
    #[inline]
    pub(crate) fn pacing_allows(&mut self, now_s: f64) -> bool {
        if self.pacer.as_mut().is_none_or(|pacer| pacer.allows(now_s)) {
            return true;
        }
        // RFC 9002 section 7.8: cwnd limits a sender that would have filled it without pacing.
        let would_fill = self.congestion_window() <= i64::from(self.rwnd)
            && self.highest_ack + self.congestion_window() < self.data_end;
        if would_fill && self.rule.pacing_rate_packets_s().is_some() {
            self.validation.note_full(self.snd_nxt);
        }
        false
    }

    /// Whether the receiver's window alone keeps data back.
    pub(crate) fn is_window_shut(&self) -> bool {
        self.snd_nxt < self.data_end && self.snd_nxt > self.highest_ack + i64::from(self.rwnd)
    }

    /// Whether the timer that is armed is the persist timer.
    pub(crate) fn is_persisting(&self) -> bool {
        self.persist.is_running() && self.outstanding() == 0
    }

    /// Arms the persist timer if the window is shut and nothing is outstanding; an ACK that leaves
    /// it shut arms it anew (Linux `tcp_ack_probe`).
    #[inline]
    pub(crate) fn persist_if_shut(&mut self, now_s: f64, config: &TcpConfig) {
        if self.rwnd == 0 && self.outstanding() == 0 && self.is_window_shut() {
            self.persist.arm(&mut self.timer, now_s, self.rtt.rto_s(), config);
        }
    }

    /// Sends a window probe: no data, and the number of the last packet acknowledged, so that the
    /// receiver answers (Linux `tcp_xmit_probe_skb`).
    #[cold]
    #[inline(never)]
    pub(crate) fn probe_window(&mut self, now_s: f64, config: &TcpConfig, out: &mut impl Output) {
        out.send(DataSegment {
            push: false,
            number: self.highest_ack,
            size_bytes: config.wire_size_of(0),
            retransmission: false,
            ecn: Ecn::NotEct,
            cwr: false,
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
        });
        self.counters.sent += 1;
        self.persist.note_probe();
        self.persist.arm(&mut self.timer, now_s, self.rtt.rto_s(), config);
    }

    /// The receiver's window changed: an open one stops the persist timer.
    pub(crate) fn stop_persist_if_open(&mut self) {
        if self.persist.is_running() && !self.is_window_shut() {
            if self.outstanding() == 0 {
                self.timer.stop();
            }
            self.persist.stop();
        }
    }
}
