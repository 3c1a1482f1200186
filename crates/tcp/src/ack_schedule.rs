//! When Linux acknowledges: at once at the start, while its window grows, for two packets, at the
//! end of a burst that the application has read, and where a gap is filled; else by a timer of
//! ticks (`__tcp_ack_snd_check`, `tcp_cleanup_rbuf`, `tcp_send_delayed_ack`), or by one of
//! microseconds, where many duplicate ACKs would leave (SACK compression,
//! `tcp_compressed_ack_kick`). The application reads what arrives at once.

use crate::receive_buffer::ReceiveBuffer;
use crate::ticks::{expiry_s, tick_before, ticks_of, whole_us};
use crate::{NEVER, TcpConfig};

/// Shortest and longest time that an ACK is delayed, ticks (Linux `TCP_ATO_MIN`; `TCP_DELACK_MAX`,
/// below the minimum RTO), and the longest before data that do not end a burst.
const LEAST_DELAY: u64 = 40;
const MOST_DELAY: u64 = 199;
const MOST_DELAY_IN_BURST: u64 = 500;
/// Largest time between packets that halves the delay towards the shortest, ticks.
const FAST_INTERVAL: u64 = LEAST_DELAY / 2;
/// ACKs that leave at once after a mark.
const QUICK_AFTER_MARK: u32 = 2;
/// ACKs that leave at once after a packet that is not ECT: it is a retransmission.
const QUICK_AFTER_NOT_ECT: u32 = 2;
/// Duplicate ACKs that leave before others are held back, so that the sender finds the loss, and
/// how many are held back at most.
const DUPLICATES_FIRST: u32 = 3;
const MOST_COMPRESSED: u32 = 44;
/// Longest time that they are held back, nanoseconds.
const MOST_COMPRESSION_NS: i64 = 1_000_000;
/// SACK blocks that an ACK is sure to have room for.
const SURE_BLOCKS: usize = 2;

/// A packet of data as it arrives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) now_s: f64,
    pub(crate) number: i64,
    /// The next packet expected, after this one.
    pub(crate) rcv_nxt: i64,
    /// It arrives twice.
    pub(crate) is_duplicate: bool,
    /// The number of its SACK block, or of blocks if it begins another, before it arrives.
    pub(crate) block: usize,
    /// It ends a burst, or is not full.
    pub(crate) push: bool,
    /// It is the first with a mark that the sender does not know of.
    pub(crate) is_first_mark: bool,
    /// Something else asks for an ACK at once.
    pub(crate) is_urgent: bool,
    /// Whether it is ECT, if the connection uses ECN.
    pub(crate) ect: Option<bool>,
    /// The timestamp that it echoes, milliseconds.
    pub(crate) echoed_ms: u32,
}

/// What follows from an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Now,
    /// Now, with the SACK blocks of before.
    NowAsBefore,
    /// Now, with this window, and again with the window after the application has read.
    Twice(u32),
    Later,
}

/// When ACKs leave (Linux `icsk_ack`).
#[derive(Clone, Debug)]
pub(crate) struct AckSchedule {
    pub(crate) buffer: ReceiveBuffer,
    packet_bytes: i64,
    /// The first packet of data.
    first: i64,
    sack: bool,
    /// ACKs are not delayed.
    is_prompt: bool,
    most_quick: u32,
    /// ACKs that leave at once.
    quick: u32,
    /// How long an ACK is delayed, ticks (Linux `ato`); 0 before the first data.
    delay: u64,
    /// When data arrived in order last, ticks.
    arrived: u64,
    /// Data have arrived since the last ACK.
    owes: bool,
    /// One of these packets ended a burst.
    pushed: bool,
    /// Tick of the delayed ACK.
    timeout: Option<u64>,
    /// The timer behind it, which may run without it, seconds.
    timer_s: f64,
    /// Duplicate ACKs that are held back, and until when, seconds.
    compressed: u32,
    compressed_until_s: f64,
    /// Slack of their timer, nanoseconds.
    slack_ns: i64,
    /// Duplicate ACKs of this packet that left.
    duplicates: u32,
    duplicates_of: i64,
    /// Packets behind a gap.
    held: i64,
    /// When the handshake began, and its RTT, seconds.
    begun_s: f64,
    handshake_s: Option<f64>,
    /// When the clock was read last, seconds: the timestamp of ACKs. The timer of those that are
    /// held back does not read it (`tcp_compressed_ack_kick`).
    pub(crate) clock_s: f64,
    /// When a timer was set last, seconds.
    pub(crate) armed_at_s: f64,
    /// An ECT packet has arrived.
    seen_ect: bool,
    /// Data packets without an ACK of their own.
    pub(crate) withheld: u64,
    /// The last of them, and when it was sent, seconds.
    pub(crate) last_withheld: (i64, f64),
}

