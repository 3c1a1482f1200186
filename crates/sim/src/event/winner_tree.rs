//! Winner tree (tournament tree) over FIFO heads: finds the FIFO with the earliest head; with a
//! sorted set as reference.
//!
//! Where times are equal any of the earliest FIFOs may be reported: the engine takes all of them
//! and orders them itself (`simultaneous_events.rs`).

use crate::event::scheduler::NO_EVENT;
use std::collections::{BTreeMap, BTreeSet};
use std::hint::select_unpredictable;

/// An indexed priority queue: keeps a time for each of the FIFOs `0..n` and finds the earliest.
pub trait IndexedPriorityQueue {
    /// All FIFOs empty.
    fn new(fifos: usize) -> Self;
    /// Adds FIFOs, all empty.
    fn grow(&mut self, fifos: usize);
    /// Sets the time of the head of `fifo` ([`NO_EVENT`] for none).
    fn schedule(&mut self, fifo: u32, time_s: f64);
    /// The same for a FIFO that was empty.
    fn schedule_empty(&mut self, fifo: u32, time_s: f64) {
        self.schedule(fifo, time_s);
    }
    /// Time and number of a FIFO with the earliest head; time [`NO_EVENT`] when all are empty.
    fn earliest(&self) -> (f64, u32);
}

/// A winner tree with four children per node: each inner node holds the earliest of its children,
/// so an update costs three comparisons per level and no branch that could be mispredicted. Four
/// nodes fill a cache line of 64 bytes; a binary tree has twice as many levels to load and store.
/// The root has eight children, which saves a level or two of few FIFOs.
#[derive(Debug)]
pub struct WinnerTree {
    /// Children of the root: nodes 0 to 7.
    top: [Node; TOP],
    /// The children of node n are group n: nodes 4n + 8 to 4n + 11. The last level holds the FIFOs.
    groups: Vec<[Node; WIDTH]>,
    /// Number of the first group of the last level.
    leaves: usize,
    root: Node,
}

const WIDTH: usize = 4;
const TOP: usize = 8;

/// A time and its FIFO. Times are stored as bits: non-negative doubles sort like their bits, and
/// integers compare without a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node {
    time: u64,
    fifo: u32,
}

impl Node {
    const EMPTY: Self = Self { time: NO_EVENT.to_bits(), fifo: 0 };

    #[inline(always)]
    fn or_earlier(self, other: Self) -> Self {
        let earlier = other.time < self.time;
        Self {
            time: select_unpredictable(earlier, other.time, self.time),
            fifo: select_unpredictable(earlier, other.fifo, self.fifo),
        }
    }
}

impl WinnerTree {
    /// Group and slot of a node below the top.
    #[inline(always)]
    fn place(node: usize) -> (usize, usize) {
        ((node - TOP) / WIDTH, (node - TOP) % WIDTH)
    }
}

impl IndexedPriorityQueue for WinnerTree {
    fn new(fifos: usize) -> Self {
        let groups = fifos.div_ceil(WIDTH).max(1);
        let (mut leaves, mut level) = (0, TOP);
        while level < groups {
            (leaves, level) = (leaves + level, WIDTH * level);
        }
        Self {
            top: [Node::EMPTY; TOP],
            groups: vec![[Node::EMPTY; WIDTH]; leaves + groups],
            leaves,
            root: Node::EMPTY,
        }
    }

    fn grow(&mut self, fifos: usize) {
        if fifos <= (self.groups.len() - self.leaves) * WIDTH {
            return;
        }
        // Doubles the capacity, since a tree grows again and again.
        let mut grown = Self::new(2 * fifos);
        for (fifo, leaf) in self.groups[self.leaves..].iter().flatten().enumerate() {
            grown.schedule(fifo as u32, f64::from_bits(leaf.time));
        }
        *self = grown;
    }

