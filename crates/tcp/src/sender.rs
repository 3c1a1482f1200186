//! The sender: what all recovery schemes share. Each event takes the time, changes the state and hands segments to `out`.
//!
//! The order of operations is ns-2's (`tcp/tcp.cc`), because that order decides results; names are the RFCs'.

use crate::window::{Cut, LastCut};
use crate::{AckSegment, DataSegment, Knobs, NEVER, Recovery, RttEstimator, SackBlocks, Scoreboard, recovery};
use cwndlab_rules::{Congestion, Rule};

/// Sums since the start of the flow, for metrics.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Data packets sent, retransmissions included.
    pub sent: u64,
    /// Packets sent again.
    pub retransmitted: u64,
    /// Retransmission time-outs with data outstanding.
    pub timeouts: u64,
    /// Fast retransmits that cut the window.
    pub fast_retransmits: u64,
    /// Cuts in answer to an echoed mark.
    pub ecn_reductions: u64,
    /// Sum of round trips of packets that triggered an acknowledgement, seconds.
    pub rtt_sum_s: f64,
    /// How many.
    pub rtt_count: u64,
    /// Sum of the time-out after each RTT sample, seconds.
    pub rto_sum_s: f64,
    /// How many.
    pub rto_count: u64,
    /// Integral of the window over time, packet seconds.
    pub cwnd_area: f64,
}

/// One TCP sender.
#[derive(Clone, Debug)]
pub struct Sender {
    pub(crate) recovery: Recovery,
    pub(crate) last_cut: LastCut,
    pub(crate) first_cut: bool,
    /// NewReno: a partial acknowledgement was seen in this recovery.
    pub(crate) first_partial: bool,
    /// SACK: in fast recovery.
    pub(crate) in_recovery: bool,
    /// SACK: sending again after a time-out; duplicate acknowledgements mean nothing yet.
    pub(crate) after_timeout: bool,
    /// RFC 6675: the rescue retransmission of this recovery was used.
    pub(crate) rescued: bool,
    rtt_active: bool,
    pub(crate) dupacks: u32,
    pub(crate) cwnd: f64,
    pub(crate) ssthresh: f64,
    /// Window inflation by duplicate acknowledgements, packets.
    pub(crate) dupwnd: i64,
    /// Next packet number to send (ns-2 `t_seqno_`).
    pub(crate) next: i64,
    pub(crate) highest_sent: i64,
    pub(crate) highest_ack: i64,
    pub(crate) previous_highest_ack: i64,
    pub(crate) last_ack: i64,
    /// Highest packet sent at the last cut.
    pub(crate) recover: i64,
    /// What was acknowledged when the timer last expired.
    timed_out_after: Option<i64>,
    /// Packets believed in the network, in SACK recovery.
    pub(crate) pipe: i64,
    /// Packets the application has: numbers below this exist.
    pub(crate) limit: i64,
    rtt_number: i64,
    rtt_sent_s: f64,
    deadline_s: f64,
    /// When the timer was armed.
    armed_at_s: f64,
    settled_s: f64,
    pub(crate) min_rtt_s: f64,
    initial_window: f64,
    pub(crate) rtt: RttEstimator,
    pub(crate) rule: Rule,
    pub(crate) scoreboard: Option<Box<Scoreboard>>,
    /// Whether the scoreboard may hold anything.
    pub(crate) board_in_use: bool,
    /// The receiver's window, whole packets.
    pub(crate) max_window: i64,
    pub(crate) counters: Counters,
}