/// The clock, microseconds.
fn us(now_s: f64) -> i64 {
    whole_us(now_s) as i64
}

impl AckSchedule {
    /// A receiver that gets a SYN, or the first data, at `now_s`.
    pub(crate) fn new(now_s: f64, sack: bool, config: &TcpConfig) -> Self {
        Self {
            buffer: ReceiveBuffer::new(us(now_s), config),
            packet_bytes: i64::from(config.segment.packet_size),
            first: i64::from(config.handshake.syn),
            sack,
            is_prompt: !config.receiver.delayed_ack,
            most_quick: config.receiver.quick_acks,
            quick: 0,
            delay: 0,
            arrived: 0,
            owes: false,
            pushed: false,
            timeout: None,
            timer_s: NEVER,
            compressed: 0,
            compressed_until_s: NEVER,
            slack_ns: config.receiver.sack_slack.nanoseconds() as i64,
            duplicates: 0,
            duplicates_of: 0,
            held: 0,
            begun_s: now_s,
            handshake_s: None,
            clock_s: now_s,
            armed_at_s: now_s,
            seen_ect: false,
            withheld: 0,
            last_withheld: (0, now_s),
        }
    }

    /// Whether a delayed ACK waits for its timer.
    pub(crate) fn owes_ack(&self) -> bool {
        self.timeout.is_some()
    }

    /// A packet gets no ACK of its own.
    pub(crate) fn withhold(&mut self, number: i64, sent_s: f64) {
        self.withheld += 1;
        self.last_withheld = (number, sent_s);
    }

    /// The handshake ends, unless it has.
    pub(crate) fn note_handshake(&mut self, now_s: f64) {
        if self.handshake_s.is_none() {
            self.handshake_s = Some(now_s - self.begun_s);
            self.buffer.begin(us(now_s));
        }
    }

    /// A packet of data arrives.
    pub(crate) fn on_arrival(&mut self, arrival: &Arrival) -> Answer {
        let &Arrival { now_s, number, rcv_nxt, .. } = arrival;
        self.clock_s = now_s;
        self.note_handshake(now_s);
        self.buffer.note_echo(us(now_s), arrival.echoed_ms);
        if arrival.is_duplicate {
            self.answer_quickly(self.most_quick);
            // A packet before the last ACK asks for another one, which does not count.
            self.owes |= !self.buffer.has_acknowledged(self.position(number + 1));
            return self.acknowledge(rcv_nxt, self.held);
        }
        self.owes = true;
        self.pushed |= arrival.push;
        self.buffer.note_memory();
        let is_in_order = rcv_nxt > number;
        let mut flushes = false;
        if is_in_order {
            self.buffer.note_position(us(now_s), self.position(number + 1));
            self.note_interval(tick_before(now_s));
        }
        if arrival.is_first_mark {
            self.answer_quickly(QUICK_AFTER_MARK);
        }
        match arrival.ect {
            Some(true) => self.seen_ect = true,
            Some(false) if self.seen_ect => self.answer_quickly(QUICK_AFTER_NOT_ECT),
            _ => {}
        }
        if !is_in_order && self.sack && self.compressed > 0 && arrival.block >= SURE_BLOCKS {
            // The ACK that was held back leaves, and none is owed for this packet.
            self.acknowledge(rcv_nxt, self.held);
            flushes = true;
        }
        if (is_in_order || self.sack) && self.buffer.grow(self.held + i64::from(is_in_order)) {
            // Sets a bit: an even number of ACKs becomes one more.
            self.quick |= 1;
        }
        let had_gap = self.held > 0;
        self.held += if is_in_order { number + 1 - rcv_nxt } else { 1 };
        let fills = is_in_order && had_gap && self.held == 0;
        if flushes {
            return Answer::NowAsBefore;
        }
        let unread = if is_in_order { rcv_nxt - number } else { 0 };
        let answer = self.check(now_s, rcv_nxt, unread, arrival.is_urgent || fills);
        if is_in_order { self.read(arrival, answer) } else { answer }
    }

