//! The receiver: cumulative and selective acknowledgements, at once or delayed (ns-2 `tcp-sink.cc`, RFC 2018, RFC 5681 section 4.2).

use crate::{AckSegment, Bits, Knobs, NEVER, SackBlocks};

/// One TCP receiver.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// Next packet expected.
    next: i64,
    highest: i64,
    last_ack_sent: i64,
    echo_ns: u64,
    /// Packets beyond a gap, and the blocks reported about them.
    beyond: Option<Box<Beyond>>,
    /// The packet whose acknowledgement is delayed: number and send time.
    held: Option<(i64, u64)>,
    deadline_ns: u64,
    sack: bool,
}

#[derive(Clone, Debug, Default)]
struct Beyond {
    received: Bits,
    /// Blocks reported before, most recent first.
    reported: SackHistory,
}

#[derive(Clone, Copy, Debug, Default)]
struct SackHistory {
    blocks: [(i64, i64); SackBlocks::MAX],
    count: usize,
}

impl SackHistory {
    fn remove(&mut self, index: usize) {
        self.blocks.copy_within(index + 1..self.count, index);
        self.count -= 1;
    }

    fn push_front(&mut self, block: (i64, i64), most: usize) {
        self.count = (self.count + 1).min(most);
        self.blocks.copy_within(0..self.count - 1, 1);
        self.blocks[0] = block;
    }
}

impl Receiver {
    /// A receiver that expects packet 0; `sack` says whether it reports blocks.
    pub fn new(sack: bool) -> Self {
        Self { next: 0, highest: -1, last_ack_sent: 0, echo_ns: 0, beyond: None, held: None, deadline_ns: NEVER, sack }
    }

    /// A data packet arrived. Returns whether it was new, and the acknowledgement to send now, if any.
    #[inline]
    pub fn on_data(&mut self, now_ns: u64, number: i64, sent_ns: u64, knobs: &Knobs) -> (bool, Option<AckSegment>) {
        // RFC 7323 section 4.3: echo the packet that advances the acknowledgement, or an equal one sent later.
        if !knobs.timestamp_echo_fix || (sent_ns >= self.echo_ns && number <= self.last_ack_sent + 1) {
            self.echo_ns = sent_ns;
        }
        let filled_gap = number < self.highest;
        let new = self.accept(number);
        if knobs.delayed_ack {
            if self.held.is_none() && number == self.next - 1 {
                let at_once = (knobs.immediate_ack_on_fill && filled_gap) || (knobs.immediate_ack_on_syn && number == 0);
                if !at_once {
                    self.held = Some((number, sent_ns));
                    self.deadline_ns = now_ns + knobs.delayed_ack_interval.nanoseconds();
                    return (new, None);
                }
            }
            self.held = None;
            self.deadline_ns = NEVER;
        }
        (new, Some(self.acknowledge(number, sent_ns, knobs)))
    }

    /// The delayed-acknowledgement timer expired.
    pub fn on_timer(&mut self, knobs: &Knobs) -> Option<AckSegment> {
        self.deadline_ns = NEVER;
        let (number, sent_ns) = self.held.take()?;
        Some(self.acknowledge(number, sent_ns, knobs))
    }

    /// When a delayed acknowledgement is due, or [`NEVER`].
    pub fn deadline_ns(&self) -> u64 {
        self.deadline_ns
    }

    /// Records the packet; returns whether it was new.
    #[inline]
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
        let beyond = self.beyond.get_or_insert_with(Box::default);
        beyond.received.advance(self.next);
        let new = beyond.received.insert(number);
        if in_order {
            self.next = beyond.received.first_clear(number);
            beyond.received.advance(self.next);
        }
        new
    }

    fn acknowledge(&mut self, number: i64, sent_ns: u64, knobs: &Knobs) -> AckSegment {
        let ack = self.next - 1;
        let sack = if self.sack { self.sack_blocks(number, ack, knobs.max_sack_blocks as usize) } else { SackBlocks::default() };
        self.last_ack_sent = ack;
        let size_bytes = knobs.ack_size + knobs.sack_block_size * sack.as_slice().len() as u32;
        AckSegment { ack, sent_ns, echo_ns: self.echo_ns, size_bytes, sack }
    }

    /// RFC 2018 section 4: first the block with the packet just received, then the latest others that it does not cover.
    fn sack_blocks(&mut self, number: i64, ack: i64, most: usize) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        let Some(beyond) = &mut self.beyond else { return blocks };
        if ack >= self.highest {
            beyond.reported = SackHistory::default();
            beyond.received.clear();
            return blocks;
        }
        let most = most.min(SackBlocks::MAX);
        if most == 0 {
            return blocks;
        }
        let right = beyond.received.first_clear(number.max(ack + 1)).min(self.highest + 1);
        let recent = if number > ack { (beyond.received.run_start(number), right) } else { (0, right.max(ack + 1)) };
        if number > ack {
            blocks.push(recent);
        }
        let mut index = 0;
        while blocks.as_slice().len() < most && index < beyond.reported.count {
            let old = beyond.reported.blocks[index];
            if recent.0 <= old.0 && recent.1 >= old.1 {
                beyond.reported.remove(index);
                continue;
            }
            blocks.push(old);
            index += 1;
        }
        if number > ack {
            beyond.reported.push_front(recent, most);
        }
        blocks
    }
}
