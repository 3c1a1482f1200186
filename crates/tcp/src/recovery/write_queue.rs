//! What the application has written and the sender has not sent, as Linux keeps it: buffers (`skb`) of
//! as many packets as a device cuts at once (`tcp_sendmsg_locked`, `tcp_xmit_size_goal`). A sender
//! that waits for more packets to leave together does not wait at the end of a buffer.

use std::collections::VecDeque;

/// Full packets in a buffer at most, and before the receiver's window has grown: half of its first
/// window of 64 KiB, and a packet more for each that it has acknowledged.
const MOST: i64 = 45;
const FIRST: i64 = 22;

/// Lengths of the buffers that wait, in order, packets.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteQueue {
    buffers: VecDeque<i64>,
    waiting: i64,
}

impl WriteQueue {
    /// The application writes until `enough` packets wait, if fewer than half of that do; at most
    /// `left` packets. `acked`: packets acknowledged so far.
    pub(crate) fn fill(&mut self, enough: i64, left: i64, acked: i64) {
        if 2 * self.waiting >= enough && self.waiting < left {
            return;
        }
        while self.waiting < enough.min(left) {
            let buffer = MOST.min(FIRST + acked).min(left - self.waiting);
            self.buffers.push_back(buffer);
            self.waiting += buffer;
        }
    }

    /// Packets in the first buffer, filled up to `quota` from those behind it; and whether it is the
    /// last one.
    pub(crate) fn first(&mut self, quota: i64) -> (i64, bool) {
        let Some(mut first) = self.buffers.pop_front() else { return (0, true) };
        while first < quota
            && let Some(next) = self.buffers.front_mut()
        {
            let moved = (quota - first).min(*next);
            *next -= moved;
            first += moved;
            if *next == 0 {
                self.buffers.pop_front();
            }
        }
        self.buffers.push_front(first);
        (first, self.buffers.len() == 1)
    }

    /// So many packets of the first buffers leave.
    pub(crate) fn sent(&mut self, mut packets: i64) {
        self.waiting -= packets;
        while packets > 0
            && let Some(first) = self.buffers.front_mut()
        {
            let taken = packets.min(*first);
            *first -= taken;
            packets -= taken;
            if *first == 0 {
                self.buffers.pop_front();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 22 packets fill the first buffer. When five are left, and fewer than half of eleven are enough,
    /// one of 45 follows; a quota of eight takes three of them.
    #[test]
    fn buffers_are_filled_and_emptied() {
        let mut queue = WriteQueue::default();
        queue.fill(11, i64::MAX, 0);
        assert_eq!(queue.first(5), (22, true));
        queue.sent(17);
        queue.fill(11, i64::MAX, 30);
        assert_eq!(queue.first(3), (5, false));
        assert_eq!(queue.first(8), (8, false));
        queue.sent(8);
        assert_eq!(queue.first(1), (42, true));
    }
}
