//! What a bulk application has written and the sender has not sent, as Linux keeps it: buffers
//! (`skb`) of at most as many packets as a device cuts at once. A write fills up the last one and
//! begins others while little waits (`tcp_sendmsg_locked`, `tcp_xmit_size_goal`). Where the writes
//! themselves are given, all that is written waits.

/// Bytes below which another buffer may begin (`TCP_NOTSENT_LOWAT` of live runs), and half of them,
/// below which the application writes again.
const MANY_BYTES: i64 = 16_000;
const FEW_BYTES: i64 = MANY_BYTES / 2;

/// What one step of a write did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// Nothing: too much waits, or there is no more.
    Nothing,
    /// What waits leaves as it would without the write.
    Some,
    /// One burst leaves without waiting for more (`tcp_push_one`): the first buffer is full.
    Full,
}

/// A buffer.
#[derive(Clone, Copy, Debug, Default)]
struct Buffer {
    packets: i64,
    /// Its last packet has PSH.
    is_pushed: bool,
}

/// The packets that wait, by buffer: mostly there is one.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteQueue {
    first: Buffer,
    /// Those behind it, in order.
    others: Vec<Buffer>,
    /// Packets written since the last one with PSH.
    since_push: i64,
    /// All data of the application is written: its writes are known one by one.
    writes_are_given: bool,
}

impl WriteQueue {
    /// From now on the application's data is what it has written.
    pub(crate) fn take_given_writes(&mut self) {
        self.writes_are_given = true;
    }

    /// The application takes back all but `left` packets of what it has written.
    pub(crate) fn withdraw(&mut self, left: i64) {
        while self.written() > left {
            let more = self.written() - left;
            let Some(last) = self.others.last_mut() else {
                self.first.packets = left.max(0);
                return;
            };
            last.packets -= more.min(last.packets);
            if last.packets == 0 {
                self.others.pop();
            }
        }
    }

    fn written(&self) -> i64 {
        self.first.packets + self.others.iter().map(|buffer| buffer.packets).sum::<i64>()
    }

    /// Packets of the first buffer. `left`: packets of the application's data not sent yet.
    pub(crate) fn first(&self, left: i64) -> i64 {
        if self.writes_are_given { left } else { self.first.packets }
    }

    /// Whether writes cannot add to the first buffer.
    pub(crate) fn first_is_closed(&self) -> bool {
        !self.others.is_empty()
    }

    /// The first buffer takes packets of the next one until it holds `quota`, what may leave at once
    /// (Linux `tcp_grow_skb`).
    pub(crate) fn grow_first(&mut self, quota: i64) {
        let missing = quota - self.first.packets;
        let Some(next) = self.others.first_mut().filter(|_| missing > 0) else { return };
        let moved = missing.min(next.packets);
        self.first.packets += moved;
        next.packets -= moved;
        if next.packets == 0 {
            self.first.is_pushed |= next.is_pushed;
            self.others.remove(0);
        }
    }

    /// A packet leaves. Returns whether it ends its buffer, with PSH.
    pub(crate) fn sent(&mut self) -> bool {
        let ends = self.first.packets == 1;
        let is_pushed = ends && self.first.is_pushed;
        self.first.packets = (self.first.packets - 1).max(0);
        if ends {
            let next =
                if self.others.is_empty() { Buffer::default() } else { self.others.remove(0) };
            self.first = next;
        }
        is_pushed
    }

