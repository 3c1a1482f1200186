//! The sender: what all recovery schemes share. Each event takes the time, changes the state and hands segments to `out`.
//!
//! The order of operations is ns-2's (`tcp/tcp.cc`), because that order decides results; names are the RFCs'.

use crate::ecn::Ecn;
use crate::pacing::Pacer;
use crate::prr::Prr;
use crate::rack::Rack;
use crate::told::Told;
use crate::window::LastCut;
use crate::{AckSegment, Counters, Knobs, NEVER, Output, Recovery, RttEstimator, SackBlocks, Scoreboard, recovery};
use cwndlab_prefetch::prefetch;
use cwndlab_rules::{Rule, WindowRule};

/// Less than any packet's number, and than -1, which stands for none acknowledged.
pub(crate) const NO_PACKET: i64 = i64::MIN;

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
    pub(crate) rtt_active: bool,
    pub(crate) ecn: Ecn,
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
    /// What was acknowledged when the timer last expired, or [`NO_PACKET`].
    pub(crate) timed_out_after: i64,
    /// Packets believed in the network, in SACK recovery.
    pub(crate) pipe: i64,
    /// Packets the application has: numbers below this exist.
    pub(crate) limit: i64,
    pub(crate) rtt_number: i64,
    pub(crate) rtt_sent_s: f64,
    pub(crate) deadline_s: f64,
    /// When the timer was armed.
    pub(crate) armed_at_s: f64,
    /// When the timer would have expired had it not been stopped at the last of the data.
    pub(crate) idle_deadline_s: f64,
    /// When a packet was sent last.
    pub(crate) sent_s: f64,
    settled_s: f64,
    /// The first packet was lost: the first window is one packet at most.
    pub(crate) lost_first: bool,
    pub(crate) rtt: RttEstimator,
    pub(crate) rule: Rule,
    /// What is measured for the rule; none where it looks at the window alone, or is a formula.
    pub(crate) told: Option<Box<Told>>,
    /// Whether the rule is a formula.
    pub(crate) by_formula: bool,
    /// The rule gave an answer that is no window.
    pub(crate) is_faulty: bool,
    /// When it may send next. Where there is one, something is noted about packets sent: for the rule, or because they are spaced out.
    pub(crate) pacer: Option<Box<Pacer>>,
    pub(crate) scoreboard: Option<Box<Scoreboard>>,
    /// There since the first cut, with the knob.
    pub(crate) prr: Option<Box<Prr>>,
    /// Whether the scoreboard may hold anything.
    pub(crate) board_in_use: bool,
    /// In place of the scoreboard, with the knob.
    pub(crate) rack: Option<Box<Rack>>,
    /// Whether it may take the short way of steady acknowledgements.
    pub(crate) short_way: bool,
    /// The receiver's window, whole packets.
    pub(crate) max_window: u32,
    pub(crate) counters: Counters,
}

impl Sender {
    /// A sender that has not started. `packets` of data at first, or unlimited; `timer_phase_s` is its clock's offset in a tick.
    /// What happens to it later takes the same knobs.
    pub fn new(rule: Rule, recovery: Recovery, packets: Option<u64>, timer_phase_s: f64, knobs: &Knobs) -> Self {
        let ssthresh = knobs.initial_ssthresh.min(knobs.window);
        let told = Told::of(&rule);
        let rack = (knobs.rack && recovery.uses_sack()).then(|| Box::new(Rack::new()));
        let is_faulty = rule.needs().faults && rule.fault().is_some();
        let mut new = Self {
            recovery,
            last_cut: LastCut::None,
            first_cut: true,
            first_partial: false,
            in_recovery: false,
            after_timeout: false,
            rescued: false,
            rtt_active: false,
            ecn: Ecn::new(knobs),
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
            timed_out_after: NO_PACKET,
            pipe: 0,
            limit: packets.map_or(i64::MAX / 2, |n| n as i64 + i64::from(knobs.syn)),
            rtt_number: -1,
            rtt_sent_s: 0.0,
            deadline_s: NEVER,
            armed_at_s: 0.0,
            idle_deadline_s: NEVER,
            sent_s: NEVER,
            settled_s: NEVER,
            lost_first: false,
            rtt: RttEstimator::new(knobs, timer_phase_s),
            pacer: (knobs.pacing || told.is_some() || rack.is_some()).then(Box::default),
            told,
            by_formula: matches!(rule, Rule::Formula(_)),
            rule,
            is_faulty,
            scoreboard: None,
            prr: None,
            board_in_use: false,
            rack,
            short_way: false,
            // Nobody has four thousand million packets under way: what is beyond is cut off.
            max_window: knobs.window as u32,
            counters: Counters::default(),
        };
        new.short_way = new.has_short_way(knobs);
        new
    }

    /// As [`Sender::new`], in the place of a sender that is over: its scoreboard's memory serves again.
    pub fn renew(&mut self, rule: Rule, recovery: Recovery, packets: Option<u64>, timer_phase_s: f64, knobs: &Knobs) {
        let mut scoreboard = self.scoreboard.take();
        if let Some(board) = &mut scoreboard {
            board.renew();
        }
        let rack = self.rack.take().map(Rack::renew);
        let new = Self::new(rule, recovery, packets, timer_phase_s, knobs);
        *self = Self { scoreboard, rack: new.rack.as_ref().and(rack), ..new };
    }

    /// Starts sending.
    pub fn start(&mut self, now_s: f64, knobs: &Knobs, out: &mut impl Output) {
        self.settled_s = now_s;
        self.send_much(now_s, knobs, knobs.max_burst, out);
    }

