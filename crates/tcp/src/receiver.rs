//! The receiver: cumulative and selective acknowledgements, at once or delayed (ns-2 `tcp-sink.cc`, RFC 2018, RFC 5681 section 4.2).

use crate::{AckSegment, Bits, Knobs, NEVER, SackBlocks};
use cwndlab_prefetch::prefetch;

/// One TCP receiver.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// Next packet expected.
    next: i64,
    highest: i64,
    last_ack_sent: i64,
    echo_s: f64,
    /// Packets beyond a gap, and the blocks reported about them.
    beyond: Option<Box<Beyond>>,
    /// Whether there is a gap, or was one at the last acknowledgement; so it is said before the first packet, which takes a closer look.
    gap: bool,
    /// There where an acknowledgement was delayed.
    delay: Option<Box<Delay>>,
    sack: bool,
    /// A mark arrived, and no packet since then said that the window was cut (ns-2 `ecn_unacked_`).
    echo_mark: bool,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    number: i64,
    sent_s: f64,
    ce: bool,
}

/// What a receiver that delays acknowledgements knows beside the rest.
#[derive(Clone, Debug)]
struct Delay {
    /// The packet whose acknowledgement is delayed.
    held: Option<Held>,
    deadline_s: f64,
    /// When that deadline was set.
    armed_at_s: f64,
    /// Packets that were not acknowledged by themselves.
    unanswered: u64,
}

impl Default for Delay {
    fn default() -> Self {
        Self { held: None, deadline_s: NEVER, armed_at_s: 0.0, unanswered: 0 }
    }
}

#[derive(Clone, Debug, Default)]
struct Beyond {
    received: Bits,
    /// Blocks of the last acknowledgement, most recent first.
    reported: SackBlocks,
}

impl Receiver {
    /// Has what it keeps elsewhere fetched from memory: a packet will be here soon.
    #[inline]
    pub fn fetch(&self) {
        self.beyond.as_deref().inspect(|beyond| prefetch(*beyond));
    }

    /// A receiver that expects packet 0; `sack` says whether it reports blocks.
    pub fn new(sack: bool) -> Self {
        Self { next: 0, highest: -1, last_ack_sent: 0, echo_s: 0.0, beyond: None, gap: true, delay: None, sack, echo_mark: false }
    }

    /// As [`Receiver::new`], in the place of a receiver whose flow is over: the memory for what lies beyond a gap serves again.
    pub fn renew(&mut self, sack: bool) {
        let mut beyond = self.beyond.take();
        if let Some(beyond) = &mut beyond {
            beyond.received.renew();
            beyond.reported = SackBlocks::default();
        }
        let mut delay = self.delay.take();
        delay.iter_mut().for_each(|delay| **delay = Delay::default());
        *self = Self { beyond, delay, ..Self::new(sack) };
    }

    /// A data packet arrived. Returns whether it was new, and the acknowledgement to send now, if any.
    ///
    /// `ce`: a queue marked it; `cwr`: it says that the sender has cut its window (RFC 3168 section 6.1).
    #[inline(always)]
    pub fn on_data(&mut self, now_s: f64, number: i64, sent_s: f64, ce: bool, cwr: bool, knobs: &Knobs) -> (bool, Option<AckSegment>) {
        if number == self.next && !self.gap && !knobs.delayed_ack && !(ce | cwr) {
            // In order, as most packets are.
            (self.next, self.highest, self.last_ack_sent, self.echo_s) = (number + 1, number, number, sent_s);
            return (
                true,
                Some(AckSegment { ack: number, sent_s, echo_s: sent_s, size_bytes: knobs.ack_wire_size(), ece: self.echo_mark }),
            );
        }
        self.on_data_slow(now_s, number, sent_s, ce, cwr, knobs)
    }

    #[inline(never)]
    fn on_data_slow(&mut self, now_s: f64, number: i64, sent_s: f64, ce: bool, cwr: bool, knobs: &Knobs) -> (bool, Option<AckSegment>) {
        // RFC 7323 section 4.3: echo the packet that advances the acknowledgement, or an equal one sent later.
        if !knobs.timestamp_echo_fix || (sent_s >= self.echo_s && number <= self.last_ack_sent + 1) {
            self.echo_s = sent_s;
        }
        // RFC 8257 section 3.2: every packet's own mark, not one latched until the sender answers.
        self.echo_mark &= !(cwr || knobs.exact_marks);
        self.echo_mark |= ce;
        let filled_gap = number < self.highest;
        let new = self.accept(number);
        if knobs.delayed_ack {
            let delay = self.delay.get_or_insert_default();
            if delay.held.is_none() && number == self.next - 1 {
                let at_once = (knobs.immediate_ack_on_fill && filled_gap) || (knobs.immediate_ack_on_syn && number == 0)
                    // Linux's quick acknowledgements: slow start begins as fast as it can.
                    || number < i64::from(knobs.quick_acks);
                if !at_once {
                    delay.held = Some(Held { number, sent_s, ce });
                    delay.deadline_s = now_s + knobs.delayed_ack_interval.seconds();
                    delay.armed_at_s = now_s;
                    delay.unanswered += 1;
                    return (new, None);
                }
            }
            delay.deadline_s = NEVER;
        }
        (new, Some(self.acknowledge(number, sent_s, knobs)))
    }