    /// A step of a write, or its begin if it does not go on. `left`: packets of the application's
    /// data not sent yet. `most`: packets of a buffer. `half_window`: of the receiver, packets.
    pub(crate) fn write(
        &mut self,
        left: i64,
        most: i64,
        half_window: i64,
        goes_on: bool,
        packet_size: u32,
    ) -> Written {
        let waiting = self.written();
        let bytes = waiting * i64::from(packet_size);
        if self.writes_are_given || (!goes_on && bytes >= FEW_BYTES) || waiting >= left {
            return Written::Nothing;
        }
        let most = most.min(half_window).max(1);
        let more = left - waiting;
        let last = self.others.last_mut().unwrap_or(&mut self.first);
        let added = if (1..most).contains(&last.packets) {
            // A write that begins in a buffer takes back its PSH (Linux `tcp_sendmsg_locked`).
            last.is_pushed &= goes_on;
            more.min(most - last.packets)
        } else if bytes >= MANY_BYTES {
            // The write waits for room, and pushes what it has.
            (last.is_pushed, self.since_push) = (true, 0);
            return Written::Nothing;
        } else {
            if self.first.packets > 0 {
                self.others.push(Buffer::default());
            }
            more.min(most)
        };
        let is_only = self.others.is_empty();
        let last = self.others.last_mut().unwrap_or(&mut self.first);
        last.packets += added;
        self.since_push += added;
        // More than half of a window since the last push (`forced_push`), or the end.
        if self.since_push > half_window || added == more {
            (last.is_pushed, self.since_push) = (true, 0);
            return Written::Some;
        }
        if is_only && last.packets >= most { Written::Full } else { Written::Some }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 22 packets fill the first buffer, which is half of the window. When five are left, it is
    /// filled up to 45. The last five are no full buffer.
    #[test]
    fn a_write_fills_the_buffer() {
        let mut queue = WriteQueue::default();
        let write = |queue: &mut WriteQueue, left, half_window, goes_on| {
            (queue.write(left, 45, half_window, goes_on, 1448), queue.written())
        };
        assert_eq!(write(&mut queue, 1000, 22, false), (Written::Full, 22));
        assert_eq!(write(&mut queue, 1000, 22, true), (Written::Nothing, 22));
        (0..17).for_each(|_| assert!(!queue.sent()));
        // 22 and 40 packets are less than half of a window since the last push.
        assert_eq!(write(&mut queue, 1000, 70, false), (Written::Full, 45));
        // The write waits for room, and pushes.
        assert_eq!(write(&mut queue, 1000, 73, true), (Written::Nothing, 45));
        (0..44).for_each(|_| assert!(!queue.sent()));
        assert!(queue.sent());
        assert_eq!(write(&mut queue, 5, 202, false), (Written::Some, 5));
        assert_eq!(write(&mut queue, 5, 202, false), (Written::Nothing, 5));
    }

    /// Half of the window is five packets: of the first buffer two leave, the write fills it up, and
    /// seven since the last push are more than half of the window. The next five are not.
    #[test]
    fn more_than_half_of_the_window_is_pushed() {
        let mut queue = WriteQueue::default();
        let write = |queue: &mut WriteQueue| queue.write(1000, 45, 5, true, 1448);
        assert_eq!(write(&mut queue), Written::Full);
        assert!(!queue.sent() && !queue.sent());
        assert_eq!((write(&mut queue), queue.written()), (Written::Some, 5));
        assert_eq!([(); 5].map(|()| queue.sent()), [false, false, false, false, true]);
        assert_eq!(write(&mut queue), Written::Full);
        assert_eq!([(); 5].map(|()| queue.sent()), [false; 5]);
    }

    /// Ten packets are less than 16 kB: another buffer begins behind them.
    #[test]
    fn a_write_goes_on_while_little_waits() {
        let mut queue = WriteQueue::default();
        queue.write(1000, 22, 22, false, 1448);
        (0..12).for_each(|_| assert!(!queue.sent()));
        assert_eq!(queue.write(1000, 10, 100, true, 1448), Written::Some);
        assert_eq!((queue.first(99), queue.first_is_closed(), queue.written()), (10, true, 20));
        assert_eq!(queue.write(1000, 10, 100, true, 1448), Written::Nothing);
    }

    /// Two buffers of ten packets, seven of the first one sent: for a burst of four it takes one
    /// packet of the next, and for one of 15 all that is left.
    #[test]
    fn a_burst_takes_packets_of_the_next_buffer() {
        let mut queue = WriteQueue::default();
        queue.write(20, 10, 10, false, 1448);
        queue.write(20, 10, 10, true, 1448);
        (0..7).for_each(|_| assert!(!queue.sent()));
        queue.grow_first(4);
        assert_eq!((queue.first(99), queue.first_is_closed(), queue.written()), (4, true, 13));
        queue.grow_first(15);
        assert_eq!((queue.first(99), queue.first_is_closed()), (13, false));
        // The end of the data has PSH, and nothing else.
        let pushed = [(); 13].map(|()| queue.sent());
        assert_eq!((pushed[..12].contains(&true), pushed[12]), (false, true));
    }

    /// Two buffers of ten packets, of which the application takes back four, and then all but two.
    #[test]
    fn what_was_written_can_be_taken_back() {
        let mut queue = WriteQueue::default();
        queue.write(20, 10, 10, false, 1448);
        queue.write(20, 10, 10, true, 1448);
        queue.withdraw(16);
        assert_eq!((queue.first(99), queue.first_is_closed(), queue.written()), (10, true, 16));
        queue.withdraw(2);
        assert_eq!((queue.first(99), queue.first_is_closed()), (2, false));
    }

    /// Writes that are given are no bulk application's: seven packets wait until they are sent.
    #[test]
    fn given_writes_wait_whole() {
        let mut queue = WriteQueue::default();
        queue.take_given_writes();
        assert_eq!((queue.write(7, 45, 45, false, 1448), queue.first(7)), (Written::Nothing, 7));
    }
}
