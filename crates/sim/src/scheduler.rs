//! Which stream of packets has the earliest head.
//!
//! Every first-in first-out pipe is a stream; only its head is scheduled. The order is total: (time, stream number), and within a
//! stream the order of insertion. Two implementations give the same order: a winner tree for speed, a sorted set for tests.

use std::collections::BTreeSet;

/// No packet in the stream.
pub const EMPTY: u64 = u64::MAX;

/// Keeps the earliest head among streams `0..n`.
pub trait Scheduler {
    /// All streams empty.
    fn new(streams: usize) -> Self;
    /// Stream `stream` now has its head at `time_ns` ([`EMPTY`] for none).
    fn set(&mut self, stream: u32, time_ns: u64);
    /// Time and number of the stream with the earliest head; time [`EMPTY`] when all are empty.
    fn first(&self) -> (u64, u32);
}

/// A winner tree: each inner node holds the earlier of its two children, so a change costs one comparison per level and no
/// unpredictable branch.
#[derive(Debug)]
pub struct WinnerTree {
    /// Node i has children 2i and 2i + 1; leaves start at `leaves`. Left children have smaller stream numbers, so preferring the left
    /// one on equal times is the order by stream number.
    nodes: Vec<Node>,
    leaves: usize,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    time_ns: u64,
    stream: u32,
}

impl Scheduler for WinnerTree {
    fn new(streams: usize) -> Self {
        let leaves = streams.next_power_of_two().max(1);
        let mut nodes = vec![Node { time_ns: EMPTY, stream: 0 }; 2 * leaves];
        for (stream, leaf) in nodes[leaves..].iter_mut().enumerate() {
            leaf.stream = stream as u32;
        }
        for i in (1..leaves).rev() {
            nodes[i] = nodes[2 * i];
        }
        Self { nodes, leaves }
    }

    #[inline]
    fn set(&mut self, stream: u32, time_ns: u64) {
        let mut i = self.leaves + stream as usize;
        self.nodes[i].time_ns = time_ns;
        while i > 1 {
            let (left, right) = (self.nodes[i & !1], self.nodes[i | 1]);
            i >>= 1;
            self.nodes[i] = if left.time_ns <= right.time_ns { left } else { right };
        }
    }

    #[inline]
    fn first(&self) -> (u64, u32) {
        (self.nodes[1].time_ns, self.nodes[1].stream)
    }
}

/// A sorted set of (time, stream): slow, and obviously right.
#[derive(Debug)]
pub struct SortedSet {
    heads: BTreeSet<(u64, u32)>,
    times: Vec<u64>,
}

impl Scheduler for SortedSet {
    fn new(streams: usize) -> Self {
        Self { heads: BTreeSet::new(), times: vec![EMPTY; streams] }
    }

    fn set(&mut self, stream: u32, time_ns: u64) {
        let old = std::mem::replace(&mut self.times[stream as usize], time_ns);
        self.heads.remove(&(old, stream));
        if time_ns != EMPTY {
            self.heads.insert((time_ns, stream));
        }
    }

    fn first(&self) -> (u64, u32) {
        self.heads.first().copied().unwrap_or((EMPTY, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    #[test]
    fn both_schedulers_give_the_same_order_ties_included() {
        let mut random = Stream::new(5, "scheduler");
        for streams in [1usize, 2, 3, 20, 33, 200] {
            let (mut tree, mut set) = (WinnerTree::new(streams), SortedSet::new(streams));
            for _ in 0..5000 {
                let stream = random.integer(0, streams as u64 - 1) as u32;
                let time = if random.uniform() < 0.2 { EMPTY } else { random.integer(0, 30) };
                tree.set(stream, time);
                set.set(stream, time);
                assert_eq!(tree.first().0, set.first().0);
                if set.first().0 != EMPTY {
                    assert_eq!(tree.first().1, set.first().1);
                }
            }
        }
    }
}