    /// The delayed-acknowledgement timer expired.
    pub fn on_timer(&mut self, knobs: &Knobs) -> Option<AckSegment> {
        let delay = self.delay.as_deref_mut()?;
        delay.deadline_s = NEVER;
        let Held { number, sent_s, .. } = delay.held?;
        delay.unanswered -= 1;
        Some(self.acknowledge(number, sent_s, knobs))
    }

    /// When a delayed acknowledgement is due, or [`NEVER`].
    pub fn deadline_s(&self) -> f64 {
        self.delay.as_ref().map_or(NEVER, |delay| delay.deadline_s)
    }

    /// When that was decided, seconds.
    pub fn armed_at_s(&self) -> f64 {
        self.delay.as_ref().map_or(0.0, |delay| delay.armed_at_s)
    }

    /// Data packets that arrived and were not acknowledged by themselves.
    pub fn unanswered(&self) -> u64 {
        self.delay.as_ref().map_or(0, |delay| delay.unanswered)
    }

    /// Records the packet; returns whether it was new.
    fn accept(&mut self, number: i64) -> bool {
        let in_order = number == self.next;
        self.highest = self.highest.max(number);
        if in_order && self.highest == number {
            self.next += 1;
            return true;
        }
        if number < self.next {
            return false;
        }
        self.gap = true;
        let beyond = self.beyond.get_or_insert_with(Box::default);
        beyond.received.advance(self.next);
        let new = beyond.received.insert(number);
        if in_order {
            self.next = beyond.received.first_clear(number);
            beyond.received.advance(self.next);
        }
        new
    }

    fn acknowledge(&mut self, number: i64, sent_s: f64, knobs: &Knobs) -> AckSegment {
        let ack = self.next - 1;
        self.last_ack_sent = ack;
        // RFC 3168 section 6.1.3, ns-2 `TcpSink::ack`: a mark on either of two packets acknowledged together is echoed.
        let held = self.delay.as_mut().and_then(|delay| delay.held.take());
        self.echo_mark |= held.is_some_and(|held| held.ce);
        let agrees = knobs.ecn && knobs.ecn_handshake && (number == 0 || held.is_some_and(|held| held.number == 0));
        let mut size_bytes = knobs.ack_wire_size();
        if self.sack && self.gap {
            size_bytes += knobs.sack_block_size * self.report(number, ack, knobs.max_sack_blocks as usize);
        }
        self.gap &= ack < self.highest;
        if !self.gap
            && let Some(beyond) = &mut self.beyond
        {
            beyond.received.clear();
            beyond.reported = SackBlocks::default();
        }
        let ece = self.echo_mark || agrees;
        self.echo_mark &= !knobs.exact_marks;
        AckSegment { ack, sent_s, echo_s: self.echo_s, size_bytes, ece }
    }

    /// The SACK blocks of the acknowledgement sent last, if it had any.
    #[inline(always)]
    pub fn blocks(&self) -> Option<&SackBlocks> {
        if !self.gap {
            return None;
        }
        self.beyond.as_deref().map(|beyond| &beyond.reported).filter(|blocks| !blocks.is_empty())
    }

    /// The blocks of an acknowledgement; returns how many. RFC 2018 section 4: first the block with the packet just received, then the latest
    /// others that it does not cover.
    fn report(&mut self, number: i64, ack: i64, most: usize) -> u32 {
        let Some(beyond) = &mut self.beyond else { return 0 };
        let most = most.min(SackBlocks::MAX);
        if ack >= self.highest || most == 0 {
            beyond.reported = SackBlocks::default();
            return 0;
        }
        let right = beyond.received.first_clear(number.max(ack + 1)).min(self.highest + 1);
        let recent = if number > ack { (beyond.received.run_start(number), right) } else { (0, right.max(ack + 1)) };
        let mut index = 0;
        while let Some(&old) = beyond.reported.as_slice().get(index) {
            if recent.0 <= old.0 && recent.1 >= old.1 {
                beyond.reported.remove(index);
            } else {
                index += 1;
            }
        }
        if number > ack {
            beyond.reported.push_front(recent, most);
        }
        beyond.reported.as_slice().len() as u32
    }
}
