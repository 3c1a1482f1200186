//! What a bulk application has written and the sender has not sent, as Linux keeps it: a buffer
//! (`skb`) of at most as many packets as a device cuts at once, which each write fills up
//! (`tcp_sendmsg_locked`, `tcp_xmit_size_goal`).

use crate::cwnd::GSO_MAX_BYTES;

/// Bytes below which the application writes again: half of `TCP_NOTSENT_LOWAT` with 16 kB.
const FEW_BYTES: i64 = 8_000;
/// Half of the receiver's first window of 64 KiB, bytes: the buffer has no more before an ACK of data
/// opens that window (a SYN-ACK cannot scale it).
const FIRST_BYTES: i64 = 32_580;

/// The packets that wait.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WriteQueue {
    waiting: i64,
}

impl WriteQueue {
    pub(crate) fn waiting(self) -> i64 {
        self.waiting
    }

    /// A packet leaves.
    pub(crate) fn sent(&mut self) {
        self.waiting = (self.waiting - 1).max(0);
    }

    /// The application writes if few packets wait or it `goes_on` with a write. `left`: packets of
    /// its data not sent yet. `acked`: packets acknowledged so far.
    ///
    /// Returns none if it writes nothing, else whether the next burst leaves without waiting for
    /// more (`tcp_push_one`): after a write that filled the buffer, and was at most half of the
    /// receiver's window.
    pub(crate) fn write(
        &mut self,
        left: i64,
        acked: i64,
        goes_on: bool,
        packet_size: u32,
    ) -> Option<bool> {
        let packet_bytes = i64::from(packet_size);
        let has_many = self.waiting * packet_bytes >= FEW_BYTES;
        if (has_many && !goes_on) || self.waiting >= left {
            return None;
        }
        let half_window = if acked > 0 { i64::MAX } else { (FIRST_BYTES / packet_bytes).max(1) };
        let size = (GSO_MAX_BYTES as i64 / packet_bytes).max(1).min(half_window);
        let written = size.min(left) - self.waiting;
        self.waiting += written;
        (written > 0).then_some(self.waiting == size && written <= half_window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 22 packets fill the first buffer. When five are left, it is filled up to 45. The last five
    /// are no full buffer.
    #[test]
    fn a_write_fills_the_buffer() {
        let mut queue = WriteQueue::default();
        assert_eq!((queue.write(1000, 0, false, 1448), queue.waiting()), (Some(true), 22));
        (0..17).for_each(|_| queue.sent());
        assert_eq!(queue.write(1000, 16, false, 1448), Some(true));
        assert_eq!(queue.waiting(), 45);
        assert_eq!(queue.write(1000, 17, false, 1448), None);
        (0..43).for_each(|_| queue.sent());
        assert_eq!((queue.write(5, 60, false, 1448), queue.waiting()), (Some(false), 5));
        assert_eq!(queue.write(5, 60, false, 1448), None);
    }
}