    /// An acknowledgement arrived, with the SACK blocks it carried.
    #[inline(always)]
    pub fn on_ack(&mut self, now_s: f64, ack: AckSegment, sack: Option<&SackBlocks>, knobs: &Knobs, out: &mut impl Output) {
        if self.is_steady(ack) {
            return self.on_steady_ack(now_s, ack, knobs, out);
        }
        self.on_ack_in_general(now_s, ack, sack, knobs, out);
    }

    /// The same whatever the sender, its rule and its knobs, and whatever was reported.
    #[inline(never)]
    fn on_ack_in_general(&mut self, now_s: f64, ack: AckSegment, sack: Option<&SackBlocks>, knobs: &Knobs, out: &mut impl Output) {
        // RFC 9293 section 3.10.7.4: what acknowledges data that was never sent is dropped.
        if ack.ack > self.highest_sent {
            return;
        }
        self.settle(now_s);
        self.count_round_trip(now_s, ack);
        if self.told.is_some() {
            self.tell(now_s, ack, knobs);
        }
        if ack.ece && !self.has_noted() {
            self.on_echo(ack.ack, knobs);
        }
        match self.recovery {
            Recovery::Tahoe => recovery::tahoe::on_ack(self, now_s, ack, knobs, out),
            Recovery::Reno | Recovery::NewReno => recovery::reno::on_ack(self, now_s, ack, knobs, out),
            Recovery::Sack if self.rack.is_some() => recovery::rack::on_ack(self, now_s, ack, sack, knobs, out),
            Recovery::Sack => recovery::sack::on_ack(self, now_s, ack, sack, knobs, out),
        }
    }

    /// Has what it keeps elsewhere fetched from memory: an acknowledgement will be here soon.
    #[inline]
    pub fn fetch(&self) {
        self.scoreboard.as_deref().inspect(|board| prefetch(*board));
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

    /// When the last event was, seconds.
    pub fn settled_s(&self) -> f64 {
        self.settled_s
    }

    /// Sums so far, the window's integral up to `now_s` included.
    pub fn counters(&self, now_s: f64) -> Counters {
        let area = self.cwnd * (now_s - self.settled_s).max(0.0);
        Counters { cwnd_area: self.counters.cwnd_area + area, ..self.counters }
    }

    pub(crate) fn has_started(&self) -> bool {
        self.settled_s < NEVER
    }

    pub(crate) fn settle(&mut self, now_s: f64) {
        self.counters.cwnd_area += self.cwnd * (now_s - self.settled_s);
        self.settled_s = now_s;
    }

    pub(crate) fn count_round_trip(&mut self, now_s: f64, ack: AckSegment) {
        self.counters.rtt_sum_s += now_s - ack.sent_s;
        self.counters.rtt_count += 1;
    }

    /// New data was acknowledged: RTT, timer, and where to send next.
    #[inline(always)]
    pub(crate) fn new_ack(&mut self, now_s: f64, ack: AckSegment, knobs: &Knobs) {
        if !knobs.timer_after_sample {
            self.restart_timer(now_s, ack.ack);
        }
        self.dupacks = 0;
        self.last_ack = ack.ack;
        self.previous_highest_ack = self.highest_ack;
        self.highest_ack = ack.ack;
        self.next = self.next.max(ack.ack + 1);
        self.learn_round_trip(now_s, ack, knobs);
        if knobs.timer_after_sample {
            self.restart_timer(now_s, ack.ack);
        }
    }

    /// What an acknowledgement of new data says of the round trip: by its timestamp, or if it covers the packet being timed.
    #[inline]
    pub(crate) fn learn_round_trip(&mut self, now_s: f64, ack: AckSegment, knobs: &Knobs) {
        if knobs.timestamps {
            self.sample_rtt(now_s, ack.echo_s, knobs);
            if knobs.timestamps_reset_backoff {
                self.end_backoff(ack, knobs);
            }
        }
        if self.rtt_active && ack.ack >= self.rtt_number {
            self.end_backoff(ack, knobs);
            self.rtt_active = false;
            if !knobs.timestamps {
                self.sample_rtt(now_s, self.rtt_sent_s, knobs);
            }
        }
    }

    /// The whole of ns-2's `recv_newack_helper`, and the window after the SYN.
    #[inline(always)]
    pub(crate) fn new_ack_and_grow(&mut self, now_s: f64, ack: AckSegment, knobs: &Knobs) {
        let acked = (ack.ack - self.highest_ack).max(0) as u64;
        self.new_ack(now_s, ack, knobs);
        self.ecn.at_one_packet &= ack.ece;
        if !ack.ece || self.has_noted() || self.agree() || self.is_repairing(knobs) {
            self.grow(now_s, ack, acked, knobs);
        }
        self.finish_if_done();
        if self.last_ack == 0 && knobs.delay_growth {
            self.cwnd = self.initial_window(knobs);
        }
    }

    /// The first window, packets.
    pub(crate) fn initial_window(&self, knobs: &Knobs) -> f64 {
        if self.lost_first { knobs.initial_window.min(1.0) } else { knobs.initial_window }
    }

    fn sample_rtt(&mut self, now_s: f64, sent_s: f64, knobs: &Knobs) {
        self.rtt.sample(now_s, sent_s, knobs);
        self.counters.rto_sum_s += self.rtt.timeout_s();
        self.counters.rto_count += 1;
    }
}