    /// The application reads all that is in order (Linux `__tcp_cleanup_rbuf`), after this answer to
    /// the packet.
    fn read(&mut self, arrival: &Arrival, answer: Answer) -> Answer {
        let &Arrival { now_s, number, rcv_nxt, .. } = arrival;
        // The kernel counts after each packet: the first one, and what it leaves, decide.
        let left = (rcv_nxt - number - 1) * self.packet_bytes;
        self.buffer.read(us(now_s), self.position(number + 1), left);
        let position = self.position(rcv_nxt);
        let ends_burst = self.pushed && self.held == 0;
        if self.owes && (self.buffer.owes_ack(position) || ends_burst) {
            return self.acknowledge(rcv_nxt, self.held);
        }
        if !self.buffer.could_double(position, self.held) {
            return answer;
        }
        let window_bytes = self.buffer.window_bytes();
        self.acknowledge(rcv_nxt, self.held);
        if answer == Answer::Now { Answer::Twice(window_bytes) } else { Answer::Now }
    }

    /// Decides before the application has read (Linux `__tcp_ack_snd_check`).
    fn check(&mut self, now_s: f64, rcv_nxt: i64, unread: i64, is_urgent: bool) -> Answer {
        let in_buffer = self.held + unread;
        let position = self.position(rcv_nxt);
        let has_two = self.buffer.owes_ack(position) && self.buffer.keeps_window(in_buffer);
        if has_two || self.is_prompt || self.quick > 0 || is_urgent {
            return self.acknowledge(rcv_nxt, in_buffer);
        }
        if self.held == 0 {
            return self.delay(now_s, rcv_nxt, in_buffer);
        }
        if !self.sack || self.compressed >= MOST_COMPRESSED {
            return self.acknowledge(rcv_nxt, in_buffer);
        }
        if self.duplicates_of != rcv_nxt {
            (self.duplicates_of, self.duplicates) = (rcv_nxt, 0);
        }
        if self.duplicates < DUPLICATES_FIRST {
            self.duplicates += 1;
            return self.acknowledge(rcv_nxt, in_buffer);
        }
        self.compressed += 1;
        if self.compressed == 1 {
            if self.timer_s <= now_s {
                self.timer_s = NEVER;
            }
            let (rtt_us_8, handshake_us_8) = (self.buffer.rtt_us_8(), self.handshake_us() << 3);
            let is_shorter = handshake_us_8 > 0 && handshake_us_8 < rtt_us_8;
            let rtt_us_8 = if is_shorter { handshake_us_8 } else { rtt_us_8 };
            // 5 % of the RTT.
            let delay_ns = (rtt_us_8 * 125 / 20).min(MOST_COMPRESSION_NS) + self.slack_ns;
            (self.compressed_until_s, self.armed_at_s) = (now_s + delay_ns as f64 * 1e-9, now_s);
        }
        Answer::Later
    }

    /// Delays an ACK (Linux `tcp_send_delayed_ack`).
    fn delay(&mut self, now_s: f64, rcv_nxt: i64, in_buffer: i64) -> Answer {
        let mut delay = self.delay;
        if delay > LEAST_DELAY {
            let most = if self.pushed { MOST_DELAY } else { MOST_DELAY_IN_BURST };
            let rtt = ticks_of(self.handshake_us() as f64 * 1e-6).max(LEAST_DELAY);
            delay = delay.min(most).min(rtt);
        }
        let (now, delay) = (tick_before(now_s), delay.min(MOST_DELAY));
        let mut timeout = now + delay;
        if let Some(before) = self.timeout {
            if before <= now + delay / 4 {
                return self.acknowledge(rcv_nxt, in_buffer);
            }
            timeout = timeout.min(before);
        }
        self.timeout = Some(timeout);
        (self.timer_s, self.armed_at_s) = (expiry_s(now, timeout), now_s);
        Answer::Later
    }