impl Sender {
    /// A sender that has not started. `packets` of data, or unlimited; `timer_phase_s` is its clock's offset in a tick.
    pub fn new(rule: Rule, recovery: Recovery, packets: Option<u64>, timer_phase_s: f64, knobs: &Knobs) -> Self {
        let ssthresh = knobs.initial_ssthresh.min(knobs.window);
        Self {
            recovery,
            last_cut: LastCut::None,
            first_cut: true,
            first_partial: false,
            in_recovery: false,
            after_timeout: false,
            rescued: false,
            rtt_active: false,
            dupacks: 0,
            cwnd: if knobs.syn && knobs.delay_growth { 1.0 } else { knobs.initial_window },
            ssthresh: if knobs.integer_ssthresh { ssthresh.trunc() } else { ssthresh },
            dupwnd: 0,
            next: 0,
            highest_sent: -1,
            highest_ack: -1,
            previous_highest_ack: -1,
            last_ack: -1,
            recover: 0,
            timed_out_after: None,
            pipe: 0,
            limit: packets.map_or(i64::MAX / 2, |n| n as i64 + i64::from(knobs.syn)),
            rtt_number: -1,
            rtt_sent_s: 0.0,
            deadline_s: NEVER,
            armed_at_s: 0.0,
            settled_s: NEVER,
            min_rtt_s: f64::MAX,
            initial_window: knobs.initial_window,
            rtt: RttEstimator::new(knobs, timer_phase_s),
            rule,
            scoreboard: None,
            board_in_use: false,
            max_window: knobs.window as i64,
            counters: Counters::default(),
        }
    }

    /// Starts sending.
    pub fn start(&mut self, now_s: f64, knobs: &Knobs, out: &mut impl FnMut(DataSegment)) {
        self.settled_s = now_s;
        self.send_much(now_s, knobs, knobs.max_burst, out);
    }

    /// An acknowledgement arrived, with the SACK blocks it carried.
    #[inline]
    pub fn on_ack(&mut self, now_s: f64, ack: &AckSegment, sack: Option<&SackBlocks>, knobs: &Knobs, out: &mut impl FnMut(DataSegment)) {
        // RFC 9293 section 3.10.7.4: what acknowledges data that was never sent is dropped.
        if ack.ack > self.highest_sent {
            return;
        }
        self.settle(now_s);
        let rtt_s = now_s - ack.sent_s;
        self.counters.rtt_sum_s += rtt_s;
        self.counters.rtt_count += 1;
        self.min_rtt_s = self.min_rtt_s.min(rtt_s);
        match self.recovery {
            Recovery::Tahoe => recovery::tahoe::on_ack(self, now_s, ack, knobs, out),
            Recovery::Reno | Recovery::NewReno => recovery::reno::on_ack(self, now_s, ack, knobs, out),
            Recovery::Sack => recovery::sack::on_ack(self, now_s, ack, sack, knobs, out),
        }
    }

    /// The retransmission timer expired.
    pub fn on_timeout(&mut self, now_s: f64, knobs: &Knobs, out: &mut impl FnMut(DataSegment)) {
        self.settle(now_s);
        self.deadline_s = NEVER;
        if self.is_finished() {
            // A late duplicate acknowledgement armed it again.
            return;
        }
        if self.recovery != Recovery::Tahoe {
            self.dupwnd = 0;
            self.dupacks = 0;
        }
        if self.recovery == Recovery::Sack {
            recovery::sack::on_timeout(self, knobs);
        }
        self.cwnd = self.cwnd.max(1.0);
        if self.highest_ack == self.highest_sent {
            // Nothing outstanding: the window had fallen below one packet.
            self.cwnd = 1.0;
            self.first_cut = false;
            self.arm_timer(now_s);
        } else {
            self.recover = self.highest_sent;
            if self.highest_ack == -1 && knobs.restart_after_syn_loss {
                self.initial_window = self.initial_window.min(1.0);
            }
            self.counters.timeouts += 1;
            let ssthresh = self.ssthresh;
            self.cut(Cut::ToOne(Congestion::Timeout), knobs);
            if knobs.hold_ssthresh && self.timed_out_after == Some(self.highest_ack) {
                self.ssthresh = ssthresh;
            }
            self.timed_out_after = Some(self.highest_ack);
            self.rtt.back_off(knobs);
            self.arm_timer(now_s);
        }
        self.last_cut = LastCut::Timeout;
        self.go_back();
        self.send_much(now_s, knobs, knobs.max_burst, out);
    }

