//! Which stream of packets has the earliest head.
//!
//! Every first-in first-out pipe is a stream; only its head is scheduled. The order is total: (time, stream number), and within a
//! stream the order of insertion; the engine refines it where times are equal. Two implementations give the same order: a winner tree for speed, a sorted set for tests.

use std::collections::BTreeSet;
use std::hint::select_unpredictable;

/// No packet in the stream.
pub const EMPTY: f64 = f64::INFINITY;

/// Keeps the earliest head among streams `0..n`.
pub trait Scheduler {
    /// All streams empty.
    fn new(streams: usize) -> Self;
    /// There are more streams now; the new ones are empty.
    fn grow(&mut self, streams: usize);
    /// Stream `stream` now has its head at `time_s` ([`EMPTY`] for none).
    fn set(&mut self, stream: u32, time_s: f64);
    /// The same for a stream that was empty.
    fn set_first(&mut self, stream: u32, time_s: f64) {
        self.set(stream, time_s);
    }
    /// Time and number of the stream with the earliest head; time [`EMPTY`] when all are empty.
    fn first(&self) -> (f64, u32);
}

/// A winner tree: each inner node holds the earlier of its two children, so a change costs one comparison per level and no
/// branch that could be mispredicted.
#[derive(Debug)]
pub struct WinnerTree {
    /// Nodes 2n and 2n + 1 are the children of node n; node 1 is the root, streams are the last level. The left child has the smaller stream
    /// number, so preferring it on equal times is the order by stream number.
    nodes: Vec<Node>,
    leaves: usize,
    root: Node,
}

/// Times are kept as bits: doubles that are not negative sort like their bits, and integers compare without a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node {
    time: u64,
    stream: u32,
}

impl Scheduler for WinnerTree {
    fn new(streams: usize) -> Self {
        let leaves = streams.next_power_of_two().max(2);
        // Nothing is due anywhere, so each node has the first stream below it.
        let first_below = |node: usize| ((node << (leaves.ilog2() - node.ilog2())) - leaves) as u32;
        let nodes = (0..2 * leaves).map(|node| Node { time: EMPTY.to_bits(), stream: first_below(node.max(1)) }).collect();
        Self { nodes, leaves, root: Node { time: EMPTY.to_bits(), stream: 0 } }
    }

    fn grow(&mut self, streams: usize) {
        if streams <= self.leaves {
            return;
        }
        let mut grown = Self::new(streams);
        for (stream, leaf) in self.nodes[self.leaves..].iter().enumerate() {
            grown.set(stream as u32, f64::from_bits(leaf.time));
        }
        *self = grown;
    }

    #[inline]
    fn set(&mut self, stream: u32, time_s: f64) {
        let mut node = self.leaves + stream as usize;
        let (mut time, mut winner) = (time_s.to_bits(), stream);
        let nodes = self.nodes.as_mut_slice();
        // A power of two of them: the mask changes no index, and spares the check of each.
        let Some(mask) = nodes.len().checked_sub(1) else { return };
        while node > 1 {
            nodes[node & mask] = Node { time, stream: winner };
            // Read the sibling only: reading back what was just written in parts would stall. On equal times the left one wins.
            let other = nodes[(node ^ 1) & mask];
            let lost = other.time < time + (node & 1) as u64;
            time = select_unpredictable(lost, other.time, time);
            winner = select_unpredictable(lost, other.stream, winner);
            node >>= 1;
        }
        self.root = Node { time, stream: winner };
    }

    #[inline]
    fn set_first(&mut self, stream: u32, time_s: f64) {
        let new = Node { time: time_s.to_bits(), stream };
        let mut node = self.leaves + stream as usize;
        while node > 1 {
            let slot = &mut self.nodes[node];
            // Above a node that it does not win, nothing changes.
            if node < self.leaves && (slot.time, slot.stream) < (new.time, stream) {
                return;
            }
            *slot = new;
            node >>= 1;
        }
        if (self.root.time, self.root.stream) >= (new.time, stream) {
            self.root = new;
        }
    }

    #[inline]
    fn first(&self) -> (f64, u32) {
        (f64::from_bits(self.root.time), self.root.stream)
    }
}

/// A sorted set of (time, stream): slow, and obviously right.
#[derive(Debug)]
pub struct SortedSet {
    heads: BTreeSet<(u64, u32)>,
    times: Vec<f64>,
}

impl Scheduler for SortedSet {
    fn new(streams: usize) -> Self {
        Self { heads: BTreeSet::new(), times: vec![EMPTY; streams] }
    }

    fn grow(&mut self, streams: usize) {
        self.times.resize(streams.max(self.times.len()), EMPTY);
    }

    fn set(&mut self, stream: u32, time_s: f64) {
        let old = std::mem::replace(&mut self.times[stream as usize], time_s);
        self.heads.remove(&(old.to_bits(), stream));
        if time_s != EMPTY {
            self.heads.insert((time_s.to_bits(), stream));
        }
    }

    fn first(&self) -> (f64, u32) {
        self.heads.first().map_or((EMPTY, 0), |&(time, stream)| (f64::from_bits(time), stream))
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
                let time = if random.uniform() < 0.2 { EMPTY } else { random.integer(0, 30) as f64 };
                if set.times[stream as usize] == EMPTY {
                    tree.set_first(stream, time)
                } else {
                    tree.set(stream, time)
                }
                set.set(stream, time);
                assert_eq!(tree.first().0, set.first().0);
                if set.first().0 != EMPTY {
                    assert_eq!(tree.first().1, set.first().1);
                }
            }
        }
    }
}