    /// The next ACKs leave at once, with the shortest delay afterwards.
    fn answer_quickly(&mut self, most: u32) {
        self.quick = self.quick.max(self.buffer.quick_acks(most));
        self.delay = LEAST_DELAY;
    }

    /// Data arrive in order at this tick: the delay follows the time between them.
    fn note_interval(&mut self, now: u64) {
        let interval = now.saturating_sub(self.arrived);
        if self.delay == 0 {
            self.quick = self.quick.max(self.buffer.quick_acks(self.most_quick));
            self.delay = LEAST_DELAY;
        } else if interval <= FAST_INTERVAL {
            self.delay = self.delay / 2 + FAST_INTERVAL;
        } else if interval < self.delay {
            self.delay = (self.delay / 2 + interval).min(self.rto()).min(MOST_DELAY + 1);
        } else if interval > self.rto() {
            self.quick = self.quick.max(self.buffer.quick_acks(self.most_quick));
        }
        self.arrived = now;
    }

    /// An ACK leaves; so many packets are in the buffer.
    fn acknowledge(&mut self, rcv_nxt: i64, in_buffer: i64) -> Answer {
        if self.buffer.offer(self.position(rcv_nxt), in_buffer) {
            self.quick = 0;
        }
        (self.compressed, self.compressed_until_s) = (0, NEVER);
        if self.quick > 0 && self.owes {
            self.quick -= 1;
            if self.quick == 0 {
                self.delay = LEAST_DELAY;
            }
        }
        (self.owes, self.pushed, self.timeout) = (false, false, None);
        Answer::Now
    }

    /// When a timer expires, seconds, or [`NEVER`].
    pub(crate) fn deadline_s(&self) -> f64 {
        let has_timer = self.timeout.is_some() || self.compressed > 0;
        self.compressed_until_s.min(if has_timer { self.timer_s } else { NEVER })
    }

    /// A timer expires; returns whether an ACK leaves.
    pub(crate) fn on_timer(&mut self, now_s: f64, rcv_nxt: i64) -> bool {
        if self.compressed == 0 {
            self.timer_s = NEVER;
            self.clock_s = now_s;
            if self.timeout.take().is_none() || !self.owes {
                return false;
            }
            // The other half of a pair did not come.
            self.delay = (2 * self.delay).min(self.rto()).min(MOST_DELAY + 1);
        } else if now_s >= self.timer_s {
            (self.timer_s, self.clock_s) = (NEVER, now_s);
        }
        self.acknowledge(rcv_nxt, self.held);
        self.withheld -= 1;
        true
    }

    /// RTT of the handshake, microseconds.
    fn handshake_us(&self) -> i64 {
        self.handshake_s.map_or(0, us)
    }

    /// RTO of this end, ticks: only the handshake has given it an RTT.
    fn rto(&self) -> u64 {
        let rtt_s = self.handshake_s.unwrap_or(1.0);
        ticks_of(rtt_s + (2.0 * rtt_s).max(0.2))
    }