    /// When the retransmission timer expires, or [`NEVER`].
    #[inline]
    pub fn deadline_s(&self) -> f64 {
        self.deadline_s
    }

    /// When the retransmission timer was armed last, seconds.
    pub fn armed_at_s(&self) -> f64 {
        self.armed_at_s
    }

    /// The application has `packets` more of data: sends what the window allows of it.
    pub fn supply(&mut self, now_s: f64, packets: u64, knobs: &Knobs, out: &mut impl FnMut(DataSegment)) {
        self.settle(now_s);
        self.limit = self.limit.saturating_add_unsigned(packets);
        self.send_much(now_s, knobs, knobs.max_burst, out);
    }

    /// Stops for good: the application closed.
    pub fn stop(&mut self, now_s: f64) {
        self.settle(now_s);
        self.limit = self.limit.min(self.highest_sent + 1);
        self.deadline_s = if self.is_finished() { NEVER } else { self.deadline_s };
    }

    /// Whether all data was acknowledged.
    pub fn is_finished(&self) -> bool {
        self.highest_ack >= self.limit - 1
    }

    /// The first packet that was not acknowledged.
    pub fn first_unacknowledged(&self) -> i64 {
        self.highest_ack + 1
    }

    /// Congestion window, packets.
    #[inline]
    pub fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// Slow-start threshold, packets.
    #[inline]
    pub fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    /// Smoothed round trip, seconds.
    pub fn srtt_s(&self, knobs: &Knobs) -> f64 {
        self.rtt.srtt_s(knobs)
    }

    /// Sums so far, the window's integral up to `now_s` included.
    pub fn counters(&self, now_s: f64) -> Counters {
        let area = self.cwnd * (now_s - self.settled_s).max(0.0);
        Counters { cwnd_area: self.counters.cwnd_area + area, ..self.counters }
    }

    fn settle(&mut self, now_s: f64) {
        self.counters.cwnd_area += self.cwnd * (now_s - self.settled_s);
        self.settled_s = now_s;
    }

    /// Window that bounds sending, whole packets.
    pub(crate) fn window(&self) -> i64 {
        (self.cwnd as i64 + self.dupwnd).min(self.max_window)
    }

    /// Sends what the window allows.
    pub(crate) fn send_much(&mut self, now_s: f64, knobs: &Knobs, burst: u32, out: &mut impl FnMut(DataSegment)) {
        if self.recovery == Recovery::Sack {
            return recovery::sack::send_much(self, now_s, knobs, burst, out);
        }
        let mut sent = 0;
        while self.next <= self.highest_ack + self.window() && self.next < self.limit {
            self.output(now_s, self.next, knobs, out);
            self.next += 1;
            sent += 1;
            if burst > 0 && sent == burst {
                break;
            }
        }
    }

    /// Limited transmit (RFC 3042): one new packet on an early duplicate acknowledgement.
    pub(crate) fn send_one(&mut self, now_s: f64, knobs: &Knobs, out: &mut impl FnMut(DataSegment)) {
        let beyond = (self.next - self.highest_ack) as f64;
        if beyond <= knobs.window && self.next < self.limit && beyond <= self.cwnd + f64::from(self.dupacks) {
            self.output(now_s, self.next, knobs, out);
            self.next += 1;
        }
    }

    /// Puts packet `number` on the wire.
    #[inline]
    pub(crate) fn output(&mut self, now_s: f64, number: i64, knobs: &Knobs, out: &mut impl FnMut(DataSegment)) {
        let nothing_outstanding = self.highest_ack == self.highest_sent;
        let retransmission = number <= self.highest_sent;
        self.counters.sent += 1;
        self.counters.retransmitted += u64::from(retransmission);
        out(DataSegment {
            number,
            size_bytes: knobs.wire_size(number),
            retransmission,
            ect: false,
            cwr: false,
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
        });
        if !retransmission {
            self.highest_sent = number;
            if !self.rtt_active {
                self.rtt_active = true;
                if number > self.rtt_number {
                    self.rtt_number = number;
                    self.rtt_sent_s = now_s;
                }
            }
        }
        if self.deadline_s == NEVER || nothing_outstanding {
            self.arm_timer(now_s);
        }
    }