    #[inline]
    fn schedule(&mut self, fifo: u32, time_s: f64) {
        let (mut group, mut slot) = (self.leaves + fifo as usize / WIDTH, fifo as usize % WIDTH);
        let mut new = Node { time: time_s.to_bits(), fifo };
        while let Some(nodes) = self.groups.get_mut(group) {
            // Reads only the siblings: a load of the node just stored would wait for the store.
            let others = nodes[slot ^ 1].or_earlier(nodes[slot ^ 2].or_earlier(nodes[slot ^ 3]));
            nodes[slot] = new;
            new = new.or_earlier(others);
            if group < TOP {
                break;
            }
            (group, slot) = Self::place(group);
        }
        self.top[group % TOP] = new;
        let [a, b, c, d, e, f, g, h] = self.top;
        self.root = (a.or_earlier(b)).or_earlier(c.or_earlier(d));
        self.root = self.root.or_earlier((e.or_earlier(f)).or_earlier(g.or_earlier(h)));
    }

    #[inline]
    fn schedule_empty(&mut self, fifo: u32, time_s: f64) {
        let (mut group, mut slot) = (self.leaves + fifo as usize / WIDTH, fifo as usize % WIDTH);
        let new = Node { time: time_s.to_bits(), fifo };
        // An update that does not win at a node leaves everything above unchanged.
        while let Some(node) = self
            .groups
            .get_mut(group)
            .map(|nodes| &mut nodes[slot])
            .filter(|node| new.time < node.time)
        {
            *node = new;
            if group < TOP {
                self.top[group] = self.top[group].or_earlier(new);
                self.root = self.root.or_earlier(new);
                return;
            }
            (group, slot) = Self::place(group);
        }
    }

    #[inline]
    fn earliest(&self) -> (f64, u32) {
        (f64::from_bits(self.root.time), self.root.fifo)
    }
}

/// A sorted set of (time, FIFO): a simple reference for tests.
#[derive(Debug, Default)]
pub struct SortedSet {
    heads: BTreeSet<(u64, u32)>,
    times: BTreeMap<u32, u64>,
}

impl IndexedPriorityQueue for SortedSet {
    fn new(_: usize) -> Self {
        Self::default()
    }

    fn grow(&mut self, _: usize) {}

    fn schedule(&mut self, fifo: u32, time_s: f64) {
        if let Some(old) = self.times.remove(&fifo) {
            self.heads.remove(&(old, fifo));
        }
        if time_s != NO_EVENT {
            self.times.insert(fifo, time_s.to_bits());
            self.heads.insert((time_s.to_bits(), fifo));
        }
    }

    fn earliest(&self) -> (f64, u32) {
        self.heads.first().map_or((NO_EVENT, 0), |&(time, fifo)| (f64::from_bits(time), fifo))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream::RandomStream;

    #[test]
    fn winner_tree_and_sorted_set_agree() {
        let mut random = RandomStream::new(5, "scheduler");
        for fifos in [1usize, 2, 3, 4, 5, 16, 17, 20, 33, 64, 65, 200] {
            let (mut tree, mut set) = (WinnerTree::new(fifos), SortedSet::new(fifos));
            let mut times = vec![NO_EVENT; fifos];
            for _ in 0..5000 {
                let fifo = random.integer(0, times.len() as u64 - 1) as u32;
                let time =
                    if random.uniform() < 0.2 { NO_EVENT } else { random.integer(0, 30) as f64 };
                if times[fifo as usize] == NO_EVENT {
                    tree.schedule_empty(fifo, time)
                } else {
                    tree.schedule(fifo, time)
                }
                set.schedule(fifo, time);
                times[fifo as usize] = time;
                assert_eq!(tree.earliest().0, set.earliest().0);
                if set.earliest().0 != NO_EVENT {
                    assert_eq!(times[tree.earliest().1 as usize], set.earliest().0);
                }
                if random.uniform() < 0.001 {
                    times.resize(times.len() + random.integer(1, 30) as usize, NO_EVENT);
                    tree.grow(times.len());
                    set.grow(times.len());
                }
            }
        }
    }
}