    /// Position of a packet's first byte.
    fn position(&self, number: i64) -> i64 {
        (number - self.first) * self.packet_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;

    fn schedule() -> AckSchedule {
        let mut config = TcpConfig::profile(Profile::Linux);
        config.receiver.receive_buffer = 33_554_432;
        AckSchedule::new(0.0, true, &config)
    }

    fn arrival(now_s: f64, number: i64, rcv_nxt: i64) -> Arrival {
        Arrival {
            now_s,
            number,
            rcv_nxt,
            is_duplicate: false,
            block: 0,
            push: false,
            is_first_mark: false,
            is_urgent: false,
            ect: None,
            echoed_ms: 1,
        }
    }

    /// Packets 1 to `last` arrive in order, ten each millisecond from 20 ms on: in less than an
    /// RTT, so that the buffer stays.
    fn answers(schedule: &mut AckSchedule, last: i64) -> Vec<Answer> {
        let at_s = |number: i64| 0.02 + number as f64 * 1e-4;
        (1..=last)
            .map(|number| schedule.on_arrival(&arrival(at_s(number), number, number + 1)))
            .collect()
    }

    /// 16 quick ACKs, which the six packets that the window grows by do not use up: 22. Then every
    /// second packet.
    #[test]
    fn the_first_packets_are_acknowledged_at_once() {
        let done = answers(&mut schedule(), 26);
        assert!(done[..22].iter().all(|answer| *answer == Answer::Now), "{done:?}");
        assert_eq!(done[22..], [Answer::Later, Answer::Now, Answer::Later, Answer::Now]);
    }

    /// A single packet waits 40 ms, to the tick behind, and the next one 80.
    #[test]
    fn a_delay_that_was_for_nothing_doubles() {
        let mut schedule = schedule();
        let last = 23;
        assert_eq!(answers(&mut schedule, last).last(), Some(&Answer::Later));
        schedule.withhold(last, 0.0);
        // Packet 23 arrives in tick 22.
        assert!((schedule.deadline_s() - 0.063).abs() < 1e-9, "{}", schedule.deadline_s());
        assert!(schedule.on_timer(0.063, last + 1));
        assert_eq!((schedule.delay, schedule.deadline_s()), (80, NEVER));
    }

    /// Every second packet is acknowledged, but two at once from the retransmission on, which is
    /// not ECT (Linux `__tcp_ecn_check_ce`).
    #[test]
    fn packets_after_one_that_is_not_ect_are_acknowledged_at_once() {
        let mut schedule = schedule();
        answers(&mut schedule, 22);
        let mut answer = |number: i64, ect: bool| {
            let at_s = 0.02 + number as f64 * 1e-4;
            let arrival = arrival(at_s, number, number + 1);
            schedule.on_arrival(&Arrival { ect: Some(ect), ..arrival })
        };
        assert_eq!([answer(23, true), answer(24, true)], [Answer::Later, Answer::Now]);
        assert_eq!([answer(25, false), answer(26, true)], [Answer::Now, Answer::Now]);
        assert_eq!([answer(27, true), answer(28, true)], [Answer::Later, Answer::Now]);
    }

    #[test]
    fn the_end_of_a_burst_is_acknowledged_when_it_is_read() {
        let mut schedule = schedule();
        answers(&mut schedule, 22);
        let push = Arrival { push: true, ..arrival(0.0225, 23, 24) };
        assert_eq!(schedule.on_arrival(&push), Answer::Now);
    }

    /// The window grows with the first packet behind the gap, which is acknowledged for that. Then
    /// three duplicate ACKs, and one for what arrives in 1.1 ms: 5 % of the RTT of 20 ms, and 0.1
    /// ms that a timer may take. What closes the gap is acknowledged at once.
    #[test]
    fn later_duplicate_acks_are_held_back() {
        let mut schedule = schedule();
        schedule.note_handshake(0.02);
        answers(&mut schedule, 24);
        let duplicate = |number| arrival(0.0225 + number as f64 * 1e-4, number, 25);
        let done: Vec<Answer> =
            (26..33).map(|number| schedule.on_arrival(&duplicate(number))).collect();
        assert_eq!(done[..4], [Answer::Now; 4]);
        assert_eq!(done[4..], [Answer::Later; 3]);
        assert!((schedule.deadline_s() - (duplicate(30).now_s + 1.1e-3)).abs() < 1e-9);
        assert_eq!(schedule.on_arrival(&arrival(0.0259, 25, 33)), Answer::Now);
        assert_eq!(schedule.deadline_s(), NEVER);
    }

    /// The third SACK block would displace what only a held back ACK reports.
    #[test]
    fn a_third_block_releases_the_ack_that_is_held_back() {
        let mut schedule = schedule();
        schedule.note_handshake(0.02);
        answers(&mut schedule, 24);
        for number in 26..31 {
            schedule.on_arrival(&arrival(0.0250, number, 25));
        }
        let third = Arrival { block: 2, ..arrival(0.0251, 33, 25) };
        assert_eq!(schedule.on_arrival(&third), Answer::NowAsBefore);
    }
}