    /// New data was acknowledged: RTT, timer, and where to send next.
    pub(crate) fn new_ack(&mut self, now_s: f64, ack: &AckSegment, knobs: &Knobs) {
        if !knobs.timer_after_sample {
            self.restart_timer(now_s, ack.ack);
        }
        self.dupacks = 0;
        self.last_ack = ack.ack;
        self.previous_highest_ack = self.highest_ack;
        self.highest_ack = ack.ack;
        self.next = self.next.max(ack.ack + 1);
        if knobs.timestamps {
            self.sample_rtt(now_s, ack.echo_s, knobs);
            if knobs.timestamps_reset_backoff {
                self.rtt.reset_backoff(knobs);
            }
        }
        if self.rtt_active && ack.ack >= self.rtt_number {
            self.rtt.reset_backoff(knobs);
            self.rtt_active = false;
            if !knobs.timestamps {
                self.sample_rtt(now_s, self.rtt_sent_s, knobs);
            }
        }
        if knobs.timer_after_sample {
            self.restart_timer(now_s, ack.ack);
        }
    }

    /// The whole of ns-2's `recv_newack_helper`, and the window after the SYN.
    pub(crate) fn new_ack_and_grow(&mut self, now_s: f64, ack: &AckSegment, knobs: &Knobs) {
        let acked = (ack.ack - self.highest_ack).max(0) as u64;
        self.new_ack(now_s, ack, knobs);
        self.grow(now_s, ack, acked, knobs);
        self.finish_if_done();
        if self.last_ack == 0 && knobs.delay_growth {
            self.cwnd = self.initial_window;
        }
    }

    /// Whether a duplicate acknowledgement may trigger fast retransmit (RFC 6582 section 4.1, ns-2 `recover_`).
    pub(crate) fn may_fast_retransmit(&self, knobs: &Knobs) -> bool {
        self.highest_ack > self.recover || !knobs.bug_fix || (knobs.fast_retransmit_first && self.highest_ack == 0)
    }

    /// Arms the timer afresh and stops timing a packet: it may be retransmitted (Karn).
    pub(crate) fn restart_after_cut(&mut self, now_s: f64) {
        self.arm_timer(now_s);
        self.rtt_active = false;
    }

    /// Next to send is the first packet not acknowledged.
    pub(crate) fn go_back(&mut self) {
        self.next = self.highest_ack + 1;
        self.rtt_active = false;
    }

    /// A partial acknowledgement covered the packet being timed.
    pub(crate) fn end_backoff_if_timed(&mut self, ack: i64, knobs: &Knobs) {
        if self.rtt_active && ack >= self.rtt_number {
            self.rtt_active = false;
            self.rtt.reset_backoff(knobs);
        }
    }

    pub(crate) fn arm_timer(&mut self, now_s: f64) {
        self.deadline_s = now_s + self.rtt.timeout_s();
        self.armed_at_s = now_s;
    }

    /// TcpAgent::newtimer.
    pub(crate) fn restart_timer(&mut self, now_s: f64, ack: i64) {
        if self.next > ack || ack < self.highest_sent || self.cwnd < 1.0 {
            self.arm_timer(now_s);
        } else {
            self.deadline_s = NEVER;
        }
    }

    pub(crate) fn finish_if_done(&mut self) {
        if self.is_finished() {
            self.deadline_s = NEVER;
        }
    }

    fn sample_rtt(&mut self, now_s: f64, sent_s: f64, knobs: &Knobs) {
        self.rtt.sample(now_s, sent_s, knobs);
        self.counters.rto_sum_s += self.rtt.timeout_s();
        self.counters.rto_count += 1;
    }
}
